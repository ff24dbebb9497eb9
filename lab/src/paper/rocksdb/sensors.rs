//! SuRF's figures 5 and 6: events of 2,000 sensors, 128-bit keys.

use std::rc::Rc;

use crate::paper::{Axis, Claim, Finding, SensorEvents, Session};
use lacuna_base::{ByteColumn, Result};
use lacuna_bench::engine::{EngineSetting, FilterChoice, Manner, Question, Questions};
use lacuna_guard::GuardCodec;

use super::contest::{Databases, NamedRow, io_note, lines, of, plot, table};
use super::filters::{self, Named};
use super::keys::{OWN_KEYS, factor};
use lacuna_bench::engine::rocksdb::Layout;

/// Events of the paper, and here; questions of each run, and here.
const PAPER: (usize, usize) = (100_000_000, 50_000);
const OWN: (usize, usize) = (OWN_KEYS, 1_200);
const VALUE_BYTES: usize = 1_000;
/// Part of the rows that the block cache holds: level 1 and half of level 2, as in the paper.
const CACHE_PART: u64 = 17;
/// Queries that filters may be designed by.
const SAMPLE: usize = 2_000;

/// Share of empty ranges in percent, and the length that gives it: -ln(P) times 100,000 ns.
const EMPTY: [(f64, u64); 6] =
    [(10.0, 230_259), (25.0, 138_629), (50.0, 69_315), (75.0, 28_768), (90.0, 10_536), (99.0, 1_005)];

/// The measurements of both figures.
struct Measured {
    events: usize,
    questions: usize,
    points: Vec<NamedRow>,
    ranges: Vec<(f64, Vec<NamedRow>)>,
}

/// Figure 5.
pub(super) fn points(session: &mut Session<'_>) -> Result<Finding> {
    let measured = measured(session)?;
    let reads = |name: &str| of(&measured.points, name).map(|row| row.data_blocks_per_query);
    let claims = vec![Claim::new("reads a get without filters", 1.5, reads("no filter"))];
    let tables = vec![table("Points at a random time and sensor", &measured.points)];
    Ok(Finding { tables, claims, notes: notes(&measured), plots: Vec::new() })
}

/// Figure 6.
pub(super) fn ranges(session: &mut Session<'_>) -> Result<Finding> {
    let measured = measured(session)?;
    let x = "ranges without an event (%)";
    let throughput = lines(&measured.ranges, |row| Some(row.queries_per_second));
    let reads = lines(&measured.ranges, |row| Some(row.data_blocks_per_query));
    let plots = vec![
        plot("(a) throughput", x, Axis::linear("closed seeks per second"), throughput),
        plot("(b) I/O", x, Axis::linear("blocks read a seek"), reads),
    ];
    let last = |name: &str| of(&measured.ranges.last()?.1, name).map(|row| row.queries_per_second);
    let gain = |name: &str| last(name).zip(last("no filter")).map(|(quick, none)| quick / none);
    let claims = vec![
        Claim::new("throughput of SuRF-Real over no filter, 99 % empty", 5.0, gain("SuRF")),
        Claim::new("throughput of Bloom over no filter, 99 % empty", 1.0, gain("RocksDB's Bloom")),
    ];
    let tables = measured.ranges.last().map(|(share, rows)| table(format!("{share} % empty"), rows));
    Ok(Finding { plots, tables: tables.into_iter().collect(), claims, notes: notes(&measured) })
}

fn notes(measured: &Measured) -> Vec<String> {
    vec![
        format!(
            "{} events of 2,000 sensors, a factor of {} below the paper, as many a second; {} questions of each length, a \
             factor of {} below.",
            measured.events,
            factor(PAPER.0, measured.events),
            measured.questions,
            factor(3 * PAPER.1, measured.questions)
        ),
        io_note(&measured.points),
        "`SuRF` has 4 real bits a key and `SuRF-Hash` 4 hash bits, whatever that takes; all others have 14 bits. The \
         paper's seek opens only the file with the smallest candidate; RocksDB's own iterator opens every file whose filter \
         says maybe."
            .into(),
        "A closed seek spans billions of billions of 128-bit keys: filters for short ranges (Bloom, Rosetta, REncoder, \
         Grafite) say maybe to nearly all of them, which is what `auto` sees in the sample and avoids."
            .into(),
    ]
}

/// The paper's filters, and every family.
fn filters() -> Vec<Named> {
    let mut filters = filters::without(14.0);
    filters.extend(filters::every_family(14.0));
    for (name, filter) in &mut filters {
        if *name == "SuRF" {
            *filter = FilterChoice::lacuna("surf:real=4", 64.0);
        }
    }
    filters.push(("SuRF-Hash", FilterChoice::lacuna("surf:hash=4", 64.0)));
    filters
}

fn measured(session: &mut Session<'_>) -> Result<Rc<Measured>> {
    session.once("sensors".into(), |session| {
        let (count, questions) = (session.key_count_or(OWN.0, PAPER.0), session.query_count_or(OWN.1));
        let events = SensorEvents::new(count, session.seed());
        let setting = setting(&events, session.seed())?;
        let layout = Layout { levels: 3, size_ratio: 10, file_bytes: file_bytes(&setting), ..Layout::PLAIN };
        let databases = Databases::write(session, layout, &filters(), &setting)?;
        let ask = |session: &mut Session<'_>, range_ns: u64, manner: Manner| {
            let asked = drawn(&events, questions, range_ns, session.seed());
            databases
                .ask(session, &setting.clone().with_questions(&format!("sensors:{range_ns}"), asked, manner))
        };
        let points = ask(session, 0, Manner::POINTS)?;
        let mut ranges = Vec::new();
        for (share, range_ns) in EMPTY {
            ranges.push((share, ask(session, range_ns, Manner::CLOSED_SEEK)?));
        }
        Ok(Measured { events: events.len(), questions, points, ranges })
    })
}

fn setting(events: &SensorEvents, seed: u64) -> Result<EngineSetting> {
    let mut keys = ByteColumn::new();
    events.keys().for_each(|key| keys.push(&key));
    let (_, longest) = EMPTY[4];
    let sample =
        drawn(events, SAMPLE, longest, seed + 1).into_iter().filter(|question| question.is_empty).collect();
    let questions = Questions { keys, asked: Vec::new(), sample };
    let setting = EngineSetting::of("sensors", "", GuardCodec::bytes(), questions, Manner::CLOSED_SEEK, seed)
        .with_value_bytes(VALUE_BYTES)
        .with_levels(3, 10)?;
    let bytes = (events.len() * (VALUE_BYTES + 16)) as u64;
    Ok(setting.with_cache_bytes(bytes / CACHE_PART))
}

/// About ten files.
fn file_bytes(setting: &EngineSetting) -> u64 {
    ((setting.keys().len() * (VALUE_BYTES + 16)) as u64 / 8).max(64 << 10)
}

fn drawn(events: &SensorEvents, count: usize, range_ns: u64, seed: u64) -> Vec<Question> {
    let question = |range: (u128, u128)| Question {
        lo: range.0.to_be_bytes().to_vec(),
        hi: range.1.to_be_bytes().to_vec(),
        is_empty: events.first_in(range).is_none(),
    };
    events.questions(count, range_ns, seed).into_iter().map(question).collect()
}
