//! Triggers by which only sessions of the proxy write a table: the writes of all others fail.
//!
//! A row for each session, with the number and the start of its server process, is written by the proxy's own account before
//! the session's login is over. So nothing that the client says can lose or forge it: `RESET ALL`, `DISCARD ALL` and
//! `SET SESSION AUTHORIZATION` change nothing of a server process, and no message of the client is another one. The
//! trigger looks for the row of the process that runs it, and for its proxy in the one row of `lacuna_guard.proxy`.
//!
//! Guarantee: once a proxy has written that row, a write of another proxy's session fails, unless its transaction began before; those
//! sessions are known by their rows, and nothing is shown until they have ended.
//!
//! Cost: a statement of the account for each login, and a query of two small tables for each writing statement.

use std::sync::{Arc, PoisonError, RwLock};

use lacuna_base::{Error, Result};
use lacuna_cache::sql::{SqlValue, Statement, TableClaims};

use super::registered::Registered;
use super::sql_names::quoted;
use crate::upstream::each_alone;

/// The table whose claim says which proxy may take writes.
pub(super) const TABLE: (&str, &str) = ("lacuna_guard", "proxy");

/// What the function of the triggers does; the catalogue must have it letter by letter.
pub(super) const BODY: &str = "
BEGIN
    IF NOT EXISTS (SELECT FROM lacuna_guard.session AS s JOIN lacuna_guard.proxy AS p ON p.id = s.proxy
        WHERE s.pid = pg_backend_pid() AND s.started = (SELECT a.backend_start FROM pg_stat_get_activity(pg_backend_pid()) AS a)) THEN
        RAISE EXCEPTION USING ERRCODE = 'LA002',
            MESSAGE = format('the table %I.%I is cached by a proxy: connect through it to write the table', TG_TABLE_SCHEMA, TG_TABLE_NAME);
    END IF;
    IF TG_LEVEL = 'STATEMENT' THEN
        RETURN NULL;
    END IF;
    IF TG_OP = 'DELETE' THEN
        RETURN OLD;
    END IF;
    RETURN NEW;
END";

/// The SQL that puts guards on the tables of these columns, for a proxy whose account is `role`.
///
/// Its author must own the tables, and may read all statistics (`pg_read_all_stats`).
#[must_use]
pub fn guard_sql(registered: &Registered, role: &str) -> String {
    let role = quoted(role);
    let triggers: String = registered.tables().map(|(schema, table)| triggers(schema, table)).collect();
    format!(
        "BEGIN;
CREATE SCHEMA IF NOT EXISTS lacuna_guard;
CREATE TABLE IF NOT EXISTS lacuna_guard.proxy (only_one bool PRIMARY KEY CHECK (only_one), id text NOT NULL);
CREATE UNLOGGED TABLE IF NOT EXISTS lacuna_guard.session (pid int PRIMARY KEY, started timestamptz NOT NULL, proxy text NOT NULL);
GRANT USAGE ON SCHEMA lacuna_guard TO {role};
GRANT SELECT, INSERT, UPDATE, DELETE ON lacuna_guard.proxy, lacuna_guard.session TO {role};
CREATE OR REPLACE FUNCTION lacuna_guard.check_writer() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $guard${BODY}$guard$;
{triggers}COMMIT;
"
    )
}

/// The SQL that takes the guards of these tables away. What they look at stays, as other tables may have guards.
#[must_use]
pub fn unguard_sql(registered: &Registered) -> String {
    let drops: String = registered.tables().map(|(schema, table)| drops(schema, table)).collect();
    format!("BEGIN;\n{drops}COMMIT;\n")
}

/// Runs SQL of [`guard_sql`] and its like at a database.
///
/// # Errors
/// `InvalidInput` if the account names several hosts; those of the database.
pub async fn run_sql(account: &str, sql: &str) -> Result<()> {
    if each_alone(account)?.len() > 1 {
        return Err(Error::invalid_input("the account names several hosts: name the one that takes writes"));
    }
    Ok(TableClaims::run(account, sql).await?)
}

fn triggers(schema: &str, table: &str) -> String {
    let name = format!("{}.{}", quoted(schema), quoted(table));
    format!(
        "{}CREATE TRIGGER lacuna_guard BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON {name}
    FOR EACH STATEMENT EXECUTE FUNCTION lacuna_guard.check_writer();
CREATE TRIGGER lacuna_guard_rows BEFORE INSERT OR UPDATE OR DELETE ON {name}
    FOR EACH ROW EXECUTE FUNCTION lacuna_guard.check_writer();
ALTER TABLE {name} ENABLE ALWAYS TRIGGER lacuna_guard;
ALTER TABLE {name} ENABLE REPLICA TRIGGER lacuna_guard_rows;
",
        drops(schema, table)
    )
}

