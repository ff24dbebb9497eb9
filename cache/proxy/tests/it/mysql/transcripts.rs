//! What clients send and receive, direct and through the proxy, byte for byte.

use super::raw::{
    CLOSE, END, ERROR, EXECUTE, FETCH, FILE_REQUEST, LONG_DATA, OK, PING, PREPARE, QUERY, Raw, Received,
    command, packets,
};
use super::world::{ORDERS, World};
use crate::world::run;

/// Texts whose answers are compared, in one session.
const TEXTS: [&str; 28] = [
    "SELECT 1",
    "SELECT id, note FROM orders WHERE customer BETWEEN 10 AND 13 ORDER BY id",
    "SELECT * FROM orders WHERE id < 0",
    "SELECT NULL, '', 'ä', 1.50, DATE '2026-11-30', TIME '-12:00:00.5', X'00ff', 1e10",
    "SELECT seq FROM seq_1_to_1000",
    "SELECT REPEAT('x', 300), REPEAT('y', 70000)",
    "SELECT nothing",
    "SELEC",
    "",
    "CREATE TEMPORARY TABLE pages (id INT PRIMARY KEY AUTO_INCREMENT, body TEXT) ENGINE=InnoDB",
    "INSERT INTO pages (body) VALUES ('a'), ('b'), (NULL)",
    "INSERT INTO pages (id, body) VALUES (1, 'again')",
    "INSERT INTO pages (body) VALUES ('c') RETURNING id, body",
    "UPDATE pages SET body = 'd' WHERE id > 1",
    "SELECT SQL_CALC_FOUND_ROWS * FROM pages LIMIT 1; SELECT FOUND_ROWS(), ROW_COUNT(), LAST_INSERT_ID()",
    "SELECT 1; SELECT nothing; SELECT 3",
    "BEGIN; INSERT INTO pages (body) VALUES ('e'); SELECT COUNT(*) FROM pages; ROLLBACK",
    "SELECT 1/0, 'x' + 1",
    "SHOW WARNINGS",
    "SET autocommit = 0",
    "SELECT COUNT(*) FROM pages",
    "COMMIT",
    "SET autocommit = 1",
    "PREPARE s FROM 'SELECT id FROM orders WHERE id = ?'; SET @id = 7; EXECUTE s USING @id; DEALLOCATE PREPARE s",
    "BEGIN NOT ATOMIC SELECT 1; SELECT 2, 3; SELECT id FROM orders WHERE id < 3; END",
    "SHOW TABLES",
    "EXPLAIN SELECT * FROM orders WHERE id = 7",
    "DO SLEEP(0.01)",
];

/// Both kinds of results, at both ports.
fn at_both(world: &World, play: impl Fn(&mut Raw) -> Vec<Vec<Received>>) {
    for abilities in [Raw::OLD, Raw::NEW] {
        let direct = play(&mut Raw::login(world.mariadb.port(), abilities));
        let relayed = play(&mut Raw::login(world.port(), abilities));
        assert_eq!(relayed, direct);
    }
    assert_eq!(world.proxy().counts().unfollowed, 0, "every session was understood");
}

fn orders() -> Option<World> {
    let world = World::start()?;
    world.admin(&ORDERS);
    Some(world)
}

#[test]
fn texts_have_the_same_answers() {
    let Some(world) = orders() else { return };
    at_both(&world, |raw| {
        let answers: Vec<_> = TEXTS.iter().map(|text| raw.query(text)).collect();
        assert_eq!(answers[0].last().unwrap().1[0], END);
        assert!(answers[6][0].1[0] == ERROR && answers[10][0].1[0] == OK);
        answers
    });
}

/// The body of an execution: numbers of type BIGINT after the flags.
fn execution(id: u32, flags: u8, values: &[i64]) -> Vec<u8> {
    let mut body = [&id.to_le_bytes()[..], &[flags], &1_u32.to_le_bytes()].concat();
    if !values.is_empty() {
        body.extend([0, 1]);
        values.iter().for_each(|_| body.extend([8, 0]));
        values.iter().for_each(|value| body.extend(value.to_le_bytes()));
    }
    body
}

