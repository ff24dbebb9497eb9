//! One process that serves many tables, and what it tells monitoring.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;

use lacuna_cache::cluster::{Client, Secret};
use lacuna_cache::sql::{Cache, DomainType, Options, Schema, Table};
use lacuna_cache_protocol::{ErrorKind, Policy};
use lacuna_testkit::servers::free_port;
use tokio::task::block_in_place;

use crate::team::{Leases, Process, Team};

/// Tables of the test of memory.
const MANY: usize = 30;
/// Bytes that an idle table may cost.
const MAX_BYTES_OF_A_TABLE: u64 = 1 << 20;

pub(crate) fn name(number: usize) -> String {
    format!("slots_{number}")
}

pub(crate) fn schema(number: usize) -> Schema {
    Schema::new(&name(number), "place").with_domain("place", DomainType::Integer)
}

/// The sections of so many tables.
pub(crate) fn sections(count: usize) -> String {
    let section = |number| {
        format!("[[table]]\nname = \"{}\"\nkey = [\"place\"]\ndomain = [\"place:integer\"]\n", name(number))
    };
    (0..count).map(section).collect()
}

pub(crate) async fn make_tables(team: &Team, count: usize) -> Cache {
    let cache = Options::new(team.store.url()).open().await.unwrap();
    for number in 0..count {
        let sql = format!("CREATE TABLE {} (place BIGINT PRIMARY KEY, version BIGINT)", name(number));
        cache.run_sql(&sql).await.unwrap();
    }
    cache
}

pub(crate) async fn table_of(team: &Team, cache: &Cache, dendrite: &Process, number: usize) -> Table {
    let client = team.client_of(&name(number), &[dendrite.address()]).await;
    cache.table_over(schema(number), Arc::new(client)).await.unwrap()
}

