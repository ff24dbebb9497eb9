//! Requests that are larger than the protocol allows: they are refused where they are made, and disturb no others.

use std::time::{Duration, Instant};

use lacuna_cache::sql::{SqlValue, Table, WriteError};
use lacuna_cache_protocol::{Error, ErrorKind, Interval, Policy, Query};

use crate::cluster::dendrites::{CUT, Dendrites, places, slot};

/// More than a frame holds.
const LONG: usize = 17 << 20;
/// How soon a refusal comes, on a busy machine.
const SOON: Duration = Duration::from_secs(20);

fn long_slot(id: i64, place: i64) -> [(&'static str, SqlValue); 3] {
    [("id", id.into()), ("place", place.into()), ("name", "x".repeat(LONG).into())]
}

/// The error says how much it was, how much is allowed, and what to do.
fn is_refusal(why: &Error) -> bool {
    let text = why.to_string();
    why.kind() == ErrorKind::InvalidInput
        && ["bytes is longer", "16777216", "less at once"].iter().all(|part| text.contains(part))
}

async fn refuses_a_long_write(table: &Table, id: i64) {
    let start = Instant::now();
    let refused =
        tokio::time::timeout(SOON, table.insert(long_slot(id, 150))).await.expect("it is refused at once");
    assert!(matches!(&refused, Err(WriteError::Refused(why)) if is_refusal(why)), "{refused:?}");
    assert!(start.elapsed() < SOON);
}

/// A transaction ends with its connection, so it shows that the connection lives.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_no_frame_holds_is_refused_at_once() {
    let dendrites = Dendrites::open(2, Policy::WriteThrough).await;
    dendrites.claim_both_ranges().await;
    let client = dendrites.client().await.with_patience(Duration::from_secs(5));
    let (far, near) = (dendrites.table_of(&client).await, dendrites.table_at(0).await);
    for (id, table) in [(1, &far), (2, &near)] {
        let mut open = dendrites.cache.transaction().on(table, "place", CUT..CUT + 9).begin().await.unwrap();
        refuses_a_long_write(table, 10 + id).await;
        open.insert(table, slot(id, CUT + id)).await.unwrap();
        open.commit().await.unwrap();
    }
    let question = Some(vec![7; LONG].into());
    let query = Query { question, ..Query::all(0, Interval::all()) };
    let refused =
        tokio::time::timeout(SOON, client.get(&query)).await.expect("it is refused at once").unwrap_err();
    assert!(is_refusal(&refused), "{refused}");
    for table in [&far, &near] {
        assert_eq!(places(&table.get("place", 0..2 * CUT).await.unwrap()), [CUT + 1, CUT + 2]);
    }
    dendrites.stop().await;
}
