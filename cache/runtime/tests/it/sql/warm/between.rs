//! Somebody else had the table between the two programs.

use std::sync::Arc;
use std::time::Duration;

use lacuna_cache::cluster::{Membership, Net, Secret, Server};
use lacuna_cache::sql::{DomainType, Options, Policy, Schema, SqlValue, TableClaims};
use lacuna_cache_protocol::RangeId;
use lacuna_testkit::servers::Postgres;

use super::{Lock, Program, World, answer_to, killed};
use crate::sql::world::Dialect;

const STORES: [Dialect; 2] = [Dialect::Sqlite, Dialect::Postgres];
const POLICY: Policy = Policy::WriteThrough;

/// Opens the table, writes, and leaves.
async fn write(options: Options, note: i64) {
    let program = Program::open(options).await;
    program.rows().await;
    program.note(2..=6, note).await;
    program.stop().await;
}

/// One that keeps no log writes over the same cache server.
///
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_without_the_option_leaves_nothing_warm() {
    for dialect in STORES {
        let Some(world) = World::new(dialect) else { return };
        world.fill(world.warm(POLICY)).await;
        write(world.cold(POLICY), 7).await;
        assert!(world.begun(world.warm(POLICY)).await > 5, "{dialect:?}");
    }
}

/// One that has its cache in its memory, or in another server, leaves the entries of the first one as they are.
///
/// Planted: a take-over in Redis that takes any earlier epoch for the one that was named.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_past_the_cache_server_leaves_nothing_warm() {
    for dialect in STORES {
        let Some(world) = World::new(dialect) else { return };
        let Some(elsewhere) = lacuna_testkit::servers::Redis::cache() else { return };
        let other = |options: Options| options.with_cache_server(Arc::new(super::redis(&elsewhere)));
        world.fill(world.warm(POLICY)).await;
        write(world.bare(POLICY), 7).await;
        assert!(world.begun(world.warm(POLICY)).await > 5, "{dialect:?}, in memory");
        write(world.warm(POLICY), 8).await;
        write(other(world.bare(POLICY)), 9).await;
        assert!(world.begun(world.warm(POLICY)).await > 5, "{dialect:?}, elsewhere");
        write(world.warm(POLICY), 10).await;
        write(other(world.bare(POLICY)).with_warm_start(), 11).await;
        assert!(world.begun(world.warm(POLICY)).await > 5, "{dialect:?}, elsewhere with the option");
        // On the other server the first log is still there.
        assert!(world.begun(other(world.bare(POLICY)).with_warm_start()).await > 5, "{dialect:?}, back");
    }
}

/// One that has the option, too, hands on what it has changed, whether it stops or dies.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_with_the_option_hands_on_what_it_wrote() {
    for dialect in STORES {
        for policy in [Policy::WriteAround, Policy::WriteThrough] {
            let Some(world) = World::new(dialect) else { return };
            world.fill(world.warm(policy)).await;
            write(world.warm(policy), 7).await;
            assert!(world.begun(world.warm(policy)).await < 12, "{dialect:?}, {policy:?}");
            write(world.warm(policy), 8).await;
            let work = async |program: &Program| program.note(0..=4, 9).await;
            killed(world.warm(policy), work).await;
            assert!(world.begun(world.warm(policy)).await < 12, "{dialect:?}, {policy:?}: killed");
        }
    }
}

/// One dies before it serves: it has fenced the cache server, and nothing else. Then one without the option must not show what
/// is there under an epoch that both have.
///
/// Planted: tenures of a file that are not recorded before they begin. Two programs had one epoch, and the second one showed what
/// the first had left, and did not know it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tenure_that_never_served_leaves_nothing_warm() {
    for dialect in STORES {
        let Some(world) = World::new(dialect) else { return };
        world.fill(world.warm(POLICY)).await;
        dies_before_it_serves(&world).await;
        let program = Program::open(world.cold(POLICY)).await;
        let note = program.people.first("weight", 80.., 1).await.unwrap();
        program.people.update(&note[0], [("note", 5.into())]).await.unwrap();
        let seen = program.people.get("weight", 60..=75).await.unwrap().len();
        assert!(seen > 0 && program.people.counts().store_queries > 1, "{dialect:?}: nothing was there");
        program.note(2..=6, 7).await;
        program.rows().await;
        program.stop().await;
        world.begun(world.warm(POLICY)).await;
        dies_before_it_serves(&world).await;
        world.begun(world.warm(POLICY)).await;
    }
}

