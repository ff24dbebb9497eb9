//! The table of constants: fitted to measured filters, printed with its prediction for each.

use std::collections::HashMap;

use lacuna_base::{KeySpaceId, Prediction};
use lacuna_families::testing::settled_ns;
use lacuna_families::{FAMILIES, Kind};

/// Steps of the descent along each constant.
const SWEEPS: usize = 2_000;
/// Reads of the table, and the size of the array of the first, as a power of two.
const READS: usize = 6;
const FIRST_READ_LOG2: f64 = 14.0;

/// One measured filter.
pub(crate) struct Point {
    pub(crate) kind: Kind,
    pub(crate) key_space: KeySpaceId,
    pub(crate) label: String,
    pub(crate) prediction: Prediction,
    pub(crate) ns: f64,
}

/// The table: what is added up for each point, and how.
pub(crate) struct Table {
    /// Nanoseconds of a read that waits, in arrays of 2^14, 2^16, ... bytes.
    reads: [f64; READS],
    /// For each family: nanoseconds of a call over integers and over byte strings, of a probe, and the share of a read.
    rows: HashMap<Kind, [f64; 4]>,
}

impl Table {
    /// The start of the search, which does not depend on it.
    pub(crate) fn new(points: &[Point]) -> Self {
        let rows = points.iter().map(|point| (point.kind, [10.0, 10.0, 5.0, 1.0])).collect();
        Self { reads: [2.0, 10.0, 50.0, 80.0, 120.0, 150.0], rows }
    }

    /// The families of the table, in the order of all.
    fn kinds(&self) -> Vec<Kind> {
        FAMILIES.iter().map(|family| family.kind).filter(|kind| self.rows.contains_key(kind)).collect()
    }

    /// Between which two reads an array lies, and how far from the first.
    fn place(bytes: usize) -> (usize, f64) {
        let place = (((bytes.max(1) as f64).log2() - FIRST_READ_LOG2) / 2.0).clamp(0.0, (READS - 1) as f64);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index of the table")]
        let index = (place as usize).min(READS - 2);
        (index, place - index as f64)
    }

    fn features(&self, point: &Point) -> [f64; 4] {
        let Prediction { probes, fetches, payload_bytes, .. } = point.prediction;
        let (index, share) = Self::place(payload_bytes);
        let read = self.reads[index] * (1.0 - share) + self.reads[index + 1] * share;
        let called = fetches.min(1.0);
        match point.key_space {
            KeySpaceId::U64 => [called, 0.0, probes, fetches * read],
            KeySpaceId::Bytes => [0.0, called, probes, fetches * read],
        }
    }

    fn predicted(&self, point: &Point) -> f64 {
        let parts = self.features(point).into_iter().zip(self.rows[&point.kind]);
        // What the smallest and largest key settle, as the designer takes it.
        settled_ns(point.key_space) + parts.map(|(feature, constant)| feature * constant).sum::<f64>()
    }

    /// Goes along each constant in turn to where the sum of `(predicted - ns)^2 / (predicted * ns)` is least.
    pub(crate) fn fit(&mut self, points: &[Point]) {
        for _ in 0..SWEEPS {
            for kind in self.kinds() {
                // Bloom filters say what a read is.
                for axis in 0..if kind.name() == "bloom" { 3 } else { 4 } {
                    let of_kind = points.iter().filter(|point| point.kind == kind);
                    let step = self.step(of_kind, |table, point| table.features(point)[axis]);
                    let constant = &mut self.rows.get_mut(&kind).expect("a row of the table")[axis];
                    *constant = f64::max(*constant + step, 0.0);
                }
            }
            for node in 0..READS {
                let step = self.step(points.iter(), |table, point| {
                    let (index, share) = Self::place(point.prediction.payload_bytes);
                    let part = if index == node {
                        1.0 - share
                    } else if index + 1 == node {
                        share
                    } else {
                        0.0
                    };
                    table.rows[&point.kind][3] * point.prediction.fetches * part
                });
                self.reads[node] = f64::max(self.reads[node] + step, 0.0);
            }
        }
    }

    /// How far to go along the constant that each point has `feature` of.
    fn step<'a>(
        &self,
        points: impl Iterator<Item = &'a Point>,
        feature: impl Fn(&Self, &Point) -> f64,
    ) -> f64 {
        let (mut above, mut below) = (0.0, 0.0);
        for point in points {
            let (predicted, feature) = (self.predicted(point), feature(self, point));
            above += feature * (point.ns - predicted) / (predicted * point.ns);
            below += feature * feature / (predicted * point.ns);
        }
        if below > 0.0 { above / below } else { 0.0 }
    }

    pub(crate) fn print(&self, points: &[Point]) {
        println!("reads in arrays of 2^14, 2^16, ... bytes: {:.1?}", self.reads);
        for kind in self.kinds() {
            let [integers, strings, probe, wait] = self.rows[&kind];
            println!("\n{} => ({integers:.1}, {strings:.1}, {probe:.2}, {wait:.2})", kind.name());
            for key_space in [KeySpaceId::U64, KeySpaceId::Bytes] {
                let is_asked = |point: &&Point| point.kind == kind && point.key_space == key_space;
                self.print_points(&points.iter().filter(is_asked).collect::<Vec<_>>());
            }
        }
    }

    fn print_points(&self, points: &[&Point]) {
        let mut errors: Vec<f64> =
            points.iter().map(|point| (self.predicted(point) / point.ns).ln().abs().exp()).collect();
        errors.sort_by(f64::total_cmp);
        let error = |share: usize| errors.get(errors.len() * share / 100).copied().unwrap_or(1.0);
        println!("off by {:.2} times (median), {:.2} (of 90 %)", error(50), error(90));
        for point in points {
            let Prediction { probes, fetches, payload_bytes, rate, .. } = point.prediction;
            let predicted = self.predicted(point);
            println!(
                "{:60} {payload_bytes:>9} bytes, {probes:7.2} probes, {fetches:6.2} fetches, rate {rate:.4}: {:7.1} ns, predicted {predicted:7.1} ({:+.0} %)",
                point.label,
                point.ns,
                (predicted / point.ns - 1.0) * 100.0
            );
        }
    }
}
