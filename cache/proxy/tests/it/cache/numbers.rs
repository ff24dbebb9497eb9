//! Ranges of `numeric`: the order of places is the server's, and each read is what the server says.

use lacuna_proxy::{binary_numeric, numeric};

use super::history::Random;
use super::setting::{Setting, ask, login, run, server, value};
use crate::raw::{Raw, Received, bind, execute, letters, message, parse, sync};

/// `a` keeps numbers as they are written, `b` two digits after the point, and `c` hundreds.
const TABLE: &str = "CREATE TABLE numbers (id SERIAL PRIMARY KEY, a NUMERIC, b NUMERIC(10, 2), c NUMERIC(12, -2), x FLOAT8); \
    INSERT INTO numbers (a, b, c, x) SELECT n / 4.0, n / 4.0, n * 60, n / 4.0 FROM generate_series(-40, 40) AS n; \
    CREATE ROLE reader LOGIN; CREATE ROLE other LOGIN; GRANT SELECT ON numbers TO reader, other";
const COLUMNS: &str = "public.numbers.a,public.numbers.b,public.numbers.c";
const NUMERIC: u32 = 1_700;

fn pick<'t>(random: &mut Random, of: &[&'t str]) -> &'t str {
    of[usize::try_from(random.below(i64::try_from(of.len()).unwrap())).unwrap()]
}

fn digits(random: &mut Random, most: i64) -> String {
    let count = random.below(most) + 1;
    (0..count).map(|_| char::from(b"0123456789995"[usize::try_from(random.below(13)).unwrap()])).collect()
}

/// A number in one of its spellings.
fn number(random: &mut Random) -> String {
    match random.below(12) {
        0 => pick(random, &["NaN", "Infinity", "-Infinity", "nan", "-inf", "0", "-0", "0.000", "-0.0"])
            .to_owned(),
        1 => digits(random, 120),
        2 => format!("-{}.{}", digits(random, 60), digits(random, 60)),
        3 => format!("{}.{}", "9".repeat(usize::try_from(random.below(20)).unwrap()) + "9", "9".repeat(17)),
        4 => format!("{}{}e{}", pick(random, &["", "-", "+"]), digits(random, 4), random.below(700) - 350),
        5 => format!("{}.{}E+{}", digits(random, 2), digits(random, 3), random.below(9)),
        6 => format!(".{}", digits(random, 30)),
        // Few values in many spellings.
        _ => {
            let (quarters, zeros) = (random.below(41) - 20, usize::try_from(random.below(4)).unwrap());
            let sign = if quarters < 0 { "-" } else { "" };
            let (whole, part) =
                (quarters.abs() / 4, ["", ".25", ".5", ".75"][usize::try_from(quarters.abs() % 4).unwrap()]);
            let point = if part.is_empty() && zeros > 0 { "." } else { "" };
            let after = if part.is_empty() && point.is_empty() { String::new() } else { "0".repeat(zeros) };
            format!("{sign}{whole}{part}{point}{after}")
        }
    }
}

/// The values of the only column, or of two, as texts.
fn rows(answer: &[Received]) -> Vec<Vec<String>> {
    let texts = |row: &[u8]| {
        let mut left = &row[2..];
        let mut texts = Vec::new();
        while !left.is_empty() {
            let len = usize::try_from(u32::from_be_bytes(left[..4].try_into().unwrap())).unwrap();
            texts.push(String::from_utf8(left[4..4 + len].to_vec()).unwrap());
            left = &left[4 + len..];
        }
        texts
    };
    answer.iter().filter(|(tag, _)| *tag == b'D').map(|(_, row)| texts(row)).collect()
}

