//! Results that are loaded ahead of requests.
//!
//! The ranges are given, or chosen from a histogram by their weight, or the most frequent ones of earlier queries:
//! each is read as any other, eight at a time, and is cached then. After a restart at night, a program that has
//! kept a [`QueryLog`] answers its first thousand clients from the cache.
//!
//! Cost: that of the misses, before any client waits for them. A log keeps a fixed number of the last queries,
//! about a hundred bytes each.
//!
//! Report, section 8 ("prefetching").

use std::collections::VecDeque;
use std::ops::RangeBounds;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::stream::{StreamExt as _, TryStreamExt as _, iter};
use lacuna_cache_protocol::{Error, Result};
use lacuna_cache_protocol::{
    LogRecord, Query, RangeKey, prefetch_histogram, prefetch_log, read_chunk, write_chunk,
};

use super::Table;
use crate::sql::domain_key::key;
use crate::sql::sql_value::SqlValue;

/// Reads under way at once: as many as keep a store busy, and few enough for others to get through.
const AT_ONCE: usize = 8;
/// The first bytes of a log, with their version.
const MAGIC: [u8; 4] = *b"LQL\x01";

/// The last queries of a table by one range, as [`Table::record_queries`] keeps them. Clones are the same log.
#[derive(Debug, Clone)]
pub struct QueryLog {
    queries: Arc<Mutex<VecDeque<Query>>>,
    max: usize,
    /// Identifies the columns to which the numbers of domains refer.
    domains: Arc<[u64]>,
}

impl QueryLog {
    fn new(max: usize, domains: Vec<u64>) -> Self {
        Self { queries: Arc::default(), max: max.max(1), domains: domains.into() }
    }

    fn queries(&self) -> MutexGuard<'_, VecDeque<Query>> {
        self.queries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn note(&self, query: &Query) {
        let mut queries = self.queries();
        if queries.len() == self.max {
            queries.pop_front();
        }
        queries.push_back(query.clone());
    }

    /// Number of its queries.
    pub fn len(&self) -> usize {
        self.queries().len()
    }

    /// Whether it has no query.
    pub fn is_empty(&self) -> bool {
        self.queries().is_empty()
    }

    /// Its bytes, to be kept for the next start ([`docs/format/range-cache-sql.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/range-cache-sql.md)).
    pub fn to_bytes(&self) -> Vec<u8> {
        let queries = self.queries();
        let record = |(lsn, query): (u64, &Query)| LogRecord::of_entry(lsn, query, query.interval.clone());
        let records: Vec<LogRecord> = (1..).zip(queries.iter()).map(record).collect();
        let mut bytes = MAGIC.to_vec();
        bytes.extend(u16::try_from(self.domains.len()).unwrap_or(u16::MAX).to_le_bytes());
        self.domains.iter().for_each(|domain| bytes.extend(domain.to_le_bytes()));
        write_chunk(&mut bytes, &records);
        bytes.extend(crc32c::crc32c(&bytes).to_le_bytes());
        bytes
    }

    /// A log from its bytes.
    ///
    /// # Errors
    /// `Corrupt` if they are not a log, or truncated.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let corrupt = || Error::corrupt("the bytes are not a log of queries, or are cut");
        let (rest, sum) = bytes.split_last_chunk().ok_or_else(corrupt)?;
        let rest_of = rest.strip_prefix(&MAGIC).and_then(|rest| rest.split_first_chunk());
        let (count, marks) = rest_of.ok_or_else(corrupt)?;
        if crc32c::crc32c(rest) != u32::from_le_bytes(*sum) {
            return Err(corrupt());
        }
        let len = 8 * usize::from(u16::from_le_bytes(*count));
        let (marks, chunk) = marks.split_at_checked(len).ok_or_else(corrupt)?;
        let (marks, _) = marks.as_chunks();
        let domains = marks.iter().map(|mark| u64::from_le_bytes(*mark)).collect();
        let queries = read_chunk(chunk)?.iter().map(LogRecord::query).collect::<Result<VecDeque<Query>>>()?;
        Ok(Self { max: queries.len().max(1), queries: Arc::new(Mutex::new(queries)), domains })
    }

    /// The queries of these columns, with domains numbered as in `domains`.
    fn of(&self, domains: &[u64]) -> Vec<Query> {
        let number = |query: &Query| {
            let mark = self.domains.get(query.domain)?;
            domains.iter().position(|domain| domain == mark)
        };
        let renumbered = |query: &Query| number(query).map(|domain| Query { domain, ..query.clone() });
        self.queries().iter().filter_map(renumbered).collect()
    }
}

impl Table {
    /// Reads these ranges of `column`, so that they are cached. Returns how many were read.
    ///
    /// ```
    /// # use lacuna_cache::sql::{DomainType, Schema};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let cache = lacuna_cache::sql::open("sqlite::memory:").await?;
    /// # cache.run_sql("CREATE TABLE people (id INTEGER PRIMARY KEY, age INTEGER)").await?;
    /// # let people = cache.table(Schema::new("people", "id").with_domain("age", DomainType::Integer)).await?;
    /// assert_eq!(people.prefetch("age", [0..18, 18..65]).await?, 2);
    /// let asked = people.counts().store_queries;
    /// people.get("age", 18..65).await?;
    /// assert_eq!(people.counts().store_queries, asked);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Table::get`], at the first that fails.
    pub async fn prefetch<V: Into<SqlValue> + Clone>(
        &self,
        column: &str,
        ranges: impl IntoIterator<Item = impl RangeBounds<V>>,
    ) -> Result<usize> {
        let domain = self.schema.domain_of(column)?;
        let intervals = ranges.into_iter().map(|range| self.interval(column, range));
        let intervals = intervals.collect::<Result<Vec<_>>>()?;
        self.fetch(intervals.into_iter().flatten().map(|interval| Query::all(domain, interval))).await
    }

