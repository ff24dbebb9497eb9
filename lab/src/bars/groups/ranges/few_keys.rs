//! Few keys: how many payload bits each of them takes for a rate of 2^-12 at single keys, all fixed costs
//! included.

use std::ops::RangeInclusive;

use lacuna_base::{Budget, ErrorKind, Result, U64Range};
use lacuna_workload::Rng;

use super::super::contest::{PlannedFilter, maybes};
use crate::bars::bar::Bar;
use crate::bars::bar::Limit::AtMost;
use crate::bars::setting::Setting;
use lacuna_cli::Progress;

const SPECS: [&str; 3] = ["ribbon", "bucketing", "grafite"];
/// Keys, and the most bits that each may take.
const SIZES: [(usize, f64); 2] = [(1_000, 15.0), (100, 20.0)];
const RATE: f64 = 1.0 / 4_096.0;
/// Budgets that are tried, in tenths of a bit. No filter of random keys has the rate in fewer than twelve
/// bits.
const TENTHS: RangeInclusive<u32> = 120..=300;
/// Single keys that each filter is asked for.
const POINTS: usize = 5_000;
const POINT_STREAM: u64 = 131;

/// Finds the smallest budget of every spec.
pub(super) fn bars(setting: &Setting, progress: &Progress) -> Result<Vec<Bar>> {
    let mut bars = Vec::new();
    for (count, max_bits) in SIZES {
        let few = FewKeys::draw(setting, count)?;
        for spec in SPECS {
            progress.say(format!("ranges: {spec} over {count} keys"));
            let bits = few.min_bits(spec)?;
            bars.push(Bar::number(
                format!("{spec}, {count} keys, payload bits a key for a rate of 2^-12"),
                format!("{bits} bits"),
                format!("{max_bits} bits"),
                bits / max_bits,
                AtMost(1.0),
            ));
        }
    }
    Ok(bars)
}

/// Sets of as many random keys each, and what their filters are asked.
struct FewKeys {
    sets: Vec<Vec<u64>>,
    points: Vec<U64Range>,
}

impl FewKeys {
    fn draw(setting: &Setting, count: usize) -> Result<Self> {
        let set_count = if setting.quick { 20 } else { 200 };
        let set = |number: u64| {
            let setting = Setting { seed: setting.seed.wrapping_add(number), ..*setting };
            setting.keys(&format!("uniform:{count}"))
        };
        let sets = (0..set_count).map(set).collect::<Result<_>>()?;
        let mut rng = Rng::with_stream(setting.seed, POINT_STREAM);
        let points = (0..POINTS).map(|_| U64Range::point(rng.next_u64())).collect();
        Ok(Self { sets, points })
    }

    /// The smallest budget with the rate; infinite if none of those that are tried has it.
    fn min_bits(&self, spec: &str) -> Result<f64> {
        for bits in TENTHS.map(|tenths| f64::from(tenths) / 10.0) {
            if self.rate(spec, bits)? <= RATE {
                return Ok(bits);
            }
        }
        Ok(f64::INFINITY)
    }

    /// The rate in `bits` payload bits a key; 1 if a set does not fit.
    fn rate(&self, spec: &str, bits: f64) -> Result<f64> {
        let mut found = 0;
        for (seed, keys) in (0..).zip(&self.sets) {
            let fixed_bits = (Budget::FIXED_BYTES * 8) as f64 / keys.len() as f64;
            match PlannedFilter::try_new(spec, bits - fixed_bits, seed)?.open(keys) {
                Ok(filter) => found += maybes(&*filter, &self.points),
                Err(problem) if matches!(problem.kind(), ErrorKind::BudgetTooSmall { .. }) => return Ok(1.0),
                Err(problem) => return Err(problem),
            }
        }
        Ok(found as f64 / (self.sets.len() * POINTS) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_budget_is_between_those_with_and_without_the_rate() {
        let few = FewKeys::draw(&Setting { quick: true, seed: 1 }, 100).expect("drawn");
        let bits = few.min_bits("grafite").expect("it fits");
        let tenth_less = ((bits * 10.0).round() - 1.0) / 10.0;
        println!("{bits} bits, seed 1");
        assert!(few.rate("grafite", bits).expect("it fits") <= RATE);
        assert!(few.rate("grafite", tenth_less).expect("it fits") > RATE);
        assert!(few.rate("bloom", 12.0).expect("it fits") > RATE, "a Bloom filter needs 17 bits");
    }
}
