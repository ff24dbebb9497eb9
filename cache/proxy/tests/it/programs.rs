//! `psql` and `pgbench`, as they are.

use std::process::{Command, Stdio};

use crate::world::{World, psql, psql_script, run};

/// Statements whose output is compared.
const SCRIPT: &str = r"
CREATE TEMP TABLE people (id INT PRIMARY KEY, name TEXT, born DATE, pay NUMERIC, tags TEXT[], extra JSONB);
INSERT INTO people SELECT n, 'name ' || n, DATE '2000-01-01' + n, n * 1.5, ARRAY['a', 'b'], '{}' FROM generate_series(1, 100) n;
SELECT * FROM people WHERE id BETWEEN $1 AND $2 ORDER BY id \bind 10 13 \g
SELECT count(*), sum(pay) FROM people;
\copy (SELECT id, name FROM people WHERE id < 4 ORDER BY id) TO STDOUT
\copy people (id, name) FROM STDIN
1000	a thousand
1001	\N
\.
COPY people (id) TO STDOUT WITH (FORMAT csv);
PREPARE one (INT) AS SELECT name FROM people WHERE id = $1;
EXECUTE one (7);
DO $$ BEGIN RAISE NOTICE 'a notice'; END $$;
BEGIN; SAVEPOINT s; SELECT 1/0; ROLLBACK TO s; COMMIT;
SELECT nothing;
DECLARE c CURSOR WITH HOLD FOR SELECT id FROM people ORDER BY id; FETCH 3 FROM c; CLOSE c;
\set FETCH_COUNT 10
SELECT id FROM people ORDER BY id LIMIT 25;
\d people
\gdesc
SELECT 1 \gset
\echo :?column?
";

#[test]
fn psql_says_the_same_direct_and_relayed() {
    let Some(world) = World::start() else { return };
    let direct = psql_script(&world.direct(), SCRIPT);
    let relayed = psql_script(&world.url(), SCRIPT);
    assert!(direct.stdout.contains("name 12") || direct.stderr.contains("\\bind"), "{direct:?}");
    assert_eq!(without_schema(&relayed.stdout), without_schema(&direct.stdout));
    assert_eq!(relayed.stderr, direct.stderr);
}

/// Sessions have temporary schemas with other numbers.
fn without_schema(text: &str) -> String {
    let mut parts = text.split("pg_temp_");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| {
        all + "pg_temp_" + part.trim_start_matches(|digit: char| digit.is_ascii_digit())
    })
}

#[test]
fn pgbench_runs_in_every_mode() {
    let Some(world) = World::start() else { return };
    run("pgbench", &["-i", "-q", &world.url()], &[], "").expect_success();
    for mode in ["simple", "extended", "prepared"] {
        for clients in ["1", "8"] {
            let transactions = if clients == "1" { "40" } else { "10" };
            let arguments = ["-n", "-M", mode, "-c", clients, "-t", transactions, &world.url()];
            let said = run("pgbench", &arguments, &[], "").expect_success();
            assert!(said.contains("number of failed transactions: 0"), "{said}");
        }
    }
    let rows = world.admin("SELECT count(*) FROM pgbench_history");
    assert_eq!(rows.trim(), (3 * (40 + 80)).to_string());
    assert_eq!(world.proxy().counts().unfollowed, 0, "every session was understood");
}

#[test]
fn pipelines_of_pgbench_are_relayed() {
    let Some(world) = World::start() else { return };
    let script = "\\startpipeline\nSELECT 1;\nSELECT 2;\nSELECT generate_series(1, 100);\n\\endpipeline\n";
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), script).unwrap();
    let path = file.path().display().to_string();
    let said = run("pgbench", &["-n", "-M", "extended", "-t", "50", "-f", &path, &world.url()], &[], "");
    assert!(said.expect_success().contains("failed transactions: 0"));
    assert_eq!(world.proxy().counts().unfollowed, 0);
}

#[test]
fn notifications_come_without_a_question() {
    let Some(world) = World::start() else { return };
    let (mut listener, _) = crate::raw::Raw::login(world.proxy().address().port());
    assert_eq!(listener.ask("LISTEN news"), "CZ");
    psql(&world.url(), &["-c", "NOTIFY news, 'first'"]).expect_success();
    let (tag, body) = listener.receive().unwrap();
    assert!(tag == b'A' && body.ends_with(b"news\0first\0"), "{body:?}");
}

#[test]
fn a_thousand_clients_come_and_go() {
    let Some(world) = World::start() else { return };
    // `-C`: a connection for each transaction.
    run("pgbench", &["-i", "-q", &world.direct()], &[], "").expect_success();
    let said = run("pgbench", &["-n", "-S", "-C", "-c", "10", "-t", "100", &world.url()], &[], "");
    said.expect_success();
    assert!(world.proxy().counts().sessions >= 1_000);
    crate::world::eventually("every session ends", || world.proxy().counts().open == 0);
}

#[test]
fn a_client_that_is_killed_frees_its_session() {
    let Some(world) = World::start() else { return };
    let mut child = Command::new("psql")
        .args(["-X", &world.url()])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    crate::world::eventually("it connects", || world.proxy().counts().open == 1);
    child.kill().unwrap();
    child.wait().unwrap();
    crate::world::eventually("its session ends", || world.proxy().counts().open == 0);
}
