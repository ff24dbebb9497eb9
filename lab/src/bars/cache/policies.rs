//! The write policies beside the store alone on the same processors, and results put together beside a plain Redis.
//!
//! What is compared takes turns. Each range chooses beta, as it does unless a program fixes it; what it has found out it keeps
//! for the next turn. All rows are in memory, and a store that is some milliseconds away holds every request back, a commit as any other.

use std::time::Duration;

use lacuna_base::Result;

use super::scenes::{AROUND, BACK, Stage, THROUGH, TURNS, by_turns};
use super::{Bar, Effort, Limit};
use crate::cache_bench::row::Row;
use crate::cache_bench::run::Bench;
use crate::cache_bench::setup::{Setup, StoreKind, System};

/// How long each run is, unless a time or a number of operations is asked for: four setups at once are ready for each scene.
const TIME: Duration = Duration::from_secs(10);
/// Turns of each setup: few, as a turn of write-back ends with writes that it put off.
const FEW_TURNS: u32 = 5;
/// Clients.
const CLIENTS: usize = 16;
/// How far away a store is.
const DELAY: Duration = Duration::from_millis(2);
/// What the far store's rows say of it.
const AWAY: &str = "each request 2 ms away";

/// A store, and what write-back has to do beside it.
#[derive(Debug, Clone, Copy)]
struct Scene {
    store: StoreKind,
    /// Its name in the rows.
    name: &'static str,
    away: &'static str,
    delay: Duration,
    /// Times the store alone at 10 and at 99 % scans, at least.
    min: [f64; 2],
}

const SCENES: [Scene; 4] = [
    near(StoreKind::MariaDb, "MariaDB"),
    far(StoreKind::MariaDb, "MariaDB"),
    near(StoreKind::Postgres, "PostgreSQL"),
    far(StoreKind::Postgres, "PostgreSQL"),
];

const fn near(store: StoreKind, name: &'static str) -> Scene {
    Scene { store, name, away: "in memory", delay: Duration::ZERO, min: [1.0, 4.0] }
}

const fn far(store: StoreKind, name: &'static str) -> Scene {
    Scene { store, name, away: AWAY, delay: DELAY, min: [4.0, 10.0] }
}

impl Scene {
    fn setup(&self, stage: &Stage<'_>, system: System, scan_percent: u64) -> Setup {
        Setup {
            store: self.store,
            delay: self.delay,
            beta: None,
            clients: CLIENTS,
            length: stage.effort.length_or(TIME),
            ..stage.setup(system, scan_percent)
        }
    }

    fn row(&self, what: &str, scan_percent: u64) -> String {
        format!("{}, {}, {scan_percent} % scans: {what}", self.name, self.away)
    }
}

/// Write-back beside the store alone, and where writes are many beside the other policies.
pub(super) fn policies(bench: &mut Bench, effort: &Effort, say: &mut dyn FnMut(String)) -> Result<Vec<Bar>> {
    let mut stage = Stage { bench, effort, say };
    let mut bars = Vec::new();
    for scene in SCENES {
        let [at_10, at_99] = scene.min.map(Limit::AtLeast);
        let setups = [BACK, System::Store, AROUND, THROUGH].map(|system| scene.setup(&stage, system, 10));
        let turns = stage.in_turn(setups, FEW_TURNS)?;
        bars.push(by_turns(scene.row("`back` over the store alone", 10), &turns, [0, 1], at_10));
        let [_, _, around, through] = turns.rows.each_ref().map(Row::throughput);
        let better = if around > through { 2 } else { 3 };
        let name = scene.row("`back` over the better of the other two", 10);
        bars.push(by_turns(name, &turns, [0, better], Limit::AtLeast(1.0)));
        let setups = [BACK, System::Store].map(|system| scene.setup(&stage, system, 99));
        let turns = stage.in_turn(setups, FEW_TURNS)?;
        bars.push(by_turns(scene.row("`back` over the store alone", 99), &turns, [0, 1], at_99));
    }
    Ok(bars)
}

/// Scans alone with beta 0, beside the rows in Redis and nothing else.
pub(super) fn redis(bench: &mut Bench, effort: &Effort, say: &mut dyn FnMut(String)) -> Result<Vec<Bar>> {
    let mut stage = Stage { bench, effort, say };
    let setups = [BACK, System::Naive, System::NaiveLua].map(|system| Setup {
        store: StoreKind::PostgresAsync,
        beta: Some(0),
        length: effort.length_or(TIME),
        ..stage.setup(system, 100)
    });
    let turns = stage.in_turn(setups, TURNS)?;
    let bar = |other: usize, what: &str| {
        by_turns(format!("100 % scans, beta 0 over {what}"), &turns, [0, other], Limit::AtLeast(1.0))
    };
    Ok(vec![
        bar(1, "a plain Redis cache of the rows, asked by `ZRANGE` and `MGET`"),
        bar(2, "the same asked by one Lua script"),
    ])
}
