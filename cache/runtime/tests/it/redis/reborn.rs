//! A cache server that is replaced at its address by one with an older data set: nothing of it is believed.

use std::sync::Arc;
use std::time::Instant;

use lacuna_cache::sql::{DomainType, Schema, Table};
use lacuna_cache_protocol::Policy;
use lacuna_testkit::servers::Redis;

use crate::redis::AT_MOST;
use crate::sql::world::Place;

/// How another data set comes to the address.
#[derive(Debug, Clone, Copy)]
enum How {
    /// The server is killed, and started again from a dump.
    Dump,
    /// Its replica, which has not heard of the last writes, is promoted and takes the port.
    Replica,
}

/// Sends a command to a server.
pub(super) async fn tell(url: &str, command: &str, arguments: &[&str]) {
    let client = redis::Client::open(url).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let mut command = redis::cmd(command);
    let told: Result<redis::Value, _> = command.arg(arguments).query_async(&mut connection).await;
    told.unwrap_or_else(|error| panic!("{arguments:?}: {error}"));
}

fn port(server: &Redis) -> String {
    server.url().rsplit_once(':').expect("a port").1.to_owned()
}

fn replica_of(master: &Redis) -> Redis {
    let port = port(master);
    let options = ["--save", "", "--appendonly", "no", "--replicaof", "127.0.0.1", &port];
    Redis::with(&options).expect("it is installed")
}

async fn name(people: &Table) -> String {
    let rows = people.get("age", 0..=99).await.unwrap();
    rows[0].text("name").unwrap().to_owned()
}

async fn older_data_are_not_believed(policy: Policy, how: How) {
    let options = ["--save", "", "--appendonly", "no", "--repl-diskless-sync-delay", "0"];
    let Some(mut server) = Redis::with(&options) else { return };
    let replica = matches!(how, How::Replica).then(|| replica_of(&server));
    let place = Place::new();
    let redis = Arc::new(crate::redis::cache(&server));
    let cache = place.options(policy).with_cache_server(redis).open().await.unwrap();
    cache.run_sql("CREATE TABLE people (id INTEGER PRIMARY KEY, age INTEGER, name TEXT)").await.unwrap();
    let schema = Schema::new("people", "id").with_domain("age", DomainType::Integer);
    let people = cache.table(schema).await.unwrap();
    people.insert([("id", 1.into()), ("age", 20.into()), ("name", "old".into())]).await.unwrap();
    let start = Instant::now();
    while cache.counts().hits == 0 {
        assert_eq!(name(&people).await, "old");
        assert!(start.elapsed() < AT_MOST, "{policy:?}, {how:?}: {:?}", cache.counts());
    }

    let url = server.url();
    match &replica {
        None => tell(&url, "SAVE", &[]).await,
        Some(replica) => {
            // It has what was acknowledged so far, and receives nothing more.
            tell(&url, "WAIT", &["1", "60000"]).await;
            tell(&replica.url(), "REPLICAOF", &["NO", "ONE"]).await;
        }
    }
    let row = people.get("age", 0..=99).await.unwrap().remove(0);
    people.update(&row, [("name", "new".into())]).await.unwrap();
    assert_eq!(name(&people).await, "new");
    match &replica {
        None => server.restart(),
        Some(replica) => {
            let port = port(&server);
            server.kill();
            tell(&replica.url(), "CONFIG", &["SET", "port", &port]).await;
        }
    }
    for read in 0..20 {
        assert_eq!(name(&people).await, "new", "{policy:?}, {how:?}, read {read}");
    }
    // And results are cached there again.
    let (start, before) = (Instant::now(), cache.counts().hits);
    while cache.counts().hits < before + 3 {
        assert_eq!(name(&people).await, "new", "{policy:?}, {how:?}");
        assert!(start.elapsed() < AT_MOST, "{policy:?}, {how:?}: {:?}", cache.counts());
    }
    cache.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_server_had_before_it_was_started_again_is_not_believed() {
    for policy in [Policy::WriteAround, Policy::WriteThrough, Policy::WriteBack] {
        older_data_are_not_believed(policy, How::Dump).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_promoted_replica_has_is_not_believed() {
    for policy in [Policy::WriteAround, Policy::WriteThrough, Policy::WriteBack] {
        older_data_are_not_believed(policy, How::Replica).await;
    }
}
