//! Columns that are registered while the proxy runs, because an operator asks for it.

use lacuna_proxy::{CacheSettings, Flaw};

use super::prepared::{bind_binary, executed, prepare};
use super::setting::{Setting, TABLE, ask, login, run};
use crate::raw::{Raw, bind, letters};
use crate::world::eventually;

const BY_ID: &str = "SELECT note FROM orders WHERE id = 7";
const BY_CUSTOMER: &str = "SELECT note FROM orders WHERE customer = 7";

fn growing(change: impl FnOnce(CacheSettings) -> CacheSettings) -> Option<Setting> {
    let sql = format!("{TABLE}; CREATE TABLE kinds (id INT); ALTER TABLE kinds ENABLE ROW LEVEL SECURITY");
    Setting::of(&sql, "public.orders.customer", |settings| change(settings.with_registration()))
}

/// What became of each column.
fn register(setting: &Setting, columns: &str) -> Vec<Result<bool, String>> {
    let became = setting.runtime.block_on(setting.proxy().register(&columns.parse().unwrap())).unwrap();
    let names: Vec<&str> = became.iter().map(|(name, _)| &name[..]).collect();
    assert_eq!(names.join(","), columns);
    setting.opens();
    became.into_iter().map(|(_, result)| result).collect()
}

fn is_hit(setting: &Setting, reader: &mut Raw, read: &str) {
    eventually(read, || setting.counted(|| drop(run(reader, read))) == (1, 0));
}

#[test]
fn a_column_that_is_asked_for_is_cached_from_then_on() {
    let Some(setting) = growing(|settings| settings) else { return };
    let (mut reader, mut writer) = (setting.session_of("reader", &[]), setting.session());
    is_hit(&setting, &mut reader, BY_CUSTOMER);
    assert_eq!(setting.counted(|| drop(run(&mut reader, BY_ID))), (0, 0), "it is relayed");
    assert_eq!(register(&setting, "public.orders.customer,public.orders.id"), [Ok(false), Ok(true)]);
    for (read, write, note) in [
        (BY_ID, "UPDATE orders SET note = 'a' WHERE customer = 7", "a"),
        (BY_CUSTOMER, "UPDATE orders SET note = 'b' WHERE id = 7", "b"),
        (BY_ID, "UPDATE orders SET note = 'c' WHERE id = 7", "c"),
    ] {
        is_hit(&setting, &mut reader, read);
        run(&mut writer, write);
        assert_eq!(ask(&mut reader, read).as_deref(), Some(note), "{write}");
    }
    assert_eq!(register(&setting, "public.orders.id"), [Ok(false)]);
    is_hit(&setting, &mut reader, BY_ID);
}

#[test]
fn a_column_that_cannot_be_registered_changes_nothing() {
    let Some(setting) = growing(|settings| settings) else { return };
    let mut reader = setting.session_of("reader", &[]);
    is_hit(&setting, &mut reader, BY_CUSTOMER);
    let columns = "public.orders.none,public.none.id,public.kinds.id,public.orders.is_paid,public.orders.id";
    let became = register(&setting, columns);
    for (result, why) in became.iter().zip(["has no column none", "no table", "row security", "no smallint"])
    {
        assert!(result.as_ref().is_err_and(|said| said.contains(why)), "{why}: {result:?}");
    }
    assert_eq!(became[4], Ok(true));
    for read in [BY_CUSTOMER, BY_ID] {
        is_hit(&setting, &mut reader, read);
    }
    let Some(fixed) = Setting::start() else { return };
    let column = "public.orders.id".parse().unwrap();
    let why = fixed.runtime.block_on(fixed.proxy().register(&column)).unwrap_err().to_string();
    assert!(why.contains("no cache that takes columns"), "{why}");
}

/// What a reader sees after the commit of a transaction that has written before the column was registered.
fn seen_after_an_older_write(flaw: Option<Flaw>) -> Option<String> {
    let setting = growing(|settings| match flaw {
        Some(flaw) => settings.with_flaw(flaw),
        None => settings,
    })?;
    let (mut reader, mut writer) = (setting.session_of("reader", &[]), setting.session());
    run(&mut writer, "BEGIN");
    run(&mut writer, "UPDATE orders SET note = 'new' WHERE customer = 7");
    assert_eq!(register(&setting, "public.orders.id"), [Ok(true)]);
    for _ in 0..20 {
        assert_eq!(ask(&mut reader, BY_ID).as_deref(), Some("n7"));
    }
    run(&mut writer, "COMMIT");
    ask(&mut reader, BY_ID)
}

#[test]
fn what_was_written_before_a_registration_is_shown_after_its_commit() {
    let Some(seen) = seen_after_an_older_write(None) else { return };
    assert_eq!(seen, "new");
    assert_eq!(seen_after_an_older_write(Some(Flaw::NoLongView)).as_deref(), Some("n7"), "the control");
}

