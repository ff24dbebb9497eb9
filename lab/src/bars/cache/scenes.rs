//! Runs whose throughputs are compared.

use std::time::Duration;

use lacuna_base::Result;
use lacuna_cache_protocol::Policy;

use super::{Bar, Effort, Limit};
use crate::cache_bench::row::Row;
use crate::cache_bench::run::{Bench, Turns};
use crate::cache_bench::setup::{Setup, StoreKind, System};

pub(super) const AROUND: System = System::Lacuna(Policy::WriteAround);
pub(super) const THROUGH: System = System::Lacuna(Policy::WriteThrough);
pub(super) const BACK: System = System::Lacuna(Policy::WriteBack);
/// How long each run is, unless a time or a number of operations is asked for.
const TIME: Duration = Duration::from_secs(60);
/// The store's delay where there is one.
const DELAY: Duration = Duration::from_millis(5);
/// Turns of each of two setups that are compared: an odd number, whose median is one of them. A turn is short beside
/// the minutes within which a shared machine becomes faster or slower.
pub(super) const TURNS: u32 = 31;
/// Clients where the servers' bandwidth is what counts. Of `n` servers that are asked equally often one is idle for a
/// share of `(n - 1) / (clients + n - 1)` of the time, by chance alone: with this number, 8 servers do at most 3.82
/// times what 2 do.
pub(crate) const MANY_CLIENTS: usize = 128;

/// Runs on behalf of bars.
pub(super) struct Stage<'a> {
    pub(super) bench: &'a mut Bench,
    pub(super) effort: &'a Effort,
    pub(super) say: &'a mut dyn FnMut(String),
}

impl Stage<'_> {
    pub(super) fn setup(&self, system: System, scan_percent: u64) -> Setup {
        Setup {
            records: self.effort.records,
            length: self.effort.length_or(TIME),
            seed: self.effort.seed,
            scan_percent,
            ..Setup::new(system, StoreKind::Postgres)
        }
    }

    fn run(&mut self, setup: Setup) -> Result<Row> {
        self.bench.measure(setup, self.say)
    }

    /// Setups by turns.
    pub(super) fn in_turn<const N: usize>(&mut self, setups: [Setup; N], turns: u32) -> Result<Turns<N>> {
        self.bench.measure_in_turn(setups, turns, self.say)
    }

    /// The throughput of the first over that of the second, by turns.
    fn compare(&mut self, name: &str, setups: [Setup; 2], limit: Limit) -> Result<Bar> {
        Ok(by_turns(name, &self.in_turn(setups, TURNS)?, [0, 1], limit))
    }
}

/// The throughput of one setup over that of another, by turns; a row with an anomaly or a lost update fails.
pub(super) fn by_turns<const N: usize>(
    name: impl Into<String>,
    turns: &Turns<N>,
    [one, other]: [usize; 2],
    limit: Limit,
) -> Bar {
    let (row, than, [least, median, greatest]) =
        (&turns.rows[one], &turns.rows[other], turns.ratios(one, other));
    let ratio = if is_right(row) && is_right(than) { median } else { f64::NAN };
    let value = format!("{}; {least:.2} to {greatest:.2} times by turn", throughput(row));
    Bar::number(name, value, format!("{}: {}", than.setup.system.name(), throughput(than)), ratio, limit)
}

fn is_right(row: &Row) -> bool {
    row.anomalies == 0 && row.lost_updates == 0
}

fn throughput(row: &Row) -> String {
    let note = if is_right(row) { "" } else { ", NOT CONSISTENT" };
    format!("{:.0} operations a second{note}", row.throughput())
}

/// Throughput of one over that of another, which every row with an anomaly or a lost update fails.
fn faster(name: &str, row: &Row, than: &Row, limit: Limit) -> Bar {
    let ratio = if is_right(row) && is_right(than) { row.throughput() / than.throughput() } else { f64::NAN };
    Bar::number(name, throughput(row), throughput(than), ratio, limit)
}

/// Pinned bytes do not grow: in the last fifth they are on average at most the maximum of the middle fifth.
fn pinned(name: &str, row: &Row) -> Bar {
    let (middle, end) = (row.pinned_middle(), row.pinned_end());
    let (value, beside) =
        (format!("{end} bytes in the last fifth"), format!("up to {middle} in the middle one"));
    let ratio = end as f64 / middle.max(1) as f64;
    Bar::number(format!("pinned bytes of {name}"), value, beside, ratio, Limit::AtMost(1.0))
}

