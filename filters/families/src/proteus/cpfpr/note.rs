//! Noting what each query touches, for every depth and length at once.

use super::bins::Bins;
use super::model::{Task, Trie};
use super::{EmptyQuery, Regions};
use crate::proteus::prefix_key::PrefixKey;

/// Notes every query, on as many threads as the task allows; sums do not depend on their number.
pub(super) fn note_all<K: PrefixKey + Send + Sync>(
    queries: &[EmptyQuery<K>],
    tries: &[Trie],
    blooms: &[u32],
    task: Task,
) -> (Bins, Vec<u64>) {
    let threads = task.threads.clamp(1, queries.len().max(1));
    let note = |part: &[EmptyQuery<K>]| {
        let mut noted = Noted::new(tries, blooms, task.probes);
        part.iter().for_each(|query| noted.note(query));
        (noted.bins, noted.denied)
    };
    let (mut bins, mut denied) = if threads == 1 {
        note(queries)
    } else {
        std::thread::scope(|scope| {
            let parts = queries.chunks(queries.len().div_ceil(threads));
            let started: Vec<_> = parts.map(|part| scope.spawn(move || note(part))).collect();
            let noted = started.into_iter().map(|part| part.join().expect("noting does not panic"));
            noted.reduce(merge).expect("there is at least one part")
        })
    };
    bins.sum_up();
    let mut sum = 0;
    for count in &mut denied {
        sum += *count;
        *count = sum;
    }
    (bins, denied)
}

fn merge((mut bins, mut denied): (Bins, Vec<u64>), other: (Bins, Vec<u64>)) -> (Bins, Vec<u64>) {
    bins.merge(&other.0);
    denied.iter_mut().zip(other.1).for_each(|(count, more)| *count += more);
    (bins, denied)
}

/// The counts of the queries noted so far.
struct Noted<'a> {
    tries: &'a [Trie],
    blooms: &'a [u32],
    /// For each number of bits, the depths and the lengths that are not longer.
    tries_within: Vec<usize>,
    blooms_within: Vec<usize>,
    probes: u64,
    bins: Bins,
    /// For each depth, the queries that it denies and the depth before it does not.
    denied: Vec<u64>,
}

impl<'a> Noted<'a> {
    fn new(tries: &'a [Trie], blooms: &'a [u32], probes: u64) -> Self {
        let bins = Bins::new(tries.len(), blooms.len(), probes);
        let longest = tries.iter().map(|trie| trie.bits).chain(blooms.iter().copied()).max().unwrap_or(0);
        Self {
            tries,
            blooms,
            tries_within: within(tries.iter().map(|trie| trie.bits), longest),
            blooms_within: within(blooms.iter().copied(), longest),
            probes,
            bins,
            denied: vec![0; tries.len()],
        }
    }

    fn note<K: PrefixKey>(&mut self, query: &EmptyQuery<K>) {
        let nearest = query.nearest();
        let reached = up_to(&self.tries_within, nearest);
        if let Some(count) = self.denied.get_mut(reached) {
            *count += 1;
        }
        // A trie no deeper than the bits that both ends share has one prefix of the query, so its depth does not
        // matter.
        let one = up_to(&self.tries_within, query.shared).min(reached);
        let first = up_to(&self.blooms_within, nearest);
        let mut regions = Regions::between(query.lo, query.hi, query.shared);
        let (blooms, probes) = (self.blooms, self.probes);
        self.bins.note_lengths(one - 1, first, |bloom| {
            let bits = blooms[bloom];
            let prefixes = if bits <= query.shared { 1 } else { regions.of(bits) };
            (prefixes <= probes).then_some(prefixes)
        });
        for trie in one..reached {
            self.note_sides(query, trie, first);
        }
    }

    /// Notes a query whose ends have different prefixes in the trie: only stored prefixes lead to the Bloom filter.
    fn note_sides<K: PrefixKey>(&mut self, query: &EmptyQuery<K>, trie: usize, first: usize) {
        let depth = self.tries[trie].bits;
        let mut low = (query.before >= depth).then(|| Regions::from(query.lo, depth));
        let mut high = (query.behind >= depth).then(|| Regions::to(query.hi, depth));
        for bloom in first..self.blooms.len() {
            let bits = self.blooms[bloom];
            let side = |side: &mut Option<Regions<K>>| side.as_mut().map_or(0, |regions| regions.of(bits));
            let prefixes = side(&mut low).saturating_add(side(&mut high));
            if prefixes > self.probes {
                break;
            }
            self.bins.note_at(trie, bloom, prefixes);
        }
    }
}

/// For each number of bits up to `longest`, how many of the ascending `lengths` are not longer.
fn within(lengths: impl Iterator<Item = u32>, longest: u32) -> Vec<usize> {
    let mut counts = vec![0; longest as usize + 1];
    lengths.for_each(|bits| counts[bits as usize] += 1);
    let mut sum = 0;
    for count in &mut counts {
        sum += *count;
        *count = sum;
    }
    counts
}

/// The entry for `bits`; for more bits than any length has, the last.
#[inline(always)]
fn up_to(within: &[usize], bits: u32) -> usize {
    within[(bits as usize).min(within.len() - 1)]
}
