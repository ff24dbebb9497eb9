//! Logins that end in the proxy, since they could not pass: of roles whose keys it has in a file.

use lacuna_proxy::{ErrorKind, Options};
use lacuna_testkit::servers::Postgres;

use super::{Authority, SCRAM, login, upstream, with_certificate};
use crate::cache::setting::{TABLE, server, settings};
use crate::raw::{V3_0, startup};
use crate::world::{Said, World, eventually, psql};

/// What PostgreSQL keeps of the password `secret`, with a salt of these tests.
const KEYS: &str = "SCRAM-SHA-256$4096:AAECAwQFBgcICQoLDA0ODw==$THoPhoTAuqyoQsK4dUHncUzgfD8fdmhsgKZhWVqNP5U=:7YiHMMi2OcXGRogub03Ek06JRZ9bkhTOdCzHa5iPLiQ=";

/// A proxy that knows the keys of the role `new`, before this server.
fn world(authority: &Authority, postgres: Postgres, parameters: &str) -> World {
    world_with(authority, postgres, parameters, |options| options)
}

fn world_with(
    authority: &Authority,
    postgres: Postgres,
    parameters: &str,
    change: impl FnOnce(Options) -> Options,
) -> World {
    let to = upstream(&postgres, parameters);
    let file = authority.folder.path().join("logins");
    std::fs::write(&file, format!("; of this test\n\"new\" \"{KEYS}\"\n")).unwrap();
    let certificate = with_certificate(&authority.certificate("proxy"));
    let all = |options| change(certificate(options).with_logins(file));
    let world = World::before(postgres, to, all).unwrap();
    world.admin(&format!(
        "CREATE ROLE new LOGIN PASSWORD '{KEYS}'; CREATE ROLE unknown LOGIN PASSWORD 'secret'"
    ));
    world.set_logins(&format!("host all postgres all trust\n{SCRAM}\nhost all unknown all scram-sha-256"));
    world
}

fn encrypted(authority: &Authority) -> Option<World> {
    let postgres = Postgres::start_encrypted(&authority.certificate("server"))?;
    Some(world(authority, postgres, "sslmode=require"))
}

#[test]
fn clients_bind_to_the_proxy_and_the_proxy_to_the_database() {
    let authority = Authority::new();
    let Some(world) = encrypted(&authority) else { return };
    for binding in ["require", "prefer", "disable"] {
        let parameters =
            format!("sslmode=verify-full&sslrootcert={}&channel_binding={binding}", authority.file());
        let said = login(&world, &parameters).expect_success();
        assert!(said.contains("SSL connection") && said.ends_with("t\n"), "{said}");
    }
    let wrong = login_as(&world, "new", "wrong", "sslmode=require");
    assert!(wrong.stderr.contains("password authentication failed for user \"new\""), "{wrong:?}");
    let said = login(&world, "sslmode=disable").expect_success();
    assert!(said.ends_with("t\n"), "without TLS the login passes: {said}");
}

#[test]
fn clients_bind_to_the_proxy_before_a_plain_database() {
    let authority = Authority::new();
    let Some(postgres) = Postgres::start() else { return };
    let world = world(&authority, postgres, "sslmode=disable");
    for binding in ["require", "prefer", "disable"] {
        let said = login(&world, &format!("sslmode=require&channel_binding={binding}")).expect_success();
        assert!(said.contains("SSL connection") && said.ends_with("f\n"), "{said}");
    }
}

/// The preference for TLS to the database need not give way to the login.
#[test]
fn a_known_role_is_encrypted_on_both_sides() {
    let authority = Authority::new();
    let Some(postgres) = Postgres::start_encrypted(&authority.certificate("server")) else { return };
    let world = world(&authority, postgres, "sslmode=prefer");
    let said = login(&world, "sslmode=require&channel_binding=require").expect_success();
    assert!(said.ends_with("t\n"), "{said}");
    let said = login_as(&world, "unknown", "secret", "sslmode=require").expect_success();
    assert!(said.ends_with("f\n"), "begun again without TLS: {said}");
}

