//! What could make the same statement give other bytes makes it another statement.

use lacuna_proxy::Options;

use super::setting::{Setting, TABLE, ask, run, runtime, server, settings};
use crate::raw::{Raw, bind, close, error_field, execute, letters, message, parse, query, sync};
use crate::world::eventually;

const READ: &str = "SELECT day, price, note FROM orders WHERE customer = 7";
const READ_NOTE: &str = "SELECT note FROM orders WHERE customer = 7";

fn hits(setting: &Setting, raw: &mut Raw, sql: &str) -> u64 {
    // On a busy machine a look at the server may be late.
    setting.opens();
    setting.counted(|| drop(run(raw, sql))).0
}

fn is_hit(setting: &Setting, raw: &mut Raw) -> bool {
    hits(setting, raw, READ) == 1
}

#[test]
fn sessions_of_one_kind_share_what_is_cached() {
    let Some(setting) = Setting::start() else { return };
    let (mut one, mut other) = (setting.session(), setting.session());
    assert!(!is_hit(&setting, &mut one) && is_hit(&setting, &mut other));
    let mut named = setting.session_of("postgres", &[("application_name", "x")]);
    assert!(is_hit(&setting, &mut named), "the name of a program changes nothing");
    for (name, value) in [
        ("TimeZone", "Asia/Tokyo"),
        ("DateStyle", "German"),
        ("IntervalStyle", "iso_8601"),
        ("client_encoding", "LATIN1"),
        ("bytea_output", "escape"),
        ("extra_float_digits", "0"),
        ("search_path", "pg_temp, public"),
        ("work_mem", "5MB"),
    ] {
        assert!(!is_hit(&setting, &mut setting.session_of("postgres", &[(name, value)])), "{name}");
    }
    assert!(!is_hit(&setting, &mut setting.session_of("reader", &[])), "another role");
}

#[test]
fn whatever_changes_a_session_takes_it_out_until_it_is_asked() {
    let Some(setting) = Setting::start() else { return };
    let (mut one, mut two) = (setting.session(), setting.session());
    assert!(!is_hit(&setting, &mut one) && is_hit(&setting, &mut one));
    for change in ["SET DateStyle = 'SQL, DMY'", "SET SESSION DateStyle TO German", "SET ROLE reader"] {
        run(&mut one, change);
        assert!(!is_hit(&setting, &mut one), "{change}");
        assert!(is_hit(&setting, &mut one), "{change}: {}", setting.counts().report());
        run(&mut one, "RESET ROLE");
        run(&mut one, "RESET ALL");
        assert!(is_hit(&setting, &mut one), "it is as it was: {change}");
    }
    // By a function, whose effect cannot be read from its text; it is a write to everything as well.
    run(&mut one, "SELECT set_config('datestyle', 'ISO, DMY', false)");
    setting.opens();
    assert!(!is_hit(&setting, &mut two) && is_hit(&setting, &mut two));
    assert!(!is_hit(&setting, &mut one), "it has other settings");
    run(&mut one, "DISCARD ALL");
    assert!(is_hit(&setting, &mut one));
    // In a transaction, and back again with its end.
    run(&mut one, "BEGIN");
    run(&mut one, "SET LOCAL DateStyle = German");
    assert!(!is_hit(&setting, &mut one));
    run(&mut one, "COMMIT");
    assert!(is_hit(&setting, &mut one));
}

