//! A result that is put together from others.
//!
//! Each part gives the rows from where the part before it ends to where it ends itself, so that no row is taken twice and
//! the rows are in order. A part that lies in the query as a whole is copied as bytes; in the others values are passed
//! over up to the column that the query asks by. With `[18, 22]`, `(22, 30]` and `(30, 40]`, the query `[20, 35]` looks
//! at the rows of the first and the last part and copies those of the second.
//!
//! Guarantee: the bytes that the store would give; `None` where only the store knows which rows are in the query.
//!
//! Cost: one pass over the bytes of the parts that reach out of the query, and a copy of the result.
//!
//! Report, section 8 ("fusing multiple cache entries").

use lacuna_base::wire::Reader;
use lacuna_cache_protocol::{Interval, Query, RangeKey, Value};

use crate::sql::application::TableRows;
use crate::sql::rows::{Stored, enclose};
use crate::sql::sql_value::SqlValue;

impl TableRows {
    /// The result of `query` from results without patches, whose intervals cover it together.
    pub(super) fn fused(&self, query: &Query, parts: &[(Query, Value)]) -> Option<Value> {
        let mut parts: Vec<&(Query, Value)> = parts.iter().collect();
        parts.sort_unstable_by(|(one, _), (other, _)| one.interval.cmp(&other.interval));
        let (mut from, end) = (query.interval.lo(), query.interval.hi());
        let (mut pieces, mut count) = (Vec::with_capacity(2 * parts.len()), 0);
        for (part, value) in parts {
            let to = part.interval.hi().min(end);
            let Some(given) = Interval::between(from.clone(), to.clone()) else { continue };
            let stored = Stored::read(self.schema.columns.len(), value).ok()?;
            if !stored.patches.is_at_end() || part.interval.lo() > from {
                return None;
            }
            if given == part.interval {
                pieces.push(stored.rows.rest());
                count += stored.row_count;
            } else {
                count += self.rows_inside(query, &given, stored, &mut pieces)?;
            }
            from = to;
        }
        (from == end).then(|| enclose(self.schema.columns.len(), count, &pieces))
    }

    /// Adds the bytes of the rows of an interval, and counts these rows.
    fn rows_inside<'a>(
        &self,
        query: &Query,
        interval: &Interval<RangeKey>,
        mut stored: Stored<'a>,
        pieces: &mut Vec<&'a [u8]>,
    ) -> Option<usize> {
        let domain = self.domain_place(query)?;
        let mut count = 0;
        for _ in 0..stored.row_count {
            let begin = stored.rows.rest();
            let value = self.next_value(&mut stored.rows, domain)?;
            if self.key_of(query, &value)?.is_some_and(|key| interval.contains(&key)) {
                pieces.push(&begin[..begin.len() - stored.rows.rest().len()]);
                count += 1;
            }
        }
        Some(count)
    }

    /// The value of one column of the next row.
    fn next_value(&self, rows: &mut Reader<'_>, wanted: usize) -> Option<SqlValue> {
        let mut value = None;
        for place in 0..self.schema.columns.len() {
            if place == wanted {
                value = Some(SqlValue::read(rows).ok()?);
            } else {
                SqlValue::skip(rows).ok()?;
            }
        }
        value
    }
}