/// What a reader sees of a session past the proxy that has written before its role lost the right, and before the registration.
fn seen_after_a_writer_without_its_right(flaw: Option<Flaw>) -> Option<String> {
    let sql = format!(
        "{TABLE}; CREATE ROLE late LOGIN; CREATE TABLE notes AS TABLE orders; GRANT SELECT, UPDATE ON notes TO late"
    );
    let setting = Setting::of(&sql, "public.orders.customer", |settings| match flaw {
        Some(flaw) => settings.with_registration().with_flaw(flaw),
        None => settings.with_registration(),
    })?;
    let (mut reader, mut late) = (setting.session(), login(setting.server_port(), "late", &[]));
    run(&mut late, "BEGIN");
    run(&mut late, "UPDATE notes SET note = 'new' WHERE customer = 7");
    setting.run("REVOKE UPDATE ON notes FROM late");
    assert_eq!(register(&setting, "public.notes.customer"), [Ok(true)]);
    let read = "SELECT note FROM notes WHERE customer = 7";
    for _ in 0..20 {
        assert_eq!(ask(&mut reader, read).as_deref(), Some("n7"));
    }
    run(&mut late, "COMMIT");
    let seen = ask(&mut reader, read);
    if flaw.is_none() {
        is_hit(&setting, &mut reader, read);
    }
    seen
}

#[test]
fn what_a_role_wrote_that_may_not_write_any_more_is_shown_after_its_commit() {
    let Some(seen) = seen_after_a_writer_without_its_right(None) else { return };
    assert_eq!(seen, "new");
    let flawed = seen_after_a_writer_without_its_right(Some(Flaw::NoLongView));
    assert_eq!(flawed.as_deref(), Some("n7"), "the control");
}

#[test]
fn what_was_prepared_before_its_table_is_registered_is_cached_unless_that_has_changed() {
    let sql = format!(
        "{TABLE}; CREATE TABLE kinds AS TABLE orders; CREATE TABLE changed AS TABLE orders; \
         CREATE TABLE earlier AS TABLE orders; CREATE TABLE renamed (customer NUMERIC, note TEXT); \
         CREATE SCHEMA one CREATE TABLE moved (customer INT8, note TEXT); \
         CREATE SCHEMA two CREATE TABLE moved (customer NUMERIC, note TEXT)"
    );
    let Some(setting) = Setting::of(&sql, "public.orders.customer", CacheSettings::with_registration) else {
        return;
    };
    let mut client = setting.session();
    for table in ["kinds", "changed", "earlier", "one.moved"] {
        for (name, rest) in [("all", "*"), ("note", "note")] {
            prepare(
                &mut client,
                &format!("{table} {name}"),
                &format!("SELECT {rest} FROM {table} WHERE customer = $1"),
            );
        }
        prepare(
            &mut client,
            &format!("{table} write"),
            &format!("UPDATE {table} SET note = $2 WHERE customer = $1"),
        );
    }
    for change in [
        "ALTER TABLE changed ALTER customer TYPE numeric",
        "ALTER TABLE earlier RENAME TO gone",
        "ALTER TABLE renamed RENAME TO earlier",
        "INSERT INTO earlier VALUES (7, 'n7')",
        "ALTER SCHEMA one RENAME TO x; ALTER SCHEMA two RENAME TO one; ALTER SCHEMA x RENAME TO two",
        "INSERT INTO one.moved VALUES (7, 'n7')",
    ] {
        setting.run(change);
    }
    let columns = "public.kinds.customer,public.changed.customer,public.earlier.customer,one.moved.customer";
    // The claim of a table is given up after a second, which a busy machine may take for it.
    eventually("all are registered", || register(&setting, columns).iter().all(Result::is_ok));
    for name in ["kinds all", "kinds note"] {
        let asks = |raw: &mut Raw| drop(executed(raw, &bind("", name, &["7"])));
        eventually(name, || setting.counted(|| asks(&mut client)) == (1, 0));
    }
    let mut reader = setting.session();
    for table in ["kinds", "changed", "earlier", "one.moved"] {
        let read = format!("SELECT note FROM {table} WHERE customer = 7");
        is_hit(&setting, &mut reader, &read);
        // Eight bytes that were an integer are no `numeric`.
        let write = bind_binary(&format!("{table} write"), &7_i64.to_be_bytes(), &["new"]);
        assert_eq!(letters(&executed(&mut client, &write)), "2CZ");
        assert_eq!(ask(&mut reader, &read).as_deref(), Some("new"), "{table}");
    }
    for name in ["changed all", "changed note", "earlier all", "earlier note", "one.moved note"] {
        let asked =
            setting.counted(|| (0..3).for_each(|_| drop(executed(&mut client, &bind("", name, &["7"])))));
        assert_eq!(asked, (0, 0), "{name} is the server's");
    }
}