/// PostgreSQL empties the temporary schema of a session, and keeps it until the session ends.
#[test]
fn a_session_whose_temporary_tables_are_gone_is_as_any_other() {
    let Some(setting) = Setting::start() else { return };
    let (mut one, mut two) = (setting.session(), setting.session());
    for (make, drop) in [
        ("CREATE TEMPORARY TABLE mine (a INT)", "DROP TABLE mine"),
        ("CREATE TEMPORARY TABLE orders (customer INT, note TEXT)", "DISCARD ALL"),
        ("CREATE TEMPORARY VIEW mine AS SELECT 1", "DROP VIEW mine"),
        ("CREATE FUNCTION pg_temp.f() RETURNS int LANGUAGE sql AS 'SELECT 1'", "DROP FUNCTION pg_temp.f()"),
        ("CREATE TYPE pg_temp.mood AS ENUM ('glad')", "DISCARD TEMP"),
        ("CREATE DOMAIN pg_temp.small AS int", "DROP DOMAIN pg_temp.small"),
    ] {
        run(&mut one, make);
        let is_kept = |raw: &mut Raw| (0..5).any(|_| is_hit(&setting, raw));
        assert!(is_kept(&mut two), "{make}");
        run(&mut one, "SELECT 1");
        assert!(!is_hit(&setting, &mut two), "it may mean anything: {make}");
        let why = "what its session means by a name is not known: it has temporary tables";
        assert!(setting.counts().relayed.contains_key(why), "{make}: {}", setting.counts().report());
        run(&mut one, drop);
        // A reading of the catalogue may come in between, and find the change.
        let is_left_alone = (0..5).any(|_| {
            let was_kept = is_kept(&mut two);
            run(&mut one, "SELECT 1");
            was_kept && is_hit(&setting, &mut two)
        });
        assert!(is_left_alone && is_kept(&mut one), "{drop}: {}", setting.counts().report());
    }
    run(&mut one, "CREATE TEMPORARY TABLE orders (customer INT, note TEXT)");
    run(&mut one, "INSERT INTO orders VALUES (7, 'of pg_temp')");
    for _ in 0..3 {
        assert_eq!(ask(&mut one, READ_NOTE).as_deref(), Some("of pg_temp"));
    }
    // In a transaction, and back again with its end.
    run(&mut two, "BEGIN");
    run(&mut two, "CREATE TEMPORARY TABLE orders (customer INT, note TEXT) ON COMMIT DROP");
    assert_eq!(ask(&mut two, READ_NOTE), None);
    run(&mut two, "COMMIT");
    assert_eq!(ask(&mut two, READ_NOTE).as_deref(), Some("n7"));
}

/// Clients reach another server than the account.
#[test]
fn two_servers_are_named() {
    let (Some(postgres), Some(other)) = (server(TABLE), server(TABLE)) else { return };
    let runtime = runtime();
    let options = Options::new(other.url().parse().unwrap());
    let options = options.with_cache(settings(&postgres, "public.orders.customer"));
    let proxy = runtime.block_on(options.start()).unwrap();
    let setting = Setting { postgres, proxy: Some(proxy), runtime };
    setting.opens();
    let mut raw = setting.session();
    setting.closes("--upstream and --account lead to two servers");
    for _ in 0..3 {
        assert_eq!(ask(&mut raw, READ_NOTE).as_deref(), Some("n7"));
    }
    assert_eq!(setting.counts().hits, 0);
    drop(raw);
    eventually("it is said no more", || setting.counts().closed.is_none());
}

#[test]
fn names_mean_what_the_search_path_says() {
    let Some(setting) = Setting::start() else { return };
    let (mut one, mut two) = (setting.session(), setting.session());
    run(&mut one, "CREATE SCHEMA first CREATE TABLE orders (customer INT, note TEXT)");
    run(&mut one, "INSERT INTO first.orders VALUES (7, 'of first')");
    setting.opens();
    let read = "SELECT note FROM orders WHERE customer = 7";
    assert_eq!(ask(&mut two, read).unwrap(), "n7");
    assert_eq!(hits(&setting, &mut two, read), 1);
    run(&mut one, "SET search_path = first, public");
    assert_eq!(ask(&mut one, read).unwrap(), "of first");
    assert_eq!(ask(&mut one, read).unwrap(), "of first");
    run(&mut one, "SET search_path = public");
    run(&mut one, "CREATE TEMPORARY TABLE orders (customer INT, note TEXT)");
    run(&mut one, "INSERT INTO orders VALUES (7, 'of pg_temp')");
    setting.opens();
    assert_eq!(ask(&mut one, read).unwrap(), "of pg_temp");
    assert_eq!(ask(&mut one, read).unwrap(), "of pg_temp");
    // A schema that has the user's name comes first by itself.
    run(&mut setting.session(), "CREATE SCHEMA reader CREATE TABLE orders (customer INT, note TEXT)");
    run(&mut setting.session(), "GRANT ALL ON SCHEMA reader TO reader; GRANT ALL ON reader.orders TO reader");
    let mut reader = setting.session_of("reader", &[]);
    assert_eq!(ask(&mut reader, read), None);
}

