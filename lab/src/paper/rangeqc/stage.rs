//! Runs for figures: how large they are, in which order they are measured, and what a page says of that.

use std::cell::RefCell;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use crate::paper::{Axis, DataTable, Line, Plot, Session, Summary, shown};
use lacuna_base::{Error, Result};
use lacuna_cache_protocol::Policy;

use crate::cache_bench::interrupt;
use crate::cache_bench::records::COLUMN_BYTES;
use crate::cache_bench::row::{Row, csv_header, to_csv_line};
use crate::cache_bench::run::Bench;
use crate::cache_bench::setup::{Length, RECORD_BYTES_IN_STORE, Setup, StoreKind, System};

/// Records here and in the report.
const RECORDS: (usize, usize) = (2_000, 10_000_000);
/// How long a point is measured, unless a time or a number of operations is asked for.
const TIME: Duration = Duration::from_secs(3);

/// Bytes of results that a cache holds at most: what a machine of 24 GB can spare. Where all results of a figure would take more,
/// it has fewer records.
pub(super) const CACHE_BYTES: u64 = 8_000_000_000;
/// What a cache server takes for a byte of a result, in hundredths: YCSB's characters, and its own bookkeeping.
const RESULT_PERCENT: u64 = 130;
/// Records at least where a quarter of the rows are in memory: a server of a database needs some megabytes.
const MIN_DISK_RECORDS: u64 = 20_000;

/// The range cache by its policies.
pub(super) const AROUND: System = System::Lacuna(Policy::WriteAround);
/// Write-through.
pub(super) const THROUGH: System = System::Lacuna(Policy::WriteThrough);
/// Write-back.
pub(super) const BACK: System = System::Lacuna(Policy::WriteBack);

/// Shares of scans, in percent, of the report's figures.
pub(super) const SHARES: [u64; 7] = [10, 25, 50, 75, 90, 95, 99];

/// Shares of scans where a quarter of the rows are in memory: each point takes longer there.
pub(super) const DISK_SHARES: [u64; 4] = [10, 50, 90, 99];

/// The rows of one setup, run by run.
pub(super) type Runs = Vec<Rc<Row>>;

/// The setup of a figure, before it is changed.
pub(super) fn setup(session: &Session<'_>, system: System, store: StoreKind, scan_percent: u64) -> Setup {
    Setup {
        records: session.key_count_or(RECORDS.0, RECORDS.1) as u64,
        length: length(session, TIME),
        seed: session.seed(),
        scan_percent,
        ..Setup::new(system, store)
    }
}

/// The same with memory for a quarter of the rows.
pub(super) fn on_disk(setup: Setup) -> Setup {
    let records = setup.records.max(MIN_DISK_RECORDS);
    Setup { records, store_memory: Some(records * RECORD_BYTES_IN_STORE / 4), ..setup }
}

/// How long a point is: as asked, else `own`.
pub(super) fn length(session: &Session<'_>, own: Duration) -> Length {
    match session.query_count_or(0) {
        0 => Length::Time(session.time_or(own)),
        operations => Length::Operations(operations as u64),
    }
}

/// Measures a setup in all runs, once for all figures that look at it.
pub(super) fn run(session: &mut Session<'_>, setup: Setup) -> Result<Runs> {
    let setup = with_records(setup.clone(), max_records([&setup]));
    bench(session)?.borrow_mut().end_from(1, &mut |_| {})?;
    let runs = session.runs();
    let one = |number| {
        let setup = of_run(setup.clone(), number);
        session.once(format!("{setup:?}"), |session| measure(session, 0, setup, number))
    };
    (0..runs).map(one).collect()
}

/// What `setup` is in the run with this number: clients make other choices.
fn of_run(setup: Setup, number: u32) -> Setup {
    Setup { seed: setup.seed.wrapping_add(number.into()), ..setup }
}

/// The same with `max` records at most; a store with little memory has less of it, then.
fn with_records(setup: Setup, max: u64) -> Setup {
    let records = setup.records.min(max);
    let store_memory = setup.store_memory.map(|bytes| bytes / setup.records * records);
    Setup { records, store_memory, ..setup }
}

/// The records whose results fit into the caches of these setups together, as all stay at work. One that is limited itself is not
/// counted.
fn max_records<'a>(setups: impl IntoIterator<Item = &'a Setup>) -> u64 {
    let caching =
        setups.into_iter().filter(|setup| setup.system != System::Store && setup.cache_bytes.is_none());
    let bytes: u64 = caching.map(|setup| setup.rows * setup.columns as u64 * COLUMN_BYTES as u64).sum();
    CACHE_BYTES * 100 / RESULT_PERCENT / bytes.max(1)
}

fn bench(session: &mut Session<'_>) -> Result<Rc<RefCell<Bench>>> {
    let folder = session.data_folder();
    session.once("servers of the cache".to_owned(), |_| {
        interrupt::watch()?;
        Ok(RefCell::new(Bench::with_data_folder(folder)))
    })
}

