//! Ranges between integer keys: a key is its own position.

use super::Space;
use crate::{Rng, is_empty};

/// Ascending integers, those inserted and those taken out.
pub(super) struct IntegerSpace<'a> {
    inserted: &'a [u64],
    held_out: &'a [u64],
}

impl<'a> IntegerSpace<'a> {
    pub(super) fn new(inserted: &'a [u64], held_out: &'a [u64]) -> Self {
        Self { inserted, held_out }
    }
}

impl Space for IntegerSpace<'_> {
    type Candidate = (u64, u64);
    type Found = Vec<(u64, u64)>;

    fn position(&self, key: usize) -> u64 {
        match key.checked_sub(self.inserted.len()) {
            None => self.inserted[key],
            Some(key) => self.held_out[key],
        }
    }

    fn span(&self) -> (u64, u64) {
        let firsts = [self.inserted.first(), self.held_out.first()].into_iter().flatten();
        let lasts = [self.inserted.last(), self.held_out.last()].into_iter().flatten();
        match firsts.min().zip(lasts.max()) {
            Some((&smallest, &largest)) if smallest < largest => (smallest, largest),
            _ => (0, u64::MAX),
        }
    }

    fn between(&self, low: u64, high: u64, candidate: &mut (u64, u64)) {
        *candidate = (low, high);
    }

    fn exactly(&self, key: usize, candidate: &mut (u64, u64)) {
        let key = self.position(key);
        *candidate = (key, key);
    }

    fn to_next_byte(&self, key: usize, candidate: &mut (u64, u64)) -> bool {
        let key = self.position(key);
        key.checked_add(1).map(|next| *candidate = (key, next)).is_some()
    }

    fn stray(&self, _key: Option<usize>, rng: &mut Rng, candidate: &mut (u64, u64)) -> bool {
        let (smallest, largest) = self.span();
        let point = rng.between(smallest, largest);
        *candidate = (point, point);
        true
    }

    fn is_empty(&self, &(low, high): &(u64, u64)) -> bool {
        is_empty(self.inserted, low, high)
    }

    fn keep(&self, candidate: &(u64, u64), found: &mut Vec<(u64, u64)>) {
        found.push(*candidate);
    }
}
