//! The interval tree of the range cache beside `BTreeMap`, and what the owner keeps of a cached entry.

use std::collections::BTreeMap;
use std::hint::black_box;

use lacuna_base::Result;
use lacuna_bench::harness::{Timings, WorkClock};
use lacuna_cache_protocol::{Interval, IntervalTree, PredicateIndex, Query};
use lacuna_workload::Rng;

use crate::bars::bar::{Bar, Limit};
use crate::bars::setting::Setting;
use lacuna_cli::Progress;

/// Operations of a round.
const OPERATIONS: usize = 100_000;
/// Steps between neighbouring starts, on average.
const STEP: u64 = 1_000;
/// Bytes that an entry may take at its owner, beyond the result.
const MAX_BYTES: f64 = 200.0;

/// A bound made from an integer, in the same order.
trait Key: Ord + Clone {
    const NAME: &'static str;
    fn of(number: u64) -> Self;
}

impl Key for u64 {
    const NAME: &'static str = "8 bytes";
    fn of(number: u64) -> Self {
        number
    }
}

impl Key for [u8; 32] {
    const NAME: &'static str = "32 bytes";
    fn of(number: u64) -> Self {
        let mut key = *b"tenant-07/orders/--------.......";
        key[18..26].copy_from_slice(&number.to_be_bytes());
        key
    }
}

/// How intervals lie on the line.
#[derive(Clone, Copy)]
struct Law {
    name: &'static str,
    /// In steps.
    longest: u64,
    /// One interval in this many is up to a hundredth of the line long; 0 for none.
    long_share: u64,
}

const LAWS: [Law; 4] = [
    Law { name: "short", longest: 1, long_share: 0 },
    Law { name: "ten hits", longest: 20, long_share: 0 },
    Law { name: "hundred hits", longest: 200, long_share: 0 },
    Law { name: "one in 10,000 long", longest: 1, long_share: 10_000 },
];

/// Measures everything.
pub(super) fn run(setting: &Setting, progress: &Progress) -> Result<Vec<Bar>> {
    let mut bars = Vec::new();
    for law in LAWS {
        progress.say(format!("intervals: {}", law.name));
        bars.extend(measure::<u64>(setting, law));
        bars.extend(measure::<[u8; 32]>(setting, law));
    }
    bars.push(memory(setting));
    Ok(bars)
}

impl Law {
    fn interval(self, rng: &mut Rng, line: u64) -> (u64, u64) {
        let is_long = self.long_share > 0 && rng.below(self.long_share) == 0;
        let length = if is_long { line / 100 } else { self.longest * STEP };
        let start = rng.below(line);
        (start, start + rng.below(length))
    }
}

/// What the operations took, in nanoseconds, round by round.
#[derive(Default)]
struct Samples {
    query: Vec<f64>,
    lookup: Vec<f64>,
    insert: Vec<f64>,
    map_insert: Vec<f64>,
    remove: Vec<f64>,
}

fn measure<K: Key>(setting: &Setting, law: Law) -> [Bar; 3] {
    let (count, mut rng) = (setting.rate_keys(), Rng::new(setting.seed));
    let line = count as u64 * STEP;
    let entries: Vec<(u64, u64)> = (0..count).map(|_| law.interval(&mut rng, line)).collect();
    let (mut tree, mut map) = (IntervalTree::<K, u32>::new(), BTreeMap::new());
    for (value, &(lo, hi)) in (0u32..).zip(&entries) {
        tree.insert(closed(lo, hi), value);
        map.insert(K::of(lo), u64::from(value));
    }
    let (mut samples, mut hits) = (Samples::default(), 0);
    let rounds = setting.query_rounds();
    for round in 0..rounds {
        let some =
            |rng: &mut Rng| -> Vec<(u64, u64)> { (0..OPERATIONS).map(|_| law.interval(rng, line)).collect() };
        let queries: Vec<Interval<K>> =
            some(&mut rng).iter().map(|&(lo, _)| closed(lo, lo + STEP / 10)).collect();
        let present: Vec<K> = (0..OPERATIONS).map(|_| K::of(entries[rng.index(count)].0)).collect();
        let new = some(&mut rng);
        let new_keys: Vec<K> = new.iter().map(|&(lo, _)| K::of(lo)).collect();
        let new: Vec<Interval<K>> = new.iter().map(|&(lo, hi)| closed(lo, hi)).collect();
        let first = u32::try_from(count + round * OPERATIONS).expect("few values");
        samples.query.push(timed(|| {
            hits += queries.iter().map(|query| tree.overlapping(query).count()).sum::<usize>();
        }));
        samples.lookup.push(timed(|| {
            present.iter().for_each(|key| {
                black_box(map.get(key));
            });
        }));
        samples.insert.push(timed(|| {
            (first..).zip(&new).for_each(|(value, interval)| assert!(tree.insert(interval.clone(), value)));
        }));
        samples.map_insert.push(timed(|| {
            for key in &new_keys {
                map.insert(key.clone(), 0);
            }
        }));
        samples.remove.push(timed(|| {
            (first..).zip(&new).for_each(|(value, interval)| assert!(tree.remove(interval, value)));
        }));
        for key in &new_keys {
            map.remove(key);
        }
    }
    bars::<K>(law, samples, hits as f64 / (rounds * OPERATIONS) as f64)
}

fn bars<K: Key>(law: Law, samples: Samples, hits: f64) -> [Bar; 3] {
    let Samples { query, lookup, insert, map_insert, remove } = samples;
    let (timings, [query, lookup, insert, map_insert, remove]) = Timings::of([
        ("overlap", query),
        ("BTreeMap lookup", lookup),
        ("insert", insert),
        ("BTreeMap insert", map_insert),
        ("remove", remove),
    ]);
    let bar = |what: String, tasks, max: f64| {
        let name = format!("{what}, {} keys, {}", K::NAME, law.name);
        Bar::times_longer(name, &timings, tasks, Limit::AtMost(max))
    };
    [
        bar(format!("overlap, {hits:.1} hits"), [query, lookup], 2.5 + 0.5 * hits),
        bar("insert".to_owned(), [insert, map_insert], 2.5),
        bar("remove".to_owned(), [remove, map_insert], 2.5),
    ]
}

fn memory(setting: &Setting) -> Bar {
    let count = setting.rate_keys();
    let mut rng = Rng::new(setting.seed);
    let mut index = PredicateIndex::new(1);
    for _ in 0..count {
        let start = rng.below(1 << 60);
        let interval =
            Interval::closed(start.into(), (start + 5).into()).expect("a start is at most its end");
        index.insert(&Query::all(0, interval.clone()), interval);
    }
    let bytes = index.memory_bytes() as f64 / index.len() as f64;
    let name = "an entry at its owner, 8-byte keys".to_owned();
    let beside = format!("{MAX_BYTES} bytes");
    Bar::number(name, format!("{bytes:.0} bytes"), beside, bytes / MAX_BYTES, Limit::AtMost(1.0))
}

fn closed<K: Key>(lo: u64, hi: u64) -> Interval<K> {
    Interval::closed(K::of(lo), K::of(hi)).expect("lo <= hi")
}

/// Nanoseconds an operation.
fn timed(run: impl FnOnce()) -> f64 {
    let watch = WorkClock::start();
    run();
    watch.elapsed().as_nanos() as f64 / OPERATIONS as f64
}
