//! Ranges to seek; a given share of them holds no key.

use std::ops::Bound;

use lacuna_base::{ByteColumn, Error, Result};
use lacuna_guard::{GuardCodec, QueryLog};
use lacuna_workload::{Keys, Queries, QuerySource, Rng, Want, Workload, is_empty_bytes};

use super::{Counts, Database, Direction};

/// Recorded queries that filters may be designed by, at most.
const SAMPLED: usize = 20_000;
/// Stream of the order of questions.
const ORDER: u64 = 211;

/// A closed range, and whether it is known to hold no key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The lower end.
    pub lo: Vec<u8>,
    /// The upper end.
    pub hi: Vec<u8>,
    /// Whether no key lies between them.
    pub is_empty: bool,
}

/// Keys of a database, what is asked, and what was asked before it was written.
#[derive(Debug, Clone)]
pub struct Questions {
    /// Keys that are written.
    pub keys: ByteColumn,
    /// Questions in random order.
    pub asked: Vec<Question>,
    /// Empty ones of the same kind, recorded before.
    pub sample: Vec<Question>,
}

impl Questions {
    /// As many questions as `source` counts, a share of `empty_share` of them empty, about `keys`.
    ///
    /// # Errors
    /// As [`QuerySource::workload`].
    pub fn draw(source: &QuerySource, keys: &Keys, empty_share: f64, seed: u64) -> Result<Self> {
        if source.want != Want::Empty {
            return Err(Error::invalid_input(format!(
                "queries `{source}` already fix the share of empty ones; leave out `:hit` or `:any` and give that share"
            )));
        }
        #[expect(clippy::cast_possible_truncation, reason = "a share of a count is no larger")]
        #[expect(clippy::cast_sign_loss, reason = "a share is not negative")]
        let empty_count = (source.count as f64 * empty_share).round() as usize;
        let sampled = SAMPLED.min(source.count);
        let empty = QuerySource { count: empty_count + sampled, ..*source }.workload(keys.clone(), seed)?;
        let mut asked = questions(&empty.queries, true);
        let sample = asked.split_off(empty_count);
        if empty_count < source.count {
            let hits = QuerySource { count: source.count - empty_count, want: Want::Hit, ..*source };
            asked.extend(questions(&hits.workload(keys.clone(), seed)?.queries, false));
        }
        shuffle(&mut asked, seed);
        Ok(Self { keys: empty.inserted.to_be_bytes(), asked, sample })
    }

    /// The queries of `workload` in their order; the sample is the empty ones among them.
    ///
    /// # Errors
    /// `InvalidInput` if there is no key or no query.
    pub(crate) fn brought(workload: &Workload) -> Result<Self> {
        if workload.inserted.is_empty() || workload.queries.is_empty() {
            return Err(Error::invalid_input("there is nothing to ask; give at least one key and one query"));
        }
        let mut asked = questions(&workload.queries, true);
        let keys = workload.inserted.to_be_bytes();
        for question in &mut asked {
            question.is_empty = is_empty_bytes(&keys, &question.lo, &question.hi);
        }
        let empty = asked.iter().filter(|question| question.is_empty);
        let sample = empty.take(SAMPLED).cloned().collect();
        Ok(Self { keys, asked, sample })
    }
}

/// Queries of either key space over engine keys.
fn questions(queries: &Queries, is_empty: bool) -> Vec<Question> {
    let question = |lo: &[u8], hi: &[u8]| Question { lo: lo.to_vec(), hi: hi.to_vec(), is_empty };
    match queries {
        Queries::U64(ranges) => {
            ranges.iter().map(|(lo, hi)| question(&lo.to_be_bytes(), &hi.to_be_bytes())).collect()
        }
        Queries::Bytes(ranges) => ranges.iter().map(|(lo, hi)| question(lo, hi)).collect(),
    }
}

fn shuffle(questions: &mut [Question], seed: u64) {
    let mut rng = Rng::with_stream(seed, ORDER);
    for last in (1..questions.len()).rev() {
        questions.swap(last, rng.index(last + 1));
    }
}

/// Questions as the bytes that an adapter's sample queue is seeded from.
pub fn sample_bytes(codec: &GuardCodec, sample: &[Question]) -> Vec<u8> {
    let log = QueryLog::with_capacity(codec, SAMPLED, 1);
    for Question { lo, hi, .. } in sample {
        log.record(Bound::Included(lo), Bound::Included(hi));
    }
    log.to_bytes()
}

/// The share of questions to filters of files without the range that were answered "maybe", over the empty ones of
/// `questions`; `None` where no filter of ours was asked.
///
/// # Errors
/// As [`Database::seek`].
pub(crate) fn false_positive_rate(database: &dyn Database, questions: &[Question]) -> Result<Option<f64>> {
    let before = database.counts();
    for question in questions.iter().filter(|question| question.is_empty) {
        database.seek(question, Direction::Forward, 1)?;
    }
    let Counts { skipped, false_positives, .. } = database.counts() - before;
    let asked = skipped + false_positives;
    Ok((asked > 0).then(|| false_positives as f64 / asked as f64))
}
