//! Grafite's rate, for any keys and any queries.
//!
//! With b bits a key, a range of L key values meets one of the hashed keys with probability
//! `1 - exp(-L / 2^(b - overhead))`, where the overhead of the encoding is about 2 bits; the bar allows 2.2 and a tenth
//! more. The number of queries follows from the bar, so that a filter which just meets it gives 150 false positives,
//! and the verdict is [`rate_passes`].

use lacuna_base::{DynFilter, Result, U64Range};
use lacuna_bench::statistics::{queries_expecting, rate_passes};

use super::contest::{PlannedFilter, maybes, ranges};
use crate::bars::bar::Bar;
use crate::bars::setting::Setting;
use lacuna_cli::Progress;

const KEY_SHAPES: [&str; 2] = ["uniform", "clustered"];
const BUDGETS: [f64; 4] = [10.0, 14.0, 18.0, 22.0];
const LENGTHS: [u64; 3] = [1, 32, 1_024];
/// Largest distance between a key and the start of a correlated query.
const DEGREE: u64 = 1_024;
/// Limits of the number of queries that a rate is counted over.
const QUERIES: (u64, u64) = (100_000, 20_000_000);

/// Measures every shape of keys, kind of queries, length and budget.
pub(super) fn run(setting: &Setting, progress: &Progress) -> Result<Vec<Bar>> {
    let mut bars = Vec::new();
    for shape in KEY_SHAPES {
        progress.say(format!("rates: building filters over {shape} keys"));
        let keys = setting.keys(&format!("{shape}:{}", setting.rate_keys()))?;
        let mut subjects = Vec::new();
        for bits in BUDGETS {
            subjects.push(Subject::try_new(setting, bits, &keys)?);
        }
        for kind in ["uniform", "correlated"] {
            for length in LENGTHS {
                let name = format!("{shape} keys, {kind} queries, L = {length}");
                progress.say(format!("rates: {name}"));
                let tested: Vec<&Subject> =
                    subjects.iter().filter(|subject| subject.is_tested(length)).collect();
                let pool = pool(setting, &keys, kind, length, &tested)?;
                for subject in tested {
                    bars.push(subject.bar(setting, &name, length, &pool)?);
                }
            }
        }
    }
    Ok(bars)
}

/// As many queries as any of `tested` needs.
fn pool(
    setting: &Setting,
    keys: &[u64],
    kind: &str,
    length: u64,
    tested: &[&Subject],
) -> Result<Vec<U64Range>> {
    let count = tested.iter().map(|subject| subject.query_count(setting, length)).max().unwrap_or(0);
    let degree = if kind == "correlated" { format!(":{DEGREE}") } else { String::new() };
    Ok(ranges(&setting.ranges(&format!("{kind}:{count}:{length}{degree}"), keys)?))
}

/// A filter whose rate is measured.
struct Subject {
    bits: f64,
    filter: Box<DynFilter<u64>>,
    key_count: usize,
}

impl Subject {
    fn try_new(setting: &Setting, bits: f64, keys: &[u64]) -> Result<Self> {
        let planned = PlannedFilter::try_new("grafite", bits, setting.seed)?;
        Ok(Self { bits, filter: planned.open(keys)?, key_count: keys.len() })
    }

    /// At 22 bits, points are denied so often that no affordable number of queries would give a verdict.
    fn is_tested(&self, length: u64) -> bool {
        length > 1 || self.bits < 22.0
    }

    fn sealed_bits_per_key(&self) -> f64 {
        self.filter.size_in_bytes() as f64 * 8.0 / self.key_count as f64
    }

    /// The highest rate that passes.
    fn max(&self, length: u64) -> f64 {
        let reduced_universe = (self.sealed_bits_per_key() - 2.2).exp2();
        let hit = -(-(length as f64) / reduced_universe).exp_m1();
        (1.1 * hit).min(1.0)
    }

    fn query_count(&self, setting: &Setting, length: u64) -> u64 {
        let enough = queries_expecting(setting.expected_false_positives(), self.max(length));
        enough.clamp(QUERIES.0, QUERIES.1)
    }

    fn bar(&self, setting: &Setting, name: &str, length: u64, pool: &[U64Range]) -> Result<Bar> {
        let query_count = self.query_count(setting, length);
        let pool = &pool[..usize::try_from(query_count).expect("at most 20 million")];
        let maybes = maybes(&*self.filter, pool);
        let max = self.max(length);
        let passes = rate_passes(maybes, max, query_count, setting.expected_false_positives())?;
        let name = format!("grafite {name}, {:.2} bits", self.sealed_bits_per_key());
        Ok(Bar::rate(name, maybes, query_count, max, passes))
    }
}
