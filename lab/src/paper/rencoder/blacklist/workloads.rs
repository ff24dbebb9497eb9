//! The rounds of queries that figures 17 to 22 ask.

use std::rc::Rc;

use lacuna_base::{Result, U64Range};

use super::super::filters::SYNTHETIC_KEYS;
use super::run::{Asked, Rounded};
use crate::paper::Session;
use crate::paper::session::TestBed;

/// Ranges anywhere.
pub(super) const ANYWHERE: &str = "uniform:N:2-32";
/// Ranges after keys.
pub(super) const BEHIND_KEYS: &str = "offset:N:2-32:32";

fn asked(queries: &[(u64, u64)], is_empty: bool) -> impl Iterator<Item = Asked> {
    let ranges = queries.iter().filter_map(|&(low, high)| U64Range::new(low, high));
    ranges.map(move |range| Asked { range, is_empty })
}

fn keys(session: &mut Session<'_>) -> Result<Rc<Vec<u64>>> {
    let count = session.key_count(SYNTHETIC_KEYS);
    session.keys(&format!("uniform:{count}"))
}

/// Queries of a round: the paper asks 10 million about 50 million keys, and with more a key the blacklist would take a
/// larger part of the memory than there.
pub(super) fn query_count(session: &Session<'_>) -> usize {
    session.query_count().min(session.key_count(SYNTHETIC_KEYS).div_ceil(5))
}

/// The same empty queries `rounds` times.
pub(super) fn repeated(session: &mut Session<'_>, queries: &str, rounds: usize) -> Result<Rounded> {
    let (keys, count) = (keys(session)?, query_count(session));
    let test_bed = session.test_bed_of(&keys, queries, count)?;
    let round: Vec<Asked> = asked(&test_bed.queries, true).collect();
    Ok(Rounded { test_bed, rounds: vec![round; rounds] })
}

/// Two rounds of empty queries that share `part` of them.
pub(super) fn partly_repeated(session: &mut Session<'_>, part: f64) -> Result<Rounded> {
    let (keys, count) = (keys(session)?, query_count(session));
    let test_bed = session.test_bed_of(&keys, ANYWHERE, 2 * count)?;
    let all: Vec<Asked> = asked(&test_bed.queries, true).collect();
    let (first, fresh) = all.split_at(count.min(all.len()));
    let again = rounded_part(first.len(), part);
    let second = first[..again].iter().chain(&fresh[again.min(fresh.len())..]).copied().collect();
    Ok(Rounded { test_bed, rounds: vec![first.to_vec(), second] })
}

/// Twice the same queries; the share `part` of them is empty.
pub(super) fn partly_empty(session: &mut Session<'_>, part: f64) -> Result<Rounded> {
    let (keys, count) = (keys(session)?, query_count(session));
    let test_bed = session.test_bed_of(&keys, ANYWHERE, count)?;
    let hits = session.test_bed_of(&keys, &format!("{ANYWHERE}:hit"), count)?;
    let round = mixed(&test_bed, &hits, rounded_part(test_bed.queries.len(), part));
    Ok(Rounded { test_bed, rounds: vec![round.clone(), round] })
}

/// The first `empty` empty queries and as many hits as make the round whole, evenly mixed.
fn mixed(test_bed: &TestBed, hits: &TestBed, empty: usize) -> Vec<Asked> {
    let count = test_bed.queries.len();
    let mut empties = asked(&test_bed.queries[..empty], true);
    let mut hits = asked(&hits.queries, false);
    let mut round = Vec::with_capacity(count);
    for place in 0..count {
        let is_empty = (place + 1) * empty / count > place * empty / count;
        round.extend(if is_empty { empties.next() } else { hits.next() });
    }
    round
}

fn rounded_part(count: usize, part: f64) -> usize {
    #[expect(clippy::cast_possible_truncation, reason = "a part of a count of queries")]
    let part = (count as f64 * part).round() as usize;
    part.min(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixing_keeps_counts() {
        let test_bed = |lo: u64| TestBed {
            keys: Rc::new(vec![]),
            queries: Rc::new((lo..lo + 100).map(|start| (start, start)).collect()),
            sample: Rc::new(vec![]),
        };
        for empty in [0, 25, 50, 100] {
            let round = mixed(&test_bed(0), &test_bed(1_000), empty);
            assert_eq!(round.len(), 100);
            assert_eq!(round.iter().filter(|asked| asked.is_empty).count(), empty);
            assert!(round.iter().all(|asked| asked.is_empty == (asked.range.lo() < 1_000)));
        }
    }
}
