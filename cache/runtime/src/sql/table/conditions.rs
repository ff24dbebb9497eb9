//! Reads with several conditions: any of them, or all.
//!
//! `age < 20 or salary > 200` needs both results at one moment: a raise that moves a row from one to the other in
//! between would hide it from both. `age < 20 and salary > 200` is one read, of the condition that is expected to
//! select fewer rows; the other condition filters them. If only the database knows the order of a column, or the
//! position of a value in it, both are read, of one moment, and rows that are in both are found by their keys.
//!
//! Guarantee: as [`Table::get`]; of several results, all show the same moment.
//!
//! Cost: for any, a lease on all ranges that the conditions touch, and a store query for each result that is not
//! cached; for all, one read.
//!
//! Report, section 8 ("conjunctive and disjunctive predicates").

use std::collections::BTreeSet;
use std::ops::RangeBounds;
use std::sync::PoisonError;

use lacuna_cache_protocol::{Error, Result};
use lacuna_cache_protocol::{Interval, Query, RangeKey, union};

use super::Table;
use crate::sql::rows::{Row, Rows, decode};
use crate::sql::sql_value::SqlValue;
use lacuna_base::wire::Writer;

/// A range of a registered column, from [`Table::condition`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// What the number of the domain means.
    columns: u64,
    domain: usize,
    /// `None` if the range is empty.
    interval: Option<Interval<RangeKey>>,
}

type Values = Vec<SqlValue>;

impl Table {
    /// The condition that `column` lies in `range`.
    ///
    /// # Errors
    /// As [`Table::get`].
    pub fn condition<V: Into<SqlValue> + Clone>(
        &self,
        column: &str,
        range: impl RangeBounds<V>,
    ) -> Result<Condition> {
        let (domain, interval) = (self.schema.domain_of(column)?, self.interval(column, range)?);
        Ok(Condition { columns: self.columns_mark, domain, interval })
    }

    /// The rows for which any of these conditions holds, each once: those of the first condition in the order of
    /// its column, then those that the second adds, and so on. All of one moment.
    ///
    /// # Errors
    /// As [`Table::get`]; `InvalidInput` for a condition of another table, and for more than 256 conditions if the owners are in other
    /// processes.
    pub async fn get_any(&self, conditions: &[Condition]) -> Result<Rows> {
        let queries: Vec<Query> = self.queries_of(conditions)?.into_iter().flatten().collect();
        let results = self.results(queries).await?;
        let rows = results.into_iter().reduce(|rows, more| union(rows, more, |row| self.identity(row)));
        Ok(self.rows(rows.unwrap_or_default()))
    }

    /// The rows for which all of these conditions hold, in the order of the column that was queried; which one
    /// that is depends on earlier results. Without a condition there are none.
    ///
    /// # Errors
    /// As [`Table::get_any`].
    pub async fn get_all(&self, conditions: &[Condition]) -> Result<Rows> {
        let queries: Option<Vec<Query>> = self.queries_of(conditions)?.into_iter().collect();
        // One of the ranges is empty.
        let Some(queries) = queries else { return Ok(Vec::new()) };
        let Some(best) = self.most_selective(&queries) else { return Ok(Vec::new()) };
        let others: Vec<Query> = queries.iter().filter(|query| **query != best).cloned().collect();
        let rows = match self.filtered(best, &others).await? {
            Some(rows) => rows,
            None => self.common(queries).await?,
        };
        Ok(self.rows(rows))
    }

    /// The query of each condition; `None` for one whose range is empty.
    fn queries_of(&self, conditions: &[Condition]) -> Result<Vec<Option<Query>>> {
        if conditions.iter().any(|condition| condition.columns != self.columns_mark) {
            let message =
                format!("a condition is not of {}: make it by its own `condition`", self.schema.table);
            return Err(Error::invalid_input(message));
        }
        let query = |condition: &Condition| {
            let interval = condition.interval.clone()?;
            Some(Query { fingerprint: self.fingerprint, ..Query::all(condition.domain, interval) })
        };
        Ok(conditions.iter().map(query).collect())
    }

    fn most_selective(&self, queries: &[Query]) -> Option<Query> {
        let learned = self.selectivity.lock().unwrap_or_else(PoisonError::into_inner);
        queries.iter().reduce(|best, query| learned.more_selective(best, query)).cloned()
    }

    /// Remembers how many rows a result had.
    fn learn(&self, query: &Query, rows: usize) {
        self.selectivity.lock().unwrap_or_else(PoisonError::into_inner).learn(query, rows);
    }

    /// The rows of a result for which the other conditions hold, too; `None` if only the database knows.
    async fn filtered(&self, query: Query, others: &[Query]) -> Result<Option<Vec<Values>>> {
        if !others.iter().all(|other| self.schema.has_order_of(other.domain)) {
            return Ok(None);
        }
        let value = self.requests.read(query.clone()).await?;
        let mut rows = decode(self.schema.columns.len(), &value)?;
        self.learn(&query, rows.len());
        let table = &self.table_rows;
        let mut is_known = true;
        rows.retain(|row| {
            others.iter().all(|other| {
                let is_selected = table.is_selected(other, row);
                is_known &= is_selected.is_some();
                is_selected.unwrap_or(false)
            })
        });
        Ok(is_known.then_some(rows))
    }

    /// Rows that are in all results.
    async fn common(&self, queries: Vec<Query>) -> Result<Vec<Values>> {
        let mut results = self.results(queries).await?.into_iter();
        let mut rows = results.next().unwrap_or_default();
        for result in results {
            let known: BTreeSet<Vec<u8>> = result.iter().map(|row| self.identity(row)).collect();
            rows.retain(|row| known.contains(&self.identity(row)));
        }
        Ok(rows)
    }

    /// Results of one moment.
    async fn results(&self, queries: Vec<Query>) -> Result<Vec<Vec<Values>>> {
        let values = match &queries[..] {
            [] => Vec::new(),
            [query] => vec![self.requests.read(query.clone()).await?],
            _ => self.requests.read_all(queries.clone()).await?,
        };
        let results: Vec<Vec<Values>> =
            values.iter().map(|value| decode(self.schema.columns.len(), value)).collect::<Result<_>>()?;
        queries.iter().zip(&results).for_each(|(query, rows)| self.learn(query, rows.len()));
        Ok(results)
    }

    /// The identity of a row among others of one moment: its key, or the whole row if a NULL in the key may be in
    /// several rows.
    fn identity(&self, row: &[SqlValue]) -> Vec<u8> {
        let key = self.schema.key_of(row);
        let mut writer = Writer::default();
        let is_key = !key.contains(&SqlValue::Null);
        writer.byte(is_key.into());
        if is_key {
            key.iter().for_each(|value| value.write(&mut writer));
        } else {
            row.iter().for_each(|value| value.write(&mut writer));
        }
        writer.into_bytes()
    }

    fn rows(&self, rows: Vec<Values>) -> Rows {
        rows.into_iter().map(|values| Row::new(self.schema.columns.clone(), values)).collect()
    }
}
