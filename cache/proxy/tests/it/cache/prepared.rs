//! Statements that were prepared, and what has changed until they are executed.

use super::setting::{Setting, ask, run, value};
use crate::raw::{
    Raw, Received, bind, close, describe, error_field, execute, letters, message, parse, query, sync,
};
use crate::world::eventually;

const READ: &str = "SELECT note FROM orders WHERE customer = 5";

/// Prepares a statement, which succeeds.
pub(super) fn prepare(raw: &mut Raw, name: &str, text: &str) {
    raw.send(&[parse(name, text), sync()].concat());
    assert_eq!(letters(&raw.until_ready()), "1Z", "{text}");
}

/// Binds the first parameter in binary and the others as texts.
pub(super) fn bind_binary(name: &str, first: &[u8], others: &[&str]) -> Vec<u8> {
    let count = u16::try_from(1 + others.len()).unwrap();
    let mut body = [b"\0", name.as_bytes(), b"\0"].concat();
    body.extend(count.to_be_bytes());
    body.extend(1_u16.to_be_bytes());
    body.extend(others.iter().flat_map(|_| 0_u16.to_be_bytes()));
    body.extend(count.to_be_bytes());
    for value in std::iter::once(first).chain(others.iter().map(|other| other.as_bytes())) {
        body.extend(u32::try_from(value.len()).unwrap().to_be_bytes());
        body.extend(value);
    }
    message(b'B', &[&body, b"\0\0"])
}

pub(super) fn executed(raw: &mut Raw, bound: &[u8]) -> Vec<Received> {
    raw.send(&[bound, &execute("", 0), &sync()].concat());
    raw.until_ready()
}

/// Reads until the reply comes from the cache.
fn warm(setting: &Setting, reader: &mut Raw) {
    eventually(READ, || setting.counted(|| drop(run(reader, READ))) == (1, 0));
}

#[test]
fn a_write_is_understood_by_the_types_with_which_it_was_prepared() {
    let Some(setting) = Setting::start() else { return };
    let (mut writer, mut reader) = (setting.session(), setting.session());
    prepare(&mut writer, "u", "UPDATE orders SET note = $2 WHERE customer = $1");
    prepare(&mut reader, "r", "SELECT note FROM orders WHERE customer = $1");
    setting.run("ALTER TABLE orders ALTER customer TYPE numeric");
    warm(&setting, &mut reader);
    let five = 5_i64.to_be_bytes();
    assert_eq!(letters(&executed(&mut writer, &bind_binary("u", &five, &["new"]))), "2CZ");
    assert_eq!(ask(&mut reader, READ).as_deref(), Some("new"));
    // To a number of another type these bytes are zero.
    for note in ["second", "third"] {
        let answer = executed(&mut reader, &bind_binary("r", &five, &[]));
        assert_eq!(letters(&answer), "2DCZ");
        assert_ne!(value(&answer).as_deref(), Some(note));
        executed(&mut writer, &bind_binary("u", &five, &[note]));
        assert_eq!(value(&executed(&mut reader, &bind_binary("r", &five, &[]))).as_deref(), Some(note));
    }
}

#[test]
fn a_write_is_understood_by_the_schemas_under_which_it_was_prepared() {
    let Some(setting) = Setting::start() else { return };
    setting.run("CREATE SCHEMA first CREATE TABLE orders (customer DOUBLE PRECISION, note TEXT)");
    let (mut writer, mut reader) = (setting.session(), setting.session());
    run(&mut writer, "SET search_path = first, public");
    prepare(&mut writer, "u", "UPDATE orders SET note = $2 WHERE customer = $1");
    run(&mut writer, "SET search_path = public");
    run(&mut writer, "BEGIN");
    run(&mut writer, "SET search_path = first, public");
    prepare(&mut writer, "v", "UPDATE orders SET note = $2 WHERE customer = $1");
    run(&mut writer, "ROLLBACK");
    for name in ["u", "v"] {
        warm(&setting, &mut reader);
        // As an integer these bytes are none of a row.
        assert_eq!(letters(&executed(&mut writer, &bind_binary(name, &5_f64.to_be_bytes(), &[name]))), "2CZ");
        assert_eq!(ask(&mut reader, READ).as_deref(), Some(name));
    }
}

