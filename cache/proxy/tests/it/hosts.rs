//! Several hosts before a relay: they are tried in their order.

use std::fs;

use lacuna_proxy::{Options, Proxy, Upstream};
use lacuna_testkit::servers::{Postgres, free_port};

use crate::raw::{Raw, error_field, query};
use crate::world::{World, eventually, psql};

/// The port of the server to which a new session leads.
pub(crate) fn port_of_server(proxy: &Proxy) -> Option<u16> {
    let url = format!("postgres://postgres@127.0.0.1:{}/postgres", proxy.address().port());
    psql(&url, &["-c", "SELECT inet_server_port()"]).stdout.trim().parse().ok()
}

fn upstream(ports: &[u16]) -> Upstream {
    let hosts: Vec<String> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
    format!("postgres://{}/?sslmode=disable", hosts.join(",")).parse().unwrap()
}

#[test]
fn the_host_that_works_is_remembered() {
    let (Some(first), Some(mut second)) = (Postgres::start(), Postgres::start()) else { return };
    let (nothing, [one, two]) = (free_port(), [first.port(), second.port()]);
    let mut world = World::before(first, upstream(&[nothing, one, two]), |options| options).unwrap();
    eventually("the other server takes sessions", || psql(&second.url(), &["-c", "SELECT 1"]).is_success);
    assert_eq!(port_of_server(world.proxy()), Some(one));
    world.postgres.kill();
    assert_eq!(port_of_server(world.proxy()), Some(two));
    world.postgres.restart();
    world.wait_for_server();
    assert_eq!(port_of_server(world.proxy()), Some(two), "it works still");
    second.kill();
    // From there on in their order.
    assert_eq!(port_of_server(world.proxy()), Some(one));
    world.postgres.kill();
    let said = psql(&world.url(), &["-c", "SELECT 1"]).stderr;
    for port in [nothing, one, two] {
        assert!(said.contains(&format!("127.0.0.1:{port}: ")), "{said}");
    }
}

/// A key does not say where it was given, and the host that is tried first has become another one.
#[test]
fn a_statement_is_cancelled_at_whichever_host_it_runs() {
    let (Some(first), Some(second)) = (Postgres::start(), Postgres::start()) else { return };
    let socket = first.socket_folder().join(format!(".s.PGSQL.{}", first.port()));
    let (folder, ports) = (first.socket_folder().display(), [first.port(), second.port()]);
    let url = format!("postgres:///?host={folder},127.0.0.1&port={},{}", ports[0], ports[1]);
    let world = World::before(first, url.parse().unwrap(), |options| options).unwrap();
    eventually("the other server takes sessions", || psql(&second.url(), &["-c", "SELECT 1"]).is_success);
    let port = world.proxy().address().port();
    let (mut sleeper, greeting) = Raw::login(port);
    let (_, key) = greeting.iter().find(|(tag, _)| *tag == b'K').unwrap();
    sleeper.send(&query("SELECT pg_sleep(60)"));
    let aside = socket.with_extension("aside");
    fs::rename(&socket, &aside).unwrap();
    assert_eq!(port_of_server(world.proxy()), Some(ports[1]));
    fs::rename(&aside, &socket).unwrap();
    let mut canceller = Raw::connect(port);
    let length = u32::try_from(8 + key.len()).unwrap();
    canceller.send(&[&length.to_be_bytes()[..], &80_877_102_u32.to_be_bytes(), key].concat());
    assert_eq!(canceller.receive(), None);
    assert_eq!(error_field(&sleeper.until_ready(), b'C'), "57014");
    assert_eq!(sleeper.ask("SELECT 1"), "TDCZ", "the session goes on where it is");
    assert_eq!(port_of_server(world.proxy()), Some(ports[1]));
}

#[test]
fn a_relay_cannot_ask_who_takes_writes() {
    let Some(world) = World::start() else { return };
    let upstream = upstream(&[world.postgres.port(), free_port()]).with_read_write();
    let why = world.runtime.block_on(Options::new(upstream).start()).unwrap_err().to_string();
    assert!(why.contains("needs several hosts and a cache"), "{why}");
}
