//! Bulk loads, unions and notices over the wire.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use lacuna_cache::sql::{Condition, DomainValue, Rows, SqlValue, Statement, Table, WriteError};
use lacuna_cache_protocol::{Notice, Policy};
use lacuna_testkit::servers::Redis;
use tokio::sync::broadcast::Receiver;

use crate::cluster::dendrites::{AT_MOST, CUT, Dendrites, connected, places, slot};
use crate::cluster::relay::{Mood, Relay};

const LONG: Duration = Duration::from_secs(600);
/// Much less than a client waits for an answer, and what a busy machine may take.
const SOON: Duration = Duration::from_secs(20);

/// Both sides of the cut, as two conditions.
fn sides(table: &Table) -> [Condition; 2] {
    [table.condition("place", ..CUT).unwrap(), table.condition("place", CUT..).unwrap()]
}

fn names(rows: &Rows) -> Vec<&str> {
    rows.iter().map(|row| row.text("name").unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_union_over_two_dendrites_shows_one_moment() {
    for policy in [Policy::WriteThrough, Policy::WriteBack] {
        let dendrites = Dendrites::open(2, policy).await;
        dendrites.claim_both_ranges().await;
        let client = dendrites.client().await;
        let (table, at_second) = (dendrites.table_of(&client).await, dendrites.table_at(1).await);
        table.insert(slot(1, 50)).await.unwrap();
        let moving = tokio::spawn({
            let table = table.clone();
            async move {
                let known =
                    |place: i64| table.known_row([("id", 1.into()), ("place", place.into())]).unwrap();
                let (mut row, mut unknown) = (known(50), 0);
                for _ in 0..40 {
                    let to = 200 - row.integer("place").unwrap();
                    row = match table.update(&row, [("place", to.into())]).await {
                        Ok(()) => known(to),
                        // On a busy machine a tenure may end in the middle of a write. The next one knows what became of it.
                        Err(WriteError::Unknown) => {
                            unknown += 1;
                            table.get_any(&sides(&table)).await.unwrap().remove(0)
                        }
                        Err(why) => panic!("{why}"),
                    };
                }
                assert!(unknown < 10, "{unknown} of 40 writes have an unknown outcome");
            }
        });
        let mut reads = 0;
        while !moving.is_finished() || reads < 10 {
            // Through a client, and through a dendrite that has to hand it on.
            for table in [&table, &at_second] {
                assert_eq!(table.get_any(&sides(table)).await.unwrap().len(), 1, "{policy:?}, read {reads}");
            }
            reads += 1;
        }
        moving.await.unwrap();
        assert!(dendrites.counts(1).forwards > 0 && dendrites.counts(0).peer_calls > 0);
        dendrites.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn too_many_or_too_long_results_are_refused_by_name() {
    let dendrites = Dendrites::open(2, Policy::WriteThrough).await;
    dendrites.claim_both_ranges().await;
    let client = dendrites.client().await;
    let table = dendrites.table_of(&client).await;
    let many: Vec<Condition> = (0..257).map(|at| table.condition("place", at..=at).unwrap()).collect();
    let refused = table.get_any(&many).await.unwrap_err();
    assert!(refused.to_string().contains("257 queries"), "{refused}");
    assert!(table.get_any(&many[..20]).await.unwrap().is_empty());
    let mut load = table.bulk_load(LONG).await.unwrap();
    let long: SqlValue = "x".repeat(5 << 20).into();
    load.insert(
        [(1, 50), (2, 51), (3, 150), (4, 151)]
            .map(|(id, place)| [("id", id.into()), ("place", SqlValue::from(place)), ("name", long.clone())]),
    )
    .await
    .unwrap();
    load.finish().await.unwrap();
    let refused = table.get_any(&sides(&table)).await.unwrap_err();
    assert!(refused.to_string().contains("smaller range"), "{refused}");
    dendrites.stop().await;
}

/// They wait for its end, and so does the connection that they fill.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lease_ends_before_requests_of_its_connection_that_wait_for_it() {
    let dendrites = Dendrites::open(1, Policy::WriteThrough).await;
    let client = dendrites.client().await;
    let table = dendrites.table_of(&client).await;
    table.insert(slot(1, 50)).await.unwrap();
    let mut open = dendrites.cache.transaction().on_all(&table).begin().await.unwrap();
    open.insert(&table, slot(2, 51)).await.unwrap();
    // The client sends no more at a time than the connection takes; what it gives up goes on waiting at the dendrite.
    for round in 0..3 {
        let mut writers = tokio::task::JoinSet::new();
        for number in 0..250 {
            let (table, id) = (table.clone(), 1_000 * (round + 1) + number);
            let writing = async move { table.insert(slot(id, id)).await };
            writers.spawn(tokio::time::timeout(Duration::from_millis(300), writing));
        }
        while let Some(written) = writers.join_next().await {
            // Those of the last round find no room.
            assert!(round == 2 || written.unwrap().is_err(), "it waits for the lease, and is given up");
        }
    }
    open.commit().await.unwrap();
    let near = dendrites.table_at(0).await;
    let seen = tokio::time::timeout(SOON, near.get("place", 50..=51)).await.expect("the lease has ended");
    assert_eq!(places(&seen.unwrap()), [50, 51]);
    dendrites.stop().await;
}

/// Reads over both ranges, each alone and together, until it is over; what is read at once is of one load.
async fn read_on(table: Table, is_over: Arc<AtomicBool>) -> u32 {
    let mut reads = 0;
    while !is_over.load(Ordering::Relaxed) || reads < 10 {
        for range in [0..CUT, CUT..2 * CUT, 0..2 * CUT] {
            let rows = table.get("place", range.clone()).await.unwrap();
            let seen = names(&rows);
            assert!(
                seen.windows(2).all(|pair| pair[0] == pair[1]),
                "{range:?} shows half of a load: {seen:?}"
            );
        }
        reads += 1;
    }
    reads
}

async fn nobody_sees_half_of_a_load(policy: Policy, server: Option<&Redis>) {
    let dendrites = Dendrites::open_before(2, policy, server).await;
    dendrites.claim_both_ranges().await;
    let client = dendrites.client().await;
    let table = dendrites.table_of(&client).await;
    let mut load = table.bulk_load(LONG).await.unwrap();
    load.insert((0..40).map(|id| slot(id, id * 5))).await.unwrap();
    load.finish().await.unwrap();
    let is_over = Arc::new(AtomicBool::new(false));
    let mut readers = tokio::task::JoinSet::new();
    for place in 0..2 {
        readers.spawn(read_on(dendrites.table_at(place).await, is_over.clone()));
        readers.spawn(read_on(table.clone(), is_over.clone()));
    }
    for round in 0..6 {
        // Begun at a client, and at the dendrite that does not lead.
        let loader = if round % 2 == 0 { table.clone() } else { dendrites.table_at(1).await };
        let mut load = loader.bulk_load(LONG).await.unwrap();
        for half in ["place < 100", "place >= 100"] {
            let change = format!("UPDATE slots SET name = 'load {round}' WHERE {half}");
            load.execute(vec![Statement::new(change)]).await.unwrap();
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        load.finish().await.unwrap();
        let seen = table.get("place", 0..2 * CUT).await.unwrap();
        assert_eq!(names(&seen), vec![format!("load {round}"); 40], "it is seen by whoever asks next");
    }
    is_over.store(true, Ordering::Relaxed);
    while let Some(reads) = readers.join_next().await {
        assert!(reads.unwrap() >= 10);
    }
    dendrites.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_sees_half_of_a_load_over_two_dendrites() {
    nobody_sees_half_of_a_load(Policy::WriteThrough, None).await;
    nobody_sees_half_of_a_load(Policy::WriteBack, None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_sees_half_of_a_load_past_redis() {
    let Some(server) = Redis::cache() else { return };
    nobody_sees_half_of_a_load(Policy::WriteThrough, Some(&server)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_loader_that_was_cut_off_changes_nothing_that_others_were_shown() {
    let dendrites = Dendrites::open(2, Policy::WriteThrough).await;
    dendrites.claim_both_ranges().await;
    let relay = Relay::to(&dendrites.addresses[0]).await;
    let far = dendrites.table_of(&connected(&[&relay.address]).await.with_patience(AT_MOST)).await;
    let client = dendrites.client().await;
    let near = dendrites.table_of(&client).await;
    let mut load = far.bulk_load(LONG).await.unwrap();
    load.insert([slot(1, 50)]).await.unwrap();
    relay.set(Mood::Cut);
    // Whoever is let in again was let in by owners that came after the load.
    assert_eq!(places(&near.get("place", 0..2 * CUT).await.unwrap()), [50]);
    assert_eq!(places(&near.get("place", CUT..).await.unwrap()), [0; 0]);
    for late in [slot(2, 51), slot(3, 150)] {
        let refused = load.insert([late]).await;
        assert!(matches!(refused, Err(WriteError::NotDone(_))), "{refused:?}");
    }
    assert!(load.finish().await.is_err());
    assert_eq!(places(&near.get("place", 0..2 * CUT).await.unwrap()), [50]);
    dendrites.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_for_a_load_that_is_given_up_leaves_no_lease_behind() {
    let dendrites = Dendrites::open(2, Policy::WriteThrough).await;
    dendrites.claim_both_ranges().await;
    let client = dendrites.client().await;
    let table = dendrites.table_of(&client).await;
    for wait_ms in 0..12 {
        let asked = tokio::time::timeout(Duration::from_millis(wait_ms), table.bulk_load(LONG)).await;
        // Whether it was granted or not, and whether anybody heard of it.
        drop(asked);
        assert!(table.get("place", 0..2 * CUT).await.unwrap().is_empty(), "after {wait_ms} ms");
    }
    dendrites.stop().await;
}

/// A row whose key is taken, by a statement of which the application said that the database would take it.
async fn refused_later(table: &Table, id: i64, place: i64) {
    let mut places = table.write_set("place").unwrap();
    places.after(DomainValue::Integer(place)).unwrap();
    let sql = format!("INSERT INTO slots (id, place) VALUES ({id}, {place})");
    let done = table.execute(&[places], vec![Statement::new(sql).never_refused()]).await;
    done.expect("it is acknowledged before the database has it");
}

/// The next notice that is not about something else.
async fn set_aside(notices: &mut Receiver<Notice>) -> usize {
    loop {
        let notice = tokio::time::timeout(AT_MOST, notices.recv()).await.expect("a notice comes");
        if let Notice::SetAside(writes) = notice.unwrap() {
            return writes.len();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_are_told_of_writes_that_were_set_aside() {
    let dendrites = Dendrites::open(2, Policy::WriteBack).await;
    dendrites.claim_both_ranges().await;
    // Neither was given the address of the second dendrite.
    let clients = [connected(&dendrites.addresses[..1]).await, connected(&dendrites.addresses[..1]).await];
    let writer = dendrites.table_of(&clients[0].clone().with_patience(AT_MOST)).await;
    let other = dendrites.table_of(&clients[1].clone().with_patience(AT_MOST)).await;
    let mut heard = [writer.notices(), other.notices()];
    writer.insert(slot(1, 150)).await.unwrap();
    refused_later(&writer, 1, 151).await;
    for notices in &mut heard {
        assert_eq!(set_aside(notices).await, 1);
    }
    dendrites.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn notices_that_came_while_the_line_was_cut_are_told_when_it_is_back() {
    let dendrites = Dendrites::open(1, Policy::WriteBack).await;
    let relay = Relay::to(&dendrites.addresses[0]).await;
    let far = dendrites.table_of(&connected(&[&relay.address]).await.with_patience(AT_MOST)).await;
    let mut notices = far.notices();
    let near = dendrites.table_at(0).await;
    relay.set(Mood::Cut);
    near.insert(slot(1, 1)).await.unwrap();
    refused_later(&near, 1, 2).await;
    // The store has refused it, and whoever is told here is told there.
    while !places(&near.get("place", 2..=2).await.unwrap()).is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    relay.set(Mood::Passing);
    assert_eq!(set_aside(&mut notices).await, 1);
    dendrites.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_cannot_hear_a_dendrite_is_told_so() {
    let dendrites = Dendrites::open(1, Policy::WriteBack).await;
    let relay = Relay::to(&dendrites.addresses[0]).await;
    let far = dendrites.table_of(&connected(&[&relay.address]).await.with_patience(AT_MOST)).await;
    relay.set(Mood::Silent);
    let mut notices = far.notices();
    let notice = tokio::time::timeout(AT_MOST, notices.recv()).await.unwrap().unwrap();
    assert_eq!(notice, Notice::MayBeMissing);
    dendrites.stop().await;
}
