//! Byte strings at 20 bits without a codec: `auto` beside the better one of SuRF and Proteus, Grafite beside Proteus, and how
//! often each family that is offered for strings takes an absent key for a present one.
//!
//! One key in ten is taken out. Every other one of those gives the sample, the rest give the questions, so that no filter is
//! designed for what it is asked. The bar was set beside SuRF and Proteus as they were then. Here they are today's, asked the
//! same questions in the same run; their first rates on these sets, over 1,000 questions, are in docs/design/windows.md.

use std::sync::Arc;

use lacuna_base::{
    AlignedBytes, Budget, BuildPlan, ByteColumn, ByteRange, DynFilter, Error, ErrorKind, Result, Sample,
    SortedKeys,
};
use lacuna_bench::harness::batched;
use lacuna_bench::statistics::rate_passes;
use lacuna_workload::{
    ByteQueries, Keys, QuerySource, RealSet, Rng, end_before_next_key, end_in_last_place, is_empty_bytes,
    real_sets,
};

use crate::bars::bar::Bar;
use crate::bars::bar::Limit::{self, AtLeast, AtMost};
use crate::bars::setting::Setting;
use lacuna_cli::Progress;

const SETS: [&str; 4] = ["gov_hosts", "repo_paths", "wordnet_lemmas", "nab_series_points"];
const BITS: f64 = 20.0;
/// Families that are offered for strings.
const FAMILIES: [&str; 11] = [
    "auto",
    "grafite",
    "ribbon",
    "bucketing",
    "rencoder",
    "snarf",
    "prefix_bloom",
    "surf",
    "proteus",
    "multi_prefix_bloom",
    "place_trie",
];
/// Sampled queries of a kind, as in docs/design/windows.md.
const SAMPLED: usize = 1_000;
/// How many times as good as the better one of SuRF and Proteus `auto` is at least.
const MIN_GAIN: f64 = 1.5;
/// How many times as many "maybe" as Proteus Grafite has at most.
const MAX_LOSS: f64 = 1.2;
/// Highest rate of absent keys: 2^-10.
const MAX_POINT_RATE: f64 = 1.0 / 1_024.0;
const DOES_NOT_FIT: &str = "does not fit";
/// Draws for each query that is wanted.
const ATTEMPTS: usize = 40;

/// Where a range from a key that was taken out ends.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// At the key.
    Point,
    /// At the key, or one to three further in its last byte.
    LastPlace,
    /// Before the next key that stays branches off.
    Between,
}

impl Kind {
    fn end(self, kept: &ByteColumn, key: &[u8], rng: &mut Rng) -> Vec<u8> {
        match self {
            Self::Point => key.to_vec(),
            Self::LastPlace => end_in_last_place(key, u8::try_from(rng.below(4)).expect("below 4")),
            Self::Between => end_before_next_key(kept, key),
        }
    }
}

/// A key set of which one key in ten is taken out.
struct Texts {
    name: &'static str,
    kept: ByteColumn,
    /// Taken out, for samples.
    sampled: ByteColumn,
    /// Taken out, for questions.
    asked: ByteColumn,
}

impl Texts {
    fn load(setting: &Setting, set: &RealSet) -> Result<Self> {
        let thinned = if setting.quick { 10 } else { 1 };
        let Keys::Bytes(keys) = set.load()? else { unreachable!("texts are byte strings") };
        let keys = Keys::Bytes(keys.iter().step_by(thinned).collect());
        let split = QuerySource::parse("heldout:1:1")?.workload(keys, setting.seed)?;
        let (Keys::Bytes(kept), Keys::Bytes(held_out)) = (split.inserted, split.held_out) else {
            unreachable!("byte strings stay byte strings")
        };
        let sampled = held_out.iter().step_by(2).collect();
        let asked = held_out.iter().skip(1).step_by(2).collect();
        Ok(Self { name: set.name(), kept, sampled, asked })
    }

    /// `count` empty ranges of `kind`, drawn with repetition.
    fn draw(&self, kind: Kind, starts: &ByteColumn, count: usize, seed: u64) -> Result<ByteQueries> {
        let (mut rng, mut found) = (Rng::new(seed), ByteQueries::new());
        for _ in 0..ATTEMPTS * count {
            let low = starts.get(rng.index(starts.len()));
            let high = kind.end(&self.kept, low, &mut rng);
            if is_empty_bytes(&self.kept, low, &high) {
                found.push(low, &high);
            }
            if found.len() == count {
                return Ok(found);
            }
        }
        let (name, found) = (self.name, found.len());
        Err(Error::invalid_input(format!("{name}: only {found} of {count} empty ranges, seed {seed}")))
    }

