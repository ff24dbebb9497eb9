//! What the server has not seen since the cache has answered, after a flight of which it skipped a part.

use super::setting::{Setting, run, value};
use crate::raw::{Raw, bind, close, error_field, execute, letters, parse, query, sync};

const BY_ID: &str = "SELECT price FROM orders WHERE id = $1";
const UPDATE: &str = "UPDATE orders SET note = 'bad' WHERE id = $1";
const BY_CUSTOMER: &str = "SELECT note FROM orders WHERE customer = $1";
const SIMPLE: &str = "SELECT note FROM orders WHERE customer = 7";

fn asks(raw: &mut Raw, flight: &[Vec<u8>]) -> (String, Option<String>) {
    raw.send(&[&flight.concat()[..], &sync()].concat());
    let answer = raw.until_ready();
    (letters(&answer), value(&answer))
}

/// A statement without a name, executed with a value.
fn flight(text: &str, id: &str) -> [Vec<u8>; 3] {
    [parse("", text), bind("", "", &[id]), execute("", 0)]
}

/// The same statement again.
fn again(id: &str) -> [Vec<u8>; 2] {
    [bind("", "", &[id]), execute("", 0)]
}

/// Whether the cache answers.
fn is_hit(setting: &Setting, raw: &mut Raw, by: &Hit) -> bool {
    setting.opens();
    let (hits, _) = setting.counted(|| match by {
        Hit::Flight => drop(asks(raw, &flight(BY_CUSTOMER, "7"))),
        Hit::Query => drop(run(raw, SIMPLE)),
    });
    hits == 1
}

/// A session of which the server has this statement without a name, and the client that of a hit; `other` has asked for it before.
fn after_a_hit(setting: &Setting, other: &mut Raw, first: &str, by: &Hit) -> Raw {
    // On a busy machine a look at the server may be late, after which the cache begins cold.
    for _ in 0..20 {
        let mut raw = setting.session();
        asks(&mut raw, &flight(first, "1"));
        asks(&mut raw, &[parse("i", "INSERT INTO orders (id, customer, note) VALUES ($1, 1, 'x')")]);
        is_hit(setting, other, by);
        if is_hit(setting, &mut raw, by) {
            return raw;
        }
    }
    panic!("it is cached in the end: {}", setting.counts().report());
}

/// What the cache has answered last.
enum Hit {
    /// A `Parse` without a name, and what follows it.
    Flight,
    /// A `Query`, after which there is no statement without a name.
    Query,
}

/// Flights of which the server refuses one message and skips the next ones.
fn refused() -> Vec<(&'static str, Vec<Vec<u8>>)> {
    let insert = |id: &str| [bind("", "i", &[id]), execute("", 0)].concat();
    vec![
        ("a duplicate, then the statement", vec![insert("1"), again("8").concat()]),
        ("a text for an integer, then the statement", vec![insert("x"), again("8").concat()]),
        ("a duplicate, then another in its place", vec![insert("1"), flight(BY_ID, "8").concat()]),
        ("a duplicate, then its end", vec![insert("1"), close(b'S', "")]),
        ("a duplicate, then a query", vec![insert("1"), query("SELECT 1")]),
        (
            "a text that is refused, then the statement",
            vec![parse("j", "SELECT"), parse("k", "NONE"), again("8").concat()],
        ),
    ]
}

#[test]
fn a_statement_that_the_server_skipped_is_told_again() {
    let Some(setting) = Setting::start() else { return };
    let mut other = setting.session();
    for first in [BY_ID, UPDATE] {
        for by in [Hit::Flight, Hit::Query] {
            for (about, refused) in refused() {
                let mut raw = after_a_hit(&setting, &mut other, first, &by);
                let (letters, _) = asks(&mut raw, &refused);
                assert!(letters.ends_with("EZ"), "{about}: {letters}");
                let seen = asks(&mut raw, &again("8"));
                let direct = match by {
                    Hit::Flight => ("2DCZ".to_owned(), Some("n8".to_owned())),
                    Hit::Query => ("EZ".to_owned(), None),
                };
                assert_eq!(seen, direct, "{about} after {first}");
                assert_eq!(
                    asks(&mut other, &flight(BY_CUSTOMER, "8")).1.as_deref(),
                    Some("n8"),
                    "{about} after {first}"
                );
            }
        }
    }
}

/// The server drops the old one before it looks at the new one.
#[test]
fn a_statement_without_a_name_that_was_refused_leaves_none() {
    let Some(setting) = Setting::start() else { return };
    let mut raw = after_a_hit(&setting, &mut setting.session(), BY_ID, &Hit::Flight);
    assert_eq!(asks(&mut raw, &[parse("", "NONE")]).0, "EZ");
    raw.send(&[&again("8").concat()[..], &sync()].concat());
    assert_eq!(error_field(&raw.until_ready(), b'C'), "26000");
}

/// The answer to who the session is holds the names of its statements; it may be longer than any other that is waited for.
#[test]
fn a_session_with_many_statements_and_long_settings_is_asked_unnoticed() {
    let Some(setting) = Setting::start() else { return };
    let mut raw = setting.session();
    let name = |number: usize| format!("{number:060}");
    let statements: Vec<Vec<u8>> = (0..1_200).map(|number| parse(&name(number), "SELECT 1")).collect();
    assert_eq!(asks(&mut raw, &statements).0, format!("{}Z", "1".repeat(1_200)));
    let schemas: Vec<String> = (0..1_000).map(|number| format!("a{}", name(number))).collect();
    for change in ["SET work_mem = '5MB'", &format!("SET search_path TO public, {}", schemas.join(", "))] {
        run(&mut raw, change);
        let mut reads = || setting.counted(|| assert_eq!(raw.ask(SIMPLE), "TDCZ")).0;
        let is_hit = (0..10).any(|_| {
            setting.opens();
            reads() == 1
        });
        assert!(is_hit, "{}", setting.counts().report());
    }
}

/// Its client reads no answer before it has sent all of them.
#[test]
fn a_long_batch_holds_nothing_once_it_is_answered() {
    let Some(setting) = Setting::start() else { return };
    let (mut reader, mut writer) = (setting.session(), setting.session());
    const MESSAGES: usize = 60_000;
    asks(&mut writer, &[parse("s", "UPDATE orders SET note = 'new' WHERE customer = 7 AND id = $1")]);
    let mut stream = writer.stream.try_clone().unwrap();
    let sending = std::thread::spawn(move || {
        let step = [bind("", "s", &["7"]), execute("", 0)].concat();
        for _ in 0..MESSAGES / 2_000 {
            std::io::Write::write_all(&mut stream, &step.repeat(1_000)).unwrap();
        }
        std::io::Write::write_all(&mut stream, &sync()).unwrap();
    });
    sending.join().unwrap();
    let answers = writer.until_ready();
    assert_eq!(answers.iter().filter(|(tag, _)| *tag == b'C').count(), MESSAGES / 2);
    for reads in 0.. {
        setting.opens();
        let (hits, _) =
            setting.counted(|| assert_eq!(value(&run(&mut reader, SIMPLE)).as_deref(), Some("new")));
        if hits == 1 {
            break;
        }
        assert!(
            reads < 20,
            "the session of the batch is open, and holds nothing: {}",
            setting.counts().report()
        );
    }
}
