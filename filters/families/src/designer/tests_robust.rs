//! What `auto:robust` promises: that a workload other than the sampled one finds a filter as good as one made for it.

use std::sync::Arc;

use lacuna_base::{Budget, BuildPlan, ByteColumn, DynFilter, Sample, Sealed, SortedKeys, U64Range};
use lacuna_workload::Rng;

use super::AutoSpec;

/// Queries that a rate is measured with.
const ASKED: usize = 2_000;

/// A kind of queries.
#[derive(Debug, Clone, Copy)]
enum Law {
    /// Single keys right after a key.
    NearPoints,
    /// Short ranges right after a key.
    Near,
    /// Short ranges anywhere.
    Short,
    /// A thousand keys, up to a million after a key.
    Middle,
    /// Long ranges, far after a key.
    Far,
}

const LAWS: [Law; 5] = [Law::NearPoints, Law::Near, Law::Short, Law::Middle, Law::Far];

impl Law {
    fn draw(self, rng: &mut Rng, keys: &[u64]) -> Option<U64Range> {
        let key = keys[rng.index(keys.len())];
        let (lo, len) = match self {
            Self::NearPoints => (key.checked_add(rng.between(1, 32))?, 1),
            Self::Near => (key.checked_add(rng.between(1, 32))?, rng.between(2, 32)),
            Self::Short => (rng.between(keys[0], keys[keys.len() - 1]), rng.between(1, 32)),
            Self::Middle => (key.checked_add(rng.between(1, 1 << 20))?, 1_024),
            Self::Far => (key.checked_add(rng.between(1 << 37, 1 << 38))?, rng.between(1 << 28, 1 << 30)),
        };
        U64Range::new(lo, lo.checked_add(len - 1)?)
    }

    /// Empty ones between the smallest and the largest key.
    fn empty(self, rng: &mut Rng, keys: &[u64]) -> Vec<U64Range> {
        let drawn = (0..2 * ASKED).filter_map(|_| self.draw(rng, keys));
        let is_empty = |range: &U64Range| {
            let next = keys.partition_point(|&key| key < range.lo());
            0 < next && next < keys.len() && keys[next] > range.hi()
        };
        drawn.filter(is_empty).take(ASKED).collect()
    }
}

