//! Rates beside the highest that is allowed. The number of queries follows from the bar, as in the group
//! `rates`.

use lacuna_base::{DynFilter, Result, U64Range};
use lacuna_bench::statistics::{queries_expecting, rate_passes};
use lacuna_workload::{Keys, real_sets};

use super::super::contest::{maybes, ranges};
use super::{MAX_BITS, planned};
use crate::bars::bar::Limit::{AtMost, None};
use crate::bars::bar::{Bar, Verdict};
use crate::bars::setting::Setting;
use lacuna_cli::Progress;

/// Queries, their number left as `N`, and their highest rate.
type Held = (&'static str, f64);

const RIBBON: [Held; 6] = [
    ("correlated:N:1:1048576", 9e-5),
    ("correlated:N:32:1048576", 2.8e-3),
    ("correlated:N:1024:1048576", 0.09),
    ("correlated:N:1:1023", 1e-5),
    ("correlated:N:32:1023", 3e-4),
    ("correlated:N:1024:1023", 0.02),
];
const BUCKETING: [Held; 4] = [
    ("uniform:N:1", 2.5e-4),
    ("uniform:N:32", 2.5e-4),
    ("uniform:N:1024", 2.5e-4),
    ("uniform:N:1048576", 2.5e-4),
];
const GRAFITE: [Held; 3] =
    [("correlated:N:1:1024", 2.4e-4), ("correlated:N:32:1024", 7.5e-3), ("correlated:N:1024:1024", 0.215)];
const UNIFORM: [(&str, &[Held]); 3] = [("ribbon", &RIBBON), ("bucketing", &BUCKETING), ("grafite", &GRAFITE)];

/// What starts at keys that were taken out of generated clusters, and of a real set.
const CLUSTERS: Held = ("heldout:N:1024", 1e-3);
const PLACES: Held = ("heldout:N:32", 1e-2);

/// Budgets in which node numbers are stored exactly.
const EXACT_BITS: [f64; 2] = [12.0, 14.0];

/// Queries that a rate is counted over, at least.
const MIN_QUERIES: u64 = 15_000;

/// Rates between uniform keys.
pub(super) fn uniform_bars(setting: &Setting, progress: &Progress, keys: &[u64]) -> Result<Vec<Bar>> {
    let mut bars = Vec::new();
    for (spec, held) in UNIFORM {
        let subject = Subject::build(setting, spec, "uniform", MAX_BITS, keys)?;
        bars.push(subject.size_bar());
        for (law, max) in held {
            progress.say(format!("ranges: {spec}, {law}"));
            let ends = setting.ranges(&numbered(setting, law, *max), keys)?;
            bars.push(subject.rate_bar(law, &ranges(&ends), *max)?);
        }
    }
    Ok(bars)
}

/// Rates of what starts where keys are.
pub(super) fn held_out_bars(setting: &Setting, progress: &Progress) -> Result<Vec<Bar>> {
    let clusters = setting.keys(&format!("clustered:{}", setting.speed_keys()))?;
    let mut bars = Vec::new();
    for ((name, keys), (law, max)) in
        [(("clustered".to_owned(), clusters), CLUSTERS), (real("places_zorder")?, PLACES)]
    {
        progress.say(format!("ranges: {name}, {law}"));
        let (kept, ends) = setting.kept_and_ranges(&numbered(setting, law, max), keys)?;
        let subject = Subject::build(setting, "bucketing", &name, MAX_BITS, &kept)?;
        let bar = subject.rate_bar(law, &ranges(&ends), max)?;
        let is_twin = name.ends_with(TWIN);
        bars.push(subject.size_bar());
        bars.push(if is_twin { Bar { limit: None, verdict: Verdict::Info, ..bar } } else { bar });
    }
    Ok(bars)
}

/// Dense sets: every gap is asked for, and the filter states a bound of 0.
pub(super) fn exact_bars(setting: &Setting, progress: &Progress) -> Result<Vec<Bar>> {
    let (name, keys) = real("osm_node_ids")?;
    progress.say(format!("ranges: every gap of {name}"));
    let gaps: Vec<U64Range> =
        keys.windows(2).filter_map(|pair| U64Range::new(pair[0] + 1, pair[1] - 1)).collect();
    let mut bars = Vec::new();
    for bits in EXACT_BITS {
        let subject = Subject::build(setting, "bucketing", &name, bits, &keys)?;
        bars.extend([subject.size_bar(), subject.exact_bar(&gaps)]);
    }
    Ok(bars)
}

/// As many queries of `law` as give a verdict about `max`.
fn numbered(setting: &Setting, law: &str, max: f64) -> String {
    let count = queries_expecting(setting.expected_false_positives(), max).max(MIN_QUERIES);
    law.replace('N', &count.to_string())
}

/// After the name of keys that stand for a real set, whose rates are for information.
const TWIN: &str = " (twin)";

/// The integers of a real set, or of what stands for them, and their name.
fn real(name: &str) -> Result<(String, Vec<u64>)> {
    let set = real_sets().into_iter().find(|set| set.name() == name).expect("one of the eight");
    let twin = if set.is_twin() { TWIN } else { "" };
    match set.load()? {
        Keys::U64(keys) => Ok((format!("{name}{twin}"), keys)),
        Keys::Bytes(_) => unreachable!("its keys are integers"),
    }
}

/// A filter whose rates are counted.
struct Subject<'a> {
    setting: &'a Setting,
    name: String,
    max_bits: f64,
    bits: f64,
    filter: Box<DynFilter<u64>>,
}