    /// The filter that `text` names, designed for queries of `kinds`; `None` if it does not fit.
    fn build(&self, text: &str, kinds: &[Kind], seed: u64) -> Result<Option<Box<DynFilter<[u8]>>>> {
        let mut sample = Sample::<[u8]>::new();
        for &kind in kinds {
            let drawn = self.draw(kind, &self.sampled, SAMPLED, seed)?;
            drawn.iter().for_each(|(low, high)| sample.push(low, high));
        }
        let plan = BuildPlan::new(Budget::bits_per_key(BITS)?).with_seed(seed).with_sample(Arc::new(sample));
        let spec = lacuna_families::spec::<[u8]>(text)?;
        match spec.build(SortedKeys::byte_strings(&self.kept)?, &plan) {
            Ok(sealed) => lacuna_families::open::<[u8], AlignedBytes>(sealed.into_bytes()).map(Some),
            Err(error) if matches!(error.kind(), ErrorKind::BudgetTooSmall { .. }) => Ok(None),
            Err(error) => Err(error.with_context(format!("{text} over {}", self.name))),
        }
    }
}

/// Measures every set, one after the other.
pub(super) fn run(setting: &Setting, progress: &Progress) -> Result<Vec<Bar>> {
    let mut bars = Vec::new();
    for set in real_sets().iter().filter(|set| SETS.contains(&set.name())) {
        progress.say(format!("strings: {}", set.note()));
        let texts = Texts::load(setting, set)?;
        for (kind, name) in
            [(Kind::LastPlace, "1 to 4 in the last place"), (Kind::Between, "up to the next key")]
        {
            progress.say(format!("strings: {}, {name}", texts.name));
            bars.extend(range_bars(setting, &texts, kind, name)?);
        }
        for family in FAMILIES {
            progress.say(format!("strings: {}, {family} asked for absent keys", texts.name));
            bars.push(point_bar(setting, &texts, family)?);
        }
    }
    Ok(bars)
}

/// The bars over ranges of one kind, each filter designed for this kind.
fn range_bars(setting: &Setting, texts: &Texts, kind: Kind, name: &str) -> Result<Vec<Bar>> {
    let count = if setting.quick { 2_000 } else { 100_000 };
    let queries = texts.draw(kind, &texts.asked, count, setting.seed.wrapping_add(1))?;
    let rate = |text: &str| -> Result<Option<f64>> {
        let filter = texts.build(text, &[kind], setting.seed)?;
        // A rate of nothing stands for one "maybe".
        Ok(filter.map(|filter| maybes(&*filter, &queries).max(1) as f64 / count as f64))
    };
    // Of one that does not fit no bar is met.
    let fitting = |text: &str| -> Result<f64> { Ok(rate(text)?.unwrap_or(f64::NAN)) };
    let (auto, grafite, proteus) = (fitting("auto")?, fitting("grafite")?, fitting("proteus")?);
    let surf = rate("surf")?;
    let better = surf.map_or(proteus, |surf| surf.min(proteus));
    let shown = |rate: f64| format!("{rate:.4}");
    let beside = format!("proteus {proteus:.4}, surf {}", surf.map_or(DOES_NOT_FIT.to_owned(), shown));
    let of = |family: &str| format!("{family}, {}, {name}", texts.name);
    Ok(vec![
        Bar::number(of("auto"), shown(auto), beside, better / auto, AtLeast(MIN_GAIN)),
        Bar::number(
            of("grafite"),
            shown(grafite),
            format!("proteus {proteus:.4}"),
            grafite / proteus,
            AtMost(MAX_LOSS),
        ),
    ])
}

/// The bar over absent keys, each asked once, of a filter that is designed for points and ranges; only SuRF may not fit.
fn point_bar(setting: &Setting, texts: &Texts, family: &str) -> Result<Bar> {
    let name = format!("{family}, {}, absent keys", texts.name);
    let Some(filter) = texts.build(family, &[Kind::Point, Kind::LastPlace], setting.seed)? else {
        let limit = if family == "surf" { Limit::None } else { AtMost(1.0) };
        return Ok(Bar::number(name, DOES_NOT_FIT, format!("{MAX_POINT_RATE:.3e}"), f64::NAN, limit));
    };
    let points: ByteQueries = texts.asked.iter().map(|key| (key, key)).collect();
    let (maybes, asked) = (maybes(&*filter, &points), texts.asked.len() as u64);
    let passes = rate_passes(maybes, MAX_POINT_RATE, asked, MAX_POINT_RATE * asked as f64)?;
    Ok(Bar::rate(name, maybes, asked, MAX_POINT_RATE, passes))
}

/// How many of `queries` are "maybe".
fn maybes(filter: &DynFilter<[u8]>, queries: &ByteQueries) -> u64 {
    let pool: Vec<ByteRange<'_>> =
        queries.iter().filter_map(|(low, high)| ByteRange::new(low, high)).collect();
    batched(&pool, 1, |ranges, answers| filter.may_contain_ranges(ranges, answers)) as u64
}
