//! The model of Proteus; a single prefix Bloom filter is its part without a trie.

use lacuna_succinct::trie::uniform::uniform_bytes;

use super::bins::Bins;
use super::note::note_all;
use super::{EmptyQueries, EmptyQuery, KeyCounts, Regions, any_of, bloom_rate};
use crate::proteus::codec::MIN_BLOOM_BYTES;
use crate::proteus::design::DesignRate;
use crate::proteus::prefix_key::{PrefixKey, PrefixKeys};

/// Most lengths that are modelled of long keys, spread evenly.
const MAX_LENGTHS: u32 = 128;

/// Keys that are looked at of more than twice as many, unless a task says otherwise.
pub(crate) const LOOKED_AT: usize = 100_000;

/// A design task.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Task {
    /// Bytes for the trie and the Bloom filter together.
    pub(crate) room: usize,
    /// The depth of the trie, if it is given; 0 for none.
    pub(crate) trie_bits: Option<u32>,
    /// The length of the Bloom filter's prefixes, if it is given; 0 for none.
    pub(crate) bloom_bits: Option<u32>,
    /// Most prefixes a query asks for.
    pub(crate) probes: u64,
    /// Model every length, however many there are.
    pub(crate) all_lengths: bool,
    /// Threads that note queries and evaluate designs.
    pub(crate) threads: usize,
    /// Keys that are looked at, if there are more than twice as many.
    pub(crate) looked_at: usize,
}

/// A depth that the room holds, with its size.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trie {
    pub(super) bits: u32,
    pub(super) bytes: usize,
}

/// A part of the modelling, as in table 2 of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Prefixes of each length are counted among the keys.
    CountKeyPrefixes,
    /// The size of the trie is predicted for each depth.
    CalculateTrieMemory,
    /// Sampled queries are sought among the keys, and what they touch is counted.
    CountQueryPrefixes,
    /// The rate of each design is predicted.
    CalculateRates,
}

/// Called when a phase has ended.
pub(crate) type Observer<'a> = &'a mut dyn FnMut(Phase);

/// The counts from which the rate of every design follows.
#[derive(Debug)]
pub(crate) struct Model {
    counts: KeyCounts,
    tries: Vec<Trie>,
    blooms: Vec<u32>,
    bins: Bins,
    /// For each depth, the queries that its trie denies.
    denied: Vec<u64>,
    /// Empty queries between the smallest and the largest key, and all of them.
    inside: u64,
    count: u64,
    room: usize,
    /// The first depth that is a design: 1 where a depth is given.
    first: usize,
    threads: usize,
}

impl Model {
    /// Models all designs of `task` for `keys` and the `queries` among them.
    pub(crate) fn of<S: PrefixKeys + ?Sized>(keys: &S, queries: &EmptyQueries<S::Key>, task: Task) -> Self {
        Self::observed(keys, queries, task, &mut |_| {})
    }

    /// As [`of`](Self::of), calling `ended` after each phase.
    pub(crate) fn observed<S: PrefixKeys + ?Sized>(
        keys: &S,
        queries: &EmptyQueries<S::Key>,
        task: Task,
        ended: Observer<'_>,
    ) -> Self {
        let longest = keys.longest_bits();
        let counts = KeyCounts::of(keys, longest, task.looked_at);
        ended(Phase::CountKeyPrefixes);
        let max = if task.all_lengths { longest } else { MAX_LENGTHS };
        let tries = depths(&counts, longest, max, task);
        ended(Phase::CalculateTrieMemory);
        let blooms = match task.bloom_bits {
            Some(bits) => Vec::from_iter((bits > 0).then_some(bits.min(longest))),
            None => {
                let (from, to) = useful_lengths(&queries.inside, longest, task.probes, max);
                spread(from, to, max)
            }
        };
        let (bins, denied) = note_all(&queries.inside, &tries, &blooms, task);
        ended(Phase::CountQueryPrefixes);
        let inside = queries.inside.len() as u64;
        let first = usize::from(task.trie_bits.is_some_and(|bits| bits > 0));
        let Task { room, threads, .. } = task;
        Self { counts, tries, blooms, bins, denied, inside, count: queries.count, room, first, threads }
    }

    /// Every design with its predicted rate.
    pub(crate) fn designs(&self) -> impl Iterator<Item = DesignRate> {
        (self.first..self.tries.len()).flat_map(|trie| self.designs_with(trie))
    }

    /// The designs with this depth.
    fn designs_with(&self, trie: usize) -> impl Iterator<Item = DesignRate> {
        let Trie { bits, bytes } = self.tries[trie];
        let alone = if bits > 0 && bytes <= self.room { Some(self.trie_alone(trie)) } else { None };
        let both = (0..self.blooms.len())
            .filter(move |&bloom| self.blooms[bloom] > bits && self.holds_bloom(trie))
            .map(move |bloom| self.with_bloom(trie, bloom));
        alone.into_iter().chain(both)
    }

