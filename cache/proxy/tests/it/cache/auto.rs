//! Columns that are registered while the proxy runs.

use std::time::Duration;

use lacuna_proxy::{Auto, AutoCounts, CacheSettings, Flaw, Registered};
use lacuna_testkit::servers::Postgres;

use super::setting::{Setting, TABLE, ask, login, run, runtime, server, server_with, start};
use crate::raw::Raw;
use crate::world::eventually;

const READ: &str = "SELECT note FROM orders WHERE customer = 7";
const COLUMN: &str = "public.orders.customer";

fn auto() -> Auto {
    Auto::default().with_min_spared(10)
}

/// A proxy without registered columns.
fn growing(sql: &str, change: impl FnOnce(CacheSettings) -> CacheSettings) -> Option<Setting> {
    server(sql).map(|postgres| growing_before(postgres, change))
}

/// The same before this server.
fn growing_before(postgres: Postgres, change: impl FnOnce(CacheSettings) -> CacheSettings) -> Setting {
    let settings = CacheSettings::new(postgres.url(), Registered::default());
    let settings = change(settings.with_writers(["postgres".to_owned()]).with_auto(auto()));
    let runtime = runtime();
    let proxy = start(&runtime, &postgres, settings).unwrap();
    let setting = Setting { postgres, proxy: Some(proxy), runtime };
    setting.opens();
    setting
}

fn counts(setting: &Setting) -> AutoCounts {
    setting.counts().auto.unwrap()
}

/// Reads until a column is registered, and results are shown again.
fn until_registered(setting: &Setting, raw: &mut Raw, read: &str, column: &str) {
    eventually(column, || {
        run(raw, read);
        counts(setting).registered.contains_key(column)
    });
}

fn until_refused(setting: &Setting, raw: &mut Raw, read: &str, column: &str) -> String {
    eventually(column, || {
        run(raw, read);
        counts(setting).refused.contains_key(column)
    });
    counts(setting).refused[column].clone()
}

fn hits_twice(setting: &Setting, raw: &mut Raw, read: &str) {
    eventually("the reply is kept", || setting.counted(|| drop(run(raw, read))) == (1, 0));
}

#[test]
fn a_column_that_is_asked_for_registers_itself() {
    let Some(setting) = growing(TABLE, |settings| settings) else { return };
    let (mut reader, mut writer) = (setting.session_of("reader", &[]), setting.session());
    run(&mut reader, READ);
    assert_eq!((setting.counts().tables, counts(&setting)), (0, AutoCounts::default()));
    until_registered(&setting, &mut reader, READ, COLUMN);
    setting.opens();
    assert!(counts(&setting).registered[COLUMN].contains("would have answered"), "{:?}", counts(&setting));
    assert!(setting.counts().report().contains("registered public.orders.customer: "));
    hits_twice(&setting, &mut reader, READ);
    run(&mut writer, "UPDATE orders SET note = 'new' WHERE customer = 7");
    assert_eq!(ask(&mut reader, READ).as_deref(), Some("new"));
    hits_twice(&setting, &mut reader, READ);
    // A second column of the same table, and the first one still serves.
    until_registered(&setting, &mut reader, "SELECT note FROM orders WHERE id = 8", "public.orders.id");
    setting.opens();
    hits_twice(&setting, &mut reader, READ);
    run(&mut writer, "UPDATE orders SET note = 'newer' WHERE customer = 7");
    assert_eq!(ask(&mut reader, READ).as_deref(), Some("newer"));
    let columns = setting.proxy().monitor().cache_status().unwrap().columns;
    assert_eq!(columns.iter().map(|one| &one.column[..]).collect::<Vec<_>>(), [COLUMN, "public.orders.id"]);
}

/// Ranges of numbers that are no integers are suggested and registered, too.
#[test]
fn a_column_of_numbers_registers_itself() {
    let Some(setting) = growing(TABLE, |settings| settings) else { return };
    let (mut reader, mut writer) = (setting.session_of("reader", &[]), setting.session());
    let read = "SELECT count(*) FROM orders WHERE price >= 1.5 AND price < 2.25";
    until_registered(&setting, &mut reader, read, "public.orders.price");
    setting.opens();
    hits_twice(&setting, &mut reader, read);
    run(&mut writer, "INSERT INTO orders (id, customer, price) VALUES (1001, 1001, 2.255), (1002, 1002, 9)");
    setting.opens();
    assert_eq!(ask(&mut reader, read).as_deref(), Some("3"), "2.26 is stored");
    run(&mut writer, "INSERT INTO orders (id, customer, price) VALUES (1003, 1003, 2.2449)");
    assert_eq!(ask(&mut reader, read).as_deref(), Some("4"));
}

