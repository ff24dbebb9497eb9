//! What is Ribbon's own; the conformance suite proves the rest.

use lacuna_base::{Budget, BuildPlan, DynFilter, Envelope, FilterSpec as _, Sealed, SortedKeys, U64Range};
use lacuna_succinct::arch::Scalar;
use lacuna_workload::Rng;

use super::RibbonSpec;
use super::codec::{Layout, halves_header};
use super::layer::{Layer, WINDOW};
use super::query::Ribbon;
use crate::hashing::Hashing;
use crate::integer::IntegerBody as _;

const SEED: u64 = 77;
/// A budget that holds every number of planes of these tests.
const AMPLE: f64 = 128.0;

fn sealed(spec: &str, keys: &[u64], bits_per_key: f64, seed: u64) -> Sealed {
    let plan = BuildPlan::<u64>::new(Budget::bits_per_key(bits_per_key).expect("in range")).with_seed(seed);
    let keys = SortedKeys::integers(keys).expect("ascending");
    let spec: RibbonSpec = spec.parse().expect("a spec");
    spec.build(keys, &plan).expect("fits")
}

fn built(spec: &str, keys: &[u64], bits_per_key: f64, seed: u64) -> (Box<DynFilter<u64>>, f64) {
    let sealed = sealed(spec, keys, bits_per_key, seed);
    let bits = sealed.payload().len() as f64 * 8.0 / keys.len() as f64;
    (crate::open(sealed).expect("just sealed"), bits)
}

