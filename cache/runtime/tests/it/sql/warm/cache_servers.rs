//! Something happened to the cache server between the two programs.

use lacuna_cache::sql::Policy;
use lacuna_testkit::effort;
use lacuna_testkit::servers::Redis;

use super::{Program, World, answer_to, evict, keys};
use crate::sql::world::Dialect;

const STORES: [Dialect; 2] = [Dialect::Sqlite, Dialect::Postgres];
const POLICY: Policy = Policy::WriteThrough;

async fn filled(dialect: Dialect) -> Option<World> {
    let world = World::new(dialect)?;
    world.fill(world.warm(POLICY)).await;
    Some(world)
}

async fn change(world: &World, note: i64) {
    let program = Program::open(world.warm(POLICY)).await;
    program.rows().await;
    program.note(2..=6, note).await;
    program.rows().await;
    program.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_emptied_server_begins_cold() {
    for dialect in STORES {
        let Some(world) = filled(dialect).await else { return };
        answer_to::<String>(&world.cache, "FLUSHALL", &[]).await;
        assert!(world.begun(world.warm(POLICY)).await > 5);
    }
}

/// The dump is of the last tenure but one, or of the last one, before its last writes.
///
/// Planted: a take-over in Redis that does not ask which server set the fence. The second dump is of the named epoch: its old rows
/// were shown.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_was_started_from_an_old_dump_begins_cold() {
    for dialect in STORES {
        for is_of_the_last in [false, true] {
            let Some(mut world) = filled(dialect).await else { return };
            if !is_of_the_last {
                answer_to::<String>(&world.cache, "SAVE", &[]).await;
            }
            let program = Program::open(world.warm(POLICY)).await;
            program.rows().await;
            if is_of_the_last {
                answer_to::<String>(&world.cache, "SAVE", &[]).await;
            }
            program.note(2..=6, 7).await;
            program.rows().await;
            program.stop().await;
            world.cache.restart();
            assert!(!keys(&world.cache, "*:v:*").await.is_empty(), "the dump was read");
            assert!(world.begun(world.warm(POLICY)).await > 5, "{dialect:?}, {is_of_the_last}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_server_begins_cold() {
    for dialect in STORES {
        let Some(world) = filled(dialect).await else { return };
        let Some(cache) = Redis::cache() else { return };
        let world = World { cache, ..world };
        assert!(world.begun(world.warm(POLICY)).await > 5);
    }
}

/// An entry that was evicted is asked for; the others are still there, and all follow writes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn evicted_entries_are_misses_and_nothing_else() {
    for dialect in STORES {
        let Some(world) = filled(dialect).await else { return };
        let values = keys(&world.cache, "*:v:*").await;
        evict(&world.cache, &values[..3]).await;
        let program = Program::open(world.warm(POLICY)).await;
        program.rows().await;
        assert_eq!(program.people.counts().store_queries, 3, "{dialect:?}");
        program.note(0..=20, 7).await;
        program.stop().await;
        world.begun(world.warm(POLICY)).await;
    }
}

/// A part of the log is gone, or the count of its bytes, or both.
///
/// Planted: a take-over in Redis that does not compare the bytes. Entries of the chunk were not known, and showed old rows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_evicted_log_of_entries_begins_cold() {
    for dialect in STORES {
        for patterns in [&["*:p:*"][..], &["*:pc"], &["*:p:*", "*:pc"]] {
            let Some(world) = filled(dialect).await else { return };
            change(&world, 6).await;
            for pattern in patterns {
                let found = keys(&world.cache, pattern).await;
                evict(&world.cache, &found[found.len() - 1..]).await;
            }
            change(&world, 7).await;
            world.begun(world.warm(POLICY)).await;
        }
    }
}

/// Bytes of the log that are others than those that were written. Seeds that a record of one byte for a check does not notice are
/// left to chance: one in 256.
///
/// Planted: `take_over_entries` that goes on with the chunks that it can read. Entries of the damaged chunk were not known, and
/// showed old rows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_log_of_entries_begins_cold() {
    let mut rng = effort::rng(900);
    for dialect in STORES {
        let Some(world) = filled(dialect).await else { return };
        for round in 0..effort::short_or_long(4, 64) {
            change(&world, 100 + round).await;
            let mut chunks = keys(&world.cache, "*:p:*").await;
            chunks.sort();
            let chunk = &chunks[rng.index(chunks.len())];
            let mut bytes = answer_to::<Vec<u8>>(&world.cache, "GET", &[chunk]).await;
            let place = rng.index(bytes.len());
            bytes[place] ^= 1 << rng.below(8);
            answer_to::<String>(&world.cache, "SET", &[chunk, &bytes]).await;
            change(&world, 200 + round).await;
            println!("seed {}: {dialect:?}, round {round}, byte {place}", effort::seed());
            world.begun(world.warm(POLICY)).await;
        }
    }
}
