//! Proteus and its model: what modelling costs beside a Bloom filter's build (table 2), the rates of the
//! workload that asks for two lengths (figure 4), and the bound on probes.

use std::sync::Arc;

use lacuna_base::{Budget, BuildPlan, FilterSpec as _, Result, Sample, SortedKeys};
use lacuna_bench::harness::Rounds;
use lacuna_bench::statistics::rate_passes;
use lacuna_families::{BloomSpec, ProteusSpec, TwoPrefixBloomSpec};
use lacuna_workload::{Rng, is_empty};

use super::bounded::Bounded;
use super::contest::{PlannedFilter, maybes, ranges};
use crate::bars::bar::Bar;
use crate::bars::bar::Limit::AtMost;
use crate::bars::setting::Setting;
use lacuna_cli::Progress;

const BITS: f64 = 10.0;
/// Sampled queries.
const SAMPLED: usize = 20_000;
/// Queries of table 2, and those that 2PBF is modelled with.
const WIDE: &str = "correlated:20000:2-1048576:1048576";
const NARROW: &str = "correlated:20000:2-32768:1048576";
/// Most of a Bloom filter's build that modelling may take.
const SHARES: [(&str, f64); 3] = [("1PBF", 0.02), ("Proteus", 0.04), ("2PBF", 0.10)];
/// Highest rates where queries are far from keys and long, or near and short.
const SPLIT_RATES: [(&str, f64); 2] = [("proteus", 0.055), ("two_prefix_bloom", 0.125)];

/// Measures everything.
pub(super) fn run(setting: &Setting, progress: &Progress) -> Result<Vec<Bar>> {
    let keys = setting.keys(&format!("normal:{}", setting.speed_keys()))?;
    let mut bars = model_bars(setting, progress, &keys)?;
    bars.extend(split_bars(setting, progress, keys)?);
    // 62 or 63 prefixes of 64 keys.
    let specs =
        [("proteus:trie=0,bloom=58", AtMost(64.0)), ("two_prefix_bloom:short=0,long=58", AtMost(64.0))];
    let bounded = Bounded { specs: &specs, law: "uniform:N:3900-3968", bits: 14.0 };
    bars.extend(bounded.bars(setting, progress)?);
    Ok(bars)
}

fn model_bars(setting: &Setting, progress: &Progress, keys: &[u64]) -> Result<Vec<Bar>> {
    let plan = |law: &str| -> Result<BuildPlan<u64>> {
        let mut sample = Sample::new();
        setting.ranges(law, keys)?.iter().for_each(|&(lo, hi)| sample.push(lo, hi));
        Ok(BuildPlan::new(Budget::bits_per_key(BITS)?).with_sample(Arc::new(sample)))
    };
    let (wide, narrow) = (plan(WIDE)?, plan(NARROW)?);
    let keys = SortedKeys::integers(keys)?;
    let mut rounds = Rounds::new();
    let bloom = rounds.add("bloom build", 1, || BloomSpec::new().build(keys, &wide).expect("fits"));
    let tasks = [
        rounds.add("1PBF", 1, || ProteusSpec::new().with_trie_bits(0).predict(keys, &wide)),
        rounds.add("Proteus", 1, || ProteusSpec::new().predict(keys, &wide)),
        rounds.add("2PBF", 1, || TwoPrefixBloomSpec::new().predict(keys, &narrow)),
    ];
    let of = setting.build_rounds();
    let timings =
        rounds.run(of, &mut |round| progress.say(format!("proteus: models, round {round} of {of}")));
    let bars = SHARES.iter().zip(tasks).map(|((name, max), task)| {
        let name = format!("{name}: modelling {} keys", keys.len());
        Bar::times_longer(name, &timings, [task, bloom], AtMost(*max))
    });
    Ok(bars.collect())
}

/// Rates over keys that are spread by a hundredth of the space.
fn split_bars(setting: &Setting, progress: &Progress, mut keys: Vec<u64>) -> Result<Vec<Bar>> {
    progress.say("proteus: rates of a split workload");
    keys.iter_mut().for_each(|key| *key = narrowed(*key));
    let asked = setting.questions() / 2 * 2;
    let sample = split(setting, &keys, SAMPLED, 1)?;
    let pool = ranges(&split(setting, &keys, asked, 2)?);
    let mut bars = Vec::new();
    for (spec, max) in SPLIT_RATES {
        let filter = PlannedFilter::try_new(spec, BITS, setting.seed)?.with_sample(&sample).open(&keys)?;
        let maybes = maybes(&*filter, &pool);
        let passes = rate_passes(maybes, max, asked as u64, setting.expected_false_positives())?;
        let name = format!("{spec}, half near and short, half anywhere and long, {BITS} bits");
        bars.push(Bar::rate(name, maybes, asked as u64, max, passes));
    }
    Ok(bars)
}

/// The generator's deviation is 2^58, the paper's a hundredth of the space.
fn narrowed(key: u64) -> u64 {
    const MIDDLE: u64 = 1 << 63;
    if key < MIDDLE { MIDDLE - (MIDDLE - key) / 25 * 16 } else { MIDDLE + (key - MIDDLE) / 25 * 16 }
}

/// Half correlated (2 to 2^7 keys, at most 2^10 after a key), half anywhere in the whole space (2 to 2^20 keys).
fn split(setting: &Setting, keys: &[u64], count: usize, stream: u64) -> Result<Vec<(u64, u64)>> {
    let other = Setting { seed: setting.seed.wrapping_add(stream), ..*setting };
    let mut queries = other.ranges(&format!("correlated:{}:2-128:1024", count / 2), keys)?;
    let mut rng = Rng::with_stream(setting.seed, stream);
    while queries.len() < count {
        let lo = rng.between(0, u64::MAX - (1 << 20));
        let hi = lo + rng.between(1, (1 << 20) - 1);
        if is_empty(keys, lo, hi) {
            queries.push((lo, hi));
        }
    }
    Ok(queries)
}
