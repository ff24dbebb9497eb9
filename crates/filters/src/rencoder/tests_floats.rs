//! `rencoder:float` over 32-bit floats of either sign, beside the paper's strawman.

use lacuna_core::{Budget, BuildPlan, DynFilter, SortedKeys, TypedKey, U64Range};
use lacuna_workload::Rng;

const SEED: u64 = 21;
const KEYS: usize = 20_000;
const BITS_PER_KEY: f64 = 14.0;

/// Distinct values of many magnitudes and either sign, ascending; ends and zeros among them.
fn values(rng: &mut Rng) -> Vec<f32> {
    let mut values = vec![f32::MIN, f32::MAX, 0.0, f32::MIN_POSITIVE, -f32::MIN_POSITIVE, f32::INFINITY];
    while values.len() < KEYS {
        let magnitude = f32::from_bits(u32::try_from(rng.between(90, 160) << 23).expect("an exponent"));
        let mantissa = 1.0 + rng.below(1 << 23) as f32 / 8_388_608.0;
        values.push(if rng.below(2) == 0 { mantissa * magnitude } else { -mantissa * magnitude });
    }
    values.sort_by(f32::total_cmp);
    values.dedup();
    values
}

fn build(spec: &str, keys: &[u64]) -> Box<DynFilter<u64>> {
    let plan = BuildPlan::<u64>::new(Budget::bits_per_key(BITS_PER_KEY).expect("in range")).with_seed(SEED);
    let spec = crate::spec::<u64>(spec).expect("known");
    let sealed = spec.build(SortedKeys::integers(keys).expect("ascending"), &plan).expect("fits");
    crate::open(sealed).expect("just sealed")
}

/// The paper's strawman: a factor that makes integers of all values, here after moving the smallest to 0.
fn strawman(value: f32) -> u64 {
    const FACTOR: f64 = u64::MAX as f64 / (2.0 * f32::MAX as f64);
    #[expect(clippy::cast_possible_truncation, reason = "the factor was made for it; f64 to u64 saturates")]
    let key = ((f64::from(value) + f64::from(f32::MAX)) * FACTOR) as u64;
    key
}

/// Closed ranges of a few neighbouring floats that hold none of `values`.
fn empty_ranges(values: &[f32], rng: &mut Rng) -> Vec<(f32, f32)> {
    let mut ranges = Vec::new();
    while ranges.len() < 20_000 {
        let near = values[rng.index(values.len())];
        let low = near * (1.0 + rng.between(1, 1_000) as f32 * 1e-5);
        let high = low.next_up().next_up();
        let next = values.partition_point(|value| *value < low);
        if low.is_finite() && values.get(next).is_none_or(|value| *value > high) {
            ranges.push((low, high));
        }
    }
    ranges
}

fn rate(filter: &DynFilter<u64>, ranges: &[(f32, f32)], key: fn(f32) -> u64) -> f64 {
    let maybe = |&&(low, high): &&(f32, f32)| {
        filter.may_contain_range(U64Range::new(key(low), key(high)).expect("the map keeps the order"))
    };
    ranges.iter().filter(maybe).count() as f64 / ranges.len() as f64
}

#[test]
fn every_f32_is_found() {
    let mut rng = Rng::new(SEED);
    let values = values(&mut rng);
    let keys: Vec<u64> = values.iter().map(|value| value.to_key()).collect();
    for spec in ["rencoder:float", "rencoder:float,exponent=0", "rencoder:float,exponent=30,levels=5"] {
        let filter = build(spec, &keys);
        for value in &values {
            assert!(filter.may_contain(value.to_key()), "{value} under {spec}, seed {SEED}");
            let around = U64Range::new(value.next_down().to_key(), value.next_up().to_key());
            let around = around.expect("the map keeps the order");
            assert!(filter.may_contain_range(around), "around {value} under {spec}, seed {SEED}");
        }
    }
}

#[test]
fn two_stages_beat_the_strawman_on_f32() {
    let mut rng = Rng::new(SEED);
    let values = values(&mut rng);
    let ranges = empty_ranges(&values, &mut rng);
    let keys: Vec<u64> = values.iter().map(|value| value.to_key()).collect();
    let mut scaled: Vec<u64> = values.iter().map(|&value| strawman(value)).collect();
    scaled.dedup();
    let two_stage = rate(&*build("rencoder:float", &keys), &ranges, TypedKey::to_key);
    let straw = rate(&*build("rencoder", &scaled), &ranges, strawman);
    assert!(two_stage <= 0.1, "{two_stage}, seed {SEED}");
    assert!(5.0 * two_stage <= straw, "{two_stage} in two stages, {straw} for the strawman, seed {SEED}");
}
