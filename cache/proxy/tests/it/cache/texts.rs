//! Ranges of texts in the order of bytes, and of UUIDs: reads and writes of a seed, and each read is what the server says.

use lacuna_proxy::ErrorKind;

use super::history::Random;
use super::setting::{Setting, ask, login, run, runtime, server, settings, start, value};
use crate::raw::{Raw, bind, execute, letters, message, parse, sync};

const TABLE: &str = "CREATE TABLE texts (id SERIAL PRIMARY KEY, name TEXT COLLATE \"C\", mark UUID, other TEXT); \
    INSERT INTO texts (name, mark) SELECT chr(97 + n % 5) || repeat('x', n % 9) || n, lpad(to_hex(n * 7), 32, '0')::uuid FROM generate_series(1, 60) AS n; \
    CREATE ROLE reader LOGIN; CREATE ROLE other LOGIN; GRANT SELECT ON texts TO reader, other";

/// Texts that share their first bytes, or nearly.
fn text(random: &mut Random) -> String {
    let length = usize::try_from(random.below(11)).unwrap();
    let letter = |random: &mut Random| {
        ["a", "b", "x", "Z", "ä", "€", " ", "1"][usize::try_from(random.below(8)).unwrap()]
    };
    let start = if random.below(2) == 0 { "axxxxxx" } else { "" };
    (0..length).fold(start.to_owned(), |text, _| text + letter(random)) + "q"
}

fn uuid(random: &mut Random) -> String {
    let (first, last) = (random.below(1 << 20), random.below(600));
    format!("{:08x}-0000-7000-8000-{last:012X}", if random.below(2) == 0 { 0 } else { first })
}

fn constant(random: &mut Random, column: &str) -> String {
    if column == "name" { text(random) } else { uuid(random) }
}

fn condition(random: &mut Random) -> String {
    let column = if random.below(2) == 0 { "name" } else { "mark" };
    let (one, two) = (constant(random, column), constant(random, column));
    match random.below(6) {
        0 => format!("{column} = '{one}'"),
        1 => format!("{column} >= '{one}' AND {column} < '{two}'"),
        2 => format!("{column} BETWEEN '{one}' AND '{two}'"),
        3 => format!("{column} IN ('{one}', '{two}')"),
        4 => format!("{column} > '{one}'"),
        _ => format!("{column} <= '{one}'"),
    }
}

fn write(random: &mut Random) -> String {
    let (name, mark) = (text(random), uuid(random));
    match random.below(4) {
        0 => format!("INSERT INTO texts (name, mark) VALUES ('{name}', '{mark}')"),
        1 => format!("UPDATE texts SET id = id + 1000 WHERE {}", condition(random)),
        2 => format!("DELETE FROM texts WHERE {}", condition(random)),
        _ => format!("UPDATE texts SET name = '{name}' WHERE mark = '{mark}'"),
    }
}

#[test]
fn every_range_of_texts_is_what_the_server_says() {
    let columns = "public.texts.name,public.texts.mark";
    let Some(setting) = Setting::of(TABLE, columns, |settings| settings) else { return };
    let (mut reader, mut writer) = (setting.session_of("reader", &[]), setting.session());
    let mut direct = login(setting.server_port(), "reader", &[]);
    let mut random = Random::new();
    let reads: Vec<String> = (0..40)
        .map(|_| format!("SELECT id, name, mark FROM texts WHERE {} ORDER BY id", condition(&mut random)))
        .collect();
    let before = setting.counts();
    for _ in 0..60 {
        let write = write(&mut random);
        run(&mut writer, &write);
        for read in &reads {
            assert_eq!(run(&mut reader, read), run(&mut direct, read), "{read} after {write}");
        }
    }
    let after = setting.counts();
    let (hits, misses) = (after.hits - before.hits, after.misses - before.misses);
    assert_eq!(hits + misses, 2_400, "{}", after.report());
    assert!(hits > 400 && misses > 100, "{}", after.report());
}