#[test]
fn a_definition_that_is_taken_back_leaves_no_statement_understood() {
    let Some(setting) = Setting::start() else { return };
    let (mut writer, mut reader) = (setting.session(), setting.session());
    run(&mut writer, "BEGIN");
    run(&mut writer, "ALTER TABLE orders ALTER customer TYPE double precision");
    prepare(&mut writer, "u", "UPDATE orders SET note = $2 WHERE customer = $1");
    run(&mut writer, "ROLLBACK");
    warm(&setting, &mut reader);
    assert_eq!(letters(&executed(&mut writer, &bind_binary("u", &5_f64.to_be_bytes(), &["new"]))), "2CZ");
    assert_eq!(ask(&mut reader, READ).as_deref(), Some("new"));
}

#[test]
fn a_prepared_read_gets_the_servers_word_when_its_shape_has_changed() {
    let Some(setting) = Setting::start() else { return };
    let text = "SELECT * FROM orders WHERE customer = $1";
    let (mut early, mut late) = (setting.session(), setting.session());
    prepare(&mut early, "s", text);
    prepare(&mut early, "note", "SELECT note FROM orders WHERE customer = $1");
    let asks = |raw: &mut Raw| executed(raw, &bind("", "s", &["5"]));
    eventually("it is cached", || setting.counted(|| drop(asks(&mut early))) == (1, 0));
    // What has nothing to do with the table changes nothing, nor do settings that are as they were.
    setting.run("CREATE TABLE elsewhere (id INT)");
    run(&mut early, "RESET ALL");
    eventually("it is cached", || setting.counted(|| drop(asks(&mut early))) == (1, 0));
    setting.run("ALTER TABLE orders ADD COLUMN more INT");
    // What does not show the new column goes on.
    let asks_note = |raw: &mut Raw| executed(raw, &bind("", "note", &["5"]));
    eventually("it is cached", || setting.counted(|| drop(asks_note(&mut early))) == (1, 0));
    // What is prepared before the catalogue was read again is not known to be of the new table.
    let mut name = 0..;
    eventually("it is cached", || {
        let name = format!("s{}", name.next().unwrap());
        prepare(&mut late, &name, text);
        let asks = |raw: &mut Raw| drop(executed(raw, &bind("", &name, &["5"])));
        asks(&mut late);
        setting.counted(|| asks(&mut late)) == (1, 0)
    });
    let answer = asks(&mut early);
    assert_eq!((letters(&answer), error_field(&answer, b'C')), ("EZ".to_owned(), "0A000".to_owned()));
    early.send(&[close(b'S', "s"), parse("s", text), sync()].concat());
    assert_eq!(letters(&early.until_ready()), "31Z");
    setting.opens();
    assert_eq!(setting.counted(|| drop(asks(&mut early))), (1, 0), "it is prepared anew");
}

#[test]
fn a_name_never_stands_for_a_statement_that_was_dropped() {
    let Some(setting) = Setting::start() else { return };
    let (mut writer, mut reader) = (setting.session(), setting.session());
    prepare(&mut writer, "s", READ);
    run(&mut writer, "DEALLOCATE s");
    let long = format!("UPDATE orders SET note = 'new' WHERE customer = 5 -- {}", "x".repeat(70_000));
    prepare(&mut writer, "s", &long);
    warm(&setting, &mut reader);
    assert_eq!(letters(&executed(&mut writer, &bind("", "s", &[]))), "2CZ");
    assert_eq!(ask(&mut reader, READ).as_deref(), Some("new"));
    // A name that looks like two lines.
    prepare(&mut writer, "t", READ);
    prepare(&mut writer, "q\nt", READ);
    run(&mut writer, "DEALLOCATE t");
    run(&mut writer, "PREPARE t AS UPDATE orders SET note = 'newer' WHERE customer = 5");
    warm(&setting, &mut reader);
    assert_eq!(letters(&executed(&mut writer, &bind("", "t", &[]))), "2CZ");
    assert_eq!(ask(&mut reader, READ).as_deref(), Some("newer"));
}