/// Nothing is registered that would be refused at the start; what is registered goes on.
#[test]
fn what_rights_forbid_is_not_registered() {
    let sql = format!(
        "{TABLE}; CREATE ROLE stranger LOGIN; CREATE TABLE open (a INT); GRANT SELECT ON open TO reader; \
         GRANT INSERT ON open TO stranger; CREATE TABLE guarded (a INT); ALTER TABLE guarded ENABLE ROW LEVEL SECURITY; \
         GRANT SELECT ON guarded TO reader; CREATE SCHEMA twin; CREATE TABLE twin.two (a INT); CREATE TABLE two (a INT); \
         GRANT SELECT ON two TO reader"
    );
    let Some(setting) = growing(&sql, |settings| settings) else { return };
    let mut reader = setting.session_of("reader", &[]);
    until_registered(&setting, &mut reader, READ, COLUMN);
    for (read, column, why) in [
        ("SELECT a FROM open WHERE a = 1", "open.a", "the role stranger can log in and write"),
        ("SELECT a FROM guarded WHERE a = 1", "guarded.a", "row security"),
        ("SELECT a FROM two WHERE a = 1", "two.a", "several schemas"),
        ("SELECT note FROM orders WHERE is_paid = true", "orders.is_paid", "no smallint"),
    ] {
        let said = until_refused(&setting, &mut reader, read, column);
        assert!(said.contains(why), "{column}: {said}");
    }
    assert_eq!(counts(&setting).registered.keys().collect::<Vec<_>>(), [COLUMN]);
    setting.opens();
    hits_twice(&setting, &mut reader, READ);
}

#[test]
fn limits_are_kept() {
    let limited = |settings: CacheSettings| settings.with_auto(auto().with_max_columns(1));
    let Some(setting) = growing(TABLE, limited) else { return };
    let mut reader = setting.session_of("reader", &[]);
    until_registered(&setting, &mut reader, READ, COLUMN);
    let said = until_refused(&setting, &mut reader, "SELECT note FROM orders WHERE id = 8", "orders.id");
    assert_eq!(said, "1 columns are registered, which is the limit");
    assert_eq!(setting.proxy().monitor().cache_status().unwrap().columns.len(), 1);
}

/// A session past the proxy that could write the table would close the cache for all columns.
#[test]
fn sessions_past_the_proxy_keep_their_table_out() {
    let sql = format!(
        "{TABLE}; CREATE ROLE past LOGIN; CREATE TABLE apart (a INT); GRANT INSERT, SELECT ON apart TO past, reader"
    );
    let writers = ["postgres", "past", "reader"].map(str::to_owned);
    let Some(setting) = growing(&sql, |settings| settings.with_writers(writers)) else { return };
    let mut reader = setting.session_of("reader", &[]);
    until_registered(&setting, &mut reader, READ, COLUMN);
    let past = login(setting.server_port(), "past", &[]);
    let said = until_refused(&setting, &mut reader, "SELECT a FROM apart WHERE a = 1", "apart.a");
    assert!(said.contains("past the proxy"), "{said}");
    setting.opens();
    hits_twice(&setting, &mut reader, READ);
    drop(past);
}

#[test]
fn a_table_of_another_cache_is_not_registered() {
    let sql = format!(
        "{TABLE}; CREATE ROLE keeper LOGIN; GRANT pg_monitor TO keeper; GRANT CREATE ON SCHEMA public TO keeper"
    );
    let Some(setting) = growing(&sql, |settings| settings) else { return };
    setting.run("GRANT SELECT, INSERT, UPDATE ON lacuna_fence, lacuna_lease TO keeper");
    // An account that may write nothing: the login of a superuser would be a session past the proxy.
    let account = setting.postgres.url().replace("//postgres@", "//keeper@");
    let claimed = CacheSettings::new(account, COLUMN.parse().unwrap()).with_writers(["postgres".to_owned()]);
    let other = start(&setting.runtime, &setting.postgres, claimed).unwrap();
    let mut reader = setting.session_of("reader", &[]);
    let said = until_refused(&setting, &mut reader, READ, "orders.customer");
    assert!(said.contains("another process") || said.contains("cache"), "{said}");
    assert!(!said.contains("past the proxy"), "{said}");
    setting.runtime.block_on(other.stop());
}