fn sorted(keys: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut keys: Vec<u64> = keys.collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// Sets of keys that differ in how they fill blocks.
fn key_sets() -> Vec<(&'static str, Vec<u64>)> {
    let mut rng = Rng::new(SEED);
    let uniform = sorted((0..40_000).map(|_| rng.next_u64()));
    let clusters = (0..100).flat_map(|_| {
        let start = rng.next_u64() >> 1;
        (0..400).map(|_| start + rng.below(1 << 30)).collect::<Vec<_>>()
    });
    let clusters = sorted(clusters.collect::<Vec<_>>().into_iter());
    let runs = (0..2_000).flat_map(|_| {
        let start = rng.next_u64() >> 1;
        (0..rng.between(1, 40)).map(move |step| start + 3 * step)
    });
    let runs = sorted(runs.collect::<Vec<_>>().into_iter());
    let lumps = sorted((0..40_000).map(|_| rng.next_u64() >> rng.below(40)));
    // Every position is zero, or the largest: without a mask blocks without a key would find it, too.
    let aligned = sorted((0..40_000).map(|_| rng.next_u64() << 20));
    let ends = sorted((0..40_000).map(|_| rng.next_u64() | 0xF_FFFF));
    vec![
        ("uniform", uniform),
        ("clusters", clusters),
        ("runs", runs),
        ("lumps", lumps),
        ("aligned", aligned),
        ("ends", ends),
    ]
}

const SPECS: [&str; 10] = [
    "ribbon",
    "ribbon:block=4,planes=8",
    "ribbon:block=6,planes=6,window=2,layer=1",
    "ribbon:block=3,planes=7,window=1,layer=1",
    "ribbon:block=9,planes=12,window=8",
    "ribbon:block=0,planes=9",
    "ribbon:block=11,planes=20,window=20",
    "ribbon:cell=10",
    "ribbon:cell=30,near=50",
    "ribbon:block=3,planes=6,window=2,layer=1,cell=12,near=40",
];

fn may_hold(filter: &DynFilter<u64>, lo: u64, hi: u64) -> bool {
    filter.may_contain_range(U64Range::new(lo, hi).expect("in order"))
}

#[test]
fn ranges_around_keys_are_found_whatever_fills_the_blocks() {
    for (name, keys) in key_sets() {
        for spec in SPECS {
            let mut rng = Rng::new(SEED);
            let (filter, _) = built(spec, &keys, AMPLE, SEED);
            for &key in &keys {
                let lo = key - (rng.next_u64() >> rng.between(40, 63)).min(key);
                let hi = key.saturating_add(rng.next_u64() >> rng.between(40, 63));
                let found = may_hold(&filter, key, key) && may_hold(&filter, lo, hi);
                assert!(found, "{spec} over {name}: {key} in {lo}..={hi}, seed {SEED}");
            }
        }
    }
}

/// An empty range of `len` keys; near a key at an offset up to `degree`, or anywhere between the smallest and largest.
fn empty_range(rng: &mut Rng, keys: &[u64], len: u64, degree: Option<u64>) -> Option<(u64, u64)> {
    let lo = match degree {
        Some(degree) => keys[rng.index(keys.len())].checked_add(1 + rng.below(degree))?,
        None => rng.between(keys[0], keys[keys.len() - 1]),
    };
    let hi = lo.checked_add(len - 1)?;
    let next = keys.partition_point(|&key| key < lo);
    (next > 0 && next < keys.len() && keys[next] > hi).then_some((lo, hi))
}

/// Queries to filters of many seeds, so that what is expected over seeds is what is counted.
fn hold_bound(spec: &str, name: &str, keys: &[u64], bits: f64, len: u64, degree: Option<u64>) {
    let mut rng = Rng::new(SEED ^ len);
    let (mut expected, mut found, mut asked) = (0.0, 0.0, 0);
    for seed in 0..6 {
        let (filter, _) = built(spec, keys, bits, seed);
        for _ in 0..30_000 {
            if let Some((lo, hi)) = empty_range(&mut rng, keys, len, degree) {
                asked += 1;
                expected += filter.rate_bound(len);
                found += f64::from(u8::from(may_hold(&filter, lo, hi)));
            }
        }
    }
    // Queries in one block share its fate; 4.5 deviations for some 300 cells.
    let max = expected + 4.5 * expected.sqrt() + 5.0;
    assert!(found <= max, "{spec} over {name}, {len} keys to {degree:?}: {found} of {asked}, not {expected}");
}

#[test]
fn the_rate_keeps_its_bound_at_every_offset() {
    for (name, keys) in key_sets() {
        let specs = [
            ("ribbon", 10.0),
            ("ribbon:block=4,planes=8", AMPLE),
            ("ribbon:block=6,planes=6,window=2,layer=1", AMPLE),
        ];
        for (spec, bits) in specs {
            for len in [1, 7, 32, 200] {
                for degree in [Some(1), Some(30), Some(1 << 10), Some(1 << 20), None] {
                    hold_bound(spec, name, &keys, bits, len, degree);
                }
            }
        }
    }
}

/// With windows of one row half of the blocks fit no layer: those without a key ask the spill where those with one stand.
#[test]
fn blocks_without_a_layer_keep_the_rate() {
    let (_, keys) = key_sets().swap_remove(0);
    for degree in [Some(1 << 10), None] {
        hold_bound("ribbon:block=4,planes=7,window=1,layer=1", "uniform", &keys, AMPLE, 16, degree);
    }
}

#[test]
fn a_budget_is_used_to_a_fraction_of_a_bit() {
    let (_, keys) = key_sets().swap_remove(0);
    let mut before = 1.0;
    for tenths in 80..120 {
        let bits = f64::from(tenths) / 10.0;
        let (filter, used) = built("ribbon", &keys, bits, SEED);
        // The fixed bytes may be used, too.
        assert!(used <= bits + 0.013 && used > bits - 0.15, "{used} bits of {bits}");
        let bound = filter.rate_bound(1);
        assert!(bound <= before, "{bits} bits: a bound of {bound} after {before}");
        assert!(bound < libm::exp2(0.55 - bits), "{bits} bits: a bound of {bound}");
        before = bound;
    }
}

#[test]
fn a_set_that_fits_is_stored_exactly() {
    let keys: Vec<u64> = (0..20_000).map(|number| 1_000_000 + 17 * number).collect();
    let (filter, _) = built("ribbon", &keys, 12.0, SEED);
    assert!(filter.rate_bound(1_000) == 0.0);
    assert!(keys.iter().all(|key| !may_hold(&filter, key + 1, key + 16) || key + 17 > keys[19_999]));
}

/// "Maybe" among `asked` ranges of `len` keys anywhere that hold none.
fn maybes_anywhere(filter: &DynFilter<u64>, keys: &[u64], len: u64, asked: usize) -> f64 {
    let mut rng = Rng::new(SEED ^ len);
    let ranges = std::iter::repeat_with(|| empty_range(&mut rng, keys, len, None)).flatten();
    ranges.take(asked).filter(|&(lo, hi)| may_hold(filter, lo, hi)).count() as f64
}

/// A range of n cells is n keys long, and one of a part of a cell may be two.
#[test]
fn ranges_in_cells_have_the_rate_of_a_few_keys() {
    let (_, keys) = key_sets().swap_remove(0);
    for (bits, cell_log2) in [(9.0, 12_u32), (11.0, 20)] {
        let (plain, _) = built("ribbon", &keys, bits, SEED);
        let (filter, _) = built(&format!("ribbon:cell={cell_log2}"), &keys, bits, SEED);
        assert!(filter.rate_bound(1) == 1.0, "next to a key no rate is promised");
        assert!(keys.iter().all(|&key| may_hold(&*filter, key, key) && may_hold(&*filter, key, key | 1)));
        for cells in [0_u64, 1, 5] {
            let len = (cells << cell_log2) + 1;
            let expected = 40_000.0 * plain.rate_bound(1) * (cells as f64 + 1.0);
            let found = maybes_anywhere(&*filter, &keys, len, 40_000);
            let max = 1.15 * expected + 4.5 * expected.sqrt();
            assert!(found <= max, "{bits} bits, {len} keys: {found}, not {expected}, seed {SEED}");
        }
    }
}

/// The near half keeps its bound at every offset, and the far one denies what is too long for it.
#[test]
fn two_halves_keep_a_bound_and_deny_long_ranges() {
    let spec = "ribbon:cell=24,near=60";
    let (_, keys) = key_sets().swap_remove(0);
    let (halves, _) = built(spec, &keys, 20.0, SEED);
    let [plain, far] = [12.0, 8.0].map(|bits| built("ribbon", &keys, bits, SEED).0);
    for len in [1, 32] {
        let (bound, alone) = (halves.rate_bound(len), plain.rate_bound(len));
        assert!(bound <= 1.1 * alone, "{len} keys: a bound of {bound}, and {alone} in 12 bits");
    }
    for degree in [Some(1), Some(30), Some(1 << 20), None] {
        hold_bound(spec, "uniform", &keys, 20.0, 32, degree);
    }
    let len = 1 << 22;
    assert!(halves.rate_bound(len) == 1.0);
    let expected = 40_000.0 * far.rate_bound(1) * 1.25;
    let found = maybes_anywhere(&*halves, &keys, len, 40_000);
    assert!(found <= 1.2 * expected + 4.5 * expected.sqrt(), "{found}, not {expected}, seed {SEED}");
}

/// A near half that would be longer than the body, and one that is made of halves itself.
#[test]
fn halves_that_do_not_fit_are_corrupt() {
    let (_, keys) = key_sets().swap_remove(0);
    let sealed = sealed("ribbon:cell=24,near=60", &keys, 20.0, SEED);
    let (envelope, payload) = Envelope::open(sealed.as_bytes()).expect("just sealed");
    assert!(Ribbon::open(payload, &envelope).is_ok());
    for near_bytes in [payload.len() as u64, u64::MAX - 3, u64::MAX] {
        let mut body = payload.to_vec();
        body[8..16].copy_from_slice(&near_bytes.to_le_bytes());
        assert!(Ribbon::open(&body, &envelope).is_err(), "{near_bytes} bytes");
    }
    // Neither a near half by cells nor a byte that no form has: readers before would take cells for keys.
    for at in [1, 7, 16 + 4, 16 + 5] {
        let mut body = payload.to_vec();
        body[at] = 20;
        assert!(Ribbon::open(&body, &envelope).is_err(), "byte {at}");
    }
    let nested = [&halves_header(payload.len())[..], payload, payload].concat();
    assert!(Ribbon::open(&nested, &envelope).is_err());
    for len in 0..40 {
        assert!(Ribbon::open(&payload[..len], &envelope).is_err(), "{len} bytes");
    }
}

#[test]
fn a_near_half_needs_cells_beside_it() {
    for text in ["ribbon:near=50", "ribbon:cell=0,near=50", "ribbon:cell=64", "ribbon:cell=9,near=5"] {
        assert!(text.parse::<RibbonSpec>().is_err(), "{text}");
    }
    let spec: RibbonSpec = "ribbon:unsampled,cell=24,near=60".parse().expect("a spec");
    assert_eq!(spec.to_string(), "ribbon:unsampled,cell=24,near=60");
}

/// Asking beside a key is asking a block whose one key is known.
#[test]
fn ranges_beside_a_lone_key_are_denied() {
    let keys: Vec<u64> = (1..5_000_u64).map(|number| (number << 30) + 1_000).collect();
    let (filter, _) = built("ribbon:block=13,planes=13,layer=1", &keys, AMPLE, SEED);
    let mut wrong = 0;
    for &key in &keys[1..keys.len() - 1] {
        wrong += u32::from(may_hold(&filter, key + 1, key + 7_000))
            + u32::from(may_hold(&filter, key - 1_000, key - 1));
    }
    // The few blocks that fit no layer ask the spill, whose rate is that of any block.
    assert!(wrong <= 12, "{wrong} of {} ranges beside their key, seed {SEED}", 2 * keys.len());
}

#[test]
fn the_seed_moves_the_false_positives() {
    let (_, keys) = key_sets().swap_remove(0);
    let positives = |seed| {
        let (filter, _) = built("ribbon:block=6,planes=7", &keys, AMPLE, seed);
        (0..20_000_u64).map(|number| may_hold(&filter, number << 44, (number << 44) + 9)).collect::<Vec<_>>()
    };
    assert_ne!(positives(1), positives(2));
    assert_eq!(positives(1), positives(1));
}

/// The bars of ranges of 1, 32 and 1,024 keys right after a key, at offsets up to 2^20 and up to 1,023; 10,000,000 keys where
/// `LACUNA_LONG` asks for them.
#[test]
fn fourteen_bits_hold_the_rates_beside_keys() {
    let (count, queries) = lacuna_testkit::effort::short_or_long((100_000, 100_000), (10_000_000, 2_000_000));
    let mut rng = Rng::new(SEED);
    let keys = sorted((0..count).map(|_| rng.next_u64()));
    let (filter, used) = built("ribbon", &keys, 14.0, SEED);
    println!("{used} bits, a bound of {}", filter.rate_bound(1));
    let bars = [(1 << 20, [9e-5, 2.8e-3, 0.09]), (1_023, [1e-5, 3e-4, 0.02])];
    for (degree, rates) in bars {
        for (len, rate) in [1, 32, 1_024].into_iter().zip(rates) {
            let ranges = (0..queries).filter_map(|_| empty_range(&mut rng, &keys, len, Some(degree)));
            let answers: Vec<bool> = ranges.map(|(lo, hi)| may_hold(&filter, lo, hi)).collect();
            let found = answers.iter().filter(|maybe| **maybe).count();
            let expected = answers.len() as f64 * rate;
            println!("offsets to {degree}, {len} keys: {found} of {}", answers.len());
            let max = expected + 4.0 * expected.sqrt();
            assert!(
                found as f64 <= max,
                "offsets to {degree}, {len} keys: {found}, not {expected}, seed {SEED}"
            );
        }
    }
}

/// A value of no bits says nothing, and no builder writes one.
#[test]
fn rows_without_planes_are_corrupt() {
    let keys: Vec<u64> = (0..1_000).map(|key| key << 30).collect();
    let sealed = sealed("ribbon:block=0,planes=3,window=1,layer=1", &keys, AMPLE, SEED);
    let (envelope, payload) = Envelope::open(sealed.as_bytes()).expect("just sealed");
    let spill = &payload[Layout::read(payload).expect("just sealed").spill_at..];
    let answer = |planes| {
        let layer = Layer { rows: WINDOW, tall_rows: 0, planes };
        let layout = Layout::of(Hashing::Seeded(SEED), 0, 1, &[layer]).expect("it fits memory");
        let body = [&layout.zeroed(), spill].concat();
        Ribbon::open(&body, &envelope).map(|ribbon| ribbon.any_in(Scalar, &body, 9, 9))
    };
    assert!(answer(1).is_ok() && answer(32).is_ok());
    assert!(answer(0).is_err());
}
