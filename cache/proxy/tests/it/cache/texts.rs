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

/// Writes `count` times, and compares each read after each write with what the server says. Hits and misses.
fn compared(
    setting: &Setting,
    reads: &[String],
    count: usize,
    mut write: impl FnMut() -> String,
) -> (u64, u64) {
    let (mut reader, mut writer) = (setting.session_of("reader", &[]), setting.session());
    let mut direct = login(setting.server_port(), "reader", &[]);
    setting.counted(|| {
        for _ in 0..count {
            let write = write();
            run(&mut writer, &write);
            for read in reads {
                assert_eq!(run(&mut reader, read), run(&mut direct, read), "{read} after {write}");
            }
        }
    })
}

#[test]
fn every_range_of_texts_is_what_the_server_says() {
    let columns = "public.texts.name,public.texts.mark";
    let Some(setting) = Setting::of(TABLE, columns, |settings| settings) else { return };
    let mut random = Random::new();
    let reads: Vec<String> = (0..40)
        .map(|_| format!("SELECT id, name, mark FROM texts WHERE {} ORDER BY id", condition(&mut random)))
        .collect();
    let (hits, misses) = compared(&setting, &reads, 60, || write(&mut random));
    assert_eq!(hits + misses, 2_400, "{}", setting.counts().report());
    assert!(hits > 400 && misses > 100, "{}", setting.counts().report());
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

const NAMES: &str = "CREATE TABLE names (id SERIAL PRIMARY KEY, name TEXT COLLATE \"und-x-icu\", code VARCHAR(6), n INT DEFAULT 0); \
    INSERT INTO names (name, code) SELECT 'customer' || n % 9, 'code' || n % 20 FROM generate_series(1, 60) AS n; \
    CREATE ROLE reader LOGIN; CREATE ROLE other LOGIN; GRANT SELECT ON names TO reader, other";

/// A name, or a code, which a column of six characters cuts if spaces are all that is too long.
fn name_or_code(random: &mut Random) -> (&'static str, String) {
    match random.below(3) {
        0 => ("name", format!("customer{}", random.below(12))),
        1 => (
            "name",
            ["Straße", "STRASSE", "é", "e\u{301}", ""][usize::try_from(random.below(5)).unwrap()].to_owned(),
        ),
        _ => (
            "code",
            format!(
                "code{}{}",
                random.below(25),
                ["", "", "    "][usize::try_from(random.below(3)).unwrap()]
            ),
        ),
    }
}

fn equality(random: &mut Random) -> String {
    let (column, one) = name_or_code(random);
    match random.below(3) {
        0 => format!("{column} IN ('{one}', '{one}x')"),
        _ => format!("{column} = '{one}'"),
    }
}

fn write_of_names(random: &mut Random) -> String {
    let (column, value) = name_or_code(random);
    match random.below(7) {
        0 | 1 => format!("INSERT INTO names ({column}) VALUES ('{value}')"),
        2 => format!("UPDATE names SET {column} = '{value}' WHERE {}", equality(random)),
        3 => format!("UPDATE names SET n = n + 1 WHERE {column} > '{value}'"),
        4 => format!("UPDATE names SET n = n + 1 WHERE {column} BETWEEN '{value}' AND '{value}z'"),
        5 => format!("DELETE FROM names WHERE {}", equality(random)),
        _ => format!("UPDATE names SET n = n + 1 WHERE {}", equality(random)),
    }
}

/// In the order of a language, and with a length: single values are kept, and ranges are the server's.
#[test]
fn texts_in_another_order_are_found_by_equality() {
    let columns = "public.names.name,public.names.code";
    let Some(setting) = Setting::of(NAMES, columns, |settings| settings) else { return };
    let mut random = Random::new();
    let reads: Vec<String> =
        (0..40).map(|_| format!("SELECT * FROM names WHERE {} ORDER BY id", equality(&mut random))).collect();
    let (hits, misses) = compared(&setting, &reads, 80, || write_of_names(&mut random));
    assert_eq!(hits + misses, 3_200, "{}", setting.counts().report());
    assert!(hits > 800 && misses > 100, "{}", setting.counts().report());
    let mut reader = setting.session_of("reader", &[]);
    // A write to one value leaves the others with the same beginning.
    let read = "SELECT * FROM names WHERE name = 'customer1'";
    setting.run("UPDATE names SET n = 0 WHERE name = 'customer1'");
    run(&mut reader, read);
    setting.run("UPDATE names SET n = 0 WHERE name = 'customer2'");
    assert_eq!(setting.counted(|| drop(run(&mut reader, read))), (1, 0));
    let range = "SELECT * FROM names WHERE name > 'customer1'";
    assert_eq!(setting.counted(|| (0..2).for_each(|_| drop(run(&mut reader, range)))), (0, 0));
}

/// Texts that may be equal with other bytes, and those that spaces fill up.
#[test]
fn texts_in_another_order_whose_equals_differ_are_refused() {
    let setup = "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false); \
        CREATE TABLE t (a TEXT COLLATE loose, c CHAR(5), d TEXT, e VARCHAR, f VARCHAR(5) COLLATE \"und-x-icu\")";
    let Some(postgres) = server(setup) else { return };
    for column in ["a", "c"] {
        let why =
            start(&runtime(), &postgres, settings(&postgres, &format!("public.t.{column}"))).unwrap_err();
        assert_eq!(why.kind(), ErrorKind::InvalidInput, "{column}: {why}");
        assert!(why.to_string().contains("equal values have equal bytes"), "{column}: {why}");
    }
    let runtime = runtime();
    let proxy = start(&runtime, &postgres, settings(&postgres, "public.t.d,public.t.e,public.t.f")).unwrap();
    runtime.block_on(proxy.stop());
}

/// A column in another order that is not registered is compared for equality, and bounds nothing.
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