#[test]
fn a_statement_without_a_name_outlives_a_question() {
    let Some(setting) = Setting::start() else { return };
    let mut raw = setting.session();
    for change in ["SET DateStyle = German", "RESET ALL", "CREATE TABLE elsewhere (id INT)"] {
        for text in [READ, "SELECT 1", "UPDATE orders SET note = 'x' WHERE customer = 9", "BEGIN"] {
            run(&mut raw, change);
            raw.send(&[parse("", text), describe(b'S', ""), sync()].concat());
            assert_eq!(letters(&raw.until_ready()).replace('n', "T"), "1tTZ", "{text}");
            let answer = letters(&executed(&mut raw, &bind("", "", &[])));
            assert_eq!(answer.replace('D', ""), "2CZ", "{change}, {text}");
            run(&mut raw, "COMMIT");
            run(&mut raw, "DROP TABLE IF EXISTS elsewhere");
        }
    }
}

#[test]
fn a_statement_that_was_answered_here_delays_no_other() {
    let Some(setting) = Setting::start() else { return };
    let mut raw = setting.session();
    prepare(&mut raw, "other", "SELECT 1");
    prepare(&mut raw, "serializable", "BEGIN ISOLATION LEVEL SERIALIZABLE");
    let unnamed = [parse("", READ), bind("", "", &[]), execute("", 0), sync()].concat();
    let asks = |raw: &mut Raw| {
        raw.send(&unnamed);
        assert_eq!(letters(&raw.until_ready()), "12DCZ");
    };
    eventually("it is cached", || setting.counted(|| asks(&mut raw)) == (1, 0));
    assert_eq!(letters(&executed(&mut raw, &bind("", "serializable", &[]))), "2CZ");
    run(&mut raw, "ROLLBACK");
    eventually("it is cached", || setting.counted(|| asks(&mut raw)) == (1, 0));
    let mut definer = setting.session();
    run(&mut definer, "BEGIN");
    run(&mut definer, "ALTER TABLE orders DROP COLUMN note");
    raw.stream.set_read_timeout(Some(std::time::Duration::from_secs(5))).unwrap();
    assert_eq!(letters(&executed(&mut raw, &bind("", "other", &[]))), "2DCZ", "the table is locked");
    run(&mut definer, "COMMIT");
    assert_eq!(letters(&executed(&mut raw, &bind("", "other", &[]))), "2DCZ");
    // The statement itself does not exist any more.
    let answer = executed(&mut raw, &bind("", "", &[]));
    assert_eq!((letters(&answer), error_field(&answer, b'C')), ("EZ".to_owned(), "42703".to_owned()));
}

#[test]
fn the_end_of_a_copy_that_never_began_hides_no_write() {
    let Some(setting) = Setting::start() else { return };
    let (mut writer, mut reader) = (setting.session(), setting.session());
    let mut locker = setting.session();
    warm(&setting, &mut reader);
    run(&mut locker, "BEGIN");
    run(&mut locker, "SELECT FROM orders WHERE customer = 5 FOR UPDATE");
    let update = query("UPDATE orders SET note = 'new' WHERE customer = 5");
    writer.send(&[sync(), message(b'c', &[]), update].concat());
    // It waits for the row, and holds what it touches.
    std::thread::sleep(std::time::Duration::from_millis(1_500));
    let hits = setting.counted(|| {
        (0..3).for_each(|_| assert_eq!(ask(&mut reader, READ).as_deref(), Some("n5")));
    });
    assert_eq!(hits.0, 0, "nothing is kept of what it may change");
    run(&mut locker, "COMMIT");
    assert_eq!(letters(&writer.until_ready()), "Z");
    assert_eq!(letters(&writer.until_ready()), "CZ");
    assert_eq!(ask(&mut reader, READ).as_deref(), Some("new"));
}
