//! `rencoder:float` over floats of either sign, beside the paper's strawman.

use std::collections::BTreeSet;

use lacuna_base::{DynFilter, TypedKey, U64Range};
use lacuna_workload::Rng;

use super::tests_kit::{build, positives};

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
        let filter = build(spec, &keys, BITS_PER_KEY);
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
    let two_stage = rate(&*build("rencoder:float", &keys, BITS_PER_KEY), &ranges, TypedKey::to_key);
    let straw = rate(&*build("rencoder", &scaled, BITS_PER_KEY), &ranges, strawman);
    assert!(two_stage <= 0.1, "{two_stage}, seed {SEED}");
    assert!(5.0 * two_stage <= straw, "{two_stage} in two stages, {straw} for the strawman, seed {SEED}");
}

/// Section 3.5 against its strawman and the plain order-preserving map, at equal bits.
#[test]
fn two_stages_beat_both_other_float_filters() {
    let mut rng = Rng::new(12);
    let mut values: Vec<f64> = (0..50_000).map(|_| wide_float(&mut rng)).collect();
    values.sort_by(f64::total_cmp);
    let keys: BTreeSet<u64> = values.iter().map(|value| value.to_key()).collect();
    let keys: Vec<u64> = keys.into_iter().collect();
    let scale = u64::MAX as f64 / (values[values.len() - 1] - values[0]) / 2.0;
    #[expect(clippy::cast_possible_truncation, reason = "at most half of u64::MAX")]
    let scaled = |value: f64| ((value - values[0]) * scale) as u64;
    let straw: BTreeSet<u64> = values.iter().map(|&value| scaled(value)).collect();
    let straw: Vec<u64> = straw.into_iter().collect();
    let queries: Vec<(f64, f64)> = (0..50_000)
        .map(|_| wide_float(&mut rng))
        .map(|from| (from, from + from.abs() * 1e-9))
        .filter(|(from, to)| {
            let next = values.partition_point(|value| value < from);
            values.get(next).is_none_or(|value| value > to)
        })
        .collect();
    let mapped: Vec<(u64, u64)> = queries.iter().map(|(from, to)| (from.to_key(), to.to_key())).collect();
    let strawed: Vec<(u64, u64)> = queries.iter().map(|&(from, to)| (scaled(from), scaled(to))).collect();
    let two_stage = positives(&*build("rencoder:float", &keys, 14.0), &mapped);
    let plain = positives(&*build("rencoder", &keys, 14.0), &mapped);
    let strawman = positives(&*build("rencoder", &straw, 14.0), &strawed);
    assert!(
        two_stage * 5.0 < plain.min(strawman),
        "{two_stage}, plain {plain}, strawman {strawman}, seed 12"
    );
}

/// A float of either sign between 1e-30 and 1e30.
fn wide_float(rng: &mut Rng) -> f64 {
    let exponent = i32::try_from(rng.below(200)).expect("small") - 100;
    let mantissa = 1.0 + rng.below(1 << 52) as f64 / (1u64 << 52) as f64;
    let sign = if rng.below(2) == 0 { -1.0 } else { 1.0 };
    sign * mantissa * 2f64.powi(exponent)
}
