//! A process with the table as a whole against dendrites, in every order.

use std::sync::atomic::{AtomicU64, Ordering};

use lacuna_cache_protocol::ports::{Clock, DataStore as _};
use lacuna_cache_protocol::{DomainType, StoreCall, StoreReply};
use lacuna_testkit::servers::{MariaDb, Postgres};
use tokio::sync::watch;

use super::*;
use crate::sql::database::{self, describe};
use crate::sql::fenced::{FencedTable, Slots, prepare};
use crate::sql::schema::Schema;

/// A clock that advances by a number of milliseconds at every look.
#[derive(Debug)]
struct Ticks(AtomicU64, u64);

impl Clock for Ticks {
    fn now_ms(&self) -> u64 {
        self.0.fetch_add(self.1, Ordering::Relaxed)
    }
}

struct World {
    database: Arc<dyn Database>,
    range: RangeId,
}

impl World {
    async fn open(url: &str) -> Self {
        let database = database::open(url).await.unwrap();
        prepare(&*database).await.unwrap();
        let world = Self { database, range: RangeId(1) };
        world.process(0).await;
        world.reset().await;
        world
    }

    /// As if the table had never been opened.
    async fn reset(&self) {
        self.database.run("DELETE FROM lacuna_fence; DELETE FROM lacuna_lease").await.unwrap();
        assert_eq!(range_of(&*self.database, "things").await.unwrap(), self.range);
    }

    /// A process whose clock advances by a fixed amount at every look.
    async fn process(&self, step_ms: u64) -> WholeTables {
        let clock = Arc::new(Ticks(AtomicU64::new(0), step_ms));
        WholeTables::new(
            self.database.clone(),
            TableLease::new(self.database.clone(), clock, 1).await.unwrap(),
        )
    }

    /// The same of those that share tables.
    async fn sharing(&self) -> WholeTables {
        let clock = Arc::new(Ticks(AtomicU64::new(0), 0));
        WholeTables::new(
            self.database.clone(),
            TableLease::shared(self.database.clone(), clock).await.unwrap(),
        )
    }

    async fn is_of_dendrites(&self) -> bool {
        known_range(&*self.database, "things#").await.unwrap().is_some()
    }

    async fn fence(&self, name: &str) -> Vec<i64> {
        let sql = format!("SELECT epoch, recovered FROM lacuna_fence WHERE name = '{name}'");
        let found = self.database.query(&Statement::new(sql)).await.unwrap();
        let number = |value: &SqlValue| {
            if let SqlValue::Integer(value) = value { *value } else { panic!("{value:?}") }
        };
        found.concat().iter().map(number).collect()
    }
}

/// The first claim of all finds no row.
async fn claimed(process: &WholeTables, range: RangeId) -> Tenure {
    loop {
        if let Some(tenure) = process.claim(range, None).await.unwrap() {
            return tenure;
        }
    }
}

/// Counts its lease up until it is stopped; returns whether it held it all the time.
async fn serve(process: &WholeTables, range: RangeId, epoch: Epoch, is_over: &watch::Receiver<bool>) -> bool {
    while !*is_over.borrow() {
        match process.renew(range, epoch).await {
            Ok(true) => {}
            Ok(false) => return false,
            // A transaction that lost a race.
            Err(why) => println!("{why}"),
        }
    }
    true
}

/// A running process is not disturbed, and dendrites start once it has stopped.
async fn dendrites_are_refused_beside_a_whole_table(world: &World) {
    let (whole, dendrite) = (world.process(0).await, world.process(0).await);
    let tenure = claimed(&whole, world.range).await;
    let (stop, is_over) = watch::channel(false);
    let refused = async {
        let refused = dendrite.leave_to_dendrites("things").await;
        stop.send_replace(true);
        refused
    };
    let (has_it, refused) = tokio::join!(serve(&whole, world.range, tenure.epoch, &is_over), refused);
    let refused = refused.unwrap_err();
    assert!(has_it && !world.is_of_dendrites().await);
    assert!(refused.kind() == ErrorKind::Conflict && refused.to_string().contains("as a whole"), "{refused}");
    whole.release(world.range, tenure.epoch).await.unwrap();
    dendrite.leave_to_dendrites("things").await.unwrap();
    dendrite.leave_to_dendrites("things").await.unwrap();
    assert!(world.is_of_dendrites().await);
    let refused = whole.claim(world.range, None).await.unwrap_err();
    assert!(refused.kind() == ErrorKind::Conflict && refused.to_string().contains("things#"), "{refused}");
}

