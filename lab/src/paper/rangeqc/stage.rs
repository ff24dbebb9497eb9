//! Runs for figures: how large they are, and what a page says of that.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use crate::paper::{Axis, DataTable, Line, Plot, Session, shown};
use lacuna_base::Result;
use lacuna_cache_protocol::Policy;

use crate::cache_bench::interrupt;
use crate::cache_bench::row::Row;
use crate::cache_bench::run::Bench;
use crate::cache_bench::setup::{Length, Setup, StoreKind, System};

/// Records here and in the report.
const RECORDS: (usize, usize) = (2_000, 10_000_000);
/// How long a run is here, unless a number of operations is asked for.
const TIME: Duration = Duration::from_secs(3);

/// The range cache by its policies.
pub(super) const AROUND: System = System::Lacuna(Policy::WriteAround);
/// Write-through.
pub(super) const THROUGH: System = System::Lacuna(Policy::WriteThrough);
/// Write-back.
pub(super) const BACK: System = System::Lacuna(Policy::WriteBack);

/// Shares of scans, in percent, of the report's figures.
pub(super) const SHARES: [u64; 7] = [10, 25, 50, 75, 90, 95, 99];

/// The setup of a figure, before it is changed.
pub(super) fn setup(session: &Session<'_>, system: System, store: StoreKind, scan_percent: u64) -> Setup {
    Setup {
        records: session.key_count_or(RECORDS.0, RECORDS.1) as u64,
        length: length(session),
        seed: session.seed(),
        scan_percent,
        ..Setup::new(system, store)
    }
}

fn length(session: &Session<'_>) -> Length {
    match session.query_count_or(0) {
        0 => Length::Time(TIME),
        operations => Length::Operations(operations as u64),
    }
}

/// Measures a setup, once for all figures that look at it.
pub(super) fn run(session: &mut Session<'_>, setup: Setup) -> Result<Rc<Row>> {
    session.once(format!("{setup:?}"), |session| measure(session, setup))
}

fn measure(session: &mut Session<'_>, setup: Setup) -> Result<Row> {
    let bench = session.once("servers of the cache".to_owned(), |_| {
        interrupt::watch()?;
        Ok(RefCell::new(Bench::default()))
    })?;
    let what = format!("{} over {}, {} % scans", setup.system.name(), setup.store.name(), setup.scan_percent);
    bench.borrow_mut().measure(setup, &mut |stage| session.say(format!("{what}: {stage}")))
}

/// Rows by the share of scans.
pub(super) fn by_share(
    session: &mut Session<'_>,
    shares: &[u64],
    setup: impl Fn(&Session<'_>, u64) -> Setup,
) -> Result<Vec<Rc<Row>>> {
    shares.iter().map(|share| run(session, setup(session, *share))).collect()
}

/// Rows of setups that are compared, by the share of scans. Those of one share are measured one after the other, even if another
/// figure knows one of them: the machine's speed drifts.
pub(super) fn beside<const N: usize>(
    session: &mut Session<'_>,
    shares: &[u64],
    setup: impl Fn(&Session<'_>, usize, u64) -> Setup,
) -> Result<[Vec<Rc<Row>>; N]> {
    let mut rows = [const { Vec::new() }; N];
    for share in shares {
        for (which, rows) in rows.iter_mut().enumerate() {
            rows.push(Rc::new(measure(session, setup(session, which, *share))?));
        }
    }
    Ok(rows)
}

/// By how many percent each row has more throughput than its yardstick.
pub(super) fn improvements(rows: &[Rc<Row>], alone: &[Rc<Row>]) -> Vec<f64> {
    rows.iter().zip(alone).map(|(row, alone)| (row.throughput() / alone.throughput() - 1.0) * 100.0).collect()
}

/// A line over shares of scans.
pub(super) fn line(name: &str, shares: &[u64], values: &[f64]) -> Line {
    Line::ours(name, shares.iter().zip(values).map(|(share, value)| (*share as f64, *value)))
}

/// A panel over shares of scans.
pub(super) fn panel(title: &str, y: Axis, lines: Vec<Line>) -> Plot {
    Plot { title: title.to_owned(), x: Axis::linear("scans, %"), y, lines }
}

/// A table with a line for each named row of numbers.
pub(super) fn table(title: &str, header: &[String], rows: Vec<(String, Vec<f64>)>) -> DataTable {
    let cells = |(name, values): (String, Vec<f64>)| {
        std::iter::once(name).chain(values.iter().map(|value| shown(*value))).collect()
    };
    DataTable {
        title: title.to_owned(),
        header: header.to_vec(),
        rows: rows.into_iter().map(cells).collect(),
    }
}

/// A header of shares after a first column.
pub(super) fn share_header(first: &str, shares: &[u64]) -> Vec<String> {
    std::iter::once(first.to_owned()).chain(shares.iter().map(|share| format!("{share} %"))).collect()
}

/// How far a run is below the report, and whether its scans were right.
pub(super) fn notes(session: &Session<'_>, rows: &[Rc<Row>]) -> Vec<String> {
    let records = session.key_count_or(RECORDS.0, RECORDS.1);
    let anomalies: u64 = rows
        .iter()
        .filter(|row| matches!(row.setup.system, System::Lacuna(_)))
        .map(|row| row.anomalies)
        .sum();
    let lost: u64 = rows.iter().map(|row| row.lost_updates).sum();
    vec![
        format!(
            "{records} records, a factor of {} below the report; {} a point, one after the other: two points differ by what the \
             machine did meanwhile, too.",
            shown(RECORDS.1 as f64 / records as f64),
            match length(session) {
                Length::Time(time) => format!("{} seconds", time.as_secs()),
                Length::Operations(operations) => format!("{operations} operations"),
            }
        ),
        format!("Of ours, {anomalies} scans were anomalies, and {lost} records lost an acknowledged update."),
    ]
}