/// In PostgreSQL's own order places never fall, equal values have one, and those that differ by more than a double can tell differ.
#[test]
fn the_order_of_places_is_the_servers() {
    let Some(postgres) = server("CREATE ROLE reader LOGIN") else { return };
    let mut raw = login(postgres.url().rsplit([':', '/']).nth(1).unwrap().parse().unwrap(), "reader", &[]);
    let mut random = Random::new();
    let mut differing = 0;
    for scale in [None, Some(2), Some(0), Some(-3), Some(30)] {
        let texts: Vec<String> = (0..1_500).map(|_| number(&mut random)).collect();
        let list: Vec<String> = texts.iter().map(|text| format!("('{text}')")).collect();
        let kept = scale.map_or("t::numeric".to_owned(), |scale| {
            // A modifier has no room for the largest numbers, and none for infinities.
            format!(
                "CASE WHEN abs(t::numeric) < 'Infinity' THEN round(t::numeric, {scale}) ELSE t::numeric END"
            )
        });
        let sql = format!(
            "SELECT t, n, dense_rank() OVER (ORDER BY n) FROM (SELECT t, {kept} AS n FROM (VALUES {}) AS v (t)) AS w ORDER BY n, t",
            list.join(", ")
        );
        let sorted = rows(&run(&mut raw, &sql));
        assert_eq!(sorted.len(), 1_500);
        let of = |row: &[String]| {
            let place = numeric(&row[0], scale).unwrap_or_else(|| panic!("{} is unknown", row[0]));
            assert_eq!(Some(place), numeric(&row[1], None), "{} is {} to {scale:?}", row[0], row[1]);
            place
        };
        for pair in sorted.windows(2) {
            let (one, next) = (of(&pair[0]), of(&pair[1]));
            assert!(one <= next, "{pair:?}");
            assert!(pair[0][2] != pair[1][2] || one == next, "{pair:?} are equal");
            let (low, high): (f64, f64) = (pair[0][1].parse().unwrap(), pair[1][1].parse().unwrap());
            if low < high {
                assert!(one < next, "{pair:?} differ");
                differing += 1;
            }
        }
    }
    assert!(differing > 1_500, "{differing} pairs differed");
}

/// What the server sends in binary has the place of what it sends as text.
#[test]
fn binary_values_have_the_places_of_their_texts() {
    let Some(postgres) = server("CREATE ROLE reader LOGIN") else { return };
    let mut raw = login(postgres.url().rsplit([':', '/']).nth(1).unwrap().parse().unwrap(), "reader", &[]);
    let mut random = Random::new();
    for _ in 0..2_000 {
        let text = number(&mut random);
        let bound = bind("", "", &[]);
        let to_binary = message(b'B', &[&bound[5..bound.len() - 2], &[0, 1, 0, 1]]);
        raw.send(
            &[parse("", &format!("SELECT '{text}'::numeric")), to_binary, execute("", 0), sync()].concat(),
        );
        let answer = raw.until_ready();
        let (_, row) = answer.iter().find(|(tag, _)| *tag == b'D').unwrap();
        assert_eq!(binary_numeric(&row[6..]), numeric(&text, None), "{text}");
    }
}

/// A number that is read in a statement's text, without quotes or with them.
fn constant(random: &mut Random, column: &str) -> String {
    let text = number(random);
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || b"-.".contains(&byte)) && text.len() < 40;
    let scaled = if column == "c" && is_plain && !text.contains('.') { format!("{text}00") } else { text };
    match random.below(3) {
        0 if is_plain => scaled,
        1 if is_plain => format!("'{scaled}'::numeric"),
        _ => format!("'{scaled}'"),
    }
}

fn condition(random: &mut Random) -> String {
    let column = pick(random, &["a", "a", "b", "c"]);
    let (one, two) = (constant(random, column), constant(random, column));
    match random.below(8) {
        0 | 1 => format!("{column} = {one}"),
        2 => format!("{column} >= {one} AND {column} < {two}"),
        3 => format!("{column} BETWEEN {one} AND {two}"),
        4 => format!("{column} > {one} AND {column} <= {two}"),
        5 => format!("{one} >= {column}"),
        6 => format!("{column} IN ({}, {}.50)", random.below(9), random.below(9)),
        _ => format!("{column} = {one} AND NOT b > 2.5"),
    }
}