/// A process that is silent for longer than a lease loses the table, and its writes in flight are refused.
async fn a_silent_process_is_fenced_by_dendrites(world: &World) {
    world.reset().await;
    let (whole, dendrite) = (world.process(0).await, world.process(1_000).await);
    let tenure = claimed(&whole, world.range).await;
    world.database.run("UPDATE lacuna_fence SET is_buffered = 1").await.unwrap();
    let refused = dendrite.leave_to_dendrites("things").await.unwrap_err();
    assert!(
        refused.kind() == ErrorKind::Conflict && refused.to_string().contains("same log servers"),
        "{refused}"
    );
    // A process that reads no logs has taken the lease, and has given it back: nothing is drained by that.
    assert_eq!(
        check_needs_no_logs(&*world.database, "things", world.range).await.unwrap_err().kind(),
        ErrorKind::Conflict
    );
    world.database.run("UPDATE lacuna_lease SET holder = 0, beat = beat + 1").await.unwrap();
    let refused = dendrite.leave_to_dendrites("things").await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
    let lease = format!("UPDATE lacuna_lease SET holder = {}", whole.lease.holder());
    world.database.run(&lease).await.unwrap();
    world.database.run("UPDATE lacuna_fence SET is_buffered = 0").await.unwrap();
    dendrite.leave_to_dendrites("things").await.unwrap();
    assert!(!whole.renew(world.range, tenure.epoch).await.unwrap());
    assert_eq!(whole.claim(world.range, None).await.unwrap_err().kind(), ErrorKind::Conflict);
    // It had not even begun: its first call to the store comes too late.
    let described = describe(&*world.database, "things").await.unwrap();
    let schema =
        Schema::new("things", "id").with_domain("id", DomainType::Integer).with_columns(described).unwrap();
    let (database, schema) = (world.database.clone(), Arc::new(schema));
    let table = FencedTable {
        database,
        schema,
        buffering: Buffering::No,
        slots: Slots::default(),
        mark: None,
        _watchdog: None,
        _lock: None,
    };
    for late in [StoreCall::Fence, StoreCall::Recovered] {
        assert_eq!(table.call(world.range, tenure.epoch, late).await.unwrap().reply, StoreReply::Fenced);
    }
}

/// The first one gets the table, and the other gets an error.
async fn never_both_at_once(world: &World) {
    let (mut whole_first, mut dendrites_first) = (0, 0);
    for round in 0..16_u64 {
        world.reset().await;
        let (whole, dendrite) = (world.process(0).await, world.process(0).await);
        world.database.run("INSERT INTO lacuna_lease VALUES (1, 0, 5, 0)").await.unwrap();
        let (stop, is_over) = watch::channel(false);
        let cut = async {
            tokio::time::sleep(Duration::from_millis(round / 4)).await;
            let cut = dendrite.leave_to_dendrites("things").await;
            stop.send_replace(true);
            cut
        };
        let open = async {
            tokio::time::sleep(Duration::from_millis(round % 4)).await;
            match whole.claim(world.range, None).await {
                Ok(Some(tenure)) => serve(&whole, world.range, tenure.epoch, &is_over).await,
                _ => false,
            }
        };
        let (cut, is_open) = tokio::join!(cut, open);
        assert!(!(is_open && world.is_of_dendrites().await), "round {round}: both have the table");
        whole_first += u32::from(is_open);
        dendrites_first += u32::from(cut.is_ok());
    }
    println!("the whole table {whole_first} times, dendrites {dendrites_first} times");
}

/// The control: without the condition on the lease both have the table, and also without the row of dendrites.
async fn half_of_it_lets_both_in(world: &World) {
    world.reset().await;
    let whole = world.process(0).await;
    let tenure = claimed(&whole, world.range).await;
    leave_to_dendrites(&*world.database, "things").await.unwrap();
    assert!(whole.renew(world.range, tenure.epoch).await.unwrap() && world.is_of_dendrites().await);
    assert!(whole.lease.claim(world.range, None).await.unwrap().is_some());
}

/// Dendrites that return after the table was written to as a whole begin cold, and older ones are fenced.
async fn what_dendrites_left_counts_for_nothing_behind_a_whole_table(world: &World) {
    world.reset().await;
    for name in ["things#1", "things#2", "things_too#1", "things#x"] {
        range_of(&*world.database, name).await.unwrap();
    }
    world.database.run("UPDATE lacuna_fence SET epoch = 7, recovered = 7").await.unwrap();
    claimed(&world.process(0).await, world.range).await;
    for (name, is_part) in
        [("things#1", true), ("things#2", true), ("things_too#1", false), ("things#x", false)]
    {
        assert_eq!(world.fence(name).await != [7, 7], is_part, "{name}");
    }
    // What is in their logs counts.
    let mark =
        |name: &str, mark: u8| format!("UPDATE lacuna_fence SET is_buffered = {mark} WHERE name = '{name}'");
    for name in ["things#2", "things"] {
        world.database.run(&mark(name, 2)).await.unwrap();
        let refused = world.process(0).await.claim(world.range, None).await.unwrap_err();
        assert!(
            refused.kind() == ErrorKind::Conflict && refused.to_string().contains("dendrites"),
            "{refused}"
        );
        let refused = check_needs_no_logs(&*world.database, "things", world.range).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
        world.database.run(&mark(name, 0)).await.unwrap();
    }
    world.database.run(&mark("things_too#1", 2)).await.unwrap();
    check_needs_no_logs(&*world.database, "things", world.range).await.unwrap();
}