/// Keys far apart, anywhere, in clusters, in dense runs, and denser towards zero.
pub(super) fn key_sets(seed: u64) -> [(&'static str, Vec<u64>); 5] {
    let mut rng = Rng::new(seed);
    let apart = (0..6_000).map(|number| (number << 40) + (number * number * 977) % (1 << 39)).collect();
    let uniform = (0..6_000).map(|_| rng.next_u64()).collect();
    let clusters = (0..60).flat_map(|_| vec![rng.next_u64() >> 1; 100]).collect::<Vec<_>>();
    let clusters = clusters.into_iter().map(|start| start + rng.below(1 << 24)).collect();
    let runs = (0..300).flat_map(|_| {
        let start = rng.next_u64() >> 1;
        (0..20).map(move |step| start + 5 * step)
    });
    let runs = runs.collect();
    let lumps = (0..6_000).map(|_| rng.next_u64() >> rng.below(40)).collect();
    [("apart", apart), ("uniform", uniform), ("clusters", clusters), ("runs", runs), ("lumps", lumps)].map(
        |(name, mut keys): (_, Vec<u64>)| {
            keys.sort_unstable();
            keys.dedup();
            (name, keys)
        },
    )
}

fn plan(sampled: &[U64Range], bits: f64, seed: u64) -> BuildPlan<u64> {
    let mut sample = Sample::new();
    sampled.iter().for_each(|range| sample.push(range.lo(), range.hi()));
    let budget = Budget::bits_per_key(bits).expect("in range");
    BuildPlan::new(budget).with_sample(Arc::new(sample)).with_seed(seed)
}

/// The robust filter for this sample.
fn designed(keys: &[u64], sampled: &[U64Range], bits: f64, seed: u64) -> Sealed {
    let plan = plan(sampled, bits, seed);
    let design = AutoSpec::robust().design(SortedKeys::integers(keys).expect("ascending"), &plan);
    design.expect("fits").build().expect("fits")
}

fn maybes(filter: &DynFilter<u64>, asked: &[U64Range]) -> f64 {
    asked.iter().filter(|range| filter.may_contain_range(**range)).count() as f64
}

/// What chance adds to a count: four deviations and a little.
fn with_chance(expected: f64) -> f64 {
    expected + 4.0 * expected.sqrt() + 4.0
}

#[test]
fn robust_designs_bear_any_shift() {
    for seed in 1..=4 {
        for (name, keys) in key_sets(seed) {
            let mut rng = Rng::new(seed);
            let laws = LAWS.map(|law| (law, law.empty(&mut rng, &keys)));
            for bits in [10.0, 14.0] {
                let filters = laws.each_ref().map(|(law, sampled)| {
                    (*law, crate::open::<u64, _>(designed(&keys, sampled, bits, seed)).expect("just sealed"))
                });
                for ((new, asked), (_, made_for)) in laws.iter().zip(&filters) {
                    let steady = maybes(&**made_for, asked);
                    for (old, filter) in &filters {
                        let case = format!("{name} at {bits} bits, {old:?} to {new:?}, seed {seed}");
                        let found = maybes(&**filter, asked);
                        assert!(found <= with_chance(1.5 * steady), "{case}: {found}, {steady} before");
                        let lengths = asked.iter().map(|range| range.hi() - range.lo() + 1);
                        let bound: f64 = lengths.map(|len| filter.rate_bound(len)).sum();
                        assert!(found <= with_chance(bound), "{case}: {found}, a bound of {bound}");
                    }
                }
            }
        }
    }
}

/// No sample reaches the bytes.
#[test]
fn robust_designs_do_not_depend_on_the_sample() {
    for (name, keys) in key_sets(5) {
        let mut rng = Rng::new(5);
        let samples = LAWS.map(|law| law.empty(&mut rng, &keys));
        for bits in [6.0, 10.0, 24.0] {
            let blind = designed(&keys, &[], bits, 5);
            for (law, sampled) in LAWS.iter().zip(&samples) {
                assert_eq!(designed(&keys, sampled, bits, 5), blind, "{name} at {bits} bits, {law:?}");
            }
        }
    }
}

/// Names of which a window of eight bytes sees one of a few hosts.
fn metrics() -> Vec<String> {
    (0..5_000).map(|n| format!("metrics/host-{:02}/cpu|{:07}", n / 300, n * 37)).collect()
}

/// The integers that stand for byte strings follow the sample in other designs.
#[test]
fn robust_designs_over_strings_do_not_depend_on_the_sample() {
    let names = metrics();
    let column: ByteColumn = names.iter().map(String::as_bytes).collect();
    let keys = SortedKeys::byte_strings(&column).expect("ascending");
    let budget = Budget::bits_per_key(16.0).expect("in range");
    let sealed = |spec: AutoSpec, ends: &[(&str, &str)]| {
        let mut sample = Sample::new();
        for name in names.iter().step_by(7) {
            let end = |end: &str| [name.as_str(), end].concat().into_bytes();
            ends.iter().for_each(|(lo, hi)| sample.push(end(lo).as_slice(), end(hi).as_slice()));
        }
        let plan = BuildPlan::new(budget).with_sample(Arc::new(sample)).with_seed(7);
        spec.design(keys, &plan).and_then(|design| design.build()).expect("fits").into_bytes()
    };
    let robust = |ends: &[(&str, &str)]| sealed(AutoSpec::robust(), ends);
    let none = robust(&[]);
    assert!(none == robust(&[("0", "0")]) && none == robust(&[("0", "9")]));
    let usual = |ends: &[(&str, &str)]| sealed(AutoSpec::new(), ends);
    assert!(usual(&[("0", "0")]) != usual(&[("0", "9")]), "other designs follow it");
}

/// The sample is what the filter is asked, not what it is built for.
#[test]
fn robust_designs_over_strings_are_predicted_as_built() {
    let names = metrics();
    let column: ByteColumn = names.iter().map(String::as_bytes).collect();
    let keys = SortedKeys::byte_strings(&column).expect("ascending");
    for (bits, ends) in [(10.0, ["0", "0"]), (10.0, ["0", "9"]), (16.0, ["0", "0"]), (16.0, ["0", "9"])] {
        let mut sample = Sample::new();
        for name in &names {
            let [lo, hi] = ends.map(|end| [name.as_str(), end].concat().into_bytes());
            sample.push(lo.as_slice(), hi.as_slice());
        }
        let budget = Budget::bits_per_key(bits).expect("in range");
        let plan = BuildPlan::new(budget).with_sample(Arc::new(sample)).with_seed(7);
        let predicted = crate::predict::<[u8]>("auto:robust", keys, &plan).expect("fits").rate;
        let design = AutoSpec::robust().design(keys, &plan).expect("fits");
        let measured = design.measure().expect("built")[0].expect("fits").rate;
        let case = format!("{bits} bits, {ends:?}: {predicted} is predicted, {measured} measured");
        assert!((predicted - measured).abs() < 0.1, "{case}");
        assert!(measured < 0.002 || predicted < 3.0 * measured && measured < 3.0 * predicted, "{case}");
    }
}

/// The designer chooses by the bounds that the filters have.
#[test]
fn bounds_are_predicted_as_built() {
    for (name, keys) in key_sets(6) {
        let (all, queries) =
            (SortedKeys::integers(&keys).expect("ascending"), Law::Near.empty(&mut Rng::new(6), &keys));
        for bits in [6.0, 10.0, 14.0, 24.0, 40.0] {
            let plan = plan(&queries, bits, 6);
            let design = AutoSpec::robust().design(all, &plan).expect("fits");
            for candidate in design.candidates() {
                let built =
                    crate::spec::<u64>(&candidate.spec).expect("a spec").build(all, &plan).expect("fits");
                let filter = crate::open::<u64, _>(built).expect("just sealed");
                for len in [1, 32, 1_024] {
                    let (predicted, found) =
                        (candidate.prediction.bound.rate(len as f64), filter.rate_bound(len));
                    let case = format!("{name} at {bits} bits, {}, {len} keys", candidate.spec);
                    // Values that fall together make the circle emptier; a filter that turned out too large is built smaller.
                    assert!(
                        found <= predicted * 1.15 && predicted <= found * 1.2,
                        "{case}: {found}, predicted as {predicted}"
                    );
                }
            }
        }
    }
}