fn drops(schema: &str, table: &str) -> String {
    let name = format!("{}.{}", quoted(schema), quoted(table));
    format!(
        "DROP TRIGGER IF EXISTS lacuna_guard ON {name};\nDROP TRIGGER IF EXISTS lacuna_guard_rows ON {name};\n"
    )
}

/// What a proxy says to the triggers.
#[derive(Debug)]
pub(super) struct Guard {
    at: RwLock<Arc<AtServer>>,
}

#[derive(Debug)]
struct AtServer {
    /// A connection of its own, so that a login does not wait for the catalogue.
    claims: TableClaims,
    proxy: String,
    /// The number of the server.
    server: u64,
}

impl Guard {
    /// Call it with the claim of [`TABLE`], for the first server.
    ///
    /// # Errors
    /// Those of the database: the guards are not there, or the account may not write what they look at.
    pub(super) async fn begin(account: &str) -> Result<Self> {
        Ok(Self { at: RwLock::new(Arc::new(AtServer::begin(account, 0).await?)) })
    }

    /// The same for another server.
    ///
    /// # Errors
    /// As [`begin`](Self::begin).
    pub(super) async fn begin_again(&self, account: &str, server: u64) -> Result<()> {
        let at = Arc::new(AtServer::begin(account, server).await?);
        *self.at.write().unwrap_or_else(PoisonError::into_inner) = at;
        Ok(())
    }

    fn at(&self) -> Arc<AtServer> {
        self.at.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Lets the session of this process of this server write.
    pub(super) async fn admit(&self, server: u64, pid: i32) -> Result<()> {
        let at = self.at();
        if at.server != server {
            // There a process of this number is another one.
            return Err(Error::unavailable("its server was left"));
        }
        let admits = "INSERT INTO lacuna_guard.session (pid, started, proxy) \
            SELECT pid, backend_start, $2::text FROM pg_catalog.pg_stat_activity WHERE pid = $1::bigint \
            ON CONFLICT (pid) DO UPDATE SET started = excluded.started, proxy = excluded.proxy RETURNING pid::text";
        let rows =
            at.claims.rows(&Statement::new(admits).with(i64::from(pid)).with(at.proxy.clone())).await?;
        if rows.is_empty() { Err(Error::unavailable("its server process is not there")) } else { Ok(()) }
    }

    /// Forgets sessions that have ended.
    ///
    /// # Errors
    /// `Unavailable` if sessions of an earlier proxy have not.
    pub(super) async fn check(&self) -> Result<()> {
        let at = self.at();
        // By both values: a new process may have the number of one that has ended.
        let forget = "DELETE FROM lacuna_guard.session AS s USING (SELECT o.pid, o.started FROM lacuna_guard.session AS o \
            WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_stat_activity AS a WHERE a.pid = o.pid AND a.backend_start = o.started)) AS gone \
            WHERE s.pid = gone.pid AND s.started = gone.started RETURNING s.pid::text";
        at.claims.rows(&Statement::new(forget)).await?;
        let others =
            "SELECT count(*)::text FROM lacuna_guard.session WHERE proxy <> $1::text HAVING count(*) > 0";
        let rows = at.claims.rows(&Statement::new(others).with(at.proxy.clone())).await?;
        if rows.is_empty() {
            return Ok(());
        }
        Err(Error::unavailable(
            "sessions of an earlier proxy have not ended, and may still commit what they wrote",
        ))
    }
}

impl AtServer {
    async fn begin(account: &str, server: u64) -> Result<Self> {
        let claims = TableClaims::open(account).await?;
        let rows = claims.rows(&Statement::new("SELECT txid_current()::text")).await?;
        let [[SqlValue::Text(proxy)]] = rows.iter().map(Vec::as_slice).collect::<Vec<_>>()[..] else {
            return Err(Error::unavailable("the database gives no number of a transaction"));
        };
        let proxy = proxy.clone();
        let takes = "INSERT INTO lacuna_guard.proxy (only_one, id) VALUES (true, $1::text) \
            ON CONFLICT (only_one) DO UPDATE SET id = excluded.id RETURNING id";
        claims.rows(&Statement::new(takes).with(proxy.clone())).await?;
        Ok(Self { claims, proxy, server })
    }
}
