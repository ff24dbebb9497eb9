//! Who else could write: at the start, and as long as the proxy runs.

use std::thread;
use std::time::{Duration, Instant};

use lacuna_cache::sql::{DomainType, Schema};
use lacuna_proxy::ErrorKind;
use lacuna_testkit::servers::Postgres;

use super::setting::{Setting, TABLE, ask, login, run, runtime, server, settings, start};
use crate::world::{eventually, psql};

const READ: &str = "SELECT note FROM orders WHERE customer = 7";

/// What is wrong with `columns` after `sql`.
fn refused(sql: &str, columns: &str) -> Option<String> {
    let postgres = server(&format!("{TABLE}; {sql}"))?;
    let why = start(&runtime(), &postgres, settings(&postgres, columns)).unwrap_err();
    assert_eq!(why.kind(), ErrorKind::InvalidInput, "{why}");
    Some(why.to_string())
}

#[test]
fn tables_that_change_by_themselves_are_refused() {
    let setup = "CREATE VIEW door AS SELECT * FROM orders; \
        CREATE TABLE parent (k INT) PARTITION BY RANGE (k); CREATE TABLE heir () INHERITS (orders); \
        CREATE TABLE guarded (k INT); ALTER TABLE guarded ENABLE ROW LEVEL SECURITY; \
        CREATE TABLE ruled (k INT); CREATE RULE r AS ON INSERT TO ruled DO ALSO NOTIFY x; \
        CREATE TABLE acting (k INT); CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; \
        CREATE TRIGGER act AFTER INSERT ON acting EXECUTE FUNCTION f(); \
        CREATE TABLE child (k INT, o INT REFERENCES orders ON DELETE CASCADE); \
        CREATE UNLOGGED TABLE fast (k INT); CREATE TABLE typed (k JSON, made INT GENERATED ALWAYS AS (1) STORED, \
        rounded TIMESTAMP(0))";
    let tables = [
        "door.customer",
        "parent.k",
        "orders.customer",
        "guarded.k",
        "ruled.k",
        "acting.k",
        "child.k",
        "fast.k",
    ];
    let columns =
        [&tables[..], &["typed.k", "typed.made", "typed.rounded", "none.k", "orders.none"]].concat();
    let columns: Vec<String> = columns.into_iter().map(|column| format!("public.{column}")).collect();
    let Some(why) = refused(setup, &columns.join(",")) else { return };
    for part in [
        "door cannot be registered: it is no plain table",
        "parent cannot be registered: it is no plain table",
        "orders cannot be registered: it inherits",
        "guarded cannot be registered: it has row security",
        "ruled cannot be registered: it has a rule: r",
        "acting cannot be registered: it has a trigger: act",
        "child cannot be registered: its rows change with those of another table",
        "fast cannot be registered: it is no plain table",
        "typed.k is no smallint",
        "typed.made is no smallint",
        "typed.rounded is no smallint",
        "no table public.none",
        "orders has no column none",
    ] {
        assert!(why.contains(part), "{part}: {why}");
    }
}

#[test]
fn every_role_that_could_write_is_named() {
    let setup = "CREATE ROLE super LOGIN SUPERUSER; CREATE ROLE writer LOGIN; GRANT UPDATE ON orders TO writer; \
        CREATE ROLE one_column LOGIN; GRANT UPDATE (note) ON orders TO one_column; \
        CREATE ROLE team; GRANT DELETE ON orders TO team; CREATE ROLE member LOGIN NOINHERIT; GRANT team TO member; \
        CREATE ROLE all_data LOGIN; GRANT pg_write_all_data TO all_data; \
        CREATE ROLE viewer LOGIN; CREATE VIEW door AS SELECT * FROM orders; GRANT INSERT ON door TO viewer; \
        CREATE ROLE no_login; GRANT UPDATE ON orders TO no_login; \
        CREATE FUNCTION back_door() RETURNS void LANGUAGE sql SECURITY DEFINER AS 'DELETE FROM orders'";
    let Some(why) = refused(setup, "public.orders.customer") else { return };
    for role in ["super", "writer", "one_column", "member", "all_data", "viewer"] {
        assert!(why.contains(&format!("the role {role} can log in and write")), "{role}: {why}");
    }
    for role in ["reader", "other", "no_login", "postgres"] {
        assert!(!why.contains(&format!("the role {role} can")), "{role}: {why}");
    }
    assert!(why.contains("REVOKE EXECUTE ON FUNCTION back_door()"), "{why}");
}

#[test]
fn operators_of_users_are_refused() {
    let setup = "CREATE FUNCTION same(text, varchar) RETURNS bool LANGUAGE sql AS 'SELECT true'; \
        CREATE OPERATOR = (LEFTARG = text, RIGHTARG = varchar, FUNCTION = same); \
        CREATE FUNCTION count(bigint) RETURNS int LANGUAGE sql AS 'SELECT 1'";
    let Some(why) = refused(setup, "public.orders.customer") else { return };
    assert!(why.contains("the operator =(text,") && why.contains("the function count(bigint)"), "{why}");
}