    /// The design with the lowest rate: of equal ones that with the shallower trie, then that with the longer prefixes.
    pub(crate) fn best(&self) -> Option<DesignRate> {
        let depths: Vec<usize> = (self.first..self.tries.len()).collect();
        let best_of = |depths: &[usize]| {
            depths.iter().flat_map(|&trie| self.designs_with(trie)).reduce(|best, next| {
                let is_longer =
                    next.rate == best.rate && next.trie_bits == best.trie_bits && best.bloom_bits > 0;
                if next.rate < best.rate || is_longer { next } else { best }
            })
        };
        if self.threads <= 1 || depths.is_empty() {
            return best_of(&depths);
        }
        // Whole depths, in order, so that ties between threads are resolved as one thread would.
        std::thread::scope(|scope| {
            let parts = depths.chunks(depths.len().div_ceil(self.threads));
            let started: Vec<_> = parts.map(|part| scope.spawn(move || best_of(part))).collect();
            let found =
                started.into_iter().filter_map(|part| part.join().expect("evaluating does not panic"));
            found.reduce(|best, next| if next.rate < best.rate { next } else { best })
        })
    }

    fn holds_bloom(&self, trie: usize) -> bool {
        self.tries[trie].bytes + MIN_BLOOM_BYTES <= self.room
    }

    fn share(&self, queries: f64) -> f64 {
        queries / self.count.max(1) as f64
    }

    fn trie_alone(&self, trie: usize) -> DesignRate {
        let Trie { bits, bytes } = self.tries[trie];
        let rate = self.share((self.inside - self.denied[trie]) as f64);
        DesignRate { trie_bits: bits, bloom_bits: 0, rate, prefixes: 0.0, body_bytes: bytes }
    }

    fn with_bloom(&self, trie: usize, bloom: usize) -> DesignRate {
        let (Trie { bits, bytes }, bloom_bits) = (self.tries[trie], self.blooms[bloom]);
        let room_bits = (self.room - bytes - (MIN_BLOOM_BYTES - 1)) as u64 * 8;
        let rate = bloom_rate(room_bits, self.counts.distinct(bloom_bits));
        // A query that is neither denied by the trie nor in a bin shares a whole prefix with a key, or has too many.
        let (mut maybe, mut asked) = ((self.inside - self.denied[trie]) as f64, 0.0);
        for bin in self.bins.of(trie, bloom).iter().filter(|bin| bin.count() > 0.0) {
            let positive = any_of(rate, bin.mean());
            maybe += bin.count() * (positive - 1.0);
            asked += bin.count() * if rate > 1e-12 { positive / rate } else { bin.mean() };
        }
        let (rate, prefixes) = (self.share(maybe.max(0.0)), self.share(asked));
        DesignRate { trie_bits: bits, bloom_bits, rate, prefixes, body_bytes: self.room }
    }
}

/// The depths that fit: none, and as many as the task leaves open.
fn depths(counts: &KeyCounts, longest: u32, max: u32, task: Task) -> Vec<Trie> {
    let trie = |bits: u32| {
        let bytes = uniform_bytes(bits, |bits| counts.distinct(bits), |bits| counts.lone(bits));
        Trie { bits, bytes }
    };
    let none = Trie { bits: 0, bytes: 0 };
    let deepest = task.bloom_bits.filter(|&bits| bits > 0).map_or(longest, |bits| bits.min(longest + 1) - 1);
    match task.trie_bits {
        Some(0) => vec![none],
        Some(bits) => vec![none, trie(bits.min(longest))],
        None => {
            let fitting = spread(1, deepest, max).into_iter().map(trie);
            std::iter::once(none).chain(fitting.filter(|trie| trie.bytes <= task.room)).collect()
        }
    }
}

/// At most `most` numbers from `from` to `to`, both of them included, spread evenly.
fn spread(from: u32, to: u32, max: u32) -> Vec<u32> {
    if from > to {
        return Vec::new();
    }
    let (width, steps) = (u64::from(to - from), u64::from(max.min(to - from + 1).max(2) - 1));
    let place = |step: u64| from + u32::try_from(width * step / steps).expect("at most `to`");
    let mut lengths: Vec<u32> = (0..=steps).map(place).collect();
    lengths.dedup();
    lengths
}

/// The shortest and longest prefixes that are of use to any query.
fn useful_lengths<K: PrefixKey>(
    queries: &[EmptyQuery<K>],
    longest: u32,
    probes: u64,
    max: u32,
) -> (u32, u32) {
    if longest <= max {
        return (1, longest);
    }
    let shortest = queries.iter().map(EmptyQuery::nearest).min().unwrap_or(0);
    let last_useful = |query: &EmptyQuery<K>| {
        let shared = query.shared.min(longest);
        let mut regions = Regions::between(query.lo, query.hi, shared);
        (shared..=longest).take_while(|&bits| regions.of(bits) <= probes).last().unwrap_or(shared)
    };
    let last = queries.iter().map(last_useful).max().unwrap_or(longest);
    (shortest.saturating_add(1).min(last), last.max(1))
}