/// Processes that share a table hold one lease together, and one that does not share it comes before or after all of them.
async fn a_shared_table_is_of_those_who_share_it(world: &World) {
    for round in 0..8 {
        world.reset().await;
        let (one, other) = (world.sharing().await, world.sharing().await);
        let (first, second) = tokio::join!(claimed(&one, world.range), claimed(&other, world.range));
        assert_eq!(first.epoch, second.epoch, "round {round}");
        assert!(one.renew(world.range, first.epoch).await.unwrap(), "round {round}");
        assert!(other.renew(world.range, first.epoch).await.unwrap(), "round {round}");
    }
    world.reset().await;
    let (one, other, alone) = (world.sharing().await, world.sharing().await, world.process(1_000).await);
    let shared = claimed(&one, world.range).await;
    assert_eq!(claimed(&other, world.range).await.epoch, shared.epoch);
    // As long as one of them renews it.
    for _ in 0..8 {
        assert!(alone.claim(world.range, None).await.unwrap().is_none());
        assert!(other.renew(world.range, shared.epoch).await.unwrap());
    }
    let tenure = claimed(&alone, world.range).await;
    assert!(tenure.epoch > shared.epoch, "all of them were silent");
    for sharer in [&one, &other] {
        assert!(!sharer.renew(world.range, shared.epoch).await.unwrap());
        assert!(sharer.claim(world.range, None).await.unwrap().is_none(), "it is another's");
    }
    alone.release(world.range, tenure.epoch).await.unwrap();
    let again = claimed(&other, world.range).await;
    assert!(again.epoch > tenure.epoch && claimed(&one, world.range).await.epoch == again.epoch);
}

/// The epoch that this process gets for a range; `None` once another has it.
async fn claimed_or_lost(process: &WholeTables, range: RangeId) -> Option<Epoch> {
    for _ in 0..100 {
        match process.claim(range, None).await {
            Ok(Some(tenure)) => return Some(tenure.epoch),
            Ok(None) => {
                let holder = process.lease.lease(range).await.unwrap().map_or(0, |lease| lease.holder);
                if holder != 0 && holder != process.lease.holder() {
                    return None;
                }
            }
            // A transaction that lost a race.
            Err(why) => println!("{why}"),
        }
    }
    panic!("range {} is neither free nor held", range.0)
}

/// Two processes claim two ranges at once, each in an order of its own.
async fn ranges_that_are_claimed_at_once_have_one_owner_each(world: &World) {
    let [low, high] = [world.range, RangeId(2)];
    let mut first_wins = 0;
    for round in 0..16 {
        world.reset().await;
        assert_eq!(range_of(&*world.database, "more").await.unwrap(), high);
        let (one, other) = (world.process(0).await, world.process(0).await);
        let (low_of_one, high_of_other, high_of_one, low_of_other) = tokio::join!(
            claimed_or_lost(&one, low),
            claimed_or_lost(&other, high),
            claimed_or_lost(&one, high),
            claimed_or_lost(&other, low),
        );
        for (range, of_one, of_other) in [(low, low_of_one, low_of_other), (high, high_of_one, high_of_other)]
        {
            let (owner, loser, epoch) = match (of_one, of_other) {
                (Some(epoch), None) => (&one, &other, epoch),
                (None, Some(epoch)) => (&other, &one, epoch),
                both => panic!("round {round}, range {}: {both:?}", range.0),
            };
            first_wins += u32::from(of_one.is_some());
            assert!(owner.renew(range, epoch).await.unwrap(), "round {round}, range {}", range.0);
            assert!(!loser.renew(range, epoch).await.unwrap(), "round {round}, range {}", range.0);
            assert!(loser.claim(range, None).await.unwrap().is_none(), "round {round}, range {}", range.0);
        }
    }
    println!("the first process got {first_wins} of 32 ranges");
}

async fn a_table_is_whole_or_cut(url: &str) {
    let world = World::open(url).await;
    world.database.run("CREATE TABLE things (id BIGINT PRIMARY KEY, value BIGINT)").await.unwrap();
    dendrites_are_refused_beside_a_whole_table(&world).await;
    a_silent_process_is_fenced_by_dendrites(&world).await;
    never_both_at_once(&world).await;
    half_of_it_lets_both_in(&world).await;
    what_dendrites_left_counts_for_nothing_behind_a_whole_table(&world).await;
    a_shared_table_is_of_those_who_share_it(&world).await;
    ranges_that_are_claimed_at_once_have_one_owner_each(&world).await;
    world.database.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_of_postgres_is_whole_or_cut() {
    let Some(server) = Postgres::start() else { return };
    a_table_is_whole_or_cut(&server.url()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_of_mariadb_is_whole_or_cut() {
    let Some(server) = MariaDb::start() else { return };
    a_table_is_whole_or_cut(&server.url()).await;
}
