//! Proteus' figures 7 and 8: the workload changes while the database is written.

use crate::paper::{Axis, Claim, DataTable, Finding, Line, Plot, Session, shown};
use lacuna_base::{Error, Result};
use lacuna_bench::engine::{
    Database, Direction, FilterChoice, Question, deal_out, half_zero_value, sample_bytes, warm,
};
use lacuna_guard::GuardCodec;
use lacuna_rocksdb::RangeFilters;
use lacuna_workload::{Rng, to_be_bytes};

use super::filters::{self, Named, UNBOUNDED};
use super::keys::{OWN_KEYS, factor};
use super::script::{ORDER, QUEUE, Script, Shift, one_in, script};
use lacuna_bench::engine::rocksdb::RocksDatabase;
use lacuna_bench::engine::rocksdb::{Layout, Style};

/// Keys that are there at first in the paper, and here; twice as many come, among three times as many seeks.
const PAPER_KEYS: usize = 20_000_000;
const BITS: f64 = 12.0;
const VALUE_BYTES: usize = 512;
/// One key in this many is looked up to warm the caches.
const KEYS_A_WARMING_GET: usize = 10;
/// Batches of seeks whose rate is shown; the paper has twelve too.
const BATCHES: usize = 12;
/// Rates below are as good as this one where two are compared: they rest on a few false positives.
const MIN_RATE: f64 = 0.01;

/// Long seeks anywhere, and short ones after keys.
const UNIFORM: &str = "uniform:N:2-1048576";
const CORRELATED: &str = "correlated:N:2-32:1024";

/// Title, keys, first and last workload.
const DIRECTIONS: [(&str, &str, [&str; 2]); 2] = [
    ("Normal keys, Uniform to Correlated", "normal", [UNIFORM, CORRELATED]),
    ("Uniform keys, Correlated to Uniform", "uniform", [CORRELATED, UNIFORM]),
];

/// The result of a database.
struct ShiftOutcome {
    /// Rate and microseconds a seek by batch.
    batches: Vec<(f64, f64)>,
    /// Rate of the last workload once everything has been rewritten.
    rewritten: f64,
    compactions: u64,
}

/// Figure 7.
pub(super) fn slow(session: &mut Session<'_>) -> Result<Finding> {
    let [proteus, rosetta] = UNBOUNDED;
    let filters = filters::ours(&["Proteus", "SuRF", "Rosetta", "auto", proteus, rosetta], BITS);
    finding(session, Shift::Slow, &[filters::without(BITS), filters].concat())
}

/// Figure 8.
pub(super) fn immediate(session: &mut Session<'_>) -> Result<Finding> {
    finding(session, Shift::Immediate, &filters::ours(&["Proteus", "auto", UNBOUNDED[0]], BITS))
}

fn finding(session: &mut Session<'_>, shift: Shift, filters: &[Named]) -> Result<Finding> {
    let mut finding = Finding::default();
    for (title, key_name, workloads) in DIRECTIONS {
        let first = session.key_count_or(OWN_KEYS, PAPER_KEYS);
        let script = script(session, key_name, first, workloads, shift)?;
        let mut outcomes = Vec::new();
        for (name, filter) in filters {
            session.say(format!("{title} with {name}"));
            outcomes.push((*name, run(&script, filter, &script.recorded[0])?));
        }
        finding.plots.extend(plots(title, &outcomes));
        finding.tables.push(table(title, &outcomes));
        for (name, outcome) in outcomes
            .iter()
            .filter(|(name, _)| shift == Shift::Immediate && filters::NAMES[2..].contains(name))
        {
            let steady = steady_rate(&script, filters, name)?;
            let ratio = outcome.rewritten.max(MIN_RATE) / steady.max(MIN_RATE);
            let what = format!("{title}, {name}: rate after rewriting over that of a new database, at most");
            finding.claims.push(Claim::new(what, 1.5, Some(ratio)));
        }
    }
    finding.notes = notes(session);
    Ok(finding)
}