/// The number of a statement that was prepared.
fn id_of(answer: &[Received]) -> u32 {
    let body = &answer[0].1;
    assert_eq!(body[0], OK, "{body:?}");
    u32::from_le_bytes(body[1..5].try_into().unwrap())
}

#[test]
fn prepared_statements_have_the_same_answers() {
    let Some(world) = orders() else { return };
    at_both(&world, |raw| {
        let mut answers = Vec::new();
        let prepared = raw.ask(PREPARE, b"SELECT id, note FROM orders WHERE customer BETWEEN ? AND ?");
        let id = id_of(&prepared);
        answers.push(prepared);
        for (low, high) in [(10, 13), (7, 7), (5, 4), (1, 100)] {
            answers.push(raw.ask(EXECUTE, &execution(id, 0, &[low, high])));
        }
        // With a cursor: the rows are fetched in parts.
        answers.push(raw.ask(EXECUTE, &execution(id, 1, &[1, 25])));
        for _ in 0..4 {
            answers.push(raw.ask(FETCH, &[id.to_le_bytes(), 10_u32.to_le_bytes()].concat()));
        }
        // RESET ends the cursor.
        answers.push(raw.ask(0x1a, &id.to_le_bytes()));
        answers.push(raw.ask(FETCH, &[id.to_le_bytes(), 10_u32.to_le_bytes()].concat()));
        raw.send(&command(CLOSE, &id.to_le_bytes()));
        answers.push(raw.ask(EXECUTE, &execution(id, 0, &[1, 2])));
        // A value in two parts.
        let prepared = raw.ask(PREPARE, b"SELECT LENGTH(?), MD5(?)");
        let id = id_of(&prepared);
        answers.push(prepared);
        for param in [0_u16, 0, 1] {
            let head = [&id.to_le_bytes()[..], &param.to_le_bytes()].concat();
            raw.send(&command(LONG_DATA, &[head, vec![b'v'; 100_000]].concat()));
        }
        let head = [&id.to_le_bytes()[..], &[0], &1_u32.to_le_bytes(), &[0, 1, 252, 0, 252, 0]].concat();
        answers.push(raw.ask(EXECUTE, &head));
        // Without parameters, without rows, and not a statement at all.
        for text in ["SELECT id FROM orders LIMIT 2", "DELETE FROM orders WHERE id < 0", "SELEC ?"] {
            let prepared = raw.ask(PREPARE, text.as_bytes());
            if prepared[0].1[0] == OK {
                answers.push(raw.ask(EXECUTE, &execution(id_of(&prepared), 0, &[])));
            }
            answers.push(prepared);
        }
        answers
    });
}

#[test]
fn other_commands_have_the_same_answers() {
    let Some(world) = orders() else { return };
    world.admin(&["CREATE DATABASE other"]);
    at_both(&world, |raw| {
        let mut answers = vec![
            raw.ask(PING, b""),
            // INIT_DB, to a database that is there and one that is not.
            raw.ask(0x02, b"other"),
            raw.query("SELECT DATABASE()"),
            raw.ask(0x02, b"nowhere"),
            raw.ask(0x02, b"test"),
            // FIELD_LIST, and SET_OPTION that forbids several statements.
            raw.ask(0x04, b"orders\0%"),
            raw.ask(0x1b, &[1, 0]),
            raw.query("SELECT 1; SELECT 2"),
            raw.ask(0x1b, &[0, 0]),
            raw.query("SET @kept = 1"),
            // RESET_CONNECTION.
            raw.ask(0x1f, b""),
            raw.query("SELECT @kept"),
        ];
        // CHANGE_USER: user, no password, database, character set, name of the login.
        let user = b"root\0\0other\0\x2d\0mysql_native_password\0";
        raw.send(&command(0x11, user));
        let (number, mut body) = raw.receive().unwrap();
        if body[0] == END {
            // Another way to log in, which takes no password either.
            raw.send(&packets(number.wrapping_add(1), b""));
            body = raw.receive().unwrap().1;
        }
        assert_eq!(body[0], OK, "{body:?}");
        answers.push(raw.query("SELECT DATABASE()"));
        // STATISTICS is a bare text that counts time.
        assert!(raw.ask(0x09, b"")[0].1.starts_with(b"Uptime"));
        answers
    });
}

