//! Ranges of dates and timestamps: the integers that stand for them are those of the server, under every setting.

use lacuna_proxy::moment;

use super::history::Random;
use super::setting::{Setting, ask, login, run, server};
use crate::raw::{Raw, bind, execute, message, parse, sync};

/// A row for each of 60 days, and one beyond all.
const TABLE: &str = "CREATE TABLE events (id INT PRIMARY KEY, day DATE, at TIMESTAMP, zoned TIMESTAMPTZ, rounded TIMESTAMP(0)); \
    INSERT INTO events SELECT n, DATE '2026-01-01' + n, TIMESTAMP '2026-01-01 12:00:00' + n * INTERVAL '1 day', \
    TIMESTAMPTZ '2026-01-01 12:00:00+00' + n * INTERVAL '1 day' FROM generate_series(0, 59) AS n; \
    INSERT INTO events VALUES (100, 'infinity', 'infinity', '-infinity'); \
    CREATE ROLE reader LOGIN; CREATE ROLE other LOGIN; GRANT SELECT ON events TO reader, other";
const COLUMNS: &str = "public.events.day,public.events.at,public.events.zoned";

const NAMES: [&str; 3] = ["date", "timestamp", "timestamptz"];

fn pick<'t>(random: &mut Random, of: &[&'t str]) -> &'t str {
    of[usize::try_from(random.below(i64::try_from(of.len()).unwrap())).unwrap()]
}

/// A text that is a moment, or nearly.
fn literal(random: &mut Random) -> String {
    let year = match random.below(4) {
        0 => random.below(10_000),
        1 => 1_890 + random.below(60),
        _ => 1_990 + random.below(50),
    };
    let (month, day) = (random.below(14), random.below(33));
    let dash = pick(random, &["-", "-", "-", "-", "/", ""]);
    let mut text = format!("{year:04}{dash}{month:02}{dash}{day:02}");
    if random.below(3) > 0 {
        let (hour, minute, second) = (random.below(25), random.below(61), random.below(61));
        text += &format!("{}{hour:02}:{minute:02}:{second:02}", pick(random, &[" ", " ", "T", "  "]));
        if random.below(2) == 0 {
            text += &format!(
                ".{}",
                &format!("{:08}", random.below(100_000_000))[..1 + usize::try_from(random.below(8)).unwrap()]
            );
        }
    }
    text + pick(random, &["", "", "", "+00", "-05:30", "+14", "Z", "+1", " UTC", " BC", "-00:01", "+15:59"])
}

/// The integer that the server keeps for what `sql` gives.
fn of_server(raw: &mut Raw, sql: &str) -> Option<i64> {
    let bound = bind("", "", &[]);
    let to_binary = message(b'B', &[&bound[5..bound.len() - 2], &[0, 1, 0, 1]]);
    raw.send(&[parse("", sql), to_binary, execute("", 0), sync()].concat());
    let answer = raw.until_ready();
    let (_, row) = answer.iter().find(|(tag, _)| *tag == b'D')?;
    match &row[6..] {
        day if day.len() == 4 => Some(i32::from_be_bytes(day.try_into().unwrap()).into()),
        moment => Some(i64::from_be_bytes(moment.try_into().unwrap())),
    }
}

#[test]
fn moments_are_those_of_the_server_under_every_setting() {
    let Some(postgres) = server("CREATE ROLE reader LOGIN") else { return };
    let port = postgres.url().rsplit([':', '/']).nth(1).unwrap().parse().unwrap();
    let mut raw = login(port, "reader", &[]);
    let mut random = Random::new();
    let mut known = [0; 3];
    for round in 0..3_000 {
        if round % 20 == 0 {
            let style =
                pick(&mut random, &["ISO, MDY", "ISO, DMY", "SQL, YMD", "German, DMY", "Postgres, MDY"]);
            let zone = pick(
                &mut random,
                &["UTC", "Asia/Tokyo", "America/St_Johns", "Europe/Berlin", "-07:30", "Pacific/Apia"],
            );
            run(&mut raw, &format!("SET DateStyle = '{style}'"));
            run(&mut raw, &format!("SET TimeZone = '{zone}'"));
        }
        let text = literal(&mut random);
        for (nth, name) in NAMES.iter().enumerate() {
            if let Some(found) = moment(name, &text) {
                let expected = of_server(&mut raw, &format!("SELECT '{text}'::{name}"));
                assert_eq!(Some(found), expected, "'{text}'::{name}");
                known[nth] += 1;
            }
        }
    }
    assert!(known.iter().all(|count| *count > 100), "{known:?} were known");
}

