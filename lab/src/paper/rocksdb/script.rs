//! What happens to a database whose workload shifts: puts, and seeks of two kinds.

use crate::paper::Session;
use lacuna_base::{Error, Result};
use lacuna_bench::engine::Question;
use lacuna_workload::{Queries, QuerySource, Rng};

use super::keys::{integers, keys};

/// Queries in the sample queue; the paper has 20,000.
pub(super) const QUEUE: usize = 1_000;
/// Times that the paper's queue turns over: it takes one in 100 of 60 million seeks.
const TURNS: usize = 30;

/// The queue takes one in this many of `seeks`, so that it turns over as often as the paper's, as far as that is possible.
pub(super) fn one_in(seeks: usize) -> u64 {
    (seeks / (TURNS * QUEUE)).max(2) as u64
}

/// Stream of the order of things.
pub(super) const ORDER: u64 = 321;

/// How the second workload comes in.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Shift {
    Slow,
    Immediate,
}

/// What happens to a database.
pub(super) struct Script {
    /// Keys that are there.
    pub(super) first: Vec<u64>,
    /// Keys that come.
    pub(super) coming: Vec<u64>,
    /// Seeks in order.
    pub(super) seeks: Vec<Question>,
    /// Recorded seeks of the first and of the last workload.
    pub(super) recorded: [Vec<Question>; 2],
    pub(super) seed: u64,
}

/// Keys in random order, and seeks of two workloads, each empty of all keys.
pub(super) fn script(
    session: &mut Session<'_>,
    key_name: &str,
    first: usize,
    workloads: [&str; 2],
    shift: Shift,
) -> Result<Script> {
    let seed = session.seed();
    let all = keys(session, key_name, 3 * first)?;
    let drawn = |text: &str| -> Result<Vec<Question>> {
        let count = 3 * first + 2 * QUEUE;
        let source = QuerySource::parse(&text.replacen('N', &count.to_string(), 1))?;
        let Queries::U64(ranges) = source.workload(all.clone(), seed)?.queries else {
            return Err(Error::invalid_input("queries about integers are integers"));
        };
        let question = |(lo, hi): (u64, u64)| Question {
            lo: lo.to_be_bytes().to_vec(),
            hi: hi.to_be_bytes().to_vec(),
            is_empty: true,
        };
        Ok(ranges.into_iter().map(question).collect())
    };
    let mut kinds = [drawn(workloads[0])?, drawn(workloads[1])?];
    let recorded = kinds.each_mut().map(|kind| kind.split_off(3 * first));
    let mut keys = integers(all)?;
    let mut rng = Rng::with_stream(seed, ORDER);
    for last in (1..keys.len()).rev() {
        keys.swap(last, rng.index(last + 1));
    }
    let coming = keys.split_off(keys.len() / 3);
    keys.sort_unstable();
    let total = kinds[0].len() as u64;
    let is_second = |place: u64, rng: &mut Rng| match shift {
        Shift::Slow => rng.below(total) < place,
        Shift::Immediate => place >= total / 2,
    };
    let [one, two] = &kinds;
    let seeks = (0..).zip(one.iter().zip(two)).map(|(place, (one, two))| match is_second(place, &mut rng) {
        true => two.clone(),
        false => one.clone(),
    });
    Ok(Script { seeks: seeks.collect(), first: keys, coming, recorded, seed })
}
