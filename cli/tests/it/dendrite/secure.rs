//! Dendrites whose Redis is reached with TLS.

use lacuna_cache_protocol::Policy;
use lacuna_testkit::servers::{Redis, free_port};
use tokio::task::block_in_place;

use super::authority::{Authority, files};
use super::many::{make_tables, name, table_of};
use crate::team::{Leases, Process, Team};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dendrite_keeps_results_in_an_encrypted_redis_that_it_trusts_and_starts_with_no_other() {
    let Some(mut team) = Team::new(Policy::WriteThrough, Leases::Database) else { return };
    let (ours, theirs) = (Authority::new("ours"), Authority::new("theirs"));
    let folder = tempfile::tempdir().unwrap();
    let server = files(folder.path(), &ours.sign("localhost"), None);
    let Some(redis) = Redis::start_encrypted(&server) else { return };
    let path = |authority: &Authority, file: &str| {
        std::fs::write(folder.path().join(file), authority.pem()).unwrap();
        folder.path().join(file).display().to_string()
    };
    let cache = make_tables(&team, 1).await;
    team.caches.clear();
    let (url, table) = (redis.encrypted_url(), name(0));
    let command = |authority: &str, port| {
        let table = ["--table", &table, "--key", "place", "--domain", "place:integer"];
        let redis = ["--cache", &url, "--redis-authority", authority];
        team.command_for(&[&table[..], &redis].concat(), port, None)
    };

    let foreign = path(&theirs, "theirs.pem");
    let refused = block_in_place(|| command(&foreign, free_port()).output().unwrap());
    let words = String::from_utf8_lossy(&refused.stderr);
    assert_eq!((refused.status.code(), words.lines().count()), (Some(2), 1), "{words}");
    assert!(words.contains("UnknownIssuer") && words.contains("Redis"), "{words}");

    let (right, port) = (path(&ours, "ours.pem"), free_port());
    let mut dendrite = block_in_place(|| Process::start(command(&right, port), port, None));
    let rows = table_of(&team, &cache, &dendrite, 0).await;
    rows.insert([("place", 7.into()), ("version", 1.into())]).await.unwrap();
    for _ in 0..3 {
        assert_eq!(rows.get("place", 0..9).await.unwrap().len(), 1);
    }
    let ended = block_in_place(|| dendrite.stop());
    assert_eq!(ended.code, Some(0));
    assert!(ended.counts["hits"].as_u64() >= Some(1), "{:?}", ended.counts);
    cache.stop().await.unwrap();
}