/// Every form that is cached gives what the server gives, cold and warm, in every setting.
#[test]
fn ranges_of_moments_are_cached() {
    let Some(setting) = Setting::of(TABLE, COLUMNS, |settings| settings) else { return };
    for zone in ["UTC", "Asia/Tokyo"] {
        let parameters = [("TimeZone", zone), ("DateStyle", "German")];
        let mut direct = login(setting.server_port(), "reader", &parameters);
        let mut proxied = setting.session_of("reader", &parameters);
        for condition in [
            "day = '2026-01-05'",
            "day >= '2026-01-05' AND day < '2026-01-09'",
            "day BETWEEN '2026-02-20' AND '2026-12-31'",
            "day IN ('2026-01-05', '2026-02-05')",
            "at > '2026-01-05' AND at <= '2026-01-09T12:00:00'",
            "zoned BETWEEN '2026-01-05 09:00:00+09' AND '2026-01-09 12:00:00.5Z'",
            "'2026-02-27' <= day",
            "id = 7 OR day = '2026-01-05' AND day < '2026-01-09'",
        ] {
            let sql = format!("SELECT id, day, at, zoned FROM events WHERE {condition} ORDER BY id");
            let expected = run(&mut direct, &sql);
            let (counts, is_bound) = (
                setting.counted(|| assert_eq!(run(&mut proxied, &sql), expected, "{sql}")),
                !condition.contains("OR"),
            );
            assert_eq!(counts, (0, u64::from(is_bound)), "{sql}: {}", setting.counts().report());
            setting.opens();
            let counts = setting.counted(|| assert_eq!(run(&mut proxied, &sql), expected, "{sql}"));
            assert_eq!(counts, (u64::from(is_bound), 0), "{sql}: {}", setting.counts().report());
        }
    }
}

/// What means another moment at another time or in another session.
#[test]
fn other_constants_are_answered_by_the_server() {
    let Some(setting) = Setting::of(TABLE, COLUMNS, |settings| settings) else { return };
    let mut raw = setting.session_of("reader", &[]);
    for condition in [
        "day <= 'today'",
        "day = '05.01.2026'",
        "day < '2026-1-9'",
        "day = '20260105'",
        "day < 'infinity'",
        "day = '2026-01-05 BC'",
        "at < 'now'",
        "at < '2026-01-05 10:00:00+00'",
        "zoned < '2026-01-05 10:00:00'",
        "zoned < '2026-01-05'",
        "zoned < '2026-01-05 10:00:00 Europe/Berlin'",
        "at < '2026-01-05 10:00:00.1234567'",
        "at < now()",
        "day = '2026-01-05' AND zoned < 'tomorrow'",
        "day = '2026-01-05' AND at <> 'now'",
        "rounded < '2026-01-05'",
    ] {
        let sql = format!("SELECT id FROM events WHERE {condition}");
        let counts = setting.counted(|| (0..2).for_each(|_| drop(raw.ask(&sql))));
        assert_eq!(counts, (0, 0), "{sql}: {}", setting.counts().report());
    }
}