/// The database does not let it write: at a server after it was granted the table, in a file even before that.
async fn dies_before_it_serves(world: &World) {
    let before = answer_to::<Vec<u8>>(&world.cache, "GET", &[&fence(world).await]).await;
    let lock = Lock::take(world, "lacuna_fence").await;
    let silent = async |program: &Program| {
        let served = tokio::time::timeout(Duration::from_secs(1), program.rows());
        assert!(served.await.is_err(), "it does not serve");
    };
    killed(world.warm(POLICY), silent).await;
    lock.release().await;
    let after = answer_to::<Vec<u8>>(&world.cache, "GET", &[&fence(world).await]).await;
    assert!(world.dialect == Dialect::Sqlite || after != before, "it has fenced the cache server");
}

async fn fence(world: &World) -> Vec<u8> {
    super::keys(&world.cache, "*:f").await.remove(0)
}

/// A proxy has had the right to cache the table, and wrote.
///
/// Planted: the same as for programs past the cache server. Not found, as the proxy leaves the fence of the table alone: then the
/// store names another tenure than the lease. Each of the two suffices.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_proxy_leaves_nothing_warm() {
    let Some(world) = World::new(Dialect::Postgres) else { return };
    world.fill(world.warm(POLICY)).await;
    let claims = TableClaims::open(&world.url).await.unwrap();
    let claim = claims.claim("people").await.unwrap();
    TableClaims::run(&world.url, "UPDATE people SET note = 7").await.unwrap();
    claims.release(claim).await.unwrap();
    claims.close().await;
    assert!(world.begun(world.warm(POLICY)).await > 5);
}

/// Dendrites have had the table, of which the first range was never claimed; then it is opened as a whole again.
///
/// Planted: `leave_to_dendrites` in a file of SQLite that does not raise the epoch of the table. The whole table was taken over as
/// it had been before them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dendrites_leave_nothing_warm() {
    // Every other registered column would belong to the first range.
    let cut = || Schema::new("people", "id").with_domain("age", DomainType::Integer);
    for dialect in STORES {
        // All rows are in the first range, or in the second.
        for (value, range) in [(1_000, 0), (-1, 1)] {
            let Some(world) = World::new(dialect) else { return };
            world.fill(world.warm(POLICY)).await;
            // In their own memory: the cache server stays as it was.
            let cache = super::opened(world.bare(POLICY)).await;
            let listener = Server::listen("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap().to_string();
            let cuts = cut().cut_before(&[SqlValue::Integer(value)]).unwrap();
            let ranges = Arc::new(cache.shared_ranges("people", &cuts, &address).await.unwrap());
            let secret = || Secret::new(b"what all dendrites of the tests know").unwrap();
            let transport = Arc::new(Net::new(secret(), "people"));
            let membership = Membership { directory: ranges.clone(), transport, address };
            let dendrite = cache.dendrite(cut(), ranges, membership).await.unwrap();
            let server = Server::start(listener, [("people", dendrite.clone())], secret());
            dendrite.claim(RangeId(range));
            let people = cache.table_over(cut(), Arc::new(dendrite.clone())).await.unwrap();
            for row in people.get("age", 2..=6).await.unwrap() {
                people.update(&row, [("note", 7.into())]).await.unwrap();
            }
            assert!(!people.get("age", 0..=9).await.unwrap().is_empty());
            drop(people);
            server.stop().await.unwrap();
            cache.stop().await.unwrap();
            world.run("DELETE FROM lacuna_fence WHERE name = 'people#'").await;
            assert!(world.begun(world.warm(POLICY)).await > 5, "{dialect:?}, range {range}");
        }
    }
}

/// What was written while no watchdog watched is not known: with one, a program begins with an empty cache, also where the row was
/// changed by a console.
///
/// Planted: `RangeCache::begin` with `begins_cold` false. The note of the console was not seen.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_a_watchdog_a_program_begins_cold() {
    let Some(server) = Postgres::logged() else { return };
    let Some(cache) = lacuna_testkit::servers::Redis::cache() else { return };
    let url = server.url();
    let world =
        World { dialect: Dialect::Postgres, url, cache, logs: Vec::new(), _database: Box::new(server) };
    let watched = || world.warm(POLICY).with_watchdog();
    world.fill(watched()).await;
    world.run("UPDATE people SET note = 7").await;
    assert!(world.begun(watched()).await > 5);
}
