//! Scripted sessions, direct and through the proxy: the same bytes come back.

use crate::raw::{
    AS_POSTGRES, Raw, Received, V3_0, V3_2, bind, close, describe, execute, message, parse, query, startup,
    sync,
};
use crate::world::World;

/// A session: what is sent, and how many times the server says that it is ready before the next is sent. 0 is up to the
/// end of the connection.
struct Script {
    name: &'static str,
    steps: Vec<(Vec<u8>, usize)>,
}

fn script(name: &'static str, steps: Vec<(Vec<u8>, usize)>) -> Script {
    Script { name, steps }
}

fn login() -> (Vec<u8>, usize) {
    (startup(V3_0, &AS_POSTGRES), 1)
}

fn goodbye() -> (Vec<u8>, usize) {
    (message(b'X', &[]), 0)
}

fn in_session(name: &'static str, steps: Vec<(Vec<u8>, usize)>) -> Script {
    script(name, [vec![login()], steps, vec![goodbye()]].concat())
}

fn scripts() -> Vec<Script> {
    let insert = "INSERT INTO pages (id, body) VALUES ($1, $2)";
    let table = "CREATE TABLE pages (id INT PRIMARY KEY, body TEXT)";
    vec![
        in_session(
            "simple",
            vec![(query("SELECT 1; SELECT 'a', NULL; SELECT FROM generate_series(1, 3)"), 1)],
        ),
        in_session("empty", vec![(query(""), 1), (query(";"), 1)]),
        in_session("errors", vec![(query("SELEC"), 1), (query("SELECT 1/0"), 1), (query("SELECT 2"), 1)]),
        in_session("a table", vec![(query(table), 1)]),
        in_session(
            "transactions",
            vec![
                (query("BEGIN"), 1),
                (query("SELECT 1/0"), 1),
                (query("SELECT 1"), 1),
                (query("ROLLBACK"), 1),
            ],
        ),
        in_session(
            "named statements",
            vec![
                ([parse("s", insert), describe(b'S', "s"), sync()].concat(), 1),
                ([bind("p", "s", &["1", "one"]), execute("p", 0), close(b'P', "p"), sync()].concat(), 1),
                ([bind("", "s", &["2", "two"]), execute("", 0), close(b'S', "s"), sync()].concat(), 1),
                ([bind("", "s", &["3", "three"]), execute("", 0), sync()].concat(), 1),
            ],
        ),
        in_session(
            "a portal in steps",
            vec![(
                [
                    parse("", "SELECT generate_series(1, 5)"),
                    bind("", "", &[]),
                    describe(b'P', ""),
                    execute("", 2),
                    execute("", 2),
                    execute("", 2),
                    sync(),
                ]
                .concat(),
                1,
            )],
        ),
        in_session(
            "a pipeline",
            vec![(
                [
                    parse("i", insert),
                    bind("", "i", &["10", "a"]),
                    execute("", 0),
                    sync(),
                    bind("", "i", &["10", "b"]),
                    execute("", 0),
                    bind("", "i", &["11", "c"]),
                    execute("", 0),
                    sync(),
                    query("SELECT count(*) FROM pages"),
                    query("SELECT 7"),
                    parse("", "SELECT nothing"),
                    bind("", "", &[]),
                    execute("", 0),
                    query("SELECT 'skipped'"),
                    sync(),
                ]
                .concat(),
                5,
            )],
        ),
        in_session(
            "copy",
            vec![
                (
                    [
                        query("COPY pages FROM STDIN"),
                        message(b'd', &[b"20\ttwenty\n"]),
                        message(b'd', &[b"21\t"]),
                        message(b'd', &[b"twenty one\n"]),
                        message(b'c', &[]),
                    ]
                    .concat(),
                    1,
                ),
                (query("COPY (SELECT * FROM pages ORDER BY id) TO STDOUT"), 1),
                ([query("COPY pages FROM STDIN"), message(b'f', &[b"no\0"])].concat(), 1),
                (
                    [query("COPY pages FROM STDIN"), message(b'd', &[b"x\ty\n"]), message(b'c', &[])]
                        .concat(),
                    1,
                ),
            ],
        ),
        in_session(
            "copy in the extended protocol",
            vec![(
                [
                    parse("", "COPY pages FROM STDIN"),
                    bind("", "", &[]),
                    execute("", 0),
                    sync(),
                    message(b'd', &[b"30\tthirty\n"]),
                    message(b'c', &[]),
                    sync(),
                ]
                .concat(),
                1,
            )],
        ),
        in_session(
            "notices",
            vec![
                (query("DO $$ BEGIN RAISE NOTICE 'see'; RAISE WARNING 'this'; END $$"), 1),
                (query("SET application_name = 'other'; SET TimeZone = 'UTC'"), 1),
                (query("DROP TABLE IF EXISTS nowhere"), 1),
            ],
        ),
        // `abs(int4)` by its number.
        in_session(
            "a function",
            vec![(message(b'F', &[&1_397_u32.to_be_bytes(), b"\0\0\0\x01\0\0\0\x02-5\0\0"]), 1)],
        ),
        script("version 3.2", vec![(startup(V3_2, &AS_POSTGRES), 1), (query("SELECT 1"), 1), goodbye()]),
        script(
            "unknown options",
            vec![(startup(V3_0, &[("user", "postgres"), ("_pq_.wish", "1")]), 1), goodbye()],
        ),
        script("no such database", vec![(startup(V3_0, &[("user", "postgres"), ("database", "none")]), 0)]),
        script("no user", vec![(startup(V3_0, &[("database", "postgres")]), 0)]),
        script("version 2", vec![(startup(2 << 16, &[]), 0)]),
        script("version 9", vec![(startup(9 << 16, &AS_POSTGRES), 0)]),
        script("an unknown message", vec![login(), (message(b'!', &[b"what"]), 0)]),
        script("a short length", vec![login(), (b"Q\0\0\0\x03".to_vec(), 0)]),
        script("a negative length", vec![login(), (b"Q\xff\xff\xff\xff".to_vec(), 0)]),
        script("a length of 2 GB", vec![login(), (b"Q\x7f\xff\xff\xff".to_vec(), 0)]),
        script("no protocol", vec![(b"GET / HTTP/1.1\r\n\r\n".to_vec(), 0)]),
        script("a short packet", vec![(vec![0, 0, 0, 4], 0)]),
    ]
}

