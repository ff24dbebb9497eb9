//! One candidate range: the law of each kind, in positions, the same for integers and byte strings.

use lacuna_base::{Error, Result};

use super::Space;
use crate::{Kept, Lengths, QueryShape, QuerySource, Rng, Want};

/// Draws candidates of one source.
pub(super) struct Dice {
    shape: QueryShape,
    hit: bool,
    half: bool,
    /// First of the keys that ranges are made from, and their number.
    anchors: (usize, usize),
}

impl Dice {
    /// `counts`: inserted and taken-out keys.
    pub(super) fn new(source: &QuerySource, [inserted, held_out]: [usize; 2]) -> Result<Self> {
        let hit = source.want == Want::Hit;
        let anchors = match source.kept {
            Kept::Half => (0, inserted + held_out),
            Kept::NineTenths if !hit => (inserted, held_out),
            _ => (0, inserted),
        };
        let needs_no_key = matches!(source.shape, QueryShape::Uniform { .. } | QueryShape::Points) && !hit;
        if anchors.1 == 0 && !needs_no_key && source.count > 0 {
            return Err(Error::invalid_input("there is no key to make ranges from; give at least one key"));
        }
        Ok(Self { shape: source.shape, hit, half: source.kept == Kept::Half, anchors })
    }

    /// Draws the candidate for place `turn`; `false` when it would leave the key space.
    pub(super) fn roll<S: Space>(
        &self,
        turn: usize,
        space: &S,
        rng: &mut Rng,
        candidate: &mut S::Candidate,
    ) -> bool {
        match self.shape {
            QueryShape::Points => self.point(space, rng, candidate),
            QueryShape::Uniform { lengths } => self.uniform(lengths, space, rng, candidate),
            QueryShape::Correlated { lengths, degree } => {
                self.correlated(lengths, degree, space, rng, candidate)
            }
            QueryShape::Split { lengths, .. } if turn.is_multiple_of(2) => {
                self.uniform(lengths, space, rng, candidate)
            }
            QueryShape::Split { lengths, degree } => self.correlated(lengths, degree, space, rng, candidate),
            QueryShape::HeldOut { lengths } => self.around(lengths, u64::MAX, space, rng, candidate),
            QueryShape::Offset { lengths, distance: 0 } => self.around(lengths, 0, space, rng, candidate),
            QueryShape::Offset { lengths, distance } => {
                let start = space.position(self.anchor(rng)).checked_add(distance);
                from_start(start, length(lengths, rng), space, candidate)
            }
            QueryShape::Shift { from, to } => {
                let key = space.position(self.anchor(rng));
                let ends = key.checked_add(from).zip(key.checked_add(to));
                ends.map(|(low, high)| space.between(low, high, candidate)).is_some()
            }
            QueryShape::LastByte => space.to_next_byte(self.anchor(rng), candidate),
        }
    }

    fn anchor(&self, rng: &mut Rng) -> usize {
        self.anchors.0 + rng.index(self.anchors.1)
    }

    fn point<S: Space>(&self, space: &S, rng: &mut Rng, candidate: &mut S::Candidate) -> bool {
        if self.hit || self.half {
            space.exactly(self.anchor(rng), candidate);
            return true;
        }
        let key = (self.anchors.1 > 0).then(|| self.anchor(rng));
        space.stray(key, rng, candidate)
    }

    fn uniform<S: Space>(
        &self,
        lengths: Lengths,
        space: &S,
        rng: &mut Rng,
        candidate: &mut S::Candidate,
    ) -> bool {
        if self.hit {
            return self.around(lengths, u64::MAX, space, rng, candidate);
        }
        let (smallest, largest) = space.span();
        from_start(Some(rng.between(smallest, largest)), length(lengths, rng), space, candidate)
    }

    fn correlated<S: Space>(
        &self,
        lengths: Lengths,
        degree: u64,
        space: &S,
        rng: &mut Rng,
        candidate: &mut S::Candidate,
    ) -> bool {
        if self.hit {
            return self.around(lengths, degree, space, rng, candidate);
        }
        let start = space.position(self.anchor(rng)).checked_add(rng.between(1, degree));
        from_start(start, length(lengths, rng), space, candidate)
    }

    /// A range that covers the position of a key and starts at most `reach` before it.
    fn around<S: Space>(
        &self,
        lengths: Lengths,
        reach: u64,
        space: &S,
        rng: &mut Rng,
        candidate: &mut S::Candidate,
    ) -> bool {
        let (key, length) = (self.anchor(rng), length(lengths, rng));
        if length == 1 {
            space.exactly(key, candidate);
            return true;
        }
        let start = space.position(key).checked_sub(rng.between(0, reach.min(length - 1)));
        from_start(start, length, space, candidate)
    }
}

fn length(lengths: Lengths, rng: &mut Rng) -> u64 {
    rng.between(lengths.shortest(), lengths.longest())
}

/// The range of `length` positions from `start`, unless it leaves the key space.
fn from_start<S: Space>(start: Option<u64>, length: u64, space: &S, candidate: &mut S::Candidate) -> bool {
    let Some((low, high)) = start.and_then(|low| Some((low, low.checked_add(length - 1)?))) else {
        return false;
    };
    space.between(low, high, candidate);
    true
}