#[test]
fn writes_drop_the_moments_that_they_touch() {
    let Some(setting) = Setting::of(TABLE, COLUMNS, |settings| settings) else { return };
    let (mut reader, mut writer) = (setting.session_of("reader", &[]), setting.session());
    for (read, touching, elsewhere) in [
        (
            "day BETWEEN '2026-01-05' AND '2026-01-09'",
            [
                "UPDATE events SET id = id + 1000 WHERE day = '2026-01-09'",
                "DELETE FROM events WHERE day >= '2026-01-08' AND day < '2026-01-09'",
            ],
            "INSERT INTO events (id, day, at, zoned) VALUES (5001, '2026-01-10', '2026-01-10', '2026-01-10 00:00:00Z')",
        ),
        (
            "at >= '2026-01-15' AND at < '2026-01-20'",
            [
                "INSERT INTO events (id, at) VALUES (5002, '2026-01-19 23:59:59.999999')",
                "INSERT INTO events (id, at) VALUES (5003, 'yesterday')",
            ],
            "DELETE FROM events WHERE at = '2026-01-20'",
        ),
        (
            "zoned >= '2026-01-15 00:00:00+02' AND zoned < '2026-01-20 00:00:00+02'",
            [
                "INSERT INTO events (id, zoned) VALUES (5004, '2026-01-14 23:00:00Z')",
                "UPDATE events SET zoned = '2026-01-16 00:00:00Z' WHERE id = 3",
            ],
            "UPDATE events SET id = id + 2000 WHERE zoned > '2026-01-19 22:00:00Z'",
        ),
    ] {
        let sql = format!("SELECT count(*), sum(id) FROM events WHERE {read}");
        let mut last = ask(&mut reader, &sql);
        setting.opens();
        assert_eq!(setting.counted(|| assert_eq!(ask(&mut reader, &sql), last)), (1, 0));
        run(&mut writer, elsewhere);
        setting.opens();
        assert_eq!(
            setting.counted(|| drop(run(&mut reader, &sql))),
            (1, 0),
            "{elsewhere}: {}",
            setting.counts().report()
        );
        for write in touching {
            run(&mut writer, write);
            assert_eq!(
                setting.counted(|| last = ask(&mut reader, &sql)),
                (0, 1),
                "{write}: {}",
                setting.counts().report()
            );
            assert_eq!(ask(&mut login(setting.server_port(), "reader", &[]), &sql), last, "{write}");
        }
    }
}

/// Parameters in text and in binary, with their type and without; in another type they are compared by other rules.
#[test]
fn parameters_are_read_by_their_types() {
    let Some(setting) = Setting::of(TABLE, COLUMNS, |settings| settings) else { return };
    let mut raw = setting.session_of("reader", &[]);
    let mut asked = |column: &str, number: u32, format: u8, value: &[u8]| {
        let text = format!("SELECT id FROM events WHERE {column} = $1");
        let parse = message(b'P', &[b"\0", text.as_bytes(), b"\0\0\x01", &number.to_be_bytes()]);
        let len = u32::try_from(value.len()).unwrap().to_be_bytes();
        let bind = message(b'B', &[b"\0\0\0\x01\0", &[format], b"\0\x01", &len, value, b"\0\0"]);
        let flight = [parse, bind, execute("", 0), sync()].concat();
        setting.opens();
        setting.counted(|| {
            for _ in 0..2 {
                raw.send(&flight);
                raw.until_ready();
            }
        })
    };
    let day = 9_500_i32.to_be_bytes();
    let at = 820_000_000_000_000_i64.to_be_bytes();
    for (column, number, format, value) in [
        ("day", 0, 0, &b"2026-01-05"[..]),
        ("day", 1_082, 0, b"2026-01-05"),
        ("day", 1_082, 1, &day),
        ("day", 1_082, 1, &i32::MAX.to_be_bytes()),
        ("at", 1_114, 1, &at),
        ("at", 0, 0, b"2026-01-05 12:00:00"),
        ("zoned", 1_184, 1, &at),
        ("zoned", 1_184, 1, &i64::MIN.to_be_bytes()),
        ("zoned", 0, 0, b"2026-01-05 12:00:00+00"),
    ] {
        assert_eq!(asked(column, number, format, value), (1, 1), "{column} {number} {format} {value:?}");
    }
    for (column, number, format, value) in [
        ("day", 0, 0, &b"today"[..]),
        ("day", 1_114, 1, &at),
        ("at", 1_082, 1, &day),
        ("at", 1_184, 1, &at),
        ("zoned", 1_114, 1, &at),
        ("zoned", 0, 0, b"2026-01-05 12:00:00"),
    ] {
        assert_eq!(asked(column, number, format, value), (0, 0), "{column} {number} {format} {value:?}");
    }
}
