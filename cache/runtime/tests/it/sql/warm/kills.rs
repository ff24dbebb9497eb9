//! Lives of a program, one after the other, most of which end in the middle of writes.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lacuna_cache::sql::{Options, Policy, Table, WriteError};
use lacuna_testkit::effort;
use lacuna_workload::Rng;

use super::{Program, ROWS, World, answer_to, evict, keys, killed};
use crate::sql::world::Dialect;

const CLIENTS: u64 = 4;

/// What clients of all lives know.
#[derive(Debug)]
struct Known {
    /// The largest note that was acknowledged for each row.
    acknowledged: Mutex<Vec<i64>>,
    next: AtomicI64,
    reads: AtomicU64,
    writes: AtomicU64,
    /// Lives that knew more results than they had asked for.
    warm: AtomicU64,
    /// What should not have been seen.
    wrong: Mutex<Vec<String>>,
}

impl Known {
    fn new() -> Self {
        let rows = usize::try_from(ROWS).unwrap();
        let [reads, writes, warm] = [const { AtomicU64::new(0) }; 3];
        let (next, wrong) = (AtomicI64::new(1), Mutex::default());
        Self { acknowledged: Mutex::new(vec![0; rows]), next, reads, writes, warm, wrong }
    }

    /// Notes ascend: a row that shows less than what was acknowledged before the read is old.
    async fn read(&self, people: &Table, rng: &mut Rng) {
        let floor = self.acknowledged.lock().unwrap().clone();
        let lo = 4 * rng.below(5).cast_signed();
        let rows = match rng.below(4) {
            0 => people.first("age", lo.., 5).await,
            1 => people.get("weight", 92 - 2 * lo..=100 - 2 * lo).await,
            _ => people.get("age", lo..=lo + 5).await,
        };
        for row in rows.into_iter().flatten() {
            let (id, note) = (row.integer("id").unwrap(), row.integer("note").unwrap());
            let least = floor[usize::try_from(id).unwrap()];
            if note < least {
                self.wrong.lock().unwrap().push(format!("row {id} shows {note} after {least}"));
            }
        }
        self.reads.fetch_add(1, Ordering::Relaxed);
    }

    /// Each row is written by one client.
    async fn write(&self, people: &Table, rng: &mut Rng, client: u64) {
        let id = (rng.below(ROWS.cast_unsigned() / CLIENTS) * CLIENTS + client).cast_signed();
        let Ok(rows) = people.get("age", id / 2..=id / 2).await else { return };
        let Some(row) = rows.iter().find(|row| row.integer("id") == Some(id)) else {
            return self.wrong.lock().unwrap().push(format!("row {id} is missing"));
        };
        let note = self.next.fetch_add(1, Ordering::Relaxed);
        match people.update(row, [("note", note.into())]).await {
            Ok(()) => {
                self.acknowledged.lock().unwrap()[usize::try_from(id).unwrap()] = note;
                self.writes.fetch_add(1, Ordering::Relaxed);
            }
            Err(WriteError::Refused(why)) => self.wrong.lock().unwrap().push(format!("row {id}: {why}")),
            Err(_) => {}
        }
    }

    async fn client(self: Arc<Self>, people: Table, mut rng: Rng, client: u64) {
        loop {
            if rng.below(10) < 7 {
                self.read(&people, &mut rng).await;
            } else {
                self.write(&people, &mut rng, client).await;
            }
        }
    }
}

/// One life: clients read and write until it ends, in order or not.
async fn live(options: Options, known: Arc<Known>, stream: u64, is_killed: bool) {
    killed(options, async move |program: &Program| {
        program.people.get("age", 0..=5).await.unwrap();
        let entries = program.cache.gauges().await.unwrap()[0].entries;
        known.warm.fetch_add(u64::from(entries > 1), Ordering::Relaxed);
        let mut clients = tokio::task::JoinSet::new();
        for client in 0..CLIENTS {
            let rng = effort::rng(stream + client);
            clients.spawn(known.clone().client(program.people.clone(), rng, client));
        }
        let mut rng = effort::rng(stream + CLIENTS);
        tokio::time::sleep(Duration::from_millis(30 + rng.below(200))).await;
        if is_killed {
            // They go on until the runtime ends.
            clients.detach_all();
        } else {
            clients.shutdown().await;
            program.cache.stop().await.unwrap();
        }
    })
    .await;
}

/// What happens between two lives.
async fn disturb(world: &World, policy: Policy, known: &Arc<Known>, rng: &mut Rng, stream: u64) {
    match rng.below(10) {
        0 => drop(answer_to::<String>(&world.cache, "FLUSHALL", &[]).await),
        1 | 2 => {
            let mut found = keys(&world.cache, ["*:v:*", "*:p:*"][rng.index(2)]).await;
            found.sort();
            found.truncate(1 + rng.index(3));
            if !found.is_empty() {
                evict(&world.cache, &found).await;
            }
        }
        3 => live(world.cold(policy), known.clone(), stream + 50, rng.below(2) == 0).await,
        4 => live(world.bare(policy), known.clone(), stream + 50, false).await,
        _ => {}
    }
}

async fn lives(dialect: Dialect, policy: Policy, count: u64) {
    let Some(world) = World::new(dialect) else { return };
    let world = if dialect == Dialect::Sqlite { Some(world) } else { world.with_logs() };
    let Some(world) = world else { return };
    world.fill(world.warm(policy)).await;
    let (known, mut rng) = (Arc::new(Known::new()), effort::rng(1_000));
    for life in 0..count {
        let stream = 2_000 + 100 * life;
        live(world.warm(policy), known.clone(), stream, rng.below(3) > 0).await;
        let wrong = known.wrong.lock().unwrap().clone();
        assert!(wrong.is_empty(), "seed {}, {dialect:?}, {policy:?}, life {life}: {wrong:?}", effort::seed());
        disturb(&world, policy, &known, &mut rng, stream).await;
    }
    let (reads, writes) = (known.reads.load(Ordering::Relaxed), known.writes.load(Ordering::Relaxed));
    let warm = known.warm.load(Ordering::Relaxed);
    println!(
        "seed {}: {dialect:?}, {policy:?}: {reads} reads, {writes} writes, {warm} lives warm",
        effort::seed()
    );
    assert!(
        warm * 6 >= count && writes > 2 * count,
        "seed {}: {warm} lives warm, {writes} writes",
        effort::seed()
    );
    world.begun(world.warm(policy)).await;
}

/// Planted: a take-over in Redis that takes any earlier epoch for the one that was named, and one that does not compare the bytes of
/// the log. Both were found.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn programs_over_sqlite_that_are_killed_show_nothing_old() {
    for policy in [Policy::WriteAround, Policy::WriteThrough, Policy::WriteBack] {
        lives(Dialect::Sqlite, policy, effort::short_or_long(12, 200)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn programs_over_postgres_that_are_killed_show_nothing_old() {
    for policy in [Policy::WriteThrough, Policy::WriteBack] {
        lives(Dialect::Postgres, policy, effort::short_or_long(5, 100)).await;
    }
}
