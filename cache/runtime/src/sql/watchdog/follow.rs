//! The task that follows the log, and its behaviour when it cannot.

use std::pin::pin;
use std::time::Duration;

use lacuna_cache_protocol::Result;
use tracing::{debug, info, warn};

use super::{Families, Journal, Tables, locked, opened};

/// How often the log is read.
const LOOK: Duration = Duration::from_millis(100);
/// How long one look may take.
const AT_MOST: Duration = Duration::from_secs(5);
/// Pause between two alarms while the log is not followed, and between two attempts to follow it.
const PAUSE: Duration = Duration::from_secs(1);

/// Raises the alarm of each table with foreign writes, until it is stopped.
pub(super) async fn follow(mut journal: Box<dyn Journal>, url: String, tables: Tables) {
    let (mut known, mut has_more) = (Families::new(), false);
    loop {
        if !has_more {
            tokio::time::sleep(LOOK).await;
        }
        let looked = tokio::time::timeout(AT_MOST, look(&mut *journal, &mut known, &tables)).await;
        // A line of the log may hold values of rows, and so may an error about it: events have its kind alone.
        match looked {
            Ok(Ok(is_more_there)) => {
                has_more = is_more_there;
                continue;
            }
            Ok(Err(error)) => {
                warn!(why = ?error.kind(), "the log of the database cannot be read: results are dropped");
            }
            Err(_) => {
                warn!(
                    max_s = AT_MOST.as_secs(),
                    "the log of the database is read too slowly: results are dropped"
                );
            }
        }
        // Its slot ends with it.
        drop(journal);
        journal = followed_again(&url, &tables).await;
        warn!("the log of the database is followed again");
        has_more = false;
    }
}

/// Whether there is more to read.
async fn look(journal: &mut dyn Journal, known: &mut Families, tables: &Tables) -> Result<bool> {
    let has_more = journal.read().await?;
    // Locked only now: a table registered meanwhile may have been cached, and written to, before the log was read.
    locked(tables).iter().for_each(|watched| {
        known.entry(watched.table.clone()).or_insert_with(|| watched.family.clone());
    });
    let touched = journal.touched(known).await?;
    for table in &touched {
        info!(table, "a write or a definition went past the cache: the results of the table are dropped");
    }
    raise(tables, |table| touched.contains(table));
    Ok(has_more)
}

fn raise(tables: &Tables, is_touched: impl Fn(&str) -> bool) {
    let tables = locked(tables);
    tables.iter().filter(|watched| is_touched(&watched.table)).for_each(|watched| watched.alarm.raise());
}

/// Follows the log anew. Foreign writes meanwhile go unnoticed, so the alarm is raised at once, each second while
/// this lasts, and when it is over.
async fn followed_again(url: &str, tables: &Tables) -> Box<dyn Journal> {
    let mut seconds = tokio::time::interval(PAUSE);
    let mut attempts = pin!(opened_in_the_end(url));
    let journal = loop {
        tokio::select! {
            journal = &mut attempts => break journal,
            _ = seconds.tick() => raise(tables, |_| true),
        }
    };
    raise(tables, |_| true);
    // Writes that were logged before it was followed again may become visible a little later.
    tokio::time::sleep(LOOK).await;
    raise(tables, |_| true);
    journal
}

async fn opened_in_the_end(url: &str) -> Box<dyn Journal> {
    loop {
        match opened(url).await {
            Ok(journal) => return journal,
            Err(error) => debug!(%error, "the log of the database cannot be followed yet"),
        }
        tokio::time::sleep(PAUSE).await;
    }
}