/// The status and the body of an answer.
pub(crate) fn get(place: &str, path: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(place).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {place}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

/// Where the dendrite answers monitoring.
pub(crate) fn monitored(dendrite: &mut Process) -> String {
    let line = dendrite.line();
    let place = line.strip_prefix("metrics at http://").and_then(|rest| rest.strip_suffix("/metrics"));
    place.unwrap_or_else(|| panic!("{line}")).to_owned()
}

pub(crate) fn metric(text: &str, line: &str) -> u64 {
    let value = text.lines().find_map(|found| found.strip_prefix(line)?.strip_prefix(' '));
    value.unwrap_or_else(|| panic!("no {line} in\n{text}")).parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_process_serves_tables_that_know_nothing_of_each_other() {
    let Some(team) = Team::new(Policy::WriteThrough, Leases::Database) else { return };
    let cache = make_tables(&team, 2).await;
    let port = free_port();
    let command = team.command_of_file(&sections(2), port);
    let mut dendrite = block_in_place(|| Process::start(command, port, None));
    let place = block_in_place(|| monitored(&mut dendrite));
    let first = table_of(&team, &cache, &dendrite, 0).await;
    let second = table_of(&team, &cache, &dendrite, 1).await;
    for (table, version) in [(&first, 1_i64), (&second, 2)] {
        table.insert([("place", 7.into()), ("version", version.into())]).await.unwrap();
    }
    for _ in 0..3 {
        for (table, version) in [(&first, 1), (&second, 2)] {
            let rows = table.get("place", 0..10).await.unwrap();
            assert_eq!(rows.iter().map(|row| row.integer("version")).collect::<Vec<_>>(), [Some(version)]);
        }
    }
    let (status, text) = block_in_place(|| get(&place, "/metrics"));
    assert_eq!(status, 200);
    for number in 0..2 {
        let count = |what: &str| metric(&text, &format!("lacuna_cache_{what}{{table=\"{}\"}}", name(number)));
        // Where the cache server is slow to answer, the owner finds the result there, which is no hit of the hit path.
        assert!(count("hits_total") >= 1 && count("store_queries_total") < 3, "{text}");
        assert_eq!(count("owned_ranges"), 1);
    }
    assert_eq!(block_in_place(|| get(&place, "/healthz")), (200, "ok\n".to_owned()));
    assert_eq!(block_in_place(|| get(&place, "/")).0, 404);
    let ended = block_in_place(|| dendrite.stop());
    assert_eq!(ended.code, Some(0));
    let reads = |number: usize| ended.counts["tables"][name(number)]["reads"].as_u64();
    assert_eq!((reads(0), reads(1), ended.counts["reads"].as_u64()), (Some(3), Some(3), Some(6)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_that_is_not_served_is_named_with_those_that_are() {
    let Some(team) = Team::new(Policy::WriteThrough, Leases::Database) else { return };
    make_tables(&team, 2).await;
    let port = free_port();
    let command = team.command_of_file(&sections(2), port);
    let dendrite = block_in_place(|| Process::start(command, port, None));
    team.client_of(&name(1), &[dendrite.address()]).await;
    let secret = Secret::from_file(&team.secret_file()).unwrap();
    let refused = Client::connect(&[dendrite.address()], secret, "people").await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidInput, "{refused}");
    assert!(
        refused.to_string().contains("people is not served here; served are: slots_0, slots_1"),
        "{refused}"
    );
    let stranger = Secret::new(b"a secret that is not theirs").unwrap();
    let refused = Client::connect(&[dendrite.address()], stranger, "people").await.unwrap_err();
    assert!(
        !refused.to_string().contains("slots"),
        "who does not know the secret learns no names: {refused}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unhealthy_store_is_told() {
    let Some(mut team) = Team::new(Policy::WriteThrough, Leases::Database) else { return };
    make_tables(&team, 1).await.stop().await.unwrap();
    let port = free_port();
    let command = team.command_of_file(&sections(1), port);
    let mut dendrite = block_in_place(|| Process::start(command, port, None));
    let place = block_in_place(|| monitored(&mut dendrite));
    assert_eq!(block_in_place(|| get(&place, "/healthz")).0, 200);
    block_in_place(|| team.store.kill());
    let (status, why) = block_in_place(|| get(&place, "/healthz"));
    assert!(status == 503 && !why.trim().is_empty(), "{status}: {why}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_idle_table_costs_less_than_a_megabyte() {
    let Some(team) = Team::new(Policy::WriteThrough, Leases::Database) else { return };
    let cache = make_tables(&team, MANY).await;
    let mut resident = Vec::new();
    for count in [1, MANY] {
        let port = free_port();
        let command = team.command_of_file(&sections(count), port);
        let mut dendrite = block_in_place(|| Process::start(command, port, None));
        for number in 0..count {
            let table = table_of(&team, &cache, &dendrite, number).await;
            table
                .insert([("place", i64::try_from(count).unwrap().into()), ("version", 1.into())])
                .await
                .unwrap();
            assert!(!table.get::<i64>("place", ..).await.unwrap().is_empty());
        }
        resident.push(dendrite.resident());
        assert_eq!(block_in_place(|| dendrite.stop()).code, Some(0));
    }
    let bytes = resident[1].saturating_sub(resident[0]) / (MANY as u64 - 1);
    println!("an idle table: {bytes} bytes");
    assert!(bytes <= MAX_BYTES_OF_A_TABLE, "{bytes} bytes a table, {resident:?}");
}

/// As two tables they would have two owners, which share the servers of one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_under_two_names_is_refused() {
    let Some(team) = Team::new(Policy::WriteThrough, Leases::Database) else { return };
    let _cache = make_tables(&team, 1).await;
    let twice = sections(1) + &sections(1).replace("slots_0", "public.slots_0");
    let mut command = team.command_of_file(&twice, free_port());
    let output = block_in_place(|| command.output().unwrap());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("named twice: slots_0 is the same"), "{said}");
}

#[test]
fn files_of_settings_that_are_wrong_are_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("secret"), "a secret of enough bytes").unwrap();
    let usual = "listen = \"127.0.0.1:0\"\nsecret-file = \"secret\"\nstore = \"postgres://a@127.0.0.1:1/a\"\ncache = [\"redis://127.0.0.1:1\"]\n";
    let table = "[[table]]\nname = \"t\"\nkey = [\"id\"]\ndomain = [\"age:integer\"]\n";
    for (text, why) in [
        (usual.to_owned(), "names no table"),
        (format!("{usual}{table}nose = 1\n"), "--nose"),
        (format!("{usual}[[table]]\nname = \"t\"\n"), "--key"),
        (format!("{usual}{table}policy = \"sideways\"\n"), "sideways"),
        (format!("{usual}{table}log = [\"${{LACUNA_NO_SUCH_VARIABLE}}\"]\n"), "LACUNA_NO_SUCH_VARIABLE"),
        (format!("{usual}listen\n"), "dendrite.toml"),
    ] {
        std::fs::write(folder.path().join("dendrite.toml"), text).unwrap();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_lacuna"));
        command.args(["cache", "dendrite", "--config", "dendrite.toml"]).current_dir(folder.path());
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(why) && said.starts_with("lacuna: "), "{why}: {said}");
    }
}
