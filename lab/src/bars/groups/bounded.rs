//! Questions that use up their bound on probes, beside as many standard Bloom filters asked for points.

use lacuna_base::Result;
use lacuna_bench::harness::{Rounds, TaskId};

use super::contest::{PlannedFilter, add_single, points, ranges};
use crate::bars::bar::Bar;
use crate::bars::bar::Limit;
use crate::bars::setting::Setting;
use lacuna_cli::Progress;

/// Filters asked for what costs them most.
pub(super) struct Bounded<'a> {
    /// Specs, each with the most that a question may cost, in standard Bloom filters asked for a point.
    pub(super) specs: &'a [(&'a str, Limit)],
    /// Queries, their number left as `N`.
    pub(super) law: &'a str,
    pub(super) bits: f64,
}

/// Queries of the sample.
const SAMPLED: usize = 20_000;

impl Bounded<'_> {
    /// Measures every spec over uniform keys.
    pub(super) fn bars(&self, setting: &Setting, progress: &Progress) -> Result<Vec<Bar>> {
        progress.say(format!("{}: questions that use up their bound", self.specs[0].0));
        let keys = setting.keys(&format!("uniform:{}", setting.rate_keys()))?;
        let ends = setting.ranges(&self.law.replace('N', &(setting.questions() / 16).to_string()), &keys)?;
        let (points, pool) = (points(&ends), ranges(&ends));
        let sample = &ends[..ends.len().min(SAMPLED)];
        let open = |spec: &str| {
            PlannedFilter::try_new(spec, self.bits, setting.seed)?.with_sample(sample).open(&keys)
        };
        let bloom = open("bloom")?;
        let filters = self.specs.iter().map(|(spec, _)| open(spec)).collect::<Result<Vec<_>>>()?;
        let mut rounds = Rounds::new();
        let yardstick = add_single(&mut rounds, "bloom point", &*bloom, &points);
        let asked = self.specs.iter().zip(&filters);
        let tasks: Vec<TaskId> =
            asked.map(|((spec, _), filter)| add_single(&mut rounds, spec, &**filter, &pool)).collect();
        let timings = rounds.run(setting.query_rounds(), &mut |_| {});
        let bars = self.specs.iter().zip(tasks).map(|((spec, limit), task)| {
            let name = format!("{spec}, {}, single, {} bits", self.law, self.bits);
            Bar::times_longer(name, &timings, [task, yardstick], *limit)
        });
        Ok(bars.collect())
    }
}