#[test]
fn a_right_that_is_granted_closes_the_cache_until_it_is_taken_back() {
    let Some(setting) = Setting::start() else { return };
    let mut raw = setting.session();
    run(&mut raw, READ);
    run(&mut raw, "GRANT UPDATE ON orders TO other");
    setting.closes("the role other");
    assert_eq!(setting.counted(|| (0..3).for_each(|_| drop(run(&mut raw, READ)))).0, 0);
    run(&mut raw, "REVOKE UPDATE ON orders FROM other");
    setting.opens();
    run(
        &mut raw,
        "CREATE TRIGGER t BEFORE UPDATE ON orders EXECUTE FUNCTION suppress_redundant_updates_trigger()",
    );
    setting.closes("it has a trigger: t");
}

#[test]
fn a_session_past_the_proxy_closes_the_cache() {
    let Some(setting) = Setting::start() else { return };
    let mut past = login(setting.server_port(), "postgres", &[]);
    let pid = ask(&mut past, "SELECT pg_backend_pid()").unwrap();
    setting.closes(&format!("past the proxy: server process {pid} of role postgres"));
    drop(past);
    setting.opens();
    let _harmless = login(setting.server_port(), "reader", &[]);
    thread::sleep(Duration::from_millis(1_200));
    assert_eq!(setting.counts().closed, None);
}

#[test]
fn a_role_that_loses_its_right_gets_errors() {
    let Some(setting) = Setting::start() else { return };
    let mut reader = setting.session_of("reader", &[]);
    assert_eq!(ask(&mut reader, READ).unwrap(), "n7");
    setting.run("REVOKE SELECT ON orders FROM reader");
    assert_eq!(reader.ask(READ), "EZ");
    setting.run("GRANT SELECT ON orders TO reader");
    setting.opens();
    assert_eq!(ask(&mut reader, READ).unwrap(), "n7");
}

#[test]
fn a_table_has_one_cache() {
    let Some(mut setting) = Setting::start() else { return };
    let second = start(&setting.runtime, &setting.postgres, settings(&setting.postgres, "public.orders.id"));
    let why = second.unwrap_err().to_string();
    assert!(why.contains("another running process caches the table orders"), "{why}");
    let url = setting.postgres.url();
    let open = || async {
        let cache = lacuna_cache::sql::open(&url).await.unwrap();
        let schema = Schema::new("orders", "id").with_domain("customer", DomainType::Integer);
        let opened = cache.table(schema).await.map(drop).map_err(|why| why.kind());
        cache.stop().await.unwrap();
        opened
    };
    assert_eq!(setting.runtime.block_on(open()), Err(lacuna_cache::ErrorKind::Conflict));
    setting.runtime.block_on(setting.proxy.take().unwrap().stop());
    assert_eq!(setting.runtime.block_on(open()), Ok(()));
    let again =
        start(&setting.runtime, &setting.postgres, settings(&setting.postgres, "public.orders.id")).unwrap();
    setting.runtime.block_on(again.stop());
}

/// As a program leaves it whose role has a schema of its own: the proxy's account does not search that.
#[test]
fn a_table_that_has_a_fence_in_another_schema_is_refused() {
    let sql = "CREATE SCHEMA app; CREATE TABLE app.lacuna_fence (name TEXT); \
               INSERT INTO app.lacuna_fence VALUES ('orders')";
    let Some(postgres) = server(&format!("{TABLE}; {sql}")) else { return };
    let runtime = runtime();
    let begun = || start(&runtime, &postgres, settings(&postgres, "public.orders.id"));
    let why = begun().unwrap_err().to_string();
    assert!(why.contains("\"app\".lacuna_fence has a row of the table orders"), "{why}");
    psql(&postgres.url(), &["-c", "DROP TABLE app.lacuna_fence"]).expect_success();
    runtime.block_on(begun().unwrap().stop());
}

/// As if this process had been silent for longer than its lease, and another one had begun.
#[test]
fn a_proxy_whose_table_was_taken_ends_its_sessions() {
    let Some(setting) = Setting::start() else { return };
    let mut raw = setting.session();
    run(&mut raw, READ);
    psql(&setting.postgres.url(), &["-c", "UPDATE lacuna_lease SET holder = 1, epoch = epoch + 1"])
        .expect_success();
    setting.runtime.block_on(setting.proxy().superseded());
    eventually("the session has ended", || setting.proxy().counts().open == 0);
    assert!(raw.until_ready().iter().any(|(tag, _)| *tag == b'E'));
}

#[test]
fn a_proxy_whose_table_is_taken_while_it_drains_waits_for_no_transaction() {
    let Some(mut setting) = Setting::start() else { return };
    let mut raw = setting.session();
    run(&mut raw, "BEGIN");
    let proxy = setting.proxy.take().unwrap();
    let began = Instant::now();
    let drained = setting.runtime.spawn(proxy.drain(Duration::from_secs(120)));
    thread::sleep(Duration::from_millis(300));
    assert!(!drained.is_finished(), "a transaction is open");
    psql(&setting.postgres.url(), &["-c", "UPDATE lacuna_lease SET holder = 1, epoch = epoch + 1"])
        .expect_success();
    assert!(raw.until_ready().iter().any(|(tag, _)| *tag == b'E'), "the session has ended");
    setting.runtime.block_on(drained).unwrap();
    assert!(began.elapsed() < Duration::from_secs(60));
}

