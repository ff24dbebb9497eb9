//! Clients and servers at Unix sockets.

use std::path::Path;

use lacuna_proxy::{CacheSettings, Options, log_sql};
use lacuna_testkit::servers::Postgres;

use crate::cache::setting::{TABLE, runtime, server_with};
use crate::world::{World, eventually, psql};

/// The server at its own socket, as libpq writes it.
fn upstream(postgres: &Postgres) -> String {
    format!("postgres:///?host={}&port={}", postgres.socket_folder().display(), postgres.port())
}

/// A client's URL of the proxy's socket.
fn at(folder: &Path, port: u16) -> String {
    format!("postgres:///postgres?host={}&port={port}&user=postgres", folder.display())
}

#[test]
fn a_session_from_socket_to_socket_is_one_of_the_servers() {
    let Some(postgres) = Postgres::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let upstream = upstream(&postgres).parse().unwrap();
    let mut world =
        World::before(postgres, upstream, |options| options.with_socket_folder(folder.path())).unwrap();
    let socket = world.proxy().socket().unwrap().to_owned();
    let url = at(folder.path(), world.proxy().address().port());
    let asked = ["-c", "SELECT inet_client_addr() IS NULL, count(*) FROM generate_series(1, 100000)"];
    assert_eq!(psql(&url, &asked).expect_success().trim(), "t|100000");
    // The address of the proxy leads to the same server.
    assert_eq!(psql(&world.url(), &asked).expect_success().trim(), "t|100000");
    // A statement ends at the request of another connection, by the socket, too.
    let late = psql(&url, &["-c", "SET statement_timeout = 200", "-c", "SELECT pg_sleep(60)"]);
    assert!(!late.is_success && late.stderr.contains("statement timeout"), "{late:?}");
    let proxy = world.proxy.take().unwrap();
    world.runtime.block_on(proxy.stop());
    assert!(!socket.exists(), "its file goes with the proxy");
}

#[test]
fn a_second_proxy_does_not_take_the_socket() {
    let Some(postgres) = Postgres::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let world = World::with(postgres, |options| options.with_socket_folder(folder.path())).unwrap();
    let address = world.proxy().address();
    let other = std::net::SocketAddr::from(([127, 0, 0, 2], address.port()));
    let options = Options::new(world.direct().parse().unwrap()).with_socket_folder(folder.path());
    let why = world.runtime.block_on(options.with_listen(other).start()).unwrap_err().to_string();
    assert!(why.contains("another process listens there") && why.contains(".s.PGSQL."), "{why}");
    assert!(psql(&at(folder.path(), address.port()), &["-c", "SELECT 1"]).is_success);
}

#[test]
fn a_cache_over_sockets_alone_shows_every_write() {
    let columns = "public.orders.customer".parse().unwrap();
    let sql = format!("{TABLE}; {}", log_sql(&columns));
    let Some(postgres) = server_with(&sql, &["wal_level=logical"]) else { return };
    let (folder, runtime) = (tempfile::tempdir().unwrap(), runtime());
    let encoded = postgres.socket_folder().display().to_string().replace('/', "%2F");
    let account = format!("postgres://postgres@{encoded}:{}/postgres", postgres.port());
    let options = Options::new(upstream(&postgres).parse().unwrap())
        .with_socket_folder(folder.path())
        .with_cache(CacheSettings::new(account, columns).with_log());
    let proxy = runtime.block_on(options.start()).unwrap();
    let url = at(folder.path(), proxy.address().port());
    eventually("the cache is open", || proxy.cache_counts().unwrap().closed.is_none());
    let read = "SELECT note FROM orders WHERE customer = 7";
    for round in 0..20 {
        let note = round.to_string();
        let update = format!("UPDATE orders SET note = '{note}' WHERE customer = 7");
        // Through the proxy, and past it.
        let writer = if round % 2 == 0 { url.clone() } else { postgres.url() };
        psql(&writer, &["-c", &update]).expect_success();
        let hits = || proxy.cache_counts().unwrap().hits;
        let before = hits();
        eventually("the reply is kept", || {
            assert_eq!(psql(&url, &["-c", read]).expect_success().trim(), note);
            hits() > before
        });
    }
    runtime.block_on(proxy.stop());
}
