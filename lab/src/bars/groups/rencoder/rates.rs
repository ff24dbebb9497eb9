//! Rates: the paper's table 2, the base under two laws at once, and SE next to keys.
//!
//! Limits of table 2 are the paper's for the base; for SS and SE they are 1.1 times the larger of the paper's and
//! `0.6185^bits`, the rate of a Bloom filter of as many bits.

use lacuna_base::{DynFilter, Result};
use lacuna_bench::statistics::{queries_expecting, rate_passes};

use super::super::contest::{PlannedFilter, maybes, ranges};
use super::sample;
use crate::bars::bar::Bar;
use crate::bars::bar::Limit::AtMost;
use crate::bars::setting::Setting;
use lacuna_cli::Progress;

/// Bits per key with the paper's rate, for the base and for SS and SE.
const BASE: [(f64, f64); 5] = [(6.5, 0.5), (8.5, 0.25), (10.5, 0.1), (16.0, 0.01), (21.0, 0.001)];
const SELECTED: [(f64, f64); 5] = [(2.0, 0.5), (3.0, 0.25), (4.5, 0.1), (9.5, 0.01), (14.5, 0.001)];
/// Bits per key with the highest rate of the base, whether queries have to do with keys or not.
const BOTH: [(f64, f64); 2] = [(14.0, 0.02), (26.0, 1e-4)];
const ANYWHERE: &str = "uniform:N:2-32";
const BEHIND: &str = "offset:N:2-32:32";
/// Distances between keys and queries at which SE must do no worse than the base, and the bits of each.
const DEGREES: [u64; 6] = [1, 4, 16, 64, 256, 1_024];
const NEAR_BITS: f64 = 16.0;
/// Queries that a rate is counted over, at least.
const MIN_QUERIES: u64 = 20_000;

/// Measures all rates.
pub(super) fn bars(setting: &Setting, progress: &Progress) -> Result<Vec<Bar>> {
    let keys = setting.keys(&format!("uniform:{}", setting.rate_keys()))?;
    let subject = Subject { setting, keys: &keys };
    progress.say("rencoder: rates of table 2");
    let mut bars = subject.table_2()?;
    progress.say("rencoder: rates of one base for two laws");
    for (bits, max) in BOTH {
        for law in [ANYWHERE, BEHIND] {
            bars.push(subject.rate_bar("rencoder", bits, law, max)?);
        }
    }
    progress.say("rencoder: rates next to keys");
    bars.extend(subject.near_bars()?);
    bars.push(subject.equal_bar()?);
    Ok(bars)
}

/// What filters are built over.
struct Subject<'a> {
    setting: &'a Setting,
    keys: &'a [u64],
}

impl Subject<'_> {
    fn table_2(&self) -> Result<Vec<Bar>> {
        let mut bars = Vec::new();
        for (bits, paper) in BASE {
            bars.push(self.rate_bar("rencoder", bits, ANYWHERE, paper)?);
        }
        for spec in ["rencoder:ss", "rencoder:se"] {
            for (bits, paper) in SELECTED {
                let max = 1.1 * f64::max(paper, 0.6185_f64.powf(bits));
                bars.push(self.rate_bar(spec, bits, ANYWHERE, max)?);
            }
        }
        Ok(bars)
    }

    fn rate_bar(&self, spec: &str, bits: f64, law: &str, max: f64) -> Result<Bar> {
        let expected = self.setting.expected_false_positives();
        let asked = queries_expecting(expected, max).max(MIN_QUERIES);
        let pool = ranges(&self.setting.ranges(&law.replace('N', &asked.to_string()), self.keys)?);
        let maybes = maybes(&*self.open(spec, bits, law)?, &pool);
        let passes = rate_passes(maybes, max, asked, expected)?;
        Ok(Bar::rate(format!("{spec}, {law}, {bits} bits"), maybes, asked, max, passes))
    }

    /// SE beside the base; both are asked the same.
    fn near_bars(&self) -> Result<Vec<Bar>> {
        let mut bars = Vec::new();
        for degree in DEGREES {
            let law = format!("correlated:N:2-32:{degree}");
            bars.push(self.beside(&law, NEAR_BITS, "rencoder")?);
        }
        Ok(bars)
    }

    /// Far from keys, SE is SS.
    fn equal_bar(&self) -> Result<Bar> {
        self.beside(ANYWHERE, 9.5, "rencoder:ss")
    }

    /// The rate of SE beside that of `other`.
    fn beside(&self, law: &str, bits: f64, other: &str) -> Result<Bar> {
        let asked = 10 * MIN_QUERIES;
        let pool = ranges(&self.setting.ranges(&law.replace('N', &asked.to_string()), self.keys)?);
        let count = |spec| -> Result<u64> { Ok(maybes(&*self.open(spec, bits, law)?, &pool)) };
        let (sampled, without) = (count("rencoder:se")?, count(other)?);
        let shown = |maybes: u64| format!("{:.3e} ({maybes} of {asked})", maybes as f64 / asked as f64);
        Ok(Bar::number(
            format!("rencoder:se beside {other}, {law}, {bits} bits"),
            shown(sampled),
            shown(without),
            sampled as f64 / without.max(1) as f64,
            AtMost(1.0),
        ))
    }

    fn open(&self, spec: &str, bits: f64, law: &str) -> Result<Box<DynFilter<u64>>> {
        let planned = PlannedFilter::try_new(spec, bits, self.setting.seed)?;
        planned.with_sample(&sample(self.setting, law, self.keys)?).open(self.keys)
    }
}