/// What a cache follows begins after the login.
#[test]
fn a_cache_serves_those_whose_login_has_ended_here() {
    let authority = Authority::new();
    let Some(postgres) = server(TABLE) else { return };
    let settings = settings(&postgres, "public.orders.customer");
    let world = world_with(&authority, postgres, "sslmode=disable", |options| options.with_cache(settings));
    world.admin("GRANT SELECT ON orders TO new");
    let url = world.url().replace("postgres@127.0.0.1", "new:secret@localhost") + "?channel_binding=require";
    let read = "SELECT count(*) FROM orders WHERE customer BETWEEN 3 AND 7";
    eventually("reads are hits", || {
        let said = psql(&url, &["-c", read, "-c", read, "-c", read]).expect_success();
        assert_eq!(said, "5\n5\n5\n");
        world.proxy().cache_counts().unwrap().hits > 0
    });
}

#[test]
fn other_roles_log_in_as_without_a_file() {
    let authority = Authority::new();
    let Some(world) = encrypted(&authority) else { return };
    let said = login_as(&world, "unknown", "secret", "sslmode=require&channel_binding=disable");
    assert!(said.expect_success().ends_with("t\n"));
    let refused = login_as(&world, "unknown", "secret", "sslmode=require&channel_binding=prefer");
    assert!(refused.stderr.contains("channel binding check failed"), "{refused:?}");
    let url = world.url().replace("127.0.0.1", "localhost") + "?sslmode=require";
    psql(&url, &["-c", "SELECT 1"]).expect_success();
}

#[test]
fn keys_that_the_database_no_longer_has_are_named() {
    let authority = Authority::new();
    let Some(world) = encrypted(&authority) else { return };
    // The same password with a new salt, and another one.
    for password in ["secret", "other"] {
        world.admin(&format!("ALTER ROLE new PASSWORD '{password}'"));
        let refused = login(&world, "sslmode=require");
        assert!(refused.stderr.contains("must be written anew from pg_authid.rolpassword"), "{refused:?}");
    }
    world.admin(&format!("ALTER ROLE new PASSWORD '{KEYS}' NOLOGIN"));
    let refused = login(&world, "sslmode=require");
    assert!(
        refused.stderr.contains("role \"new\" is not permitted to log in"),
        "the server refuses: {refused:?}"
    );
}

#[test]
fn a_file_that_is_read_anew_counts_for_the_next_client() {
    let authority = Authority::new();
    let Some(world) = encrypted(&authority) else { return };
    let file = authority.folder.path().join("logins");
    world.admin("ALTER ROLE new PASSWORD 'secret'; CREATE ROLE \"a \"\"b\"\"\" PASSWORD 'secret'");
    assert!(!login(&world, "sslmode=require").is_success);
    // The statement of docs/guide/postgres-proxy.md.
    let lines = world.admin(
        r#"SELECT format('"%s" "%s"', replace(rolname, '"', '""'), rolpassword) FROM pg_authid
            WHERE rolpassword LIKE 'SCRAM-SHA-256$%'"#,
    );
    std::fs::write(&file, lines).unwrap();
    assert!(!login(&world, "sslmode=require").is_success, "it was not read yet");
    world.proxy().reload().unwrap();
    login(&world, "sslmode=require").expect_success();
    std::fs::write(&file, "\"new\"").unwrap();
    let wrong = world.proxy().reload().unwrap_err();
    assert!(wrong.to_string().contains("line 1"), "{wrong}");
    login(&world, "sslmode=require").expect_success();
    let other = Authority::new();
    let files = other.certificate("proxy");
    let here = authority.folder.path();
    std::fs::copy(files.certificate, here.join("proxy.pem")).unwrap();
    assert!(world.proxy().reload().is_err(), "the key is that of another certificate");
    std::fs::copy(files.key, here.join("proxy.key")).unwrap();
    std::fs::write(&file, "").unwrap();
    world.proxy().reload().unwrap();
    let trusting = |authority: &Authority| {
        let parameters =
            format!("sslmode=verify-full&channel_binding=disable&sslrootcert={}", authority.file());
        login(&world, &parameters)
    };
    trusting(&other).expect_success();
    let refused = trusting(&authority);
    assert!(refused.stderr.contains("SSL error"), "the old certificate is not shown: {refused:?}");
}