#[test]
fn formats_types_and_values_are_part_of_the_statement() {
    let Some(setting) = Setting::start() else { return };
    let mut raw = setting.session();
    let text = "SELECT id FROM orders WHERE customer = $1";
    let with_type =
        |number: u32| message(b'P', &[b"\0", text.as_bytes(), b"\0\0\x01", &number.to_be_bytes()]);
    let in_binary = message(b'B', &[b"\0\0\0\x01\0\x01\0\x01\0\0\0\x08", &7_i64.to_be_bytes(), b"\0\0"]);
    let to_binary = message(b'B', &[b"\0\0\0\0\0\x01\0\0\0\x017\0\x01\0\x01"]);
    let flights = [
        [parse("", text), bind("", "", &["7"])],
        [parse("", text), bind("", "", &["8"])],
        [parse("", text), bind("", "", &["07"])],
        [with_type(20), bind("", "", &["7"])],
        [with_type(23), bind("", "", &["7"])],
        [with_type(20), in_binary],
        [parse("", text), to_binary],
    ];
    let mut asks = |flight: &[Vec<u8>; 2]| {
        setting.counted(|| {
            raw.send(&[&flight.concat()[..], &execute("", 0), &sync()].concat());
            assert_eq!(letters(&raw.until_ready()), "12DCZ", "{}", String::from_utf8_lossy(&flight.concat()));
        })
    };
    for flight in &flights {
        assert_eq!(asks(flight), (0, 1), "{}", String::from_utf8_lossy(&flight.concat()));
    }
    // On a busy machine a look at the server may be late, after which the cache begins cold.
    let are_hits = (0..5).any(|_| {
        setting.opens();
        let hits: u64 = flights.iter().map(|flight| asks(flight).0).sum();
        hits == flights.len() as u64
    });
    assert!(are_hits, "{}", setting.counts().report());
}

/// The server has not seen the statement of a hit; what comes after must not notice.
#[test]
fn what_a_hit_keeps_from_the_server_is_told_before_it_matters() {
    let Some(setting) = Setting::start() else { return };
    let mut raw = setting.session();
    let text = |customer: u32| format!("SELECT note FROM orders WHERE customer = {customer}");
    let flight = |customer| [parse("", &text(customer)), bind("", "", &[]), execute("", 0), sync()].concat();
    let again = [bind("", "", &[]), execute("", 0), sync()].concat();
    let mut asked = |bytes: &[u8]| {
        raw.send(bytes);
        let answer = raw.until_ready();
        (letters(&answer), super::setting::value(&answer))
    };
    for customer in [7, 8] {
        assert_eq!(asked(&flight(customer)).0, "12DCZ");
    }
    // The server has the second one, and the client the first.
    assert_eq!(asked(&flight(7)), ("12DCZ".to_owned(), Some("n7".to_owned())));
    assert_eq!(asked(&again), ("2DCZ".to_owned(), Some("n7".to_owned())));
    assert_eq!(asked(&flight(8)).1, Some("n8".to_owned()));
    assert_eq!(asked(&flight(7)).1, Some("n7".to_owned()));
    let described = [crate::raw::describe(b'S', ""), bind("", "", &[]), execute("", 0), sync()].concat();
    assert_eq!(asked(&described), ("tT2DCZ".to_owned(), Some("n7".to_owned())));
    // A text of the simple protocol takes the place of the statement without a name.
    assert_eq!(asked(&query(&text(7))).0, "TDCZ");
    assert_eq!(asked(&query(&text(7))).0, "TDCZ");
    assert_eq!(asked(&again).0, "EZ");
    assert_eq!(asked(&flight(7)).0, "12DCZ");
}