    /// Reads the ranges between ascending starts of the buckets of a histogram of `column`, each with its weight:
    /// the heaviest, at most `max` of them. The last bucket has no end. Returns how many were read.
    ///
    /// # Errors
    /// As [`Table::prefetch`]; `InvalidInput` for a start that is NULL.
    pub async fn prefetch_histogram<V: Into<SqlValue> + Clone>(
        &self,
        column: &str,
        buckets: &[(V, u64)],
        max: usize,
    ) -> Result<usize> {
        let place = self.schema.domain_of(column)?;
        let (_, domain) = self.schema.domains[place];
        let start = |(value, weight): &(V, u64)| {
            let start = key(domain, &value.clone().into())?;
            start
                .map(|start| (start, *weight))
                .ok_or_else(|| Error::invalid_input("a bucket of a histogram cannot begin at NULL"))
        };
        let buckets = buckets.iter().map(start).collect::<Result<Vec<(RangeKey, u64)>>>()?;
        self.fetch(prefetch_histogram(place, &buckets, max)).await
    }

    /// Reads the most frequent queries of a former run's log, at most `max` results. Returns how many were read.
    /// Queries of columns that are not registered any more, or have another type, are skipped.
    ///
    /// # Errors
    /// As [`Table::prefetch`].
    pub async fn prefetch_log(&self, log: &QueryLog, max: usize) -> Result<usize> {
        let known = log.of(&self.schema.domain_marks()).into_iter();
        let known: Vec<Query> = known.map(|query| Query { fingerprint: self.fingerprint, ..query }).collect();
        self.fetch(prefetch_log(&known, max)).await
    }

    /// Keeps the last `max` queries of one range from now on, in this process. A second call returns the same log.
    /// Queries of several conditions at once are not recorded.
    pub fn record_queries(&self, max: usize) -> QueryLog {
        self.log.get_or_init(|| QueryLog::new(max, self.schema.domain_marks())).clone()
    }

    async fn fetch(&self, queries: impl IntoIterator<Item = Query>) -> Result<usize> {
        let read = |query: Query| self.requests.read(Query { fingerprint: self.fingerprint, ..query });
        let results = iter(queries).map(read).buffer_unordered(AT_ONCE);
        results.try_fold(0, async |read, _| Ok(read + 1)).await
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed test panics")]
mod tests {
    use lacuna_cache_protocol::{DomainType, Form, Interval};

    use super::*;
    use crate::sql::schema::Schema;

    #[test]
    fn the_bytes_of_a_log_are_those_of_its_page() {
        let schema = Schema::new("people", "id").with_domain("age", DomainType::Integer);
        let log = QueryLog::new(10, schema.domain_marks());
        let ages = |lo: u64, hi: u64| Query::all(0, Interval::closed(lo.into(), hi.into()).unwrap());
        let queries = [ages(18, 22), Query { form: Form::First(3), fingerprint: 7, ..ages(18, 60) }];
        queries.iter().for_each(|query| log.note(query));
        let bytes = log.to_bytes();
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(
            hex,
            "4c514c0101004aae9dda1b2271b7950118000000000000001204008095021800000000000000122a14070000000000000025031800000000000000122a17ff17aa20"
        );
        let read = QueryLog::from_bytes(&bytes).unwrap();
        assert_eq!(*read.queries(), VecDeque::from(queries));
    }

    #[test]
    fn queries_of_other_columns_are_passed_over() {
        let people = || Schema::new("people", "id");
        let marks = people()
            .with_domain("age", DomainType::Integer)
            .with_domain("name", DomainType::Text)
            .domain_marks();
        let log = QueryLog::new(10, marks);
        let of = |domain| Query::all(domain, Interval::point(7.into()));
        [0, 1].map(of).iter().for_each(|query| log.note(query));
        let log = QueryLog::from_bytes(&log.to_bytes()).unwrap();
        assert_eq!(log.of(&people().with_domain("name", DomainType::Text).domain_marks()), [of(0)]);
        assert_eq!(log.of(&people().with_domain("age", DomainType::Unsigned).domain_marks()), []);
        let cents = people().with_domain("age", DomainType::Decimal { scale: 2 });
        let mills = people().with_domain("age", DomainType::Decimal { scale: 3 });
        assert_ne!(cents.domain_marks(), mills.domain_marks());
    }

    #[test]
    fn other_bytes_are_no_log() {
        let bytes = QueryLog::new(1, vec![7]).to_bytes();
        assert!(QueryLog::from_bytes(&bytes).unwrap().is_empty());
        for place in 0..bytes.len() {
            let mut wrong = bytes.clone();
            wrong[place] ^= 1;
            assert!(QueryLog::from_bytes(&wrong).is_err());
        }
        // A chunk with a valid checksum and invalid content.
        for rest in [&[0, 0, 0xFF, 0xFF, 0xFF, 0xFF][..], &[1, 0, 7, 7, 7], &[1]] {
            let mut wrong = [&MAGIC[..], rest].concat();
            wrong.extend(crc32c::crc32c(&wrong).to_le_bytes());
            assert!(QueryLog::from_bytes(&wrong).is_err(), "{rest:?}");
        }
    }
}
