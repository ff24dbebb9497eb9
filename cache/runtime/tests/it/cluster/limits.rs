//! Requests that are larger than the protocol allows: they are refused where they are made, and disturb no others.

use std::time::{Duration, Instant};

use lacuna_cache::sql::{Condition, DomainType, Schema, SqlValue, Table, TransactionBuilder, WriteError};
use lacuna_cache_protocol::{Error, ErrorKind, Interval, Policy, Query};

use crate::cluster::dendrites::{AT_MOST, CUT, Dendrites, places, slot};

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

/// A transaction that a busy machine does not end.
fn held(dendrites: &Dendrites, table: &Table) -> TransactionBuilder {
    dendrites.cache.transaction().with_duration(AT_MOST).on(table, "place", CUT..CUT + 9)
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
        // It leads to the other dendrite.
        table.insert(slot(20 + id, 150)).await.unwrap();
        let mut open = held(&dendrites, table).begin().await.unwrap();
        let long = refuses_a_long_write(table, 10 + id);
        tokio::pin!(long);
        // The open transaction is the one writer of the file: on a machine out of breath leases end meanwhile, are not renewed, and
        // what would ask for the owner waits for its end.
        let is_refused = tokio::time::timeout(SOON / 4, &mut long).await.is_ok();
        open.insert(table, slot(id, CUT + id)).await.unwrap();
        open.commit().await.unwrap();
        if !is_refused {
            long.await;
        }
    }
    let question = Some(vec![7; LONG].into());
    let query = Query { question, ..Query::all(0, Interval::all()) };
    let refused =
        tokio::time::timeout(SOON, client.get(&query)).await.expect("it is refused at once").unwrap_err();
    assert!(is_refusal(&refused), "{refused}");
    for table in [&far, &near] {
        let seen = places(&table.get("place", 0..2 * CUT).await.unwrap());
        assert_eq!(seen, [CUT + 1, CUT + 2, 150, 150]);
    }
    dendrites.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_conditions_than_a_request_takes_are_refused_by_a_dendrite_too() {
    let dendrites = Dendrites::open(2, Policy::WriteThrough).await;
    dendrites.claim_both_ranges().await;
    let client = dendrites.client().await.with_patience(AT_MOST);
    for table in [dendrites.table_of(&client).await, dendrites.table_at(0).await] {
        let at = |place: i64| table.condition("place", place..=place).unwrap();
        let many: Vec<Condition> = (CUT + 100..CUT + 357).map(at).collect();
        let mut open = held(&dendrites, &table).begin().await.unwrap();
        let asked = tokio::time::timeout(SOON, table.get_any(&many)).await;
        let refused = asked.expect("it is refused at once").unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidInput, "{refused}");
        assert!(refused.to_string().contains("257 queries"), "{refused}");
        let id = 1 + i64::try_from(open.get(&table, "place", CUT..CUT + 9).await.unwrap().len()).unwrap();
        open.insert(&table, slot(id, CUT + id)).await.unwrap();
        open.commit().await.unwrap();
        // Only now: the open transaction is the one writer of the file, so a lease that ends is not renewed.
        assert!(table.get_any(&many[1..]).await.unwrap().is_empty(), "256 are allowed");
    }
    dendrites.stop().await;
}

#[test]
fn a_range_table_of_too_many_columns_is_refused_where_it_is_made() {
    let schema = |count: usize| {
        let columns = (0..count).map(|place| format!("column{place}"));
        columns.fold(Schema::new("wide", "id"), |schema, column| {
            schema.with_domain(&column, DomainType::Integer)
        })
    };
    let table = schema(1_024).cut_before(&[]).unwrap();
    assert_eq!(lacuna_cache_protocol::RangeTable::from_bytes(&table.to_bytes()).unwrap(), table);
    let refused = schema(1_025).cut_before(&[]).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidInput);
    assert!(
        refused.to_string().contains("1025 columns") && refused.to_string().contains("1024"),
        "{refused}"
    );
}
