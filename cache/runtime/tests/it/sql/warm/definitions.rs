//! The table got another definition between the two programs, or is registered otherwise.

use lacuna_cache::sql::{DomainType, Policy, Schema};

use super::{Program, World, schema};
use crate::sql::world::Dialect;

const STORES: [Dialect; 2] = [Dialect::Sqlite, Dialect::Postgres];
const POLICY: Policy = Policy::WriteThrough;

/// The same results are asked for under both registrations, written under each, and asked for again.
async fn between(dialect: Dialect, sql: &str, after: Schema) {
    let Some(world) = World::new(dialect) else { return };
    world.fill(world.warm(POLICY)).await;
    if !sql.is_empty() {
        world.run(sql).await;
    }
    let program = Program::open_as(world.warm(POLICY), after.clone()).await;
    program.rows().await;
    assert!(program.people.counts().store_queries > 5, "{dialect:?}, {sql}: it begins cold");
    program.note(2..=6, 7).await;
    program.rows().await;
    program.stop().await;
    // The first registration again, which has entries of its own in the cache server, and then the second.
    let program = Program::open(world.warm(POLICY)).await;
    program.rows().await;
    program.note(0..=4, 8).await;
    program.rows().await;
    program.stop().await;
    world.begun_as(world.warm(POLICY), after).await;
    world.begun(world.warm(POLICY)).await;
}

/// Results have the fingerprint of the registration in their names, so old ones are not even found.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_column_that_was_added_is_seen() {
    for dialect in STORES {
        between(dialect, "ALTER TABLE people ADD COLUMN bonus BIGINT DEFAULT 7", schema()).await;
    }
}

/// Planted: `are_mine` that is always true. Writes looked for old entries under the numbers of other columns.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn registered_columns_in_another_order_are_others() {
    let after = Schema::new("people", "id")
        .with_domain("weight", DomainType::Integer)
        .with_domain("age", DomainType::Integer);
    for dialect in STORES {
        between(dialect, "", after.clone()).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_registered_columns_are_others() {
    for dialect in STORES {
        between(dialect, "", schema().with_domain("note", DomainType::Integer)).await;
        between(dialect, "", schema().with_only(["id"])).await;
    }
}

/// The column is read as other values, or the rows are in another order.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_column_of_another_type_is_another() {
    between(Dialect::Postgres, "ALTER TABLE people ALTER COLUMN note TYPE INTEGER", schema()).await;
    let anew = "CREATE TABLE other (id BIGINT PRIMARY KEY, age BIGINT, weight BIGINT, note INTEGER); \
                INSERT INTO other SELECT * FROM people; DROP TABLE people; ALTER TABLE other RENAME TO people";
    between(Dialect::Sqlite, anew, schema()).await;
}
