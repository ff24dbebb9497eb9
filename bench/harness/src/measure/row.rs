//! One line of a comparison.

use lacuna_base::KeySpace;
use serde::{Deserialize, Serialize};

use super::speed::{Speed, Time};
use super::truth::Truth;
use super::{Built, Contender, Setting};

/// What was measured of one filter over one workload. The field names are those of `--format json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Family, such as `grafite`.
    pub filter: String,
    /// Spec with its parameters, as the registry writes it.
    pub spec: String,
    /// Where the keys came from.
    pub keys: String,
    /// Number of distinct keys in the filter.
    pub key_count: usize,
    /// Budget, in bits per key.
    pub bits_per_key_asked: f64,
    /// Sealed size, envelope included, in bits per key.
    pub bits_per_key: f64,
    /// Sorted slice to sealed bytes, in nanoseconds per key.
    pub build_ns_per_key: f64,
    /// The least of the middle half of the rounds.
    pub build_ns_per_key_low: f64,
    /// The greatest of the middle half of the rounds.
    pub build_ns_per_key_high: f64,
    /// Where the queries came from.
    pub queries: String,
    /// Number of queries.
    pub query_count: usize,
    /// Queries that hold no key.
    pub empty_count: usize,
    /// "Maybe" among the empty queries, as a share; none without empty queries.
    pub fpr: Option<f64>,
    /// The share that was predicted from keys and sampled queries; none without empty queries.
    pub predicted_fpr: Option<f64>,
    /// "No" where a key is. Anything but 0 is a bug.
    pub false_negatives: u64,
    /// Dependent singles, in nanoseconds.
    pub ns_per_query: f64,
    /// The least of the middle half of the rounds.
    pub ns_per_query_low: f64,
    /// The greatest of the middle half of the rounds.
    pub ns_per_query_high: f64,
    /// Batches of 1,024, in nanoseconds per range.
    pub ns_per_query_batched: f64,
    /// The least of the middle half of the rounds.
    pub ns_per_query_batched_low: f64,
    /// The greatest of the middle half of the rounds.
    pub ns_per_query_batched_high: f64,
    /// One dependent random read in an array of the filter's size, in nanoseconds.
    pub memory_floor_ns: f64,
    /// Seed of the workload and of the filter's hashes.
    pub seed: u64,
    /// What a designer chose, or why the filter says little about these keys.
    pub note: Option<String>,
}

impl Row {
    pub(super) fn new<K: KeySpace + ?Sized>(
        contender: &Contender<'_>,
        setting: &Setting<'_>,
        built: &Built<K>,
        truth: &Truth,
        build: Time,
        speed: Speed,
    ) -> Self {
        let [build, single, batched] = [build, speed.per_query, speed.per_query_batched].map(Time::rounded);
        let spec = built.spec.name();
        let key_count = setting.workload.inserted.len();
        Self {
            filter: spec.split(':').next().unwrap_or_default().to_owned(),
            spec,
            keys: setting.keys.to_owned(),
            key_count,
            bits_per_key_asked: contender.bits_per_key,
            bits_per_key: rounded(built.filter.size_in_bytes() as f64 * 8.0 / key_count as f64, 1e4),
            build_ns_per_key: build.median,
            build_ns_per_key_low: build.low,
            build_ns_per_key_high: build.high,
            queries: setting.queries.to_owned(),
            query_count: truth.query_count,
            empty_count: truth.empty_count,
            fpr: truth.rate(),
            predicted_fpr: None,
            false_negatives: truth.false_negatives,
            ns_per_query: single.median,
            ns_per_query_low: single.low,
            ns_per_query_high: single.high,
            ns_per_query_batched: batched.median,
            ns_per_query_batched_low: batched.low,
            ns_per_query_batched_high: batched.high,
            memory_floor_ns: rounded(speed.memory_floor, 1e2),
            seed: setting.seed,
            note: None,
        }
    }

    /// How far the middle half of the rounds of single queries lies apart, as a share of the median: above 0.1, another
    /// process was using the machine.
    pub(crate) fn spread(&self) -> f64 {
        (self.ns_per_query_high - self.ns_per_query_low) / self.ns_per_query.max(0.01)
    }
}

impl Time {
    fn rounded(self) -> Self {
        let Self { median, low, high } = self;
        let [median, low, high] = [median, low, high].map(|ns| rounded(ns, 1e2));
        Self { median, low, high }
    }
}

/// A filter that does not fit its budget. The fields are those of a [`Row`], as far as they are known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Unfit {
    /// Family, such as `surf`.
    pub filter: String,
    /// Spec as it was given.
    pub spec: String,
    /// Where the keys came from.
    pub keys: String,
    /// Number of distinct keys.
    pub key_count: usize,
    /// Budget, in bits per key.
    pub bits_per_key_asked: f64,
    /// Where the queries came from.
    pub queries: String,
    /// Seed of the workload and of the filter's hashes.
    pub seed: u64,
    /// The smallest budget that works, in bits per key.
    pub smallest_bits_per_key: f64,
    /// A sentence about it.
    pub note: String,
}

impl Unfit {
    pub(super) fn new(contender: &Contender<'_>, setting: &Setting<'_>, smallest_bits_per_key: f64) -> Self {
        let shown = (smallest_bits_per_key * 100.0).ceil() / 100.0;
        Self {
            filter: contender.spec.split(':').next().unwrap_or_default().to_owned(),
            spec: contender.spec.to_owned(),
            keys: setting.keys.to_owned(),
            key_count: setting.workload.inserted.len(),
            bits_per_key_asked: contender.bits_per_key,
            queries: setting.queries.to_owned(),
            seed: setting.seed,
            smallest_bits_per_key,
            note: format!("does not fit: needs {shown:.2} bits per key"),
        }
    }
}

/// What became of a contender.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Outcome {
    /// It was measured.
    Row(Box<Row>),
    /// It was not built.
    Unfit(Unfit),
}

impl Outcome {
    /// The row, if there is one.
    pub fn row(&self) -> Option<&Row> {
        match self {
            Self::Row(row) => Some(row),
            Self::Unfit(_) => None,
        }
    }

    /// Where keys and queries came from.
    pub fn workload(&self) -> (&str, &str) {
        match self {
            Self::Row(row) => (&row.keys, &row.queries),
            Self::Unfit(unfit) => (&unfit.keys, &unfit.queries),
        }
    }
}

/// `value` to the nearest `1 / parts`: digits beyond that are noise.
fn rounded(value: f64, parts: f64) -> f64 {
    (value * parts).round() / parts
}
