//! What the sessions of real programs say about columns.

use std::sync::Arc;

use lacuna_proxy::{Suggestion, Suggestions};
use lacuna_testkit::servers::Postgres;

use crate::raw::{Raw, bind, describe, execute, letters, message, parse, sync};
use crate::world::{World, psql, run};

fn observed() -> Option<(World, Arc<Suggestions>)> {
    let suggestions = Arc::new(Suggestions::default());
    let observer = suggestions.clone();
    let world = World::with(Postgres::start()?, |options| options.with_suggestions(observer))?;
    Some((world, suggestions))
}

fn of(suggestions: &Suggestions, table: &str, column: &str) -> Suggestion {
    let all = suggestions.all();
    let found = all.iter().find(|found| found.table == table && found.column == column);
    found.unwrap_or_else(|| panic!("{table}.{column}: {all:?}")).clone()
}

#[test]
fn pgbench_is_understood_in_every_mode() {
    let Some((world, suggestions)) = observed() else { return };
    run("pgbench", &["-i", "-q", &world.direct()], &[], "").expect_success();
    for (nth, mode) in [1, 2, 3].into_iter().zip(["simple", "extended", "prepared"]) {
        run("pgbench", &["-n", "-M", mode, "-c", "2", "-t", "50", &world.url()], &[], "").expect_success();
        let accounts = of(&suggestions, "pgbench_accounts", "aid");
        // Each transaction reads the balance that it has written; writes count from the first read on.
        assert_eq!((accounts.asked, accounts.rows), (nth * 100, nth * 100));
        assert!((nth * 100 - 2..nth * 100).contains(&accounts.writes), "{accounts:?}");
        assert!(accounts.time.as_micros() > 0);
    }
    assert_eq!(world.proxy().counts().unfollowed, 0);
    let report = suggestions.report();
    assert!(
        report.contains("300 reads that bound a column") && report.contains("pgbench_accounts.aid"),
        "{report}"
    );
}

#[test]
fn prepared_reads_are_spared_between_writes() {
    let Some((world, suggestions)) = observed() else { return };
    world.admin(
        "CREATE TABLE orders (id INT PRIMARY KEY, customer INT); INSERT INTO orders VALUES (1, 7), (2, 8)",
    );
    let (mut raw, _) = Raw::login(world.proxy().address().port());
    raw.send(
        &[parse("by", "SELECT id FROM orders WHERE customer = $1"), describe(b'S', "by"), sync()].concat(),
    );
    assert_eq!(letters(&raw.until_ready()), "1tTZ");
    let mut read = |customer: &str| {
        raw.send(&[bind("", "by", &[customer]), execute("", 0), sync()].concat());
        assert_eq!(letters(&raw.until_ready()), "2DCZ");
    };
    ["7", "7", "8"].into_iter().for_each(&mut read);
    psql(&world.url(), &["-c", "DELETE FROM orders WHERE customer = 8 AND id = 0"]).expect_success();
    ["7", "8", "8"].into_iter().for_each(&mut read);
    let orders = of(&suggestions, "orders", "customer");
    assert_eq!((orders.asked, orders.repeated, orders.spared, orders.rows, orders.writes), (6, 4, 3, 6, 1));
}

/// Values as bytes: the type is known from the description of the statement.
#[test]
fn binary_values_are_understood() {
    let Some((world, suggestions)) = observed() else { return };
    world.admin("CREATE TABLE events (day BIGINT); INSERT INTO events SELECT generate_series(1, 100)");
    let (mut raw, _) = Raw::login(world.proxy().address().port());
    let text = "SELECT count(*) FROM events WHERE day BETWEEN $1 AND $2";
    raw.send(&[parse("days", text), describe(b'S', "days"), sync()].concat());
    raw.until_ready();
    let number = |number: i64| [&8_u32.to_be_bytes()[..], &number.to_be_bytes()].concat();
    let values = [number(10), number(20)].concat();
    let bound = message(b'B', &[b"\0days\0\0\x01\0\x01\0\x02", &values, b"\0\0"]);
    for day in [30, 15] {
        raw.send(&[bound.clone(), execute("", 0), sync()].concat());
        assert_eq!(letters(&raw.until_ready()), "2DCZ");
        psql(&world.url(), &["-c", &format!("DELETE FROM events WHERE day = {day}")]).expect_success();
        raw.send(&[bound.clone(), execute("", 0), sync()].concat());
        raw.until_ready();
    }
    let events = of(&suggestions, "events", "day");
    assert_eq!((events.asked, events.repeated, events.spared, events.writes), (4, 3, 2, 2));
}