#[test]
fn parameters_are_texts_and_uuids_too() {
    let Some(setting) = Setting::of(TABLE, "public.texts.name,public.texts.mark", |settings| settings) else {
        return;
    };
    let mut raw = setting.session_of("reader", &[]);
    for (column, value) in [("name", "bx1"), ("mark", "00000000-0000-0000-0000-000000000007"), ("name", "7")]
    {
        let text = format!("SELECT id FROM texts WHERE {column} >= $1 AND {column} <= $2");
        let flight = [parse("", &text), bind("", "", &[value, value]), execute("", 0), sync()].concat();
        let asked = |raw: &mut Raw| {
            raw.send(&flight);
            drop(raw.until_ready());
        };
        setting.opens();
        assert_eq!(setting.counted(|| (0..2).for_each(|_| asked(&mut raw))), (1, 1), "{column} {value}");
        let write = format!("UPDATE texts SET other = 'x' WHERE {column} = '{value}'");
        setting.run(&write);
        assert_eq!(setting.counted(|| asked(&mut raw)), (0, 1), "{write}");
    }
}

/// `$1::int` is an integer of the server's, whose text is another one than what was bound: `07` becomes `7`.
#[test]
fn a_text_that_was_an_integer_drops_its_row() {
    let Some(setting) = Setting::of(TABLE, "public.texts.name", |settings| settings) else { return };
    let (mut reader, mut writer) = (setting.session_of("reader", &[]), setting.session());
    let read = [
        parse("", "SELECT count(*) FROM texts WHERE name = $1"),
        bind("", "", &["7"]),
        execute("", 0),
        sync(),
    ];
    let counted = |reader: &mut Raw| {
        reader.send(&read.concat());
        value(&reader.until_ready()).unwrap()
    };
    let text = bind("", "", &["07"]);
    let binary = message(b'B', &[b"\0\0\0\x01\0\x01\0\x01\0\0\0\x04\0\0\0\x07\0\0"]);
    for (nth, bound) in [text, binary].into_iter().enumerate() {
        setting.opens();
        let before = nth.to_string();
        let (hits, _) = setting.counted(|| (0..2).for_each(|_| assert_eq!(counted(&mut reader), before)));
        assert!(hits > 0, "{}", setting.counts().report());
        let insert = parse("", "INSERT INTO texts (name) VALUES ($1::int)");
        writer.send(&[insert, bound, execute("", 0), sync()].concat());
        assert_eq!(letters(&writer.until_ready()), "12CZ");
        assert_eq!(counted(&mut reader), (nth + 1).to_string());
    }
}

/// In another order, a range of texts is none of bytes; what has a length is cut.
#[test]
fn texts_in_another_order_are_refused() {
    let setup = "CREATE TABLE t (a TEXT COLLATE \"und-x-icu\", b VARCHAR(5), c CHAR(5), d TEXT, e VARCHAR)";
    let Some(postgres) = server(setup) else { return };
    for column in ["a", "b", "c"] {
        let why =
            start(&runtime(), &postgres, settings(&postgres, &format!("public.t.{column}"))).unwrap_err();
        assert_eq!(why.kind(), ErrorKind::InvalidInput, "{column}: {why}");
        assert!(why.to_string().contains("text in the order of bytes"), "{column}: {why}");
    }
    // The database's own order is that of bytes.
    let runtime = runtime();
    let proxy = start(&runtime, &postgres, settings(&postgres, "public.t.d,public.t.e")).unwrap();
    runtime.block_on(proxy.stop());
}

/// A column in another order is compared for equality, and bounds nothing.
#[test]
fn an_order_of_a_language_is_the_servers() {
    let setup = "CREATE TABLE t (k INT, a TEXT COLLATE \"und-x-icu\"); INSERT INTO t VALUES (7, 'x'); \
        CREATE ROLE reader LOGIN; CREATE ROLE other LOGIN; GRANT SELECT ON t TO reader";
    let Some(setting) = Setting::of(setup, "public.t.k", |settings| settings) else { return };
    let mut raw = setting.session_of("reader", &[]);
    for (condition, counts) in [("a = 'x'", (1, 1)), ("a < 'y'", (0, 0))] {
        let sql = format!("SELECT a FROM t WHERE k = 7 AND {condition}");
        setting.opens();
        assert_eq!(setting.counted(|| (0..2).for_each(|_| drop(ask(&mut raw, &sql)))), counts, "{condition}");
    }
}