fn write(random: &mut Random) -> String {
    let column = pick(random, &["a", "b", "c"]);
    let (one, two) = (constant(random, column), constant(random, column));
    match random.below(24) {
        0..=15 => {
            let (b, c) = (random.below(1_000), random.below(1_000));
            format!("INSERT INTO numbers (a, b, c, x) VALUES ({one}, {}.{b:03}5, {c}, 0)", random.below(9))
        }
        16..=18 => format!(
            "INSERT INTO numbers (a, b, c) VALUES ({two}, '{}.005', 'NaN'), ({one}, 1.995, 1049.99)",
            random.below(9)
        ),
        19 | 20 => format!("UPDATE numbers SET x = x + 1 WHERE {column} = {one}"),
        21 => format!("DELETE FROM numbers WHERE {column} = {two} AND id > 60"),
        22 => format!("UPDATE numbers SET x = 2 WHERE {column} BETWEEN {one} AND {two} AND id % 5 = 0"),
        // The server compares doubles, and rounds what is written.
        _ => pick(
            random,
            &[
                "UPDATE numbers SET x = 3 WHERE a < 0.25::float8",
                "INSERT INTO numbers (a, b, c, x) VALUES (0.1::float4, 0.125::float8, 150, 7)",
                "UPDATE numbers SET a = b WHERE id = 33",
                "DELETE FROM numbers WHERE a = x AND id > 60",
            ],
        )
        .to_owned(),
    }
}

/// What the server does with `sql`, which it may refuse.
fn done(raw: &mut Raw, sql: &str) -> Vec<Received> {
    raw.send(&crate::raw::query(sql));
    raw.until_ready()
}

#[test]
fn every_range_of_numbers_is_what_the_server_says() {
    let Some(setting) = Setting::of(TABLE, COLUMNS, |settings| settings) else { return };
    let (mut reader, mut writer) = (setting.session_of("reader", &[]), setting.session());
    let mut direct = login(setting.server_port(), "reader", &[]);
    let mut random = Random::new();
    let mut reads: Vec<String> = (0..60)
        .map(|_| format!("SELECT id, a, b, c, x FROM numbers WHERE {} ORDER BY id", condition(&mut random)))
        .collect();
    reads.extend(
        ["a < 0.25::float8", "a = 'NaN'", "a > 100.0", "b >= 2.005 AND b < 2.01", "a >= '1e2'"]
            .map(|condition| format!("SELECT id, a, b, c, x FROM numbers WHERE {condition} ORDER BY id")),
    );
    let before = setting.counts();
    let (mut written, mut asked) = (0, 0);
    for _ in 0..100 {
        let write = write(&mut random);
        written += u32::from(letters(&done(&mut writer, &write)).starts_with('C'));
        setting.opens();
        for read in &reads {
            let expected = done(&mut direct, read);
            assert_eq!(done(&mut reader, read), expected, "{read} after {write}");
            asked += u64::from(expected.iter().all(|(tag, _)| *tag != b'E'));
        }
    }
    let after = setting.counts();
    let (hits, misses) = (after.hits - before.hits, after.misses - before.misses);
    println!("{written} writes, {asked} reads, {hits} hits, {misses} misses");
    assert!(written > 50, "{written} writes were done");
    assert!(2 * hits > asked && misses > 100, "{asked} reads: {}", after.report());
}

