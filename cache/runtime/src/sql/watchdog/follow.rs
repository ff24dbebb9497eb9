//! The task that follows the log, and its behaviour when it cannot.

use std::pin::pin;
use std::time::Duration;

use lacuna_cache_protocol::Result;

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
        if let Ok(Ok(is_more_there)) = looked {
            has_more = is_more_there;
            continue;
        }
        // Its slot ends with it.
        drop(journal);
        journal = followed_again(&url, &tables).await;
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
        if let Ok(journal) = opened(url).await {
            return journal;
        }
        tokio::time::sleep(PAUSE).await;
    }
}
