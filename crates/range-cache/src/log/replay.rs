//! From records back to intervals, and compaction.

use std::collections::BTreeMap;

use super::record::LogRecord;
use crate::interval::Interval;
use crate::query::DomainId;
use crate::range_key::RangeKey;

/// The inserts that no later record of the same interval follows, in order of number: what the index held.
///
/// Records may come in any order and more than once.
pub fn replay(records: impl IntoIterator<Item = LogRecord>) -> Vec<LogRecord> {
    let mut standing: Vec<LogRecord> =
        last_of_each(records).into_values().filter(|record| record.key.is_some()).collect();
    standing.sort_by_key(|record| record.lsn);
    standing
}

/// Fewer records that replay to the same, also together with chunks of other intervals: pairs that cancel are gone, and of the
/// records of one interval only the last remains.
///
/// A delete remains where its insert is not among `records`, since that may still be on its way.
pub fn compact(records: Vec<LogRecord>) -> Vec<LogRecord> {
    let mut inserts: BTreeMap<(DomainId, Interval<RangeKey>), u64> = BTreeMap::new();
    for record in records.iter().filter(|record| record.key.is_some()) {
        *inserts.entry((record.domain, record.interval.clone())).or_default() += 1;
    }
    let last = last_of_each(records);
    let mut kept: Vec<LogRecord> = last
        .into_iter()
        .filter(|(place, record)| record.key.is_some() || !inserts.contains_key(place))
        .map(|(_, record)| record)
        .collect();
    kept.sort_by_key(|record| record.lsn);
    kept
}

fn last_of_each(
    records: impl IntoIterator<Item = LogRecord>,
) -> BTreeMap<(DomainId, Interval<RangeKey>), LogRecord> {
    let mut last: BTreeMap<(DomainId, Interval<RangeKey>), LogRecord> = BTreeMap::new();
    for record in records {
        let place = (record.domain, record.interval.clone());
        if last.get(&place).is_none_or(|known| known.lsn < record.lsn) {
            last.insert(place, record);
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use lacuna_workload::Rng;

    use super::*;

    /// A history of an index whose intervals are each written to one chunk, as a range cache places them.
    fn history(rng: &mut Rng) -> (Vec<Vec<LogRecord>>, Vec<LogRecord>) {
        let (mut chunks, mut standing) = (vec![Vec::new(); 4], BTreeMap::new());
        for lsn in 0..300u64 {
            let lo = rng.below(12);
            let interval = Interval::closed(lo.into(), (lo + rng.below(3)).into()).unwrap();
            let chunk = &mut chunks[usize::try_from(lo % 4).unwrap()];
            let key = (rng.below(2) == 0).then(|| lsn.to_le_bytes().to_vec());
            let record = LogRecord { lsn, domain: 0, interval: interval.clone(), key };
            if record.key.is_some() {
                standing.insert(interval, record.clone());
            } else {
                standing.remove(&interval);
            }
            chunk.insert(rng.index(chunk.len() + 1), record);
        }
        let mut standing: Vec<LogRecord> = standing.into_values().collect();
        standing.sort_by_key(|record| record.lsn);
        (chunks, standing)
    }

    #[test]
    fn replay_gives_what_stood() {
        for seed in 0..50 {
            let (chunks, standing) = history(&mut Rng::new(seed));
            assert_eq!(replay(chunks.concat()), standing, "seed {seed}");
        }
    }

    #[test]
    fn compaction_changes_nothing_and_shrinks() {
        for seed in 0..50 {
            let (mut chunks, standing) = history(&mut Rng::new(seed));
            let before = chunks.concat().len();
            let half = usize::try_from(seed % 4).unwrap();
            chunks[half] = compact(std::mem::take(&mut chunks[half]));
            assert_eq!(replay(chunks.concat()), standing, "seed {seed}");
            let chunks: Vec<_> = chunks.into_iter().map(compact).collect();
            assert_eq!(replay(chunks.concat()), standing, "seed {seed}");
            assert!(chunks.concat().len() * 4 < before, "seed {seed}");
        }
    }

    #[test]
    fn a_delete_without_its_insert_stays() {
        let interval = Interval::point(RangeKey::from(5));
        let delete = LogRecord { lsn: 9, domain: 0, interval: interval.clone(), key: None };
        let insert = LogRecord { lsn: 8, domain: 0, interval, key: Some(Vec::new()) };
        assert_eq!(compact(vec![delete.clone()]), std::slice::from_ref(&delete));
        assert_eq!(replay([insert.clone(), delete.clone()]), []);
        assert_eq!(compact(vec![delete, insert]), []);
    }
}