/// A transaction that has written before: to a table that was not registered, and outside of an interval of the only column
/// that was. Its commit drops what was filled meanwhile. Returns what a reader sees after it.
fn seen_after_an_older_write(columns: &str, flaw: Option<Flaw>) -> Option<(String, bool)> {
    let postgres = server(TABLE)?;
    let registered = if columns.is_empty() { Registered::default() } else { columns.parse().unwrap() };
    let mut settings = CacheSettings::new(postgres.url(), registered)
        .with_writers(["postgres".to_owned()])
        .with_auto(auto());
    if let Some(flaw) = flaw {
        settings = settings.with_flaw(flaw);
    }
    let runtime = runtime();
    let proxy = start(&runtime, &postgres, settings).unwrap();
    let setting = Setting { postgres, proxy: Some(proxy), runtime };
    setting.opens();
    let (mut reader, mut writer) = (setting.session_of("reader", &[]), setting.session());
    run(&mut writer, "BEGIN");
    run(&mut writer, "UPDATE orders SET note = 'new' WHERE id = 7");
    until_registered(&setting, &mut reader, READ, COLUMN);
    // With the rule left out the reply is kept; with it nothing is while the transaction is open.
    let start = std::time::Instant::now();
    let mut was_hit = false;
    while !was_hit && start.elapsed() < Duration::from_secs(4) {
        was_hit = setting.counted(|| drop(run(&mut reader, READ))).0 > 0;
    }
    run(&mut writer, "COMMIT");
    let seen = ask(&mut reader, READ).unwrap();
    if flaw.is_none() {
        hits_twice(&setting, &mut reader, READ);
        assert_eq!(ask(&mut reader, READ).as_deref(), Some("new"));
    }
    Some((seen, was_hit))
}

#[test]
fn what_was_written_before_is_shown_after_its_commit() {
    for columns in ["", "public.orders.id"] {
        let Some(found) = seen_after_an_older_write(columns, None) else { return };
        assert_eq!(found, ("new".to_owned(), false), "registered before: {columns:?}");
    }
}

/// A prepared transaction is remembered by no session: while there is one, nothing is kept.
#[test]
fn what_was_prepared_before_is_shown_after_its_commit() {
    let Some(postgres) = server_with(TABLE, &["max_prepared_transactions=5"]) else { return };
    let setting = growing_before(postgres, |settings| settings);
    let (mut reader, mut writer) = (setting.session_of("reader", &[]), setting.session());
    for step in ["BEGIN", "UPDATE orders SET note = 'new' WHERE id = 7", "PREPARE TRANSACTION 'two'"] {
        run(&mut writer, step);
    }
    eventually("the column is looked at", || {
        run(&mut reader, READ);
        let AutoCounts { registered, refused, .. } = counts(&setting);
        registered.contains_key(COLUMN) || refused.contains_key("orders.customer")
    });
    for _ in 0..20 {
        assert_eq!(ask(&mut reader, READ).as_deref(), Some("n7"));
    }
    assert_eq!(setting.counts().hits, 0, "{:?}", counts(&setting));
    run(&mut writer, "COMMIT PREPARED 'two'");
    for _ in 0..20 {
        assert_eq!(ask(&mut reader, READ).as_deref(), Some("new"));
    }
}

/// The control: without the rule the reader sees what was.
#[test]
fn an_older_write_that_is_forgotten_is_found() {
    for columns in ["", "public.orders.id"] {
        let Some(found) = seen_after_an_older_write(columns, Some(Flaw::NoLongView)) else { return };
        assert_eq!(found, ("n7".to_owned(), true), "registered before: {columns:?}");
    }
}

/// A shadow grows, too, and is right.
#[test]
fn a_shadow_registers_and_compares() {
    let Some(setting) = growing(TABLE, CacheSettings::with_shadow) else { return };
    let mut reader = setting.session_of("reader", &[]);
    until_registered(&setting, &mut reader, READ, COLUMN);
    eventually("a reply is compared", || {
        run(&mut reader, READ);
        setting.counts().shadow.unwrap().equal > 0
    });
    assert_eq!((setting.counts().hits, setting.counts().shadow.unwrap().different), (0, 0));
}
