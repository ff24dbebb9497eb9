//! The binary log of MariaDB, as `SHOW BINLOG EVENTS` tells it.
//!
//! ```text
//! Gtid           BEGIN GTID 0-1-5
//! Annotate_rows  /* lacuna */ UPDATE people SET age = 21 WHERE id = 7 ...
//! Table_map      table_id: 18 (test.people)
//! Update_rows_v1 table_id: 18 flags: STMT_END_F
//! Xid            COMMIT /* xid=9 */
//! ```

use std::collections::BTreeSet;
use std::sync::Arc;

use lacuna_core::{Error, Result};

use super::transaction::Telling;
use super::{Journal, Strangers};
use crate::database::{Database, Failure, Later, MARK, open_alone};
use crate::sql_value::SqlValue;
use crate::statement::Statement;

/// Events at once.
const EVENTS: usize = 2_000;

/// A place in the log.
#[derive(Debug)]
pub(super) struct Binlog {
    database: Arc<dyn Database>,
    place: Place,
    telling: Telling,
}

#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Place {
    file: String,
    position: i64,
}

fn error(failure: Failure) -> Error {
    failure.error
}

impl Binlog {
    pub(super) async fn open(url: &str) -> Result<Self> {
        let database = open_alone(url).await?;
        let settings = "SELECT @@global.log_bin = 1 AND @@global.binlog_format = 'ROW' AND @@global.binlog_annotate_row_events = 1";
        let found = database.query(&Statement::new(settings)).await.map_err(error)?;
        if found != [[SqlValue::Integer(1)]] {
            let message = "a watchdog needs a MariaDB server with log_bin, binlog_format = ROW and \
                           binlog_annotate_row_events, and a user with BINLOG MONITOR and REPLICATION SLAVE";
            return Err(Error::invalid_input(message));
        }
        Ok(Self { database, place: Place::default(), telling: Telling::default() })
    }

    async fn find_end(&mut self) -> Result<()> {
        let found = self.database.query(&Statement::new("SHOW MASTER STATUS")).await.map_err(error)?;
        let Some([SqlValue::Text(file), SqlValue::Integer(position), ..]) = found.first().map(|row| &row[..])
        else {
            return Err(Error::unavailable(format!("the server does not say where its log ends: {found:?}")));
        };
        (self.place, self.telling) = (Place { file: file.clone(), position: *position }, Telling::default());
        Ok(())
    }

    async fn read(&mut self) -> Result<Strangers> {
        let mut strangers = Strangers::none();
        loop {
            let Place { file, position } = &self.place;
            let quoted = file.replace('\'', "''");
            let sql = format!("SHOW BINLOG EVENTS IN '{quoted}' FROM {position} LIMIT {EVENTS}");
            let events = self.database.query(&Statement::new(sql)).await.map_err(error)?;
            let before = self.place.clone();
            for event in &events {
                let [_, _, SqlValue::Text(kind), _, SqlValue::Integer(end), SqlValue::Text(words)] =
                    &event[..]
                else {
                    return Err(Error::unavailable(format!(
                        "an event of the log is of another form: {event:?}"
                    )));
                };
                self.place.position = *end;
                self.hear(kind, words, &mut strangers)?;
            }
            if self.place.file == before.file && events.len() < EVENTS {
                return Ok(strangers);
            }
        }
    }

    fn hear(&mut self, kind: &str, words: &str, strangers: &mut Strangers) -> Result<()> {
        match kind {
            "Gtid" => self.telling = Telling::default(),
            "Annotate_rows" if words.contains(MARK) => self.telling.mark(),
            "Table_map" => match table_of(words) {
                Some(table) => self.telling.change(&table),
                None => *strangers = Strangers::ChangedAny,
            },
            "Xid" => self.telling.end(strangers),
            "Query" if words == "COMMIT" => self.telling.end(strangers),
            "Query" if words == "BEGIN" || words == "ROLLBACK" => {}
            "Query" if words.contains(MARK) => self.telling.mark(),
            "Rotate" => match next_file(words) {
                Some(file) => self.place = Place { file, position: 4 },
                None => return Err(Error::unavailable(format!("the log goes on nowhere: {words}"))),
            },
            // The server has stopped; what it wrote since is in another file.
            "Stop" => return Err(Error::unavailable("the log has ended")),
            "Annotate_rows" | "Format_desc" | "Gtid_list" | "Binlog_checkpoint" | "Start_encryption"
            | "Intvar" | "RAND" | "User var" => {}
            rows if rows.contains("_rows") => {}
            // A statement that is told by its words, such as `TRUNCATE`; or whatever a newer server may tell.
            _ => self.telling.end_unnamed(strangers),
        }
        Ok(())
    }
}

