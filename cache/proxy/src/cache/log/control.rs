//! A connection that asks how far the log is written.

use lacuna_base::{Error, Result};
use lacuna_cache::sql::{SqlValue, Statement, TableClaims};

use super::snapshots::Snapshot;
use super::stream::Lsn;

/// A number that is given now is larger than that of every transaction that runs.
const NEWEST: &str = "SELECT pg_catalog.pg_current_xact_id()::text";
/// Makes the server write all of its log so far, and writes a record.
const PUSH: &str = "SELECT pg_catalog.pg_logical_emit_message(true, 'lacuna_log', '')::text";
const PLACE: &str = "SELECT pg_catalog.pg_current_wal_insert_lsn()::text, pg_catalog.pg_current_snapshot()::text, \
     pg_catalog.pg_backend_pid()::text";
/// The server process that is asked, if its server has the slot.
const SLOT: &str = "SELECT pg_catalog.pg_backend_pid()::text, s.slot_name::text FROM pg_catalog.pg_replication_slots AS s \
     WHERE s.slot_name::text = $1::text";
/// A push writes to the disk of this server, and does not wait for others.
const LOCAL: &str = "SELECT pg_catalog.set_config('synchronous_commit', 'local', false)";
const LEVEL: &str = "SELECT current_setting('wal_level')";

/// The connection, to the server of one stream.
#[derive(Debug)]
pub(super) struct Control {
    claims: TableClaims,
    /// The server process that answers: another one may be of another server, which has another log.
    process: String,
}

impl Control {
    /// Connects, and asks the server whether it has the slot.
    ///
    /// # Errors
    /// `Unavailable` if it does not answer, or has not.
    pub(super) async fn open(url: &str, slot: &str) -> Result<Self> {
        let claims = TableClaims::open(url).await?;
        claims.rows(&Statement::new(LOCAL)).await?;
        let [process, _] = row(&claims, Statement::new(SLOT).with(slot.to_owned())).await?;
        Ok(Self { claims, process })
    }

    /// How far the log is written, on the disk or not, and which transactions run.
    pub(super) async fn place(&self) -> Result<(Lsn, Snapshot)> {
        let [place, snapshot, process] = row(&self.claims, Statement::new(PLACE)).await?;
        if process != self.process {
            return Err(Error::unavailable("the connection that asks how far the log is written was lost"));
        }
        let read = || Some((place.parse().ok()?, snapshot.parse().ok()?));
        read().ok_or_else(|| {
            Error::unavailable("the database says in an unknown form how far its log is written")
        })
    }

    /// A number that no transaction reaches that has one by now. It is that of a transaction which changes nothing.
    pub(super) async fn newest(&self) -> Result<u64> {
        let [number] = row(&self.claims, Statement::new(NEWEST)).await?;
        number
            .parse()
            .map_err(|_| Error::unavailable("the database numbers its transactions in an unknown form"))
    }

    /// Has the log written to the disk.
    pub(super) async fn push(&self) -> Result<()> {
        self.claims.rows(&Statement::new(PUSH)).await?;
        Ok(())
    }
}

/// How much the log says.
pub(super) async fn level(claims: &TableClaims) -> Result<String> {
    let [level] = row(claims, Statement::new(LEVEL)).await?;
    Ok(level)
}

/// The texts of a question with one row.
async fn row<const N: usize>(claims: &TableClaims, question: Statement) -> Result<[String; N]> {
    let mut rows = claims.rows(&question).await?;
    let row = rows.pop().filter(|_| rows.is_empty()).unwrap_or_default();
    let texts =
        row.into_iter().filter_map(|value| if let SqlValue::Text(text) = value { Some(text) } else { None });
    texts
        .collect::<Vec<_>>()
        .try_into()
        .map_err(|_| Error::unavailable("the database answers a question about its log in an unknown form"))
}
