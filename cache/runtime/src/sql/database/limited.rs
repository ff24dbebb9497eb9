//! Time limits of round trips to a database server, whose host may vanish: no reset, no answer.
//!
//! What the cache asks for itself (leases, fences, members) is over after seconds: a lease would be, too. What it sends for
//! others has minutes. SQL of an application that is run as it is has no limit. A round trip whose time is over is dropped,
//! which closes its connection (`borrowed.rs`); it is `Unavailable`, and whether it was executed is unknown.
//!
//! The drivers set no keep-alive on their sockets, so this is the only way in which a silent host is noticed.

use std::sync::Arc;
use std::time::Duration;

use lacuna_cache_protocol::{Error, Result};
use tokio::time::timeout;
use tracing::info;

use super::{Database, Dialect, Failure, FailureKind, Later, Statement, Table, Transaction};

#[derive(Debug, Clone, Copy)]
struct Limits {
    /// A statement in a transaction of its own, or the beginning of one, with the wait for a connection.
    alone: Duration,
    /// A statement of a transaction, or its end.
    in_transaction: Duration,
    /// SQL that is run as it is.
    script: Option<Duration>,
}

/// Round trips of the cache itself.
const OWN: Limits = Limits {
    alone: Duration::from_secs(5),
    in_transaction: Duration::from_secs(5),
    script: Some(Duration::from_secs(30)),
};
/// Those for others. An owner waits half a minute for the store and then asks again.
#[cfg(any(feature = "postgres", feature = "mariadb"))]
const OF_OTHERS: Limits =
    Limits { alone: Duration::from_secs(120), in_transaction: Duration::from_secs(600), script: None };
/// Those over a single connection, for which all others wait.
#[cfg(any(feature = "postgres", feature = "mariadb"))]
const OF_ONE: Limits = Limits { alone: Duration::from_secs(30), ..OF_OTHERS };
/// How long the next row of a log may take, and closing all connections.
const SILENCE: Duration = Duration::from_secs(60);

/// A database for round trips of the cache itself. A file has no host that could vanish.
pub(crate) fn in_time(database: Arc<dyn Database>) -> Arc<dyn Database> {
    with_limits(database, OWN)
}

/// A database for round trips for others.
#[cfg(any(feature = "postgres", feature = "mariadb"))]
pub(super) fn in_the_end(database: Arc<dyn Database>, connections: u32) -> Arc<dyn Database> {
    with_limits(database, if connections == 1 { OF_ONE } else { OF_OTHERS })
}

fn with_limits(database: Arc<dyn Database>, limits: Limits) -> Arc<dyn Database> {
    if database.dialect().is_remote() { Arc::new(Limited { database, limits }) } else { database }
}

#[derive(Debug)]
struct Limited {
    database: Arc<dyn Database>,
    limits: Limits,
}

struct LimitedTransaction {
    /// `None` once a round trip took too long: the connection is closed.
    open: Option<Box<dyn Transaction>>,
    limit: Duration,
}

fn too_late(limit: Duration) -> Failure {
    info!(max_s = limit.as_secs(), "the database did not answer in time: the connection is closed");
    let why = format!(
        "the database did not answer within {} s: see whether its host can be reached and is not overloaded",
        limit.as_secs()
    );
    Failure { error: Error::unavailable(why), kind: FailureKind::Unknown }
}

async fn within<T>(limit: Duration, asked: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    timeout(limit, asked).await.unwrap_or_else(|_| Err(too_late(limit)))
}

impl Database for Limited {
    fn dialect(&self) -> Dialect {
        self.database.dialect()
    }

    fn query<'a>(&'a self, statement: &'a Statement) -> Later<'a, Result<Table, Failure>> {
        Box::pin(within(self.limits.alone, self.database.query(statement)))
    }

    fn execute<'a>(&'a self, statement: &'a Statement) -> Later<'a, Result<u64, Failure>> {
        Box::pin(within(self.limits.alone, self.database.execute(statement)))
    }

    fn run<'a>(&'a self, sql: &'a str) -> Later<'a, Result<(), Failure>> {
        match self.limits.script {
            Some(limit) => Box::pin(within(limit, self.database.run(sql))),
            None => self.database.run(sql),
        }
    }

    #[cfg(any(feature = "postgres", feature = "mariadb"))]
    fn each_row<'a>(&'a self, sql: &'a str, hear: super::Hear<'a>) -> Later<'a, Result<()>> {
        use std::sync::atomic::{AtomicU64, Ordering};
        Box::pin(async move {
            let rows = AtomicU64::new(0);
            let mut count_and_hear = |row: &[Option<String>]| {
                rows.fetch_add(1, Ordering::Relaxed);
                hear(row)
            };
            let mut read = std::pin::pin!(self.database.each_row(sql, &mut count_and_hear));
            loop {
                let before = rows.load(Ordering::Relaxed);
                match timeout(SILENCE, &mut read).await {
                    Ok(read) => return read,
                    Err(_) if rows.load(Ordering::Relaxed) > before => {}
                    Err(_) => return Err(too_late(SILENCE).error),
                }
            }
        })
    }

    fn begin(&self) -> Later<'_, Result<Box<dyn Transaction>, Failure>> {
        Box::pin(async move {
            let limit = self.limits.in_transaction;
            let open = Some(within(self.limits.alone, self.database.begin()).await?);
            let open: Box<dyn Transaction> = Box::new(LimitedTransaction { open, limit });
            Ok(open)
        })
    }

    fn close(&self) -> Later<'_, ()> {
        Box::pin(async move { drop(timeout(SILENCE, self.database.close()).await) })
    }
}