/// Measures `setup` at its place among those that it is compared with.
fn measure(session: &mut Session<'_>, place: usize, setup: Setup, number: u32) -> Result<Row> {
    let bench = bench(session)?;
    let (system, store, share) = (setup.system.name(), setup.store.name(), setup.scan_percent);
    let what = format!("run {} of {}, {system} over {store}, {share} % scans", number + 1, session.runs());
    let row =
        bench.borrow_mut().measure_at(place, setup, &mut |stage| session.say(format!("{what}: {stage}")))?;
    session.points().map_or(Ok(()), |path| keep_point(&path, &row))?;
    Ok(row)
}

/// Appends a point to the file of `--points`: a figure takes hours, and may be broken off.
fn keep_point(path: &Path, row: &Row) -> Result<()> {
    let keep = |line: String| {
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        let header = if file.metadata()?.len() == 0 { csv_header() } else { String::new() };
        file.write_all((header + &line).as_bytes())
    };
    keep(to_csv_line(row)?).map_err(|error| {
        Error::invalid_input(format!("{} cannot keep points: {error}", path.display())).with_source(error)
    })
}

/// Rows by the share of scans.
pub(super) fn by_share(
    session: &mut Session<'_>,
    shares: &[u64],
    setup: impl Fn(&Session<'_>, u64) -> Setup,
) -> Result<Vec<Runs>> {
    shares.iter().map(|share| run(session, setup(session, *share))).collect()
}

/// Rows of setups that are compared, by the share of scans. In each run, those of one share are measured one after the other, even
/// if another figure knows one of them: the machine's speed drifts. Every other run begins with the last of them.
pub(super) fn beside<const N: usize>(
    session: &mut Session<'_>,
    shares: &[u64],
    setup: impl Fn(&Session<'_>, usize, u64) -> Setup,
) -> Result<[Vec<Runs>; N]> {
    let mut rows = [const { Vec::new() }; N];
    rows.iter_mut().for_each(|rows: &mut Vec<Runs>| rows.resize(shares.len(), Runs::new()));
    bench(session)?.borrow_mut().end_from(0, &mut |_| {})?;
    let all: Vec<Setup> = shares
        .first()
        .map_or(Vec::new(), |share| (0..N).map(|which| setup(session, which, *share)).collect());
    let max_records = max_records(&all);
    for number in 0..session.runs() {
        for (place, share) in shares.iter().enumerate() {
            for turn in 0..N {
                let which = if number % 2 == 0 { turn } else { N - 1 - turn };
                let setup = of_run(setup(session, which, *share), number);
                let setup = with_records(setup, max_records);
                rows[which][place].push(Rc::new(measure(session, which, setup, number)?));
            }
        }
    }
    Ok(rows)
}

/// What `value` is in the runs.
pub(super) fn summary(runs: &Runs, value: impl Fn(&Row) -> f64) -> Summary {
    Summary::of(runs.iter().map(|row| value(row)))
}

/// The throughput of `one` over that of `other` in each run, from the two rows of the same turn.
fn ratios(one: &Runs, other: &Runs) -> impl Iterator<Item = f64> {
    one.iter().zip(other).map(|(one, other)| one.throughput() / other.throughput())
}

/// The throughput of `one` over that of `other`.
pub(super) fn ratio(one: &Runs, other: &Runs) -> Summary {
    Summary::of(ratios(one, other))
}

/// By how many percent `one` has more throughput than `other`.
pub(super) fn improvement(one: &Runs, other: &Runs) -> Summary {
    Summary::of(ratios(one, other).map(|ratio| (ratio - 1.0) * 100.0))
}

/// By how many percent each has more throughput than its yardstick.
pub(super) fn improvements(rows: &[Runs], alone: &[Runs]) -> Vec<Summary> {
    rows.iter().zip(alone).map(|(runs, alone)| improvement(runs, alone)).collect()
}

/// Operations a second.
pub(super) fn throughputs(rows: &[Runs]) -> Vec<Summary> {
    rows.iter().map(|runs| summary(runs, Row::throughput)).collect()
}

/// A line over shares of scans.
pub(super) fn line(name: &str, shares: &[u64], values: &[Summary]) -> Line {
    Line::of_runs(name, shares.iter().zip(values).map(|(share, value)| (*share as f64, *value)))
}

/// A panel over shares of scans.
pub(super) fn panel(title: &str, y: Axis, lines: Vec<Line>) -> Plot {
    Plot { title: title.to_owned(), x: Axis::linear("scans, %"), y, lines }
}

/// A table with a line for each named row of numbers.
pub(super) fn table(title: &str, header: &[String], rows: Vec<(String, Vec<Summary>)>) -> DataTable {
    let cells = |(name, values): (String, Vec<Summary>)| {
        std::iter::once(name).chain(values.iter().map(Summary::to_string)).collect()
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

/// How far a figure is below the report, how long and how often it was measured, and whether its scans were right.
pub(super) fn notes<'a>(session: &Session<'_>, rows: impl IntoIterator<Item = &'a Runs>) -> Vec<String> {
    let rows: Vec<&Rc<Row>> = rows.into_iter().flatten().collect();
    let ours = rows.iter().filter(|row| matches!(row.setup.system, System::Lacuna(_)));
    let anomalies: u64 = ours.map(|row| row.anomalies).sum();
    let lost: u64 = rows.iter().map(|row| row.lost_updates).sum();
    let mut notes = vec![
        size_sentence(session, &rows),
        format!("Of ours, {anomalies} scans were anomalies, and {lost} records lost an acknowledged update."),
    ];
    notes.extend(memory_sentence(&rows));
    notes
}

/// The memory of stores that have too little of it.
fn memory_sentence(rows: &[&Rc<Row>]) -> Option<String> {
    let limited = rows.iter().find_map(|row| Some((row.setup.store_memory?, row.setup.records)));
    let (memory, records) = limited?;
    Some(format!(
        "With a quarter of the rows in memory, the server of the database has {} MB for {} MB of rows, and reads the others from the disk, past \
         the page cache of the system (`O_DIRECT`). The report's database has memory for all rows: there, only writes wait for the disk.",
        shown(memory as f64 / 1e6),
        shown((records * RECORD_BYTES_IN_STORE) as f64 / 1e6)
    ))
}

/// Records, time and runs.
fn size_sentence(session: &Session<'_>, rows: &[&Rc<Row>]) -> String {
    let mut sizes: Vec<u64> = rows.iter().map(|row| row.setup.records).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let records: Vec<String> = sizes
        .iter()
        .map(|size| {
            format!("{size} records, a factor of {} below the report", shown(RECORDS.1 as f64 / *size as f64))
        })
        .collect();
    let length = rows.first().map_or(length(session, TIME), |row| row.setup.length);
    let length = match length {
        Length::Time(time) => format!("{} s", time.as_secs_f64()),
        Length::Operations(operations) => format!("{operations} operations"),
    };
    let runs = match session.runs() {
        1 => "in one run: two points differ by what the machine did meanwhile, too".to_owned(),
        runs => format!(
            "in each of {runs} runs: the median, with the least and the greatest. Ratios are made within a run, from points that \
             were measured one after the other"
        ),
    };
    format!("{}; {length} a point, {runs}.", records.join(", and "))
}

/// A run of a second that did nothing else.
#[cfg(test)]
pub(super) fn row_of(scans: u64) -> Row {
    Row {
        setup: Setup::new(BACK, StoreKind::Sqlite),
        scans,
        updates: 0,
        seconds: 1.0,
        drain_seconds: 0.0,
        scan_us: None,
        update_us: None,
        traffic: crate::cache_bench::system::Traffic::default(),
        pinned: Vec::new(),
        entry_log: Vec::new(),
        kept_share: None,
        anomalies: 0,
        lost_updates: 0,
        failures: 0,
        log: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(scans: [u64; 3]) -> Runs {
        scans.map(|scans| Rc::new(row_of(scans))).to_vec()
    }

    #[test]
    fn ratios_are_made_before_medians() {
        let (one, other) = (runs([100, 40, 90]), runs([50, 20, 30]));
        assert_eq!(ratio(&one, &other), Summary { median: 2.0, extent: Some((2.0, 3.0)) });
        assert_eq!(improvements(&[one], &[other]), [Summary { median: 100.0, extent: Some((100.0, 200.0)) }]);
    }

    #[test]
    fn runs_differ_in_their_choices_only() {
        let setup = Setup::new(BACK, StoreKind::Sqlite);
        let other = of_run(setup.clone(), 2);
        assert_eq!((other.seed, other.records), (setup.seed + 2, setup.records));
        assert_eq!(of_run(setup.clone(), 0).seed, setup.seed);
    }

    #[test]
    fn all_results_fit_into_the_cache() {
        let (alone, back) =
            (Setup::new(System::Store, StoreKind::MariaDb), Setup::new(BACK, StoreKind::MariaDb));
        assert!(max_records([&alone, &back]) > 1_000_000, "five rows a scan");
        assert!((400_000..500_000).contains(&max_records([&alone, &back, &back, &back])), "three caches");
        assert!((50_000..100_000).contains(&max_records([&Setup { rows: 100, ..back.clone() }])));
        let disk = on_disk(Setup { records: 1_000_000, ..back });
        let fewer = with_records(disk.clone(), 400_000);
        assert_eq!((fewer.records, fewer.store_memory), (400_000, Some(130_000_000)));
        assert_eq!(with_records(disk, 2_000_000).records, 1_000_000);
    }

    #[test]
    fn a_store_on_disk_has_memory_for_a_quarter() {
        let setup = on_disk(Setup { records: 1_000_000, ..Setup::new(BACK, StoreKind::MariaDb) });
        assert_eq!(setup.store_memory, Some(325_000_000));
        assert!(on_disk(Setup::new(BACK, StoreKind::MariaDb)).checked().is_ok(), "the least is enough");
    }
}