/// The same in one transaction, in which the server keeps portals.
#[test]
fn a_portal_of_a_hit_is_none_of_the_server() {
    let Some(setting) = Setting::start() else { return };
    let mut raw = setting.session();
    let flight = |customer| {
        let text = format!("SELECT note FROM orders WHERE customer = {customer}");
        [parse("", &text), bind("", "", &[]), execute("", 0), sync()].concat()
    };
    run(&mut raw, "BEGIN");
    for customer in [7, 8, 7] {
        raw.send(&flight(customer));
        assert_eq!(letters(&raw.until_ready()), "12DCZ");
    }
    assert_eq!(setting.counts().hits, 1);
    raw.send(&[execute("", 0), sync()].concat());
    assert_eq!(error_field(&raw.until_ready(), b'C'), "34000", "and not the rows of another");
    run(&mut raw, "ROLLBACK");
}

/// A name whose statement may be another one stands for none.
#[test]
fn prepared_statements_are_those_of_the_server() {
    let Some(setting) = Setting::start() else { return };
    let mut raw = setting.session();
    let text = |customer: u32| format!("SELECT note FROM orders WHERE customer = {customer}");
    let mut asked = |bytes: &[&[u8]]| {
        raw.send(&bytes.concat());
        let answer = raw.until_ready();
        (letters(&answer), super::setting::value(&answer))
    };
    let execute_s = [bind("", "s", &[]), execute("", 0), sync()].concat();
    assert_eq!(asked(&[&parse("s", &text(7)), &sync()]).0, "1Z");
    for _ in 0..2 {
        assert_eq!(asked(&[&execute_s]).1, Some("n7".to_owned()));
    }
    // The name is taken: the old statement stays.
    assert_eq!(asked(&[&parse("s", &text(8)), &sync()]).0, "EZ");
    assert_eq!(asked(&[&execute_s]).1, Some("n7".to_owned()));
    // SQL has statements of the same names.
    assert_eq!(asked(&[&query("DEALLOCATE s")]).0, "CZ");
    assert_eq!(asked(&[&execute_s]).0, "EZ");
    assert_eq!(asked(&[&query("PREPARE s AS SELECT note FROM orders WHERE customer = 9")]).0, "CZ");
    assert_eq!(asked(&[&execute_s]).1, Some("n9".to_owned()));
    assert_eq!(asked(&[&close(b'S', "s"), &parse("s", &text(8)), &sync()]).0, "31Z");
    for _ in 0..2 {
        assert_eq!(asked(&[&execute_s]).1, Some("n8".to_owned()));
    }
    assert_eq!(asked(&[&query("DISCARD ALL")]).0, "CZ");
    assert_eq!(asked(&[&execute_s]).0, "EZ");
}

#[test]
fn a_line_feed_in_a_setting_or_a_name_is_no_other_setting() {
    let Some(setting) = Setting::start() else { return };
    let read = "SELECT note FROM public.orders WHERE customer = 7";
    let (mut plain, mut raw) = (setting.session(), setting.session());
    assert_eq!((hits(&setting, &mut plain, read), hits(&setting, &mut plain, read)), (0, 1));
    run(&mut raw, "SET default_transaction_isolation = 'serializable'");
    for forged in
        ["default_transaction_isolation=read committed", "default_transaction_isolation=''read committed''"]
    {
        run(&mut raw, &format!("SET search_path = E'x\\n{forged}\\npublic'"));
        assert_eq!((hits(&setting, &mut raw, read), hits(&setting, &mut raw, read)), (0, 0), "{forged}");
    }
    // A schema whose name reads like two, before the one that is registered.
    run(&mut plain, "CREATE SCHEMA \"none\npublic\" CREATE TABLE orders (customer INT, note TEXT)");
    run(&mut plain, "INSERT INTO \"none\npublic\".orders VALUES (7, 'other')");
    let mut reader = setting.session();
    run(&mut reader, "SET search_path = \"none\npublic\"");
    setting.opens();
    assert_eq!((hits(&setting, &mut reader, READ_NOTE), hits(&setting, &mut reader, READ_NOTE)), (0, 0));
}