impl<'a> Subject<'a> {
    fn build(setting: &'a Setting, spec: &str, set: &str, max_bits: f64, keys: &[u64]) -> Result<Self> {
        let filter = planned(setting, spec, max_bits, keys.len())?.open(keys)?;
        let bits = filter.size_in_bytes() as f64 * 8.0 / keys.len() as f64;
        Ok(Self { setting, name: format!("{spec}, {set} keys"), max_bits, bits, filter })
    }

    fn size_bar(&self) -> Bar {
        let (value, beside) = (format!("{:.2} bits", self.bits), format!("{} bits", self.max_bits));
        Bar::number(
            format!("{}, sealed bits a key", self.name),
            value,
            beside,
            self.bits / self.max_bits,
            AtMost(1.0),
        )
    }

    fn rate_bar(&self, law: &str, pool: &[U64Range], max: f64) -> Result<Bar> {
        let (maybes, asked) = (maybes(&*self.filter, pool), pool.len() as u64);
        let passes = rate_passes(maybes, max, asked, self.setting.expected_false_positives())?;
        Ok(Bar::rate(format!("{}, {law}, {:.2} bits", self.name, self.bits), maybes, asked, max, passes))
    }

    /// The rate among `gaps` or the bound for ranges of any length, whichever is higher.
    fn exact_bar(&self, gaps: &[U64Range]) -> Bar {
        let (maybes, bound) = (maybes(&*self.filter, gaps), self.filter.rate_bound(u64::MAX));
        let name = format!("{}, gaps, {:.2} bits", self.name, self.bits);
        let value = format!("{maybes} of {} maybe, bound {bound}", gaps.len());
        let rate = maybes as f64 / gaps.len() as f64;
        Bar::number(name, value, "0, exact", rate.max(bound), AtMost(0.0))
    }
}

#[cfg(test)]
mod tests {
    use lacuna_workload::QuerySource;

    use super::*;

    #[test]
    fn every_law_can_be_drawn_and_judged() {
        let setting = Setting { quick: false, seed: 1 };
        let all = RIBBON.iter().chain(&BUCKETING).chain(&GRAFITE).chain([&CLUSTERS, &PLACES]);
        for (law, max) in all {
            let source = QuerySource::parse(&numbered(&setting, law, *max)).expect("a source in order");
            let asked = source.count as u64;
            assert!(asked <= 20_000_000, "{law}: {asked} queries take too much memory");
            rate_passes(0, *max, asked, setting.expected_false_positives()).expect("enough queries");
        }
    }
}