/// Spellings of one value touch each other, and what is written is found where it is kept.
#[test]
fn writes_drop_the_numbers_that_they_touch() {
    let Some(setting) = Setting::of(TABLE, COLUMNS, |settings| settings) else { return };
    let (mut reader, mut writer) = (setting.session_of("reader", &[]), setting.session());
    let mut direct = login(setting.server_port(), "reader", &[]);
    for (read, touching, elsewhere) in [
        (
            "a = 1.50",
            &["INSERT INTO numbers (a) VALUES (1.5)", "DELETE FROM numbers WHERE a = '15e-1' AND id = 47"][..],
            "INSERT INTO numbers (a, b, c) VALUES (1.51, 5, 5000)",
        ),
        // No double is between 2.25 and these.
        (
            "a > 2.25 AND a < 2.250000000000000000000000009",
            &[
                "INSERT INTO numbers (a) VALUES (2.250000000000000000000000001)",
                "INSERT INTO numbers (a) VALUES ('2.2500000000000000000000000089')",
            ],
            "INSERT INTO numbers (a, b, c) VALUES (2.2501, 5, 5000)",
        ),
        (
            "a > 'Infinity'",
            &["INSERT INTO numbers (a) VALUES ('NaN')", "UPDATE numbers SET x = 1 WHERE a = 'nan'"],
            "INSERT INTO numbers (a, b, c) VALUES (999999, 5, 5000)",
        ),
        (
            "b = 1.01",
            &["INSERT INTO numbers (b) VALUES (1.005)", "INSERT INTO numbers (b) VALUES ('1.0149')"],
            "INSERT INTO numbers (a, b, c) VALUES (3, 1.0049, 5000)",
        ),
        (
            "b >= 2.005 AND b <= 2.0149",
            &["INSERT INTO numbers (b) VALUES (2.0051)", "UPDATE numbers SET b = 2.01 WHERE id = 3"],
            "INSERT INTO numbers (a, b, c) VALUES (3, 2.015, 5000)",
        ),
        (
            "c = 100",
            &["INSERT INTO numbers (c) VALUES (50)", "INSERT INTO numbers (c) VALUES (149.99)"],
            "INSERT INTO numbers (a, b, c) VALUES (3, 5, 49.99)",
        ),
        (
            "a < -5 AND a > -1000",
            &[
                "UPDATE numbers SET x = x + 1 WHERE a < -9::float8",
                "DELETE FROM numbers WHERE a BETWEEN -9.250 AND -9",
            ],
            "UPDATE numbers SET x = 5 WHERE a > -4.99",
        ),
    ] {
        let sql = format!("SELECT count(*), sum(id), sum(a) FROM numbers WHERE {read}");
        let mut last = run(&mut reader, &sql);
        setting.opens();
        assert_eq!(setting.counted(|| assert_eq!(run(&mut reader, &sql), last)), (1, 0), "{sql}");
        run(&mut writer, elsewhere);
        setting.opens();
        assert_eq!(setting.counted(|| drop(run(&mut reader, &sql))), (1, 0), "{elsewhere} beside {read}");
        for write in touching {
            run(&mut writer, write);
            setting.opens();
            let before = last.clone();
            assert_eq!(setting.counted(|| last = run(&mut reader, &sql)), (0, 1), "{write} in {read}");
            assert_eq!(run(&mut direct, &sql), last, "{write}");
            assert!(before != last || write.starts_with("UPDATE"), "{write} changes what {read} shows");
        }
    }
}

/// `a < $1` and its like by the type of the parameter, its format and its bytes: hits and misses of two askings.
#[test]
fn parameters_are_numbers_by_their_types() {
    let Some(setting) = Setting::of(TABLE, COLUMNS, |settings| settings) else { return };
    let mut raw = setting.session_of("reader", &[]);
    let mut direct = login(setting.server_port(), "reader", &[]);
    let mut asked = |condition: &str, number: u32, format: u8, bytes: &[u8]| {
        let text = format!("SELECT id FROM numbers WHERE {condition} ORDER BY id");
        let parse = message(b'P', &[b"\0", text.as_bytes(), b"\0\0\x01", &number.to_be_bytes()]);
        let len = u32::try_from(bytes.len()).unwrap().to_be_bytes();
        let bind = message(b'B', &[b"\0\0\0\x01\0", &[format], b"\0\x01", &len, bytes, b"\0\0"]);
        let flight = [parse, bind, execute("", 0), sync()].concat();
        direct.send(&flight);
        let expected = direct.until_ready();
        setting.opens();
        setting.counted(|| {
            for _ in 0..2 {
                raw.send(&flight);
                assert_eq!(raw.until_ready(), expected, "{condition} {number} {format} {bytes:?}");
            }
        })
    };
    // 1.5 with a scale of 1, and NaN.
    let binary = [0, 2, 0, 0, 0, 0, 0, 1, 0, 1, 0x13, 0x88];
    let nan = [0, 0, 0, 0, 0xC0, 0, 0, 0];
    for (condition, number, format, bytes) in [
        ("a < $1", 0, 0, &b"1.50"[..]),
        ("a < $1", 0, 1, &binary),
        ("a < $1", NUMERIC, 0, b"-15e-1"),
        ("b >= $1", NUMERIC, 1, &binary),
        ("a = $1", NUMERIC, 1, &nan),
        ("a < $1", 23, 1, &5_i32.to_be_bytes()),
        ("a < $1", 20, 1, &5_i64.to_be_bytes()),
        ("a <= $1::int", 0, 1, &5_i32.to_be_bytes()),
        ("a <= $1::bigint", 0, 1, &5_i64.to_be_bytes()),
        ("a <= $1::bigint", 0, 0, b"7"),
        ("a < $1::numeric", 0, 0, b"2.25"),
        ("a > $1::numeric", 20, 1, &6_i64.to_be_bytes()),
        ("a IN ($1)", NUMERIC, 1, &binary),
        ("a BETWEEN $1 AND 5.5", NUMERIC, 1, &binary),
    ] {
        assert_eq!(
            asked(condition, number, format, bytes),
            (1, 1),
            "{condition} {number} {format} {bytes:?}"
        );
    }
    for (condition, number, format, bytes) in [
        // A comparison of doubles.
        ("a < $1", 701, 0, &b"1.5"[..]),
        ("a < $1", 701, 1, &1.5_f64.to_be_bytes()),
        ("a < $1", 700, 1, &1.5_f32.to_be_bytes()),
        ("a < $1::float8", 0, 0, b"1.5"),
        // Rounded before it is compared.
        ("a <= $1::int", NUMERIC, 1, &binary),
        ("a <= $1::numeric(3, 0)", 0, 0, b"1.5"),
        ("a < $1", 0, 0, b" 1.5"),
        ("a < $1", 0, 0, b"five"),
        // The server cuts off what the scale hides.
        ("a < $1", NUMERIC, 1, &[0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0x13, 0x88]),
    ] {
        assert_eq!(
            asked(condition, number, format, bytes),
            (0, 0),
            "{condition} {number} {format} {bytes:?}"
        );
    }
}

