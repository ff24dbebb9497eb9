//! From records back to intervals, and compaction.

use std::collections::BTreeMap;

use super::record::LogRecord;
use crate::interval::Interval;
use crate::query::DomainId;
use crate::range_key::RangeKey;

/// An interval of a domain.
type Place = (DomainId, Interval<RangeKey>);

/// The inserts that no later delete of the same interval follows, the last one of each key, in order of number:
/// the former content of the index.
///
/// Records may come in any order and more than once.
pub fn replay(records: impl IntoIterator<Item = LogRecord>) -> Vec<LogRecord> {
    let mut standing: Vec<LogRecord> =
        last_of_each(records).into_values().flat_map(Standing::into_inserts).collect();
    standing.sort_by_key(|record| record.lsn);
    standing
}

/// Fewer records with the same replay, also together with chunks of other intervals: an insert and its delete
/// cancel out, and of the inserts of one interval and key only the last remains.
///
/// A delete remains where no earlier insert is among `records`, since that insert may still be on its way.
pub fn compact(records: Vec<LogRecord>) -> Vec<LogRecord> {
    let mut kept: Vec<LogRecord> =
        last_of_each(records).into_values().flat_map(Standing::into_needed).collect();
    kept.sort_by_key(|record| record.lsn);
    kept
}

/// The records of one interval.
#[derive(Default)]
struct Standing {
    deleted: Option<LogRecord>,
    inserts: BTreeMap<Vec<u8>, LogRecord>,
}

impl Standing {
    fn take(&mut self, record: LogRecord) {
        let is_newer = |known: Option<&LogRecord>| known.is_none_or(|known| known.lsn < record.lsn);
        match &record.key {
            Some(key) if is_newer(self.inserts.get(key)) => drop(self.inserts.insert(key.clone(), record)),
            None if is_newer(self.deleted.as_ref()) => self.deleted = Some(record),
            _ => {}
        }
    }

    fn into_inserts(self) -> impl Iterator<Item = LogRecord> {
        let deleted = self.deleted.map_or(0, |delete| delete.lsn);
        self.inserts.into_values().filter(move |insert| insert.lsn > deleted)
    }

    fn into_needed(self) -> impl Iterator<Item = LogRecord> {
        let has_cancelled =
            self.deleted.as_ref().is_some_and(|delete| self.inserts.values().any(|i| i.lsn < delete.lsn));
        let delete = self.deleted.clone().filter(|_| !has_cancelled);
        delete.into_iter().chain(self.into_inserts())
    }
}

fn last_of_each(records: impl IntoIterator<Item = LogRecord>) -> BTreeMap<Place, Standing> {
    let mut last: BTreeMap<Place, Standing> = BTreeMap::new();
    for record in records {
        let place = (record.domain, record.interval.clone());
        last.entry(place).or_default().take(record);
    }
    last
}

#[cfg(test)]
mod tests {
    use lacuna_workload::Rng;

    use super::*;

    /// A history of an index; all records of an interval are in one chunk, as in a range cache.
    fn history(rng: &mut Rng) -> (Vec<Vec<LogRecord>>, Vec<LogRecord>) {
        let (mut chunks, mut standing) = (vec![Vec::new(); 4], BTreeMap::new());
        for lsn in 0..300u64 {
            let lo = rng.below(12);
            let interval = Interval::closed(lo.into(), (lo + rng.below(3)).into()).unwrap();
            let chunk = &mut chunks[usize::try_from(lo % 4).unwrap()];
            let key = (rng.below(2) == 0).then(|| vec![0; rng.index(2)]);
            let record = LogRecord { lsn, domain: 0, interval: interval.clone(), key };
            if let Some(key) = &record.key {
                standing.insert((interval, key.clone()), record.clone());
            } else {
                standing.retain(|(other, _), _| *other != interval);
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
