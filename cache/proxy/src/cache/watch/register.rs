//! Columns that are registered, or taken off the list, while the proxy runs.
//!
//! From the moment at which sessions understand statements by the new reading of the catalogue, writes hold what they touch
//! of the column. What was understood before has a *view* of the older reading, which holds everything until it is answered,
//! and until its transaction has ended if that has written. So no entry of the column can be filled before all writes that
//! were not known to touch it have ended. With the log, the column is held besides until reads show what came of it before, and
//! with rights until the transactions of before have ended.
//!
//! A column is taken off the list while the cache is closed, which drops every reply and every ticket. The cache opens with a
//! reading of the catalogue that does not have the column, and statements that were understood by an older one get no ticket. So
//! from the closing on no reply by the column is shown, and only then other processes may have its table.

use std::sync::PoisonError;
use std::time::Duration;

use lacuna_cache::sql::{Statement, TableClaim};
use tokio::time::{sleep, timeout};

use super::{Catalogue, LOOK, Sessions, Watcher, catalogue, past, past_the_proxy};
use crate::cache::counters::count;
use crate::cache::registered::{Column, Registered, full_name};
use crate::cache::settings::Past;
use crate::cache::span::{Span, Touched};
use crate::cache::{Asked, Cache};
use crate::suggest::Suggestion;

/// Longest wait for the claim of a table, and until claims are given back: much shorter than the leases that the cache holds
/// already. A claim that was given up may have been taken all the same; the next try has it at once.
const CLAIM: Duration = Duration::from_secs(1);