/// What parameters of another type write is not where their bytes would say.
#[test]
fn written_parameters_are_kept_where_the_server_keeps_them() {
    let Some(setting) = Setting::of(TABLE, COLUMNS, |settings| settings) else { return };
    let (mut reader, mut writer) = (setting.session_of("reader", &[]), setting.session());
    let mut direct = login(setting.server_port(), "reader", &[]);
    let mut hits = 0;
    for (read, insert, number, format, bytes) in [
        ("a = 5", "$1::bigint", 0, 1, &5_i64.to_be_bytes()[..]),
        ("a = 5", "$1", 20, 1, &5_i64.to_be_bytes()),
        ("a = 2", "$1::int", NUMERIC, 0, b"1.5"),
        ("a = 2", "$1::numeric(3, 0)", 0, 0, b"1.5"),
        ("a = 0.1", "$1", 701, 1, &0.1_f64.to_be_bytes()),
        ("a = 0.1", "$1", 700, 1, &0.1_f32.to_be_bytes()),
        ("a = 1", "$1", NUMERIC, 1, &[0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0x13, 0x88]),
        ("a = 1.5", "$1", 0, 0, b" 1.5 "),
        ("a = 1.5", "$1", 0, 0, b"150e-2"),
        ("a = 'NaN'", "$1", 0, 1, &[0, 0, 0, 0, 0xC0, 0, 0, 0]),
    ] {
        let sql = format!("SELECT count(*) FROM numbers WHERE {read}");
        setting.opens();
        let before = ask(&mut reader, &sql);
        hits += setting.counted(|| assert_eq!(ask(&mut reader, &sql), before)).0;
        let text = format!("INSERT INTO numbers (a) VALUES ({insert})");
        let parse = message(b'P', &[b"\0", text.as_bytes(), b"\0\0\x01", &u32::to_be_bytes(number)]);
        let len = u32::try_from(bytes.len()).unwrap().to_be_bytes();
        let bind = message(b'B', &[b"\0\0\0\x01\0", &[format], b"\0\x01", &len, bytes, b"\0\0"]);
        writer.send(&[parse, bind, execute("", 0), sync()].concat());
        assert_eq!(letters(&writer.until_ready()), "12CZ", "{insert} {number} {bytes:?}");
        let after = value(&done(&mut direct, &sql));
        assert_ne!(after, before, "{read} after {insert}");
        assert_eq!(ask(&mut reader, &sql), after, "{read} after {insert} {number} {bytes:?}");
    }
    assert_eq!(hits, 10);
}
