//! Figures 5 and 6: a database of sensors' events, without filters, with Bloom filters, with `SuRF`.

mod events;
mod store;

use std::rc::Rc;

use lacuna_base::Result;

use crate::paper::{Axis, Claim, DataTable, Finding, Line, Plot, Session, shown};
pub use events::Events;
use store::{Cost, Outcome, Plan, RUNS, outcome};

/// Events of the paper, 50,000 of each sensor; and here.
const PAPER_EVENTS: usize = 100_000_000;
const OWN_EVENTS: usize = 100_000;
/// Questions of each run in the paper, and here.
const PAPER_QUESTIONS: usize = 50_000;
const OWN_QUESTIONS: usize = 2_000;
/// Events for one get that warms the cache: enough to fill it, as in the paper.
const EVENTS_A_WARMING_GET: usize = 4;

/// Nanoseconds that a read of a block is taken to cost: a flash drive of the paper's kind.
const READ_NS: f64 = 100_000.0;

/// Filters of equal memory: names in legends, and specs.
const FILTERS: [(&str, Option<&str>); 4] = [
    ("no filter", None),
    ("Bloom", Some("bloom@14")),
    ("SuRF-Hash", Some("surf:hash=4@64")),
    ("SuRF-Real", Some("surf:real=4@64")),
];

/// Share of empty ranges in percent, and the length that gives it: -ln(P) times 100,000 ns.
const EMPTY: [(f64, u64); 7] = [
    (10.0, 230_259),
    (25.0, 138_629),
    (50.0, 69_315),
    (75.0, 28_768),
    (90.0, 10_536),
    (95.0, 5_129),
    (99.0, 1_005),
];

/// Figure 5.
pub(super) fn points(session: &mut Session<'_>) -> Result<Finding> {
    let outcomes = outcomes(session)?;
    let row = |outcome: &Outcome| {
        let Cost { reads, ns, .. } = outcome.points;
        let cells = [outcome.bits, reads, per_second(outcome.points), ns / 1e3].map(shown);
        [vec![outcome.name.to_owned()], cells.to_vec()].concat()
    };
    let header =
        ["", "bits per key", "reads a get", "gets per second, priced", "time without the price (us)"];
    let table = DataTable {
        title: "Gets at a random time and sensor".into(),
        header: header.map(str::to_owned).to_vec(),
        rows: outcomes.iter().map(row).collect(),
    };
    let reads = |name: &str| of(&outcomes, name).map(|outcome| outcome.points.reads);
    let claims = vec![Claim::new("reads a get without filters", 1.5, reads("no filter"))];
    Ok(Finding { tables: vec![table], claims, notes: notes(session), plots: Vec::new() })
}

/// Figure 6.
pub(super) fn ranges(session: &mut Session<'_>) -> Result<Finding> {
    let outcomes = outcomes(session)?;
    let lines = |value: fn(Cost) -> f64| {
        let line = |outcome: &Outcome| {
            let values = outcome.ranges.iter().map(|cost| value(*cost));
            Line::ours(outcome.name, EMPTY.iter().map(|(percent, _)| *percent).zip(values))
        };
        outcomes.iter().map(line).collect::<Vec<_>>()
    };
    let axis = || Axis::linear("ranges without an event (%)");
    let plot = |title: &str, y: &str, value| Plot {
        title: title.into(),
        x: axis(),
        y: Axis::linear(y),
        lines: lines(value),
    };
    let plots = vec![
        plot("(a) throughput", "ranges per second, priced", per_second),
        plot("(b) I/O", "reads a range", |cost| cost.reads),
    ];
    let last = |name: &str| of(&outcomes, name)?.ranges.last().copied();
    let gain =
        last("SuRF-Real").zip(last("no filter")).map(|(real, none)| per_second(real) / per_second(none));
    let claims = vec![Claim::new("throughput of SuRF-Real over no filter, 99 % empty", 5.0, gain)];
    let tables = vec![as_planned(&outcomes)];
    Ok(Finding { plots, tables, claims, notes: notes(session) })
}

/// The events and the four databases, made once for both figures.
fn outcomes(session: &mut Session<'_>) -> Result<Rc<Vec<Outcome>>> {
    session.once("surf sensors".into(), |session| {
        let (rows, questions) = sizes(session);
        let plan = Plan { warming: rows / EVENTS_A_WARMING_GET, questions, seed: session.seed() };
        let events = Events::new(rows, plan.seed);
        let ranges_ns = EMPTY.map(|(_, range_ns)| range_ns);
        let of = |(name, spec)| {
            session.say(format!("a database with {name}"));
            outcome(name, spec, &events, &ranges_ns, plan)
        };
        FILTERS.into_iter().map(of).collect()
    })
}

/// Events, and questions of each kind in a run.
fn sizes(session: &Session<'_>) -> (usize, usize) {
    (session.key_count_or(OWN_EVENTS, PAPER_EVENTS), session.query_count_or(OWN_QUESTIONS))
}

fn of<'a>(outcomes: &'a [Outcome], name: &str) -> Option<&'a Outcome> {
    outcomes.iter().find(|outcome| outcome.name == name)
}

/// Questions in a second, each read at its price.
fn per_second(cost: Cost) -> f64 {
    1e9 / (cost.ns + cost.reads * READ_NS)
}

/// How many ranges really were empty, and the memory of the filters.
fn as_planned(outcomes: &[Outcome]) -> DataTable {
    let mut header = vec![String::new(), "bits per key".to_owned()];
    header.extend(EMPTY.map(|(percent, range_ns)| format!("{percent} %, {range_ns} ns")));
    let row = |outcome: &Outcome| {
        let shares = outcome.ranges.iter().map(|cost| format!("{:.1} %", cost.empty_share * 1e2));
        [vec![outcome.name.to_owned(), shown(outcome.bits)], shares.collect()].concat()
    };
    DataTable {
        title: "Ranges that were empty, by their length".into(),
        header,
        rows: outcomes.iter().map(row).collect(),
    }
}

fn notes(session: &Session<'_>) -> Vec<String> {
    let (rows, questions) = sizes(session);
    let factor = |paper: usize, own: usize| paper as f64 / own as f64;
    vec![
        format!(
            "Over SlateDB, in place of the paper's RocksDB: {rows} events of 2,000 sensors, a factor of {:.0} below the \
             paper, {:.1} s of operation in place of 10,000 s; events per second are the paper's, and so are the ranges. \
             {questions} questions in each of {RUNS} runs, a factor of {:.0} below the paper; {} warming gets.",
            factor(PAPER_EVENTS, rows),
            (rows as u64 * events::MEAN_GAP_NS) as f64 / 1e9,
            factor(PAPER_QUESTIONS, questions),
            rows / EVENTS_A_WARMING_GET,
        ),
        "Keys of 128 bits (time, sensor), values of 1 KB, three files that all span the whole time, as the paper's \
         levels 1 to 3 do; the block cache holds half of the rows. Every answer is compared with what was written."
            .into(),
        "Reads are counted object reads. Objects lie in memory, so each read is priced at 0.1 ms, a flash drive of the \
         paper's kind; the time of the database itself is measured."
            .into(),
        "SlateDB asks a filter yes or no: a range in which events are is read in every file whose filter says maybe, \
         where the paper's Seek opens only the file with the smallest candidate."
            .into(),
    ]
}