/// Plain tables of a name, and of a schema if that is not empty.
const TABLES: &str = "SELECT n.nspname::text, c.relname::text, '', '', '', '' FROM pg_catalog.pg_class AS c
    JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace WHERE c.relname = $2::text AND c.relkind = 'r'
    AND (n.nspname = $1::text OR ($1::text = '' AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'))";

impl Watcher {
    /// Registers the column that would spare most. Call it before a check begins. One at a time, since meanwhile no lease is
    /// renewed.
    pub(super) async fn register_advised(&self, cache: &Cache) {
        let Some(advisor) = &cache.advisor else { return };
        let Some(advice) = advisor.advice() else { return };
        match self.register_advice(cache, &advice).await {
            Ok(column) => advisor.registered(&advice, &column),
            Err(why) => advisor.refused(&advice, why),
        }
    }

    /// Does what was asked first, one at a time for the same reason; says whether there is more.
    pub(super) async fn do_asked(&self, cache: &Cache) -> bool {
        let next = || cache.asked.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        // One that asks no more has no use for the answer.
        match next() {
            None => return false,
            Some(Asked::Register(column, answer)) => {
                drop(answer.send(self.register_one(cache, &column).await));
            }
            Some(Asked::Unregister(columns, answer)) => {
                drop(answer.send(self.unregister(cache, &columns).await));
            }
        }
        !cache.asked.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    async fn register_one(&self, cache: &Cache, column: &Column) -> Result<bool, String> {
        let (schema, table, name) = column;
        let is_new = self.register(cache, (schema, table, name), |_| Ok(())).await?;
        if let Some(advisor) = &cache.advisor {
            advisor.may_register(&full_name(column));
        }
        Ok(is_new)
    }

    async fn register_advice(&self, cache: &Cache, advice: &Suggestion) -> Result<String, String> {
        let (schema, table) = self.table(&advice.table).await?;
        let name = format!("{schema}.{table}.{}", advice.column);
        let admits = |registered: &Registered| {
            cache.advisor.as_ref().map_or(Ok(()), |advisor| advisor.admits(registered, &name))
        };
        self.register(cache, (&schema, &table, &advice.column), admits).await?;
        Ok(name)
    }

    /// Takes columns off the list, and returns those that were on it.
    async fn unregister(&self, cache: &Cache, columns: &Registered) -> Registered {
        let before = self.lock().registered.clone();
        let left = before.without(columns);
        let gone = before.without(&left);
        if gone.len() == 0 {
            return gone;
        }
        cache.results.close("columns are being taken off the list");
        let names = |of: &Registered| -> Vec<String> {
            of.tables().map(|(schema, table)| format!("{schema}.{table}")).collect()
        };
        let (kept, mut freed) = (names(&left), names(&gone));
        freed.retain(|name| !kept.contains(name));
        let claims: Vec<(String, TableClaim)> = {
            let mut tables = self.lock();
            tables.registered = left;
            tables.claimed.extract_if(.., |(name, _)| freed.contains(name)).collect()
        };
        let given_back = async {
            for (name, claim) in claims {
                if let Err(why) = self.claims().release(claim).await {
                    // Its lease runs out.
                    tracing::warn!(%why, table = name, "the claim of a table was not given back");
                }
            }
        };
        drop(timeout(CLAIM, given_back).await);
        for (_, column) in gone.columns() {
            count(&cache.counters.unregistered);
            if let Some(advisor) = &cache.advisor {
                advisor.may_not_register(&full_name(column));
            }
        }
        gone
    }

    /// Registers a column, and returns whether it is a new one.
    ///
    /// # Errors
    /// Why it is not registered: nothing has changed then, but that a table may be claimed.
    async fn register(
        &self,
        cache: &Cache,
        (schema, table, column): (&str, &str, &str),
        admits: impl Fn(&Registered) -> Result<(), String>,
    ) -> Result<bool, String> {
        let before = self.lock().registered.clone();
        let (registered, place) = before.with((schema, table, column)).map_err(said)?;
        if registered == before {
            return Ok(false);
        }
        admits(&registered)?;
        let oldest = self.oldest().await.map_err(said)?;
        let catalogue = self.reading(&registered).await.map_err(said)?;
        // Who may not write by now may have written before.
        let newest = match self.past {
            Past::Rights if cache.remembers_writers() => Some(self.newest().await.map_err(said)?),
            _ => None,
        };
        self.has_no_writer_past(cache, &catalogue).await?;
        if before.tables().all(|known| known != (schema, table)) {
            let claim = timeout(CLAIM, self.claim(schema, table)).await;
            claim
                .map_err(|_| "it was not claimed within a second: the process that has cached it may be gone, and its lease not yet".to_owned())?
                .map_err(said)?;
        }
        cache.results.grow(registered.place_count());
        self.lock().registered = registered;
        let spans = vec![(place, Span::ALL)];
        let (hold, _) = cache.results.hold(Touched { spans, ..Touched::default() }, None);
        cache.read(catalogue, oldest);
        match (cache.log.as_ref().filter(|_| cache.settles()), newest) {
            (Some(log), _) => log.hold_until_settled(hold),
            (None, Some(newest)) => self.lock().unsettled.push((newest, hold)),
            (None, None) => cache.release(hold),
        }
        Ok(true)
    }

    /// Schema and name of the one table that a statement's name can mean.
    async fn table(&self, name: &str) -> Result<(String, String), String> {
        let (schema, table) = name.rsplit_once('.').unwrap_or(("", name));
        let question = Statement::new(TABLES).with(schema.to_owned()).with(table.to_owned());
        let rows = self.rows(&question).await.map_err(said)?;
        let found = catalogue::facts(rows).map_err(said)?;
        match &found[..] {
            [[schema, table, ..]] => Ok((schema.clone(), table.clone())),
            [] => Err("there is no plain table of this name".to_owned()),
            _ => Err("several schemas have a table of this name: give the one that is meant with --register"
                .to_owned()),
        }
    }

    /// A session past the proxy that could write the table would close the cache. One that begins is seen before its number
    /// is known here: only one that two looks have found counts.
    async fn has_no_writer_past(&self, cache: &Cache, catalogue: &Catalogue) -> Result<(), String> {
        let first = self.writers_past(cache, catalogue).await?;
        if first.is_empty() {
            return Ok(());
        }
        sleep(LOOK).await;
        let mut again = self.writers_past(cache, catalogue).await?;
        again.retain(|pid, _| first.contains_key(pid));
        if again.is_empty() { Ok(()) } else { Err(past_the_proxy(&again).to_string()) }
    }

    async fn writers_past(&self, cache: &Cache, catalogue: &Catalogue) -> Result<Sessions, String> {
        let rows = self.rows(&Statement::new(catalogue::ACTIVITY)).await.map_err(said)?;
        let facts = catalogue::facts(rows).map_err(said)?;
        let processes = cache.processes.lock().unwrap_or_else(PoisonError::into_inner);
        let past = facts.iter().filter_map(|fact| past(fact, &processes, &catalogue.start.0));
        let writers = past.filter(|(_, role)| catalogue.writers.contains(*role));
        Ok(writers.map(|(pid, role)| (pid, role.to_owned())).collect())
    }
}

fn said(why: impl std::fmt::Display) -> String {
    why.to_string()
}
