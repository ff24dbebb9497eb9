//! A bound for any queries and the rates of the sampled ones: what both take is named, and what is named has both.

use std::sync::Arc;

use lacuna_base::{Budget, BuildPlan, DynFilter, Sample, SortedKeys, U64Range};
use lacuna_workload::Rng;

use super::AutoSpec;
use super::mixed::Remedy;

const SEED: u64 = 29;
const SAMPLED: usize = 4_000;
const ASKED: usize = 20_000;

/// What is asked.
#[derive(Debug, Clone, Copy)]
enum Law {
    /// Ranges of 2^18 to 2^20 keys anywhere.
    Far,
    /// Ranges of 1 to 32 keys within 32 after a key.
    Near,
    /// One of each in turn.
    Both,
}

impl Law {
    fn draw(self, rng: &mut Rng, keys: &[u64], number: usize) -> U64Range {
        let (lo, len) = match (self, number % 2) {
            (Self::Far, _) | (Self::Both, 0) => {
                (rng.between(keys[0], keys[keys.len() - 1] - (1 << 20)), rng.between(1 << 18, 1 << 20))
            }
            _ => (keys[rng.index(keys.len() - 1)] + rng.between(1, 32), rng.between(1, 32)),
        };
        U64Range::new(lo, lo + len - 1).expect("in order")
    }

    /// Those without a key.
    fn empty(self, rng: &mut Rng, keys: &[u64], count: usize) -> Vec<U64Range> {
        let is_empty = |range: &U64Range| {
            let next = keys.partition_point(|&key| key < range.lo());
            keys.get(next).is_some_and(|&key| key > range.hi())
        };
        (0..).map(|number| self.draw(rng, keys, number)).filter(is_empty).take(count).collect()
    }
}

fn uniform(rng: &mut Rng) -> Vec<u64> {
    let mut keys: Vec<u64> = (0..30_000).map(|_| rng.next_u64() >> 1).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

fn plan(bits: f64, sampled: &[U64Range]) -> BuildPlan<u64> {
    let mut sample = Sample::new();
    sampled.iter().for_each(|range| sample.push(range.lo(), range.hi()));
    let budget = Budget::bits_per_key(bits).expect("in range");
    BuildPlan::new(budget).with_sample(Arc::new(sample)).with_seed(SEED)
}

fn built(spec: &str, keys: SortedKeys<'_, u64>, plan: &BuildPlan<u64>) -> Box<DynFilter<u64>> {
    let sealed = crate::spec::<u64>(spec).expect("a spec").build(keys, plan).expect("fits");
    crate::open(sealed).expect("just sealed")
}

#[test]
fn what_is_named_has_the_bound_and_the_rate() {
    let mut rng = Rng::new(SEED);
    let keys = uniform(&mut rng);
    let sorted = SortedKeys::integers(&keys).expect("ascending");
    let [sampled, asked] = [SAMPLED, ASKED].map(|count| Law::Far.empty(&mut rng, &keys, count));
    for auto in [AutoSpec::new(), AutoSpec::robust()] {
        for bits in [10.0, 14.0] {
            let plan_of = |bits| plan(bits, &sampled);
            let plan = plan_of(bits);
            let design = auto.design(sorted, &plan).expect("fits");
            println!("{bits} bits, seed {SEED}\n{design}");
            let both = design.both().expect("no bound denies ranges of 2^18 keys");
            assert!(both.bounded.1 > 0.9 && both.learned.1 < 0.02, "{both:?}");
            let Remedy::Halves(more, spec) = &both.remedy else { panic!("{both:?}") };
            let fewest = both.min_bits;
            assert!(bits < fewest && fewest < *more && *more < fewest + 3.0, "{both:?}");
            let said = format!("both cannot be had below {fewest:.1} bits a key: choose, or give ");
            assert!(design.to_string().contains(&said), "{design}");
            let (halves, alone) =
                (built(spec, sorted, &plan_of(*more)), built(&both.bounded.0, sorted, &plan));
            for len in [1, 32] {
                let (bound, promised) = (halves.rate_bound(len), alone.rate_bound(len));
                assert!(bound <= 1.1 * promised, "{spec}, {len} keys: a bound of {bound}, not {promised}");
            }
            let found = asked.iter().filter(|range| halves.may_contain_range(**range)).count() as f64;
            let promised = 2.0 * both.learned.1 + 0.001;
            assert!(found <= promised * ASKED as f64, "{spec}: {found} of {ASKED}, seed {SEED}, {both:?}");
        }
    }
}

/// Either kind of filter is wrong about one kind of query; with a half for each, both kinds are denied.
#[test]
fn a_sample_of_both_kinds_gets_a_half_for_each() {
    let mut rng = Rng::new(SEED);
    let keys = uniform(&mut rng);
    let sorted = SortedKeys::integers(&keys).expect("ascending");
    let sampled = Law::Both.empty(&mut rng, &keys, SAMPLED);
    for bits in [14.0, 18.0] {
        let plan = plan(bits, &sampled);
        let design = AutoSpec::new().design(sorted, &plan).expect("fits");
        println!("{bits} bits, seed {SEED}\n{design}");
        let measured = design.measure().expect("built");
        let rate = |is_meant: fn(&str) -> bool| {
            let all = design.candidates().iter().zip(&measured);
            let meant = all.filter(|(candidate, _)| is_meant(&candidate.spec));
            meant.filter_map(|(_, measured)| Some((*measured)?.rate)).fold(f64::INFINITY, f64::min)
        };
        let halves = rate(|spec| spec.contains(",near="));
        let either = rate(|spec| spec == "ribbon" || spec.starts_with("bucketing"));
        assert!(
            either < 0.7 && halves < 0.3 * either,
            "{halves}, and {either} of either, seed {SEED}\n{design}"
        );
        if design.candidates()[0].spec.contains(",near=") {
            assert_eq!(design.both(), None, "it has both");
        }
    }
}

#[test]
fn a_design_that_has_both_names_no_price() {
    let mut rng = Rng::new(SEED);
    let keys = uniform(&mut rng);
    let dense: Vec<u64> = (0..30_000).map(|number| number * 3).collect();
    let near = Law::Near.empty(&mut rng, &keys, SAMPLED);
    let gaps: Vec<U64Range> =
        dense.iter().map(|key| U64Range::new(key + 1, key + 2).expect("in order")).take(SAMPLED).collect();
    let cases = [("near", &keys, &near[..]), ("none", &keys, &[][..]), ("dense", &dense, &gaps[..])];
    for (case, keys, sampled) in cases {
        let plan = plan(14.0, sampled);
        for auto in [AutoSpec::new(), AutoSpec::robust()] {
            let design = auto.design(SortedKeys::integers(keys).expect("ascending"), &plan).expect("fits");
            assert_eq!(design.both(), None, "{case}, {auto:?}");
            assert!(!design.to_string().contains("both"), "{case}, {auto:?}: {design}");
        }
    }
}