#[test]
fn files_of_the_client_are_relayed() {
    let Some(world) = World::start() else { return };
    world.admin(&["CREATE TABLE numbers (n INT)"]);
    at_both(&world, |raw| {
        raw.query("DELETE FROM numbers");
        let text = b"LOAD DATA LOCAL INFILE 'numbers' INTO TABLE numbers";
        raw.send(&command(QUERY, text));
        let (number, body) = raw.receive().unwrap();
        assert_eq!((number, &body[..]), (1, &[&[FILE_REQUEST][..], b"numbers"].concat()[..]));
        // More packets than there are numbers.
        let mut number = 1_u8;
        for n in 0..600 {
            number = number.wrapping_add(1);
            raw.send(&packets(number, format!("{n}\n").as_bytes()));
        }
        raw.send(&packets(number.wrapping_add(1), b""));
        let loaded = raw.receive().unwrap();
        assert_eq!(loaded.1[0], OK, "{loaded:?}");
        vec![vec![loaded], raw.query("SELECT COUNT(*), SUM(n) FROM numbers")]
    });
}

/// MariaDB's connectors send PREPARE and EXECUTE at once.
#[test]
fn pipelines_are_relayed() {
    let Some(world) = orders() else { return };
    at_both(&world, |raw| {
        let last = [&u32::MAX.to_le_bytes()[..], &[0], &1_u32.to_le_bytes(), &[0, 1, 8, 0]].concat();
        let mut pieces = vec![command(PREPARE, b"SELECT note FROM orders WHERE id = ?")];
        for value in 1..=50_i64 {
            pieces.push(command(EXECUTE, &[&last[..], &value.to_le_bytes()].concat()));
        }
        raw.send(&pieces.concat());
        raw.send(&command(PING, b""));
        (0..51).map(|_| raw_answer(raw)).collect()
    });
}

/// One answer of a pipeline: it ends where the numbers begin anew, which the next one's first packet shows, so ends are counted here.
fn raw_answer(raw: &mut Raw) -> Vec<Received> {
    let mut all = Vec::new();
    loop {
        let mut next = [0; 4];
        let peeked = raw.stream.peek(&mut next).unwrap();
        assert!(peeked > 0, "the end after {all:?}");
        if peeked == 4 && next[3] == 1 && !all.is_empty() {
            return all;
        }
        if peeked == 4 {
            all.push(raw.receive().unwrap());
        }
    }
}

/// What the client of MariaDB prints for a script, with its errors.
#[test]
fn the_client_of_mariadb_says_the_same() {
    let Some(world) = orders() else { return };
    if !lacuna_testkit::servers::is_installed("mariadb") {
        return;
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "1\tone\n2\t\\N\n").unwrap();
    let script = format!(
        "SELECT * FROM orders WHERE customer BETWEEN 3 AND 5;\nCREATE TEMPORARY TABLE p (a INT, b TEXT);\n\
         LOAD DATA LOCAL INFILE '{}' INTO TABLE p;\nSELECT * FROM p;\nSELECT nothing;\nSHOW CREATE TABLE orders\\G\n\
         delimiter //\nBEGIN NOT ATOMIC SELECT 1; SELECT 2; END//\ndelimiter ;\nSELECT VERSION();\n",
        file.path().display()
    );
    let said = |port: u16| {
        let port = port.to_string();
        let options = [
            "--no-defaults",
            "--host=127.0.0.1",
            "--user=root",
            "--skip-ssl",
            "--local-infile=1",
            "-f",
            "-vvv",
        ];
        let said = run("mariadb", &[&options[..], &["--port", &port, "test"]].concat(), &[], &script);
        // How long each took.
        let lines = said.stdout.lines().map(|line| line.split(" (0.").next().unwrap_or_default());
        (lines.collect::<Vec<_>>().join("\n"), said.stderr)
    };
    let direct = said(world.mariadb.port());
    assert!(direct.0.contains("n4") && direct.1.contains("Unknown column"), "{direct:?}");
    assert_eq!(said(world.port()), direct);
    assert_eq!(world.proxy().counts().unfollowed, 0);
}