/// Store delay 5 ms, warm, 5 rows, against the store alone, for one client. More clients would raise the
/// throughput of a store that only waits in proportion, but that of a cache on this machine only up to its processors.
pub(super) fn delay(bench: &mut Bench, effort: &Effort, say: &mut dyn FnMut(String)) -> Result<Vec<Bar>> {
    let mut stage = Stage { bench, effort, say };
    let delayed =
        |stage: &Stage<'_>, system, scans| Setup { clients: 1, delay: DELAY, ..stage.setup(system, scans) };
    let mut bars = Vec::new();
    let setup = delayed(&stage, System::Store, 99);
    let alone = stage.run(setup)?;
    for (system, min) in [(BACK, 50.0), (THROUGH, 30.0), (AROUND, 10.0)] {
        let setup = delayed(&stage, system, 99);
        let row = stage.run(setup)?;
        let name = format!("99 % scans, `{}` over the store 5 ms away", system.name());
        bars.push(faster(&name, &row, &alone, Limit::AtLeast(min)));
        if system == BACK {
            bars.push(pinned("99 % scans", &row));
        }
    }
    let setup = delayed(&stage, System::Store, 10);
    let alone = stage.run(setup)?;
    let setup = Setup { copies: 3, ..delayed(&stage, BACK, 10) };
    let row = stage.run(setup)?;
    bars.push(faster("10 % scans, `back` with 3 copies in memory", &row, &alone, Limit::AtLeast(5.0)));
    bars.push(pinned("10 % scans, 3 copies in memory", &row));
    let setup = Setup { copies: 3, is_durable: true, ..delayed(&stage, BACK, 10) };
    let row = stage.run(setup)?;
    bars.push(faster("10 % scans, `back` with `appendfsync always`", &row, &alone, Limit::AtLeast(1.5)));
    bars.push(pinned("10 % scans, `appendfsync always`", &row));
    Ok(bars)
}

/// β 0 against 100.
pub(super) fn beta(bench: &mut Bench, effort: &Effort, say: &mut dyn FnMut(String)) -> Result<Vec<Bar>> {
    let mut stage = Stage { bench, effort, say };
    let mut bars = Vec::new();
    for (scans, limit) in [(10, Limit::AtLeast(1.0)), (100, Limit::Below(1.0))] {
        let whole = stage.setup(BACK, scans);
        let parts = Setup { beta: Some(0), ..whole.clone() };
        bars.push(stage.compare(&format!("{scans} % scans, beta 0 over beta 100"), [parts, whole], limit)?);
    }
    Ok(bars)
}

/// Three copies against one.
pub(super) fn copies(bench: &mut Bench, effort: &Effort, say: &mut dyn FnMut(String)) -> Result<Vec<Bar>> {
    let mut stage = Stage { bench, effort, say };
    let mut bars = Vec::new();
    for (scans, min) in [(10, 0.75), (99, 0.97)] {
        let one = stage.setup(BACK, scans);
        let three = Setup { copies: 3, ..one.clone() };
        let name = format!("{scans} % scans, 3 copies over 1");
        bars.push(stage.compare(&name, [three, one], Limit::AtLeast(min))?);
    }
    Ok(bars)
}

/// Bytes a second of each cache server: few enough that the eight lines are the bottleneck and not two cores; an update
/// takes more work than a scan, and fewer bytes.
pub(crate) const fn bandwidth(scan_percent: u64) -> u64 {
    if scan_percent > 90 { 3 << 19 } else { 1 << 18 }
}

/// Eight cache servers against two, every one held to the same bandwidth.
pub(super) fn servers(bench: &mut Bench, effort: &Effort, say: &mut dyn FnMut(String)) -> Result<Vec<Bar>> {
    let mut stage = Stage { bench, effort, say };
    let mut bars = Vec::new();
    for scans in [10, 50, 99, 100] {
        let two = Setup {
            cache_servers: 2,
            clients: MANY_CLIENTS,
            bandwidth: Some(bandwidth(scans)),
            ..stage.setup(BACK, scans)
        };
        let eight = Setup { cache_servers: 8, ..two.clone() };
        let name = format!("{scans} % scans, 8 cache servers over 2");
        bars.push(stage.compare(&name, [eight, two], Limit::AtLeast(3.5))?);
    }
    Ok(bars)
}
