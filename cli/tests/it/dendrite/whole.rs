//! A table that a process has open as a whole, and dendrites that are started on it.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use lacuna_cache::etcd::EtcdOptions;
use lacuna_cache::sql::{Options, Table, shared_name};
use lacuna_cache_protocol::ErrorKind;
use lacuna_cache_protocol::Policy;
use lacuna_testkit::servers::free_port;

use crate::team::{Leases, Team};
use crate::world::{Dialect, make_tables, schema};

/// Starts a dendrite that should refuse to be one: its exit code, and what it said. One that is at work is killed, and has no
/// exit code.
fn refused(team: &Team) -> (Option<i32>, String) {
    let mut command = team.command(free_port(), None);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut first).unwrap();
    if !first.is_empty() {
        child.kill().unwrap();
    }
    let output = child.wait_with_output().unwrap();
    (output.status.code(), first + &String::from_utf8_lossy(&output.stderr))
}

async fn put(table: &Table, place: i64) -> bool {
    table.insert([("place", place.into()), ("version", 1.into()), ("other", 0.into())]).await.is_ok()
}

async fn dendrites_wait_until_the_table_is_closed(leases: Leases) {
    let Some(team) = Team::new(Policy::WriteThrough, leases) else { return };
    let cache = Options::new(team.store.url()).open().await.unwrap();
    make_tables(&cache, Dialect::Postgres).await;
    let table = cache.table(schema()).await.unwrap();
    assert!(put(&table, 1).await && put(&table, 30).await);
    let (code, words) = tokio::task::block_in_place(|| refused(&team));
    if code.is_none() {
        // This process stood still for longer than its lease, and has lost the table.
        assert!(!put(&table, 2).await, "both write: {words}");
        return;
    }
    assert!(
        code == Some(2) && words.contains("as a whole") && words.lines().count() == 1,
        "{code:?} {words}"
    );
    assert_eq!(table.get("place", 0..40).await.unwrap().len(), 2, "it is not disturbed");
    cache.stop().await.unwrap();

    let mut dendrite = tokio::task::block_in_place(|| team.start_somewhere());
    let cache = Options::new(team.store.url()).open().await.unwrap();
    // The one that was refused may still be expected to have a range.
    let client = team.client(&[dendrite.address()]).await.with_patience(Duration::from_secs(60));
    let seen = cache.table_over(schema(), Arc::new(client)).await.unwrap();
    assert_eq!(seen.get("place", 0..40).await.unwrap().len(), 2);
    assert!(put(&seen, 2).await);
    assert_eq!(cache.table(schema()).await.unwrap_err().kind(), ErrorKind::Conflict);
    let address = dendrite.address();
    assert_eq!(tokio::task::block_in_place(|| dendrite.stop()).code, Some(0));
    if let Some(etcd) = &team.etcd {
        let name = shared_name(&team.store.url(), "slots").await.unwrap();
        let seen = EtcdOptions::new(etcd.url(), name).with_lease_s(60).open().await.unwrap().seen();
        let is_member = seen.members().values().any(|member| *member == address);
        assert!(!is_member, "others would expect it to claim what it has released: {:?}", seen.members());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dendrites_of_the_database_wait_until_the_table_is_closed() {
    dendrites_wait_until_the_table_is_closed(Leases::Database).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dendrites_of_etcd_wait_until_the_table_is_closed() {
    dendrites_wait_until_the_table_is_closed(Leases::Etcd).await;
}
