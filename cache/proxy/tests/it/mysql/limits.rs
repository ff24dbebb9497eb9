//! Limits on connections, messages and time, and what there is before PostgreSQL alone.

use std::time::{Duration, Instant};

use lacuna_proxy::{CacheSettings, ErrorKind, Options};

use super::raw::{ERROR, QUERY, Raw, command};
use super::world::World;
use crate::world::eventually;

#[test]
fn clients_beyond_the_limit_get_an_error() {
    let Some(world) = World::with(|options| options.with_max_connections(2)) else { return };
    let port = world.port();
    let first = Raw::login(port, Raw::NEW);
    let mut second = Raw::login(port, Raw::NEW);
    let (number, sentence) = Raw::connect(port).last_words();
    assert_eq!(number, 1040);
    assert!(sentence.contains("serves 2 clients, which is its limit"), "{sentence}");
    drop(first);
    eventually("there is room again", || world.proxy().counts().open == 1);
    Raw::login(port, Raw::NEW);
    assert_ne!(second.query("SELECT 1")[0].1[0], ERROR);
    assert_eq!(world.proxy().counts().refused, 1);
}

#[test]
fn longer_messages_than_allowed_get_an_error() {
    let Some(world) = World::with(|options| options.with_max_message_bytes(100_000)) else { return };
    let mut client = Raw::login(world.port(), Raw::NEW);
    assert_ne!(client.query(&format!("SELECT 1 -- {}", "a".repeat(90_000)))[0].1[0], ERROR);
    client.send(&command(QUERY, format!("SELECT 1 -- {}", "a".repeat(200_000)).as_bytes()));
    let (number, sentence) = client.last_words();
    assert_eq!(number, 1153);
    assert!(sentence.contains("longer than the 100000"), "{sentence}");
    assert_eq!(client.receive(), None);
    let mut client = Raw::login(world.port(), Raw::NEW);
    assert_ne!(client.query("SELECT REPEAT('c', 1000000)")[0].1[0], ERROR, "results have no limit");
}

#[test]
fn a_client_that_does_not_answer_the_greeting_is_dropped() {
    let timeout = Duration::from_millis(500);
    let Some(world) = World::with(|options| options.with_login_timeout(timeout)) else { return };
    let start = Instant::now();
    let mut client = Raw::connect(world.port());
    client.receive().unwrap();
    assert_eq!(client.receive(), None);
    assert!((timeout..Duration::from_secs(20)).contains(&start.elapsed()));
    eventually("its session ends", || world.proxy().counts().open == 0);
}

/// No server is asked: the options do not go together.
#[test]
fn what_is_there_before_postgres_alone_is_refused() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let upstream = || Options::new("mysql://127.0.0.1:1".parse().unwrap());
    let settings = CacheSettings::new("mysql://127.0.0.1:1/test", "test.orders.customer".parse().unwrap());
    for (options, expected) in [
        (upstream().with_cache(settings), "has no cache yet"),
        (upstream().with_certificate("a.pem", "b.pem"), "offers no TLS yet"),
        (upstream().with_socket_folder("/tmp"), "listens at no Unix socket yet"),
    ] {
        let why = runtime.block_on(options.start()).unwrap_err();
        assert_eq!(why.kind(), ErrorKind::InvalidInput);
        assert!(
            why.to_string().contains(expected) && why.to_string().contains("relays and suggests"),
            "{why}"
        );
    }
}