fn notes(session: &Session<'_>) -> Vec<String> {
    let first = session.key_count_or(OWN_KEYS, PAPER_KEYS);
    vec![
        format!(
            "{first} keys at first, {} puts among {} seeks: a factor of {} below the paper. {BITS} bits a key, values of 512 \
             bytes; files so small that there are as many as the paper's 40, LZ4 on level 2, ZSTD on level 3; levelled compactions \
             in the background. The sample queue holds {} seeks and takes one in {}, so that it turns over as often.",
            2 * first,
            3 * first,
            factor(PAPER_KEYS, first),
            QUEUE,
            one_in(3 * first)
        ),
        "Seeks are empty when they are asked: of all keys, also of those that come. Blocks come by direct I/O, a cache of a \
         26th of the rows, warmed by gets of a tenth of the keys. Compactions of two runs never end alike, so rates of a \
         batch repeat about, not exactly."
            .into(),
    ]
}

fn plots(title: &str, outcomes: &[(&'static str, ShiftOutcome)]) -> Vec<Plot> {
    let batches = || (1..=BATCHES).map(|batch| batch as f64);
    let cumulative = |(name, outcome): &(&'static str, ShiftOutcome)| {
        let sums = outcome.batches.iter().scan(0.0, |sum, (_, micros)| {
            *sum += micros;
            Some(*sum)
        });
        Line::ours(*name, batches().zip(sums.map(|sum| sum / BATCHES as f64)))
    };
    let rate = |(name, outcome): &(&'static str, ShiftOutcome)| {
        Line::ours(*name, batches().zip(outcome.batches.iter().map(|(rate, _)| *rate)))
    };
    let x = || Axis::linear("batch of seeks");
    let guarded = outcomes.iter().filter(|(name, _)| filters::NAMES[2..].contains(name));
    vec![
        Plot {
            title: format!("{title}: time"),
            x: x(),
            y: Axis::linear("cumulative, us for each seek of the run"),
            lines: outcomes.iter().map(cumulative).collect(),
        },
        Plot {
            title: format!("{title}: rate"),
            x: x(),
            y: Axis::linear("false positive rate of the batch"),
            lines: guarded.map(rate).collect(),
        },
    ]
}

fn table(title: &str, outcomes: &[(&'static str, ShiftOutcome)]) -> DataTable {
    let mean = |outcome: &ShiftOutcome, of: fn(&(f64, f64)) -> f64| {
        outcome.batches.iter().map(of).sum::<f64>() / BATCHES as f64
    };
    let row = |(name, outcome): &(&'static str, ShiftOutcome)| {
        let last = outcome.batches.last().map_or(0.0, |(rate, _)| *rate);
        let numbers =
            [mean(outcome, |batch| batch.1), mean(outcome, |batch| batch.0), last, outcome.rewritten];
        [vec![(*name).to_owned()], numbers.map(shown).to_vec(), vec![outcome.compactions.to_string()]]
            .concat()
    };
    let header = [
        "",
        "us a seek",
        "rate",
        "rate of the last batch",
        "last workload, all rewritten",
        "filters built in the run",
    ];
    DataTable {
        title: title.to_owned(),
        header: header.map(str::to_owned).to_vec(),
        rows: outcomes.iter().map(row).collect(),
    }
}

/// A database written and warmed before the run, whose filters are designed by `sample`.
fn written(
    script: &Script,
    filter: &FilterChoice,
    keys: &[u64],
    sample: &[Question],
) -> Result<RocksDatabase> {
    let codec = GuardCodec::parse("fixed_be:8")?;
    let spec = filter.guard_spec(&codec, script.seed)?;
    let lacuna =
        spec.map(|spec| RangeFilters::new(spec).with_sample_queue(QUEUE, one_in(script.seeks.len())));
    if let Some(lacuna) = &lacuna {
        lacuna.seed_sample(&sample_bytes(&codec, &sample[..sample.len().min(QUEUE)]))?;
    }
    let bytes = (keys.len() * (VALUE_BYTES + 8)) as u64;
    let layout = Layout {
        levels: 3,
        file_bytes: ((script.first.len() * (VALUE_BYTES + 8)) as u64 / 40).max(64 << 10),
        cache_bytes: bytes / 26,
        compressed: true,
        bloom_bits: match filter {
            FilterChoice::Engine { bits_per_key } => Some(*bits_per_key),
            _ => None,
        },
        compactions: Some(Style::Levelled),
        ..Layout::PLAIN
    };
    let keys = to_be_bytes(keys);
    let levels = deal_out(&keys, 3, layout.size_ratio, script.seed);
    let database = RocksDatabase::write(layout, lacuna, &levels, VALUE_BYTES, script.seed)?;
    warm(&database, &keys, keys.len() / KEYS_A_WARMING_GET, script.seed)?;
    Ok(database)
}

fn run(script: &Script, filter: &FilterChoice, sample: &[Question]) -> Result<ShiftOutcome> {
    let database = written(script, filter, &script.first, sample)?;
    let built = || database.lacuna().map_or(0, |lacuna| lacuna.stats().filters.built);
    let (mut rng, mut value) = (Rng::with_stream(script.seed, ORDER + 1), Vec::new());
    let mut coming = script.coming.iter();
    let mut batches = Vec::new();
    let before = built();
    for batch in script.seeks.chunks(script.seeks.len().div_ceil(BATCHES)) {
        let counts = database.counts();
        let mut asking = std::time::Duration::ZERO;
        for (place, seek) in batch.iter().enumerate() {
            // Two puts for three seeks.
            for key in coming.by_ref().take(usize::from(place % 3 != 2)) {
                half_zero_value(&mut rng, VALUE_BYTES, &mut value);
                database.put(&key.to_be_bytes(), &value)?;
            }
            let start = std::time::Instant::now();
            let rows = database.seek(seek, Direction::Forward, 1)?;
            asking += start.elapsed();
            if rows > 0 {
                return Err(Error::corrupt("a range without a key has a row; this is a bug"));
            }
        }
        batches.push((rate(&database, counts), asking.as_secs_f64() * 1e6 / batch.len().max(1) as f64));
    }
    let compactions = built() - before;
    database.rewrite()?;
    let rewritten = rate_of(&database, &script.seeks[script.seeks.len() * 11 / 12..])?;
    Ok(ShiftOutcome { batches, rewritten, compactions })
}

/// The rate of the last workload in a database that was written with all keys and a sample of it.
fn steady_rate(script: &Script, filters: &[Named], name: &str) -> Result<f64> {
    let filter = filters.iter().find(|(own, _)| *own == name).map(|(_, filter)| filter);
    let filter = filter.ok_or_else(|| Error::invalid_input("the filter takes part"))?;
    let mut keys = [&script.first[..], &script.coming[..]].concat();
    keys.sort_unstable();
    let database = written(script, filter, &keys, &script.recorded[1])?;
    database.rewrite()?;
    rate_of(&database, &script.seeks[script.seeks.len() * 11 / 12..])
}

fn rate_of(database: &RocksDatabase, seeks: &[Question]) -> Result<f64> {
    let counts = database.counts();
    for seek in seeks {
        database.seek(seek, Direction::Forward, 1)?;
    }
    Ok(rate(database, counts))
}

/// "Maybe" among the answers since `earlier`; 0 where no filter of ours was asked.
fn rate(database: &RocksDatabase, earlier: lacuna_bench::engine::Counts) -> f64 {
    let counts = database.counts() - earlier;
    let asked = counts.skipped + counts.false_positives;
    if asked == 0 { 0.0 } else { counts.false_positives as f64 / asked as f64 }
}