/// A stranger between the client and the proxy, who ends TLS and passes the rest on.
#[test]
fn a_login_through_a_stranger_is_refused() {
    let authority = Authority::new();
    let Some(world) = encrypted(&authority) else { return };
    let to = format!("postgres://127.0.0.1:{}?sslmode=require", world.proxy().address().port());
    let stranger = with_certificate(&authority.certificate("stranger"))(Options::new(to.parse().unwrap()));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let stranger = runtime.block_on(stranger.start()).unwrap();
    let through = |binding: &str| {
        let address = format!("localhost:{}", stranger.address().port());
        psql(
            &format!("postgres://new:secret@{address}/postgres?sslmode=require&channel_binding={binding}"),
            &["-c", "SELECT 1"],
        )
    };
    for binding in ["require", "prefer"] {
        let refused = through(binding);
        assert!(refused.stderr.contains("bound to another certificate than the proxy's"), "{refused:?}");
    }
    through("disable").expect_success();
    runtime.block_on(stranger.stop());
}

/// What is no login ends the connection; the proxy serves the next client.
#[test]
fn wrong_messages_end_a_login() {
    let authority = Authority::new();
    let Some(world) = encrypted(&authority) else { return };
    let port = world.proxy().address().port();
    let as_new: [(&str, &str); 2] = [("user", "new"), ("database", "postgres")];
    let initial = |mechanism: &str, first: &str| {
        let length = u32::try_from(first.len()).unwrap().to_be_bytes();
        [mechanism.as_bytes(), b"\0", &length, first.as_bytes()].concat()
    };
    let cases: [(Vec<u8>, &str); 5] = [
        (message(b'p', &initial("SCRAM-SHA-256", "y,,n=,r=abc")), "did not see that offered"),
        (message(b'p', &initial("SCRAM-SHA-256", "n,a=postgres,n=,r=abc")), "not one of SCRAM-SHA-256"),
        (message(b'p', b"SCRAM-SHA-256\0\xff\xff\xff\xff"), "not one of SCRAM-SHA-256"),
        (message(b'Q', b"SELECT 1\0"), ""),
        (b"p\x7f\xff\xff\xff".to_vec(), ""),
    ];
    for (sent, expected) in cases {
        let answer = authority.exchange(port, &[startup(V3_0, &as_new), sent].concat());
        let text = String::from_utf8_lossy(&answer);
        assert!(text.contains("SCRAM-SHA-256-PLUS") && text.contains(expected), "{text}");
        assert!(!text.contains("server_version"), "{text}");
    }
    login(&world, "sslmode=require").expect_success();
}

#[test]
fn a_file_that_is_none_is_refused_at_the_start() {
    let authority = Authority::new();
    let file = authority.folder.path().join("logins");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let start = |options: Options| runtime.block_on(options.start()).unwrap_err();
    let options = || Options::new("postgres://127.0.0.1:5432".parse().unwrap());
    let certificate = authority.certificate("proxy");
    let missing = start(with_certificate(&certificate)(options()).with_logins(&file));
    assert_eq!(missing.kind(), ErrorKind::Unavailable, "{missing}");
    std::fs::write(&file, "\n\"app\" \"secret\"\n").unwrap();
    let wrong = start(with_certificate(&certificate)(options()).with_logins(&file));
    assert_eq!(wrong.kind(), ErrorKind::InvalidInput);
    assert!(wrong.to_string().contains("logins, line 2: the second text is no SCRAM-SHA-256$"), "{wrong}");
    let alone = start(options().with_logins(&file));
    assert!(alone.to_string().contains("needs a certificate"), "{alone}");
}

fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    [&[tag][..], &u32::try_from(body.len() + 4).unwrap().to_be_bytes(), body].concat()
}

fn login_as(world: &World, role: &str, password: &str, parameters: &str) -> Said {
    let url = world.url().replace("postgres@127.0.0.1", &format!("{role}:{password}@localhost"));
    psql(&format!("{url}?{parameters}"), &["-c", "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"])
}