impl Journal for Binlog {
    fn begin(&mut self) -> Later<'_, Result<()>> {
        Box::pin(self.find_end())
    }

    fn strangers(&mut self) -> Later<'_, Result<Strangers>> {
        Box::pin(self.read())
    }
}

/// `table_id: 18 (test.people)` has `test.people`. Small letters, as a server may be set to have no others.
fn table_of(words: &str) -> Option<String> {
    let (_, name) = words.split_once('(')?;
    Some(name.strip_suffix(')')?.to_lowercase())
}

/// `log.000002;pos=4` has `log.000002`.
fn next_file(words: &str) -> Option<String> {
    words.split_once(";pos=").map(|(file, _)| file.to_owned())
}

pub(super) async fn names(database: &dyn Database, table: &str) -> Result<BTreeSet<String>> {
    let found = database.query(&Statement::new("SELECT DATABASE()")).await.map_err(error)?;
    match found.first().map(|row| &row[..]) {
        Some([SqlValue::Text(schema)]) => Ok(BTreeSet::from([format!("{schema}.{table}").to_lowercase()])),
        _ => Err(Error::invalid_input("name the database in the URL: mysql://user@host/database")),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed test panics")]
mod tests {
    use super::*;

    /// Nobody who could be asked.
    async fn binlog() -> Binlog {
        let database = open_alone("sqlite::memory:").await.unwrap();
        Binlog { database, place: Place::default(), telling: Telling::default() }
    }

    async fn told(events: &[(&str, &str)]) -> Strangers {
        let (mut log, mut strangers) = (binlog().await, Strangers::none());
        events.iter().for_each(|(kind, words)| log.hear(kind, words, &mut strangers).unwrap());
        strangers
    }

    fn changed(names: &[&str]) -> Strangers {
        Strangers::Changed(names.iter().map(|name| (*name).to_owned()).collect())
    }

    #[tokio::test]
    async fn a_transaction_without_a_mark_is_a_strangers() {
        let (begin, end) = (("Gtid", "BEGIN GTID 0-1-5"), ("Xid", "COMMIT /* xid=9 */"));
        let ours = ("Annotate_rows", "/* lacuna */ UPDATE people SET age = 21");
        let theirs = ("Annotate_rows", "UPDATE people SET age = 22");
        let people = ("Table_map", "table_id: 18 (test.People)");
        let rows = ("Update_rows_v1", "table_id: 18 flags: STMT_END_F");
        assert_eq!(told(&[begin, theirs, people, rows, end]).await, changed(&["test.people"]));
        assert_eq!(told(&[begin, ours, people, rows, end]).await, changed(&[]));
        assert_eq!(told(&[begin, theirs, people, rows, ours, people, rows, end]).await, changed(&[]));
        let both = [begin, ours, people, rows, end, begin, theirs, people, rows, end];
        assert_eq!(told(&both).await, changed(&["test.people"]));
        assert_eq!(told(&[begin, people, rows]).await, changed(&[]), "it may have a mark yet");
        let truncation = ("Query", "use `test`; TRUNCATE people");
        assert_eq!(told(&[("Gtid", "GTID 0-1-6"), truncation]).await, Strangers::ChangedAny);
        assert_eq!(told(&[("Unheard_of", "")]).await, Strangers::ChangedAny);
    }

    #[tokio::test]
    async fn the_log_goes_on_in_the_next_file() {
        let (mut log, mut strangers) = (binlog().await, Strangers::none());
        log.hear("Rotate", "log.000002;pos=4", &mut strangers).unwrap();
        assert_eq!(log.place, Place { file: "log.000002".to_owned(), position: 4 });
        assert!(log.hear("Stop", "", &mut strangers).is_err());
    }
}
