//! The forms that may be the best for the sampled queries: keys as they are, keys by cells, or a half of each.
//!
//! A part whose unit is a cell of `2^c` keys says "maybe" to a range of n cells with the chance `n / 2^m`, and always where the range
//! shares a cell with a key. So cells as long as the ranges are best far from keys, and cells of one key next to them. These rates
//! are rough, and taken from few queries: they choose sizes; what is chosen is then predicted in full.

use std::ops::RangeInclusive;

use lacuna_base::KeyStatistics;
use lacuna_base::internal::thinned;

use super::codec::HALVES_HEADER_BYTES;
use super::predict::predict_layers;
use super::spec::{NEAR_PERCENT, RibbonSpec};
use crate::statistics::{EmptyQuery, IntegerStatistics, IntegerView};

/// Queries that are looked at.
const MAX_QUERIES: usize = 1_000;
/// Sizes of cells that are tried, as a power of two.
const CELLS: RangeInclusive<u32> = 1..=44;
/// Sizes that seem as good as the best: few queries do not show how rarely one shares a cell with a key, so the smallest of them
/// is taken.
const TOLERANCE: f64 = 1.1;
/// Another form must seem better than a simpler one by this factor.
const WORTHWHILE: f64 = 0.9;
/// Chance of a "maybe" from which on a range is left to the far half.
const TOO_LONG: f64 = 0.5;
/// Bits for each plane, with thresholds and bumped blocks.
const BITS_A_PLANE: f64 = 1.03;
/// Bits of a part for each cell beside its planes, with what a forecast of them lacks.
const BITS_BESIDE: f64 = 0.3;
/// Bytes of a part beside its cells.
const BYTES_BESIDE: f64 = 64.0;
/// Steps in which the halves are weighed, in percent.
const STEP: usize = 5;

/// `spec`, and what may be better for the sampled queries; neither `spec` nor two halves where all keys of a part would be spilled:
/// that is Grafite with a longer way to it, and of two halves such a one is not what is predicted.
pub(crate) fn likely_forms<K: IntegerView + ?Sized>(
    known: &KeyStatistics<'_, K>,
    spec: RibbonSpec,
) -> Vec<RibbonSpec> {
    let statistics = known.view(K::integers);
    if statistics.is_settled {
        return Vec::new();
    }
    let plain = predict_layers(spec, &statistics).map(|_| spec);
    let others = if spec.is_unsampled() { Vec::new() } else { Rough::of(&statistics).forms(spec) };
    let is_as_predicted =
        |form: &RibbonSpec| form.near_percent().is_none() || predict_layers(*form, &statistics).is_some();
    plain.into_iter().chain(others.into_iter().filter(is_as_predicted)).collect()
}

/// `spec` in two halves, with the bytes of both: a near one in `bytes`, of which it makes the rate `unit_rate` for each key asked,
/// and a far one in as few as it takes for the rate `promised` of the sampled queries. `None` where no cells give that rate.
pub(crate) fn halves_that_promise(
    spec: RibbonSpec,
    statistics: &IntegerStatistics,
    (bytes, unit_rate): (usize, f64),
    promised: f64,
) -> Option<(RibbonSpec, usize)> {
    let rough = Rough::of(statistics);
    // Of all queries; a share of them is settled without a look.
    let promised = promised * statistics.total as f64 / statistics.inside.len().max(1) as f64;
    let with_cells = |cell_log2| Some((cell_log2, rough.far_planes(cell_log2, unit_rate, promised)?));
    let forms: Vec<(u32, f64)> = CELLS.filter_map(with_cells).collect();
    let min = forms.iter().map(|(_, planes)| *planes).fold(f64::INFINITY, f64::min);
    let (cell_log2, planes) = *forms.iter().find(|(_, planes)| *planes <= min + libm::log2(TOLERANCE))?;
    let far_bits = (planes * BITS_A_PLANE + BITS_BESIDE) * rough.cells(cell_log2);
    let (near, far) = (bytes as f64, far_bits / 8.0 + BYTES_BESIDE);
    let (min, max) = (f64::from(*NEAR_PERCENT.start()), f64::from(*NEAR_PERCENT.end()));
    let percent = (100.0 * near / (near + far)).round().clamp(min, max);
    let all = (near * 100.0 / percent).max(far * 100.0 / (100.0 - percent));
    #[expect(clippy::cast_possible_truncation, reason = "10 to 90, and a size in memory")]
    let (percent, all) = (percent as u32, all.ceil() as usize);
    Some((spec.with_cells(cell_log2).with_near(percent), all + HALVES_HEADER_BYTES))
}

/// Rough rates over some of the queries.
struct Rough<'a> {
    statistics: &'a IntegerStatistics,
    queries: Vec<EmptyQuery>,
}

/// The sum of the chances of a "maybe" about `queries`, of a part in cells of `2^cell_log2` keys.
fn maybes(queries: &[EmptyQuery], cell_log2: u32, unit_rate: f64) -> f64 {
    queries.iter().map(|query| rate(query, cell_log2, unit_rate)).sum()
}

fn rate(query: &EmptyQuery, cell_log2: u32, unit_rate: f64) -> f64 {
    let query = query.in_cells(cell_log2);
    if query.is_apart() { (query.range_len() * unit_rate).min(1.0) } else { 1.0 }
}

impl<'a> Rough<'a> {
    fn of(statistics: &'a IntegerStatistics) -> Self {
        let some = thinned(statistics.inside.len(), MAX_QUERIES);
        Self { statistics, queries: some.map(|index| statistics.inside[index]).collect() }
    }