impl LimitedTransaction {
    /// The transaction; an error if a round trip took too long.
    fn open(&mut self) -> Result<&mut Box<dyn Transaction>, Failure> {
        self.open.as_mut().ok_or_else(super::driver::dropped_statement)
    }

    /// What a round trip gave. One that took too long ends the transaction.
    fn ended<T>(&mut self, done: Option<T>) -> Result<T, Failure> {
        if done.is_none() {
            self.open = None;
        }
        done.ok_or_else(|| too_late(self.limit))
    }
}

impl Transaction for LimitedTransaction {
    fn query<'a>(&'a mut self, statement: &'a Statement) -> Later<'a, Result<Table, Failure>> {
        Box::pin(async move {
            let limit = self.limit;
            let found = timeout(limit, self.open()?.query(statement)).await.ok();
            self.ended(found)?
        })
    }

    fn execute<'a>(&'a mut self, statement: &'a Statement) -> Later<'a, Result<u64, Failure>> {
        Box::pin(async move {
            let limit = self.limit;
            let done = timeout(limit, self.open()?.execute(statement)).await.ok();
            self.ended(done)?
        })
    }

    fn run<'a>(&'a mut self, sql: &'a str) -> Later<'a, Result<Vec<u64>, (usize, Failure)>> {
        Box::pin(async move {
            let limit = self.limit;
            let open = self.open().map_err(|failure| (0, failure))?;
            let run = timeout(limit, open.run(sql)).await.ok();
            self.ended(run).map_err(|failure| (0, failure))?
        })
    }

    fn commit(self: Box<Self>) -> Later<'static, Result<(), Failure>> {
        Box::pin(async move {
            let open = self.open.ok_or_else(super::driver::dropped_statement)?;
            within(self.limit, open.commit()).await
        })
    }

    fn rollback(self: Box<Self>) -> Later<'static, ()> {
        Box::pin(async move {
            if let Some(open) = self.open {
                drop(timeout(self.limit, open.rollback()).await);
            }
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed test panics")]
mod tests {
    use std::future::pending;

    use lacuna_cache_protocol::ErrorKind;

    use super::*;

    /// Begins transactions, and answers nothing else.
    #[derive(Debug)]
    struct Silent;

    impl Database for Silent {
        fn dialect(&self) -> Dialect {
            Dialect::Postgres
        }

        fn query<'a>(&'a self, _: &'a Statement) -> Later<'a, Result<Table, Failure>> {
            Box::pin(pending())
        }

        fn execute<'a>(&'a self, _: &'a Statement) -> Later<'a, Result<u64, Failure>> {
            Box::pin(pending())
        }

        fn run<'a>(&'a self, _: &'a str) -> Later<'a, Result<(), Failure>> {
            Box::pin(pending())
        }

        fn begin(&self) -> Later<'_, Result<Box<dyn Transaction>, Failure>> {
            Box::pin(async { Ok::<Box<dyn Transaction>, _>(Box::new(Self)) })
        }

        fn close(&self) -> Later<'_, ()> {
            Box::pin(pending())
        }
    }

    impl Transaction for Silent {
        fn query<'a>(&'a mut self, _: &'a Statement) -> Later<'a, Result<Table, Failure>> {
            Box::pin(pending())
        }

        fn execute<'a>(&'a mut self, _: &'a Statement) -> Later<'a, Result<u64, Failure>> {
            Box::pin(pending())
        }

        fn run<'a>(&'a mut self, _: &'a str) -> Later<'a, Result<Vec<u64>, (usize, Failure)>> {
            Box::pin(pending())
        }

        fn commit(self: Box<Self>) -> Later<'static, Result<(), Failure>> {
            Box::pin(pending())
        }

        fn rollback(self: Box<Self>) -> Later<'static, ()> {
            Box::pin(pending())
        }
    }

    fn is_too_late<T>(done: Result<T, Failure>) -> bool {
        done.is_err_and(|failure| {
            (failure.kind, failure.error.kind()) == (FailureKind::Unknown, ErrorKind::Unavailable)
        })
    }

    #[tokio::test]
    async fn every_round_trip_without_an_answer_ends() {
        let limit = Duration::from_millis(20);
        let limits = Limits { alone: limit, in_transaction: limit, script: Some(limit) };
        let (database, select) = (with_limits(Arc::new(Silent), limits), Statement::new("SELECT 1"));
        assert!(is_too_late(database.query(&select).await));
        assert!(is_too_late(database.execute(&select).await));
        assert!(is_too_late(database.run("SELECT 1").await));
        assert!(is_too_late(database.begin().await.unwrap().commit().await));
        database.begin().await.unwrap().rollback().await;
        let mut open = database.begin().await.unwrap();
        assert!(is_too_late(open.query(&select).await));
        let mut open = database.begin().await.unwrap();
        assert!(is_too_late(open.run("SELECT 1").await.map_err(|(_, failure)| failure)));
        let mut open = database.begin().await.unwrap();
        assert!(is_too_late(open.execute(&select).await));
        // Its connection is closed: it is not used and not committed any more.
        assert_eq!(open.execute(&select).await.unwrap_err().kind, FailureKind::Later);
        assert_eq!(open.commit().await.unwrap_err().kind, FailureKind::Later);
    }
}
