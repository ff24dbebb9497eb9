//! Drawing a workload: take keys out, draw ranges, keep those that are as promised.
//!
//! A filter's answer can only be judged for a range whose true answer is known, so every candidate is looked up in the
//! keys before it is kept. For keys 0, 10, 20 and `correlated` with degree 4, a candidate may be [13, 15], which
//! is kept, or [18, 21], which is drawn again. Candidates are drawn with repetition.
//!
//! Guarantee: ranges are as promised, and where too few are found there is an error that says how many were, or, to a caller
//! that wants what there is, fewer ranges; the number of attempts is bounded by [`FIRST_ATTEMPTS`] and
//! [`ATTEMPTS_PER_RANGE`]. Cost: one binary search an attempt.

mod bytes;
mod candidate;
mod hold_out;
mod integers;

use lacuna_base::{Error, Result};

use crate::numbers::with_commas;
use crate::{Keys, Queries, QuerySource, Rng, Want};
use bytes::ByteSpace;
use candidate::Dice;
use hold_out::{hold_out_bytes, hold_out_integers};
use integers::IntegerSpace;

/// Stream number of query draws, apart from those of keys and pools.
const QUERY_STREAM: u64 = 1;

/// Attempts that may fail before the first range is found; a law that meets its promise once in 20,000 still works.
const FIRST_ATTEMPTS: u64 = 100_000;

/// Further attempts granted for each range found, so that requests that cannot be met end soon.
const ATTEMPTS_PER_RANGE: u64 = 200;

/// Keys to build a filter from, and queries to ask it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workload {
    /// The keys that stay: build the filter from these.
    pub inserted: Keys,
    /// The keys that were taken out; none for most kinds.
    pub held_out: Keys,
    /// Ranges whose answers are as promised with respect to `inserted`.
    pub queries: Queries,
}

/// The keys of one key space, as the generator of ranges sees them.
trait Space {
    /// A range under construction, reused between attempts.
    type Candidate: Default;
    /// The ranges found.
    type Found: Default;

    /// The position of a key, inserted keys first, then those taken out.
    fn position(&self, key: usize) -> u64;
    /// The positions of the smallest and the largest key, taken-out keys included; everything for fewer than two.
    fn span(&self) -> (u64, u64);
    /// The range between two positions.
    fn between(&self, low: u64, high: u64, candidate: &mut Self::Candidate);
    /// The key alone.
    fn exactly(&self, key: usize, candidate: &mut Self::Candidate);
    /// The key to itself with its last byte plus one; `false` when there is no such range.
    fn to_next_byte(&self, key: usize, candidate: &mut Self::Candidate) -> bool;
    /// A single key that is probably not there; `key` is one that is, if there is any.
    fn stray(&self, key: Option<usize>, rng: &mut Rng, candidate: &mut Self::Candidate) -> bool;
    /// Whether no inserted key lies in the range.
    fn is_empty(&self, candidate: &Self::Candidate) -> bool;
    /// Keeps the range.
    fn keep(&self, candidate: &Self::Candidate, found: &mut Self::Found);
}

/// What becomes of a request that too few ranges are found for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TooFew {
    /// An error.
    Refuse,
    /// The ranges that were found.
    Keep,
}

/// Carries out [`QuerySource::workload`] and [`QuerySource::workload_of_found`].
pub(crate) fn draw_workload(
    source: &QuerySource,
    keys: Keys,
    seed: u64,
    too_few: TooFew,
) -> Result<Workload> {
    let mut rng = Rng::with_stream(seed, QUERY_STREAM);
    match keys {
        Keys::U64(keys) => {
            let (inserted, held_out) = hold_out_integers(keys, source.kept, &mut rng)?;
            let counts = [inserted.len(), held_out.len()];
            let found = draw(source, &IntegerSpace::new(&inserted, &held_out), counts, &mut rng, too_few)?;
            let queries = Queries::U64(found);
            Ok(Workload { inserted: Keys::U64(inserted), held_out: Keys::U64(held_out), queries })
        }
        Keys::Bytes(keys) => {
            let (inserted, held_out) = hold_out_bytes(keys, source.kept, &mut rng)?;
            let counts = [inserted.len(), held_out.len()];
            let found = draw(source, &ByteSpace::new(&inserted, &held_out), counts, &mut rng, too_few)?;
            let queries = Queries::Bytes(found);
            Ok(Workload { inserted: Keys::Bytes(inserted), held_out: Keys::Bytes(held_out), queries })
        }
    }
}

/// Draws candidates until `source.count` of them are as promised. `counts`: inserted and taken-out keys.
fn draw<S: Space>(
    source: &QuerySource,
    space: &S,
    counts: [usize; 2],
    rng: &mut Rng,
    too_few: TooFew,
) -> Result<S::Found> {
    let dice = Dice::new(source, counts)?;
    let (mut found, mut candidate) = (S::Found::default(), S::Candidate::default());
    let (mut kept, mut attempts) = (0, 0_u64);
    while kept < source.count {
        if attempts > FIRST_ATTEMPTS + ATTEMPTS_PER_RANGE * kept as u64 {
            match too_few {
                TooFew::Refuse => return Err(refusal(source, kept, attempts)),
                TooFew::Keep => break,
            }
        }
        attempts += 1;
        let drawn = dice.roll(kept, space, rng, &mut candidate);
        if drawn && is_as_promised(source.want, space, &candidate) {
            space.keep(&candidate, &mut found);
            kept += 1;
        }
    }
    Ok(found)
}

fn is_as_promised<S: Space>(want: Want, space: &S, candidate: &S::Candidate) -> bool {
    match want {
        Want::Any => true,
        Want::Empty => space.is_empty(candidate),
        Want::Hit => !space.is_empty(candidate),
    }
}

fn refusal(source: &QuerySource, kept: usize, attempts: u64) -> Error {
    let (what, remedy) = match source.want {
        Want::Empty => ("empty", "ask for shorter ranges, another kind, or `:any`"),
        Want::Hit => ("non-empty", "ask for longer ranges, another kind, or `:any`"),
        Want::Any => ("possible", "ask for shorter ranges or smaller distances"),
    };
    let [kept, asked, attempts] = [kept as u64, source.count as u64, attempts].map(with_commas);
    Error::invalid_input(format!(
        "only {kept} of {asked} {what} ranges were found in {attempts} attempts between these keys; {remedy}"
    ))
}