    /// Forms other than `spec` that seem better than it.
    fn forms(&self, spec: RibbonSpec) -> Vec<RibbonSpec> {
        let bytes = self.statistics.max_bytes as f64;
        let unit_rate = self.unit_rate(0, bytes);
        let plain = maybes(&self.queries, 0, unit_rate);
        let (cell_log2, in_cells) = self.best_cells(&self.queries, bytes);
        let is_long = |query: &&EmptyQuery| query.range_len() * unit_rate > TOO_LONG;
        let long: Vec<EmptyQuery> = self.queries.iter().filter(is_long).copied().collect();
        let mut forms = Vec::new();
        if in_cells < WORTHWHILE * plain {
            forms.push(spec.with_cells(cell_log2));
        }
        if !long.is_empty() && long.len() < self.queries.len() {
            let (cell_log2, _) = self.best_cells(&long, bytes / 2.0);
            let (percent, of_halves) = self.best_halves(cell_log2, bytes);
            if of_halves < WORTHWHILE * plain.min(in_cells) {
                forms.push(spec.with_cells(cell_log2).with_near(percent));
            }
        }
        forms
    }

    /// Cells of `2^cell_log2` keys that hold one.
    fn cells(&self, cell_log2: u32) -> f64 {
        let width = libm::exp2(f64::from(cell_log2));
        self.statistics.gaps.covered(width) / width + 1.0
    }

    /// The chance of a "maybe" for each cell asked, of a part in `bytes`.
    fn unit_rate(&self, cell_log2: u32, bytes: f64) -> f64 {
        libm::exp2(-bytes * 8.0 / self.cells(cell_log2) / BITS_A_PLANE)
    }

    /// Planes of a far half beside a near one with the rate `unit_rate` for each key, for the rate `promised`; `None` if it is not to
    /// be had with these cells.
    fn far_planes(&self, cell_log2: u32, unit_rate: f64, promised: f64) -> Option<f64> {
        let (mut beside_keys, mut cells) = (0.0, 0.0);
        for query in &self.queries {
            let near = rate(query, 0, unit_rate);
            let query = query.in_cells(cell_log2);
            match query.is_apart() {
                true => cells += near * query.range_len(),
                false => beside_keys += near,
            }
        }
        let left = promised * self.queries.len() as f64 - beside_keys;
        (left > 0.0).then(|| libm::log2(cells / left).max(1.0))
    }

    /// The smallest cells that are about the best for `queries`, as a power of two, with the sum of the chances.
    fn best_cells(&self, queries: &[EmptyQuery], bytes: f64) -> (u32, f64) {
        let sums =
            CELLS.map(|cell_log2| (cell_log2, maybes(queries, cell_log2, self.unit_rate(cell_log2, bytes))));
        let sums: Vec<(u32, f64)> = sums.collect();
        let min = sums.iter().map(|(_, sum)| *sum).fold(f64::INFINITY, f64::min);
        *sums.iter().find(|(_, sum)| *sum <= min * TOLERANCE).expect("the least is one of them")
    }

    /// Percent of `bytes` for the near half that are the best, with the sum of the chances.
    fn best_halves(&self, cell_log2: u32, bytes: f64) -> (u32, f64) {
        let of = |percent: u32| {
            let near_bytes = bytes * f64::from(percent) / 100.0;
            let (near, far) = (self.unit_rate(0, near_bytes), self.unit_rate(cell_log2, bytes - near_bytes));
            let both = |query: &EmptyQuery| rate(query, 0, near) * rate(query, cell_log2, far);
            (percent, self.queries.iter().map(both).sum::<f64>())
        };
        let all = NEAR_PERCENT.step_by(STEP).map(of);
        all.min_by(|(_, a), (_, b)| a.total_cmp(b)).expect("there are percentages")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use lacuna_base::{Budget, BuildPlan, Sample, SortedKeys};
    use lacuna_workload::Rng;

    use super::*;

    const SEED: u64 = 31;

    /// The forms for queries of these distances after a key and lengths, in turn.
    fn forms(laws: &[(u64, u64)]) -> Vec<String> {
        let mut rng = Rng::new(SEED);
        let mut keys: Vec<u64> = (0..20_000).map(|_| rng.next_u64()).collect();
        keys.sort_unstable();
        let mut sample = Sample::<u64>::new();
        for (key, (distance, len)) in keys[..19_000].iter().step_by(10).zip(laws.iter().cycle()) {
            let lo = key + rng.between(1, *distance);
            sample.push(lo, lo + rng.between(1, *len) - 1);
        }
        let plan = BuildPlan::<u64>::new(Budget::bits_per_key(14.0).expect("in range"));
        let plan = plan.with_sample(Arc::new(sample));
        let known = KeyStatistics::new(SortedKeys::integers(&keys).expect("ascending"), &plan);
        let forms: Vec<String> =
            likely_forms(&known, RibbonSpec::default()).iter().map(ToString::to_string).collect();
        println!("{laws:?}, seed {SEED}: {forms:?}");
        forms
    }

    #[test]
    fn short_ranges_next_to_keys_want_keys_as_they_are() {
        assert_eq!(forms(&[(32, 32)]), ["ribbon"]);
        assert_eq!(forms(&[(1 << 10, 1)]), ["ribbon"]);
    }

    #[test]
    fn long_ranges_far_from_keys_want_cells() {
        let found = forms(&[(1 << 47, 1 << 20)]);
        assert!(found.len() == 2 && found[1].starts_with("ribbon:cell=2"), "{found:?}");
    }

    #[test]
    fn both_in_turn_want_a_half_each() {
        let found = forms(&[(32, 32), (1 << 47, 1 << 20)]);
        let halves = found.last().expect("one at least");
        assert!(halves.starts_with("ribbon:cell=2") && halves.contains(",near="), "{found:?}");
    }
}