/// A proxy before a server on which `before` was done after [`TABLE`], with these writers.
fn started<T>(writers: &[&str], before: impl FnOnce(&Postgres) -> T) -> Option<(Setting, T)> {
    let postgres = server(TABLE)?;
    let done = before(&postgres);
    let runtime = runtime();
    let settings = settings(&postgres, "public.orders.customer")
        .with_writers(writers.iter().map(|writer| (*writer).to_owned()));
    let proxy = start(&runtime, &postgres, settings).unwrap();
    Some((Setting { postgres, proxy: Some(proxy), runtime }, done))
}

fn port(postgres: &Postgres) -> u16 {
    postgres.url().rsplit([':', '/']).nth(1).unwrap().parse().unwrap()
}

fn admin(postgres: &Postgres, sql: &str) {
    psql(&postgres.url(), &["-c", sql]).expect_success();
}

#[test]
fn a_session_outlives_the_right_to_log_in() {
    let Some((setting, mut bob)) = started(&["postgres"], |postgres| {
        admin(postgres, "CREATE ROLE bob LOGIN; GRANT SELECT, UPDATE ON orders TO bob");
        let bob = login(port(postgres), "bob", &[]);
        admin(postgres, "ALTER ROLE bob NOLOGIN");
        bob
    }) else {
        return;
    };
    setting.closes("past the proxy");
    run(&mut bob, "UPDATE orders SET note = 'of bob' WHERE customer = 7");
    drop(bob);
    setting.opens();
    assert_eq!(ask(&mut setting.session(), READ).as_deref(), Some("of bob"));
}

#[test]
fn what_was_written_by_a_right_that_is_gone_is_waited_for() {
    let Some((setting, mut bob)) = started(&["postgres"], |postgres| {
        admin(postgres, "CREATE ROLE bob LOGIN; GRANT SELECT, UPDATE ON orders TO bob");
        let mut bob = login(port(postgres), "bob", &[]);
        run(&mut bob, "BEGIN");
        run(&mut bob, "UPDATE orders SET note = 'of bob' WHERE customer = 7");
        admin(postgres, "REVOKE UPDATE ON orders FROM bob");
        bob
    }) else {
        return;
    };
    let pid = ask(&mut bob, "SELECT pg_backend_pid()").unwrap();
    setting.closes(&format!(
        "a transaction is open that began before the rights were what they are (server process {pid} of role bob)"
    ));
    let mut reader = setting.session();
    assert_eq!(ask(&mut reader, READ).as_deref(), Some("n7"));
    run(&mut bob, "COMMIT");
    assert_eq!(ask(&mut reader, READ).as_deref(), Some("of bob"));
    setting.opens();
    eventually("it is cached", || setting.counted(|| drop(run(&mut reader, READ))) == (1, 0));
    assert_eq!(ask(&mut reader, READ).as_deref(), Some("of bob"));
}

#[test]
fn a_session_keeps_the_role_that_it_has_taken() {
    let Some((setting, mut carol)) = started(&["postgres", "carol"], |postgres| {
        admin(
            postgres,
            "CREATE ROLE team; GRANT SELECT, UPDATE ON orders TO team; CREATE ROLE carol LOGIN; GRANT team TO carol",
        );
        let mut carol = login(port(postgres), "carol", &[]);
        run(&mut carol, "SET ROLE team");
        carol
    }) else {
        return;
    };
    setting.closes("past the proxy");
    setting.run("REVOKE team FROM carol");
    // It takes a second until the catalogue is read again.
    thread::sleep(Duration::from_millis(1_500));
    let closed = setting.counts().closed;
    assert!(closed.as_ref().is_some_and(|why| why.contains("past the proxy")), "{closed:?}");
    run(&mut carol, "UPDATE orders SET note = 'of carol' WHERE customer = 7");
    drop(carol);
    setting.opens();
    assert_eq!(ask(&mut setting.session(), READ).as_deref(), Some("of carol"));
}

#[test]
fn a_session_past_the_proxy_that_was_seen_once_empties_the_cache() {
    let Some(setting) = Setting::start() else { return };
    let mut reader = setting.session();
    for round in 0..5 {
        eventually("it is cached", || setting.counted(|| drop(run(&mut reader, READ))) == (1, 0));
        let mut stranger = login(setting.server_port(), "postgres", &[]);
        run(&mut stranger, &format!("UPDATE orders SET note = 'round {round}' WHERE customer = 7"));
        // Longer than from one look to the next, and shorter than to the one after that.
        thread::sleep(Duration::from_millis(350));
        drop(stranger);
        let note = format!("round {round}");
        eventually("the reader sees it", || ask(&mut reader, READ).as_deref() == Some(&note));
    }
}
