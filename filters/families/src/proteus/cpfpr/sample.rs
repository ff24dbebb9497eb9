//! The facts of a sampled query that the model needs: how near its ends are to a key.

use lacuna_base::internal::{ABREAST, seek_abreast};

use crate::proteus::prefix_key::{PrefixKey, PrefixKeys};

/// Queries between two whose places are sought among all keys: the others are sought between those two.
const STRETCH: usize = 4 * ABREAST;

/// A query between two keys.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EmptyQuery<K> {
    pub(crate) lo: K,
    pub(crate) hi: K,
    /// Bits that the first end shares with the key before it.
    pub(crate) before: u32,
    /// Bits that the last end shares with the key after it.
    pub(crate) behind: u32,
    /// Bits that both ends share.
    pub(crate) shared: u32,
}

impl<K> EmptyQuery<K> {
    /// Bits of the longest prefix that the query shares with any key: a longer one distinguishes it from all of them.
    pub(crate) fn nearest(&self) -> u32 {
        self.before.max(self.behind)
    }
}

/// The empty queries of a sample.
#[derive(Debug, Clone)]
pub(crate) struct EmptyQueries<K> {
    /// The queries between the smallest and the largest key.
    pub(crate) inside: Vec<EmptyQuery<K>>,
    /// All of them; those outside are denied by the smallest and the largest key.
    pub(crate) count: u64,
}

impl<K: PrefixKey> EmptyQueries<K> {
    /// The queries that hold none of `keys`.
    pub(crate) fn of(mut queries: Vec<(K, K)>, keys: &(impl PrefixKeys<Key = K> + ?Sized)) -> Self {
        // Queries that follow each other lie near each other, and share most of the keys they are compared with.
        queries.sort_unstable_by_key(|query| query.0);
        let mut found = Self { inside: Vec::with_capacity(queries.len()), count: 0 };
        let firsts: Vec<K> = queries.iter().step_by(STRETCH).map(|query| query.0).collect();
        let mut marks = vec![0; firsts.len()];
        for (marks, firsts) in marks.chunks_mut(ABREAST).zip(firsts.chunks(ABREAST)) {
            seek_abreast(marks, 0..keys.len(), |query, place| keys.key(place) < firsts[query]);
        }
        for (stretch, some) in queries.chunks(STRETCH).enumerate() {
            let span = marks[stretch]..marks.get(stretch + 1).copied().unwrap_or(keys.len());
            let mut places = [0; STRETCH];
            let places = &mut places[..some.len()];
            seek_abreast(places, span, |query, place| keys.key(place) < some[query].0);
            some.iter().zip(places).for_each(|(&(lo, hi), place)| found.note(keys, *place, lo, hi));
        }
        found
    }

    /// All of `count` empty queries, given with the place of the first of `keys` after each as far as they are known.
    pub(crate) fn placed(
        queries: impl Iterator<Item = (K, K, usize)>,
        count: usize,
        keys: &(impl PrefixKeys<Key = K> + ?Sized),
    ) -> Self {
        let mut found = Self { inside: Vec::with_capacity(count), count: 0 };
        queries.for_each(|(lo, hi, place)| found.note(keys, place, lo, hi));
        found.count = count as u64;
        found
    }

    /// Takes the query if it is empty; the key at `place` is the first one not below it.
    fn note(&mut self, keys: &(impl PrefixKeys<Key = K> + ?Sized), place: usize, lo: K, hi: K) {
        if place < keys.len() && keys.key(place) <= hi {
            return;
        }
        self.count += 1;
        if place > 0 && place < keys.len() {
            let before = keys.key(place - 1).shared_bits(lo);
            let behind = keys.key(place).shared_bits(hi);
            self.inside.push(EmptyQuery { lo, hi, before, behind, shared: lo.shared_bits(hi) });
        }
    }
}
