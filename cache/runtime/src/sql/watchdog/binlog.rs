//! The binary log of MariaDB, as `SHOW BINLOG EVENTS` shows it (`events.rs`).
//!
//! A transaction is in the log shortly before it is visible. A read in between finds old rows, and may cache them
//! after the alarm. So a foreign write is reported a second time at the first look after the next pause.

use std::collections::BTreeSet;
use std::sync::Arc;

use lacuna_cache_protocol::{Error, Result};

use super::events::{Events, Place};
use super::family::{Family, Member, touched};
use super::{Families, Journal, few_rows};
use crate::sql::database::{Database, Later, TableName, open_alone};

/// Maximum events in one read.
const EVENTS: usize = 200;

/// A log that is read from a position on.
#[derive(Debug)]
pub(super) struct Binlog {
    database: Arc<dyn Database>,
    events: Events,
    /// Whether the last look did not reach the end.
    has_more: bool,
    /// Tables whose foreign writes are reported a second time: at this look, and at the look after the next pause.
    once_more: BTreeSet<String>,
    behind_pause: BTreeSet<String>,
}

impl Binlog {
    pub(super) async fn open(url: &str) -> Result<Self> {
        let database = open_alone(url).await?;
        let settings = "SELECT @@global.log_bin = 1 AND @@global.binlog_format = 'ROW' AND @@global.binlog_annotate_row_events = 1";
        if few_rows(&*database, settings).await?.concat() != [Some("1".to_owned())] {
            let message = "a watchdog needs a MariaDB server with log_bin, binlog_format = ROW and \
                           binlog_annotate_row_events, and a user with BINLOG MONITOR and REPLICATION SLAVE";
            return Err(Error::invalid_input(message));
        }
        let place = end_of_log(&*database).await?;
        let (once_more, behind_pause) = (BTreeSet::new(), BTreeSet::new());
        Ok(Self { database, events: Events::behind(place), has_more: false, once_more, behind_pause })
    }

    async fn hear(&mut self) -> Result<bool> {
        if !self.has_more {
            self.once_more.append(&mut self.behind_pause);
        }
        let before = self.events.place().clone();
        let (file, position) = (literal(&before.file), before.position);
        let sql = format!("SHOW BINLOG EVENTS IN {file} FROM {position} LIMIT {EVENTS}");
        let (mut count, events) = (0, &mut self.events);
        let mut hear = |row: &[Option<String>]| -> Result<()> {
            let (kind, end, words) = parts(row)?;
            count += 1;
            events.hear(kind, words, end)
        };
        self.database.each_row(&sql, &mut hear).await?;
        self.has_more = count >= EVENTS || self.events.place().file != before.file;
        Ok(self.has_more)
    }

    fn look(&mut self, watched: &Families) -> BTreeSet<String> {
        let logged = self.events.take();
        let now: BTreeSet<String> = logged.iter().flat_map(|logged| touched(watched, logged)).collect();
        self.behind_pause.extend(now.iter().cloned());
        let mut found = std::mem::take(&mut self.once_more);
        found.extend(now);
        found
    }
}

impl Journal for Binlog {
    fn read(&mut self) -> Later<'_, Result<bool>> {
        Box::pin(self.hear())
    }

    fn touched<'a>(&'a mut self, watched: &'a mut Families) -> Later<'a, Result<BTreeSet<String>>> {
        Box::pin(async move { Ok(self.look(watched)) })
    }
}

/// The kind of an event, its end position, and its text.
fn parts(row: &[Option<String>]) -> Result<(&str, u64, &str)> {
    if let [_, _, Some(kind), _, Some(end), Some(words)] = row
        && let Ok(end) = end.parse::<u64>()
    {
        return Ok((kind.as_str(), end, words.as_str()));
    }
    Err(Error::unavailable(format!("an event of the log has an unknown form: {row:?}")))
}

async fn end_of_log(database: &dyn Database) -> Result<Place> {
    place_of(database, &schema(database).await?).await
}

/// Where the log ends, if it has the writes to a database.
async fn place_of(database: &dyn Database, schema: &str) -> Result<Place> {
    let found = few_rows(database, "SHOW MASTER STATUS").await?.concat();
    let [Some(file), Some(position), only, never, ..] = &found[..] else {
        return Err(Error::unavailable(format!("the server does not say where its log ends: {found:?}")));
    };
    if leaves_out(schema, only.as_deref().unwrap_or(""), never.as_deref().unwrap_or("")) {
        let message =
            format!("binlog_do_db or binlog_ignore_db keeps {schema} out of the log: no watchdog sees it");
        return Err(Error::invalid_input(message));
    }
    let position = position.parse::<u64>();
    let position = position
        .map_err(|_| Error::unavailable(format!("the server gives no end position of its log: {found:?}")))?;
    Ok(Place { file: file.clone(), position })
}

/// Whether the filters of a log keep a database out of it.
fn leaves_out(schema: &str, only: &str, never: &str) -> bool {
    let is_kept = only.is_empty() || only.split(',').any(|name| name == schema);
    !is_kept || never.split(',').any(|name| name.eq_ignore_ascii_case(schema))
}

/// The database in the URL.
async fn schema(database: &dyn Database) -> Result<String> {
    let found = few_rows(database, "SELECT DATABASE()").await?.concat();
    let schema = found.into_iter().flatten().next();
    schema.ok_or_else(|| Error::invalid_input("name the database in the URL: mysql://user@host/database"))
}

/// A table has no parts here, and the log contains the text of its definitions.
pub(super) async fn family(database: &dyn Database, table: &TableName) -> Result<Family> {
    let schema = match &table.schema {
        Some(schema) => schema.clone(),
        None => schema(database).await?,
    };
    place_of(database, &schema).await?;
    let name = format!("{schema}.{}", table.table).to_lowercase();
    let itself = Member { name, definition: String::new(), is_logged: true, is_itself: true };
    let family = Family::of(BTreeSet::from([itself]));
    family.ok_or_else(|| Error::invalid_input(format!("there is no table {table}")))
}

/// A file name as a literal of a statement.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_that_keep_a_database_out_of_the_log_are_seen() {
        assert!(!leaves_out("test", "", ""));
        assert!(!leaves_out("test", "shop,test", "mysql"));
        assert!(leaves_out("test", "shop,tests", ""));
        assert!(leaves_out("test", "", "mysql,TEST"));
    }

    #[test]
    fn an_event_of_another_form_is_no_event() {
        let text = |text: &str| Some(text.to_owned());
        let row = [text("log.000001"), text("4"), text("Xid"), text("1"), text("300"), text("COMMIT")];
        assert_eq!(parts(&row).ok(), Some(("Xid", 300, "COMMIT")));
        assert!(parts(&row[..5]).is_err() && parts(&[]).is_err());
        let endless = [text("log.000001"), text("4"), text("Xid"), text("1"), text("-"), None];
        assert!(parts(&endless).is_err());
    }
}