/// What the server sends, without the key that is another for each session.
fn played(port: u16, script: &Script) -> Vec<Received> {
    let mut raw = Raw::connect(port);
    let mut all = Vec::new();
    for (bytes, times) in &script.steps {
        raw.send(bytes);
        let mut left = *times;
        while let Some(message) = raw.receive() {
            left -= usize::from(*times > 0 && message.0 == b'Z');
            all.push(message);
            if *times > 0 && left == 0 {
                break;
            }
        }
    }
    all.into_iter().map(|(tag, body)| if tag == b'K' { (tag, Vec::new()) } else { (tag, body) }).collect()
}

#[test]
fn sessions_are_the_same_direct_and_relayed() {
    let Some(world) = World::start() else { return };
    let direct: u16 = world.direct().rsplit([':', '/']).nth(1).unwrap().parse().unwrap();
    are_the_same(direct, world.proxy().address().port(), |sql| drop(world.admin(sql)));
}

/// Every script at both ports; `admin` runs SQL before each.
pub(crate) fn are_the_same(direct: u16, proxied: u16, admin: impl Fn(&str)) {
    for script in scripts() {
        let setup = || {
            admin("DROP TABLE IF EXISTS pages");
            if script.name != "a table" {
                admin("CREATE TABLE pages (id INT PRIMARY KEY, body TEXT)");
            }
        };
        setup();
        let expected = played(direct, &script);
        setup();
        assert_eq!(played(proxied, &script), expected, "{}", script.name);
    }
}
