//! Section 5.11: queries asked again, and what remembering a false positive takes.
//!
//! Factors are means over budgets of the filter's rate without a blacklist over the mean rate of two rounds with one, the
//! blacklist taken out of the filter's budget; at least nine tenths of the paper's.

use crate::blacklist_rounds::{Newcomers, Protocol, Rounds, new_queries};
use lacuna_base::{GapSet, Result, U64Range};
use lacuna_families::RencoderSpec;
use lacuna_families::testing::Blacklist;
use lacuna_workload::{Rng, ZipfPool, is_empty};

use super::SAMPLED;
use crate::bars::bar::Bar;
use crate::bars::bar::Limit::{AtLeast, AtMost, None};
use crate::bars::setting::Setting;
use lacuna_cli::Progress;

type Ranges = Vec<(u64, u64)>;

/// Budgets at which each spec has false positives to remember.
const BASE_BITS: [f64; 3] = [16.0, 18.0, 20.0];
const SELECTED_BITS: [f64; 3] = [14.0, 15.0, 16.0];
/// Budgets of seven rounds, and of what new queries find.
const SEVEN_BITS: f64 = 22.0;
const NEW_BITS: f64 = 14.0;
const PAPERS_PART: f64 = 0.9;

/// Measures factors, bytes and what is known of new queries.
pub(super) fn bars(setting: &Setting, progress: &Progress) -> Result<Vec<Bar>> {
    progress.say("rencoder: rounds of section 5.11");
    let keys = setting.keys(&format!("uniform:{}", setting.rate_keys()))?;
    let law = |law: &str| setting.ranges(&law.replace('N', &(keys.len() / 5).to_string()), &keys);
    let (anywhere, behind) = (law("uniform:N:2-32")?, law("offset:N:2-32:32")?);
    let (base, start, end) = (RencoderSpec::new(), RencoderSpec::select_start(), RencoderSpec::select_end());
    let rounds = |spec, queries| Again { setting, spec, keys: &keys, queries };
    let mut bars = vec![
        rounds(base, &anywhere).factor_bar("rencoder, uniform", BASE_BITS, 1.78)?,
        rounds(start, &anywhere).factor_bar("rencoder:ss, uniform", SELECTED_BITS, 1.98)?,
        rounds(end, &anywhere).factor_bar("rencoder:se, uniform", SELECTED_BITS, 1.98)?,
        rounds(base, &anywhere).seven_bar()?,
        rounds(base, &behind).factor_bar("rencoder, 32 after a key", BASE_BITS, 1.78)?,
        rounds(end, &behind).factor_bar("rencoder:se, 32 after a key", SELECTED_BITS, 1.93)?,
    ];
    bars.extend(byte_bars(setting));
    let other = Setting { seed: setting.seed.wrapping_add(1), ..*setting };
    let next = other.ranges(&format!("offset:{}:2-32:32", behind.len()), &keys)?;
    bars.push(rounds(base, &behind).new_bar("32 after a key", &next)?);
    let [first, second] = [setting, &other].map(|setting| zipfian(setting, &keys));
    bars.push(rounds(base, &first).new_bar("after popular keys", &second)?);
    Ok(bars)
}

/// Queries that are asked again.
struct Again<'a> {
    setting: &'a Setting,
    spec: RencoderSpec,
    keys: &'a [u64],
    queries: &'a [(u64, u64)],
}

impl Again<'_> {
    fn protocol(&self) -> Protocol<'_> {
        let sample = &self.queries[..self.queries.len().min(SAMPLED)];
        let (spec, keys, queries, seed) = (self.spec, self.keys, self.queries, self.setting.seed);
        Protocol { spec, keys, queries, sample, seed }
    }

    fn factor_bar(&self, name: &str, budgets: [f64; 3], paper: f64) -> Result<Bar> {
        let mut runs = Vec::new();
        for bits in budgets {
            runs.push(self.protocol().run(bits, 2)?);
        }
        let mean = runs.iter().map(Rounds::factor).sum::<f64>() / runs.len() as f64;
        let seen: usize = runs.iter().map(|run| run.false_positives).sum();
        let name = format!("{name}: rate over that of two rounds, {budgets:?} bits");
        let value = format!("{mean:.2} ({seen} false positives)");
        Ok(Bar::number(name, value, format!("paper {paper}"), mean / paper, AtLeast(PAPERS_PART)))
    }

    fn seven_bar(&self) -> Result<Bar> {
        let factor = self.protocol().run(SEVEN_BITS, 7)?.factor_over_first();
        let name = format!("rencoder, uniform: first round over seven, {SEVEN_BITS} bits");
        let value = format!("{factor:.2}");
        Ok(Bar::number(name, value, "paper 7".to_owned(), factor / 7.0, AtLeast(PAPERS_PART)))
    }

    /// How many of the false positives of `new` queries lie in gaps learned from the others.
    fn new_bar(&self, law: &str, new: &[(u64, u64)]) -> Result<Bar> {
        let found = new_queries(&self.protocol(), NEW_BITS, new)?;
        let Newcomers { false_positives, known_to_blacklist, known_to_gaps, .. } = found;
        Ok(Bar::number(
            format!("false positives of new queries {law} that a gap answers, {NEW_BITS} bits"),
            format!("{known_to_gaps} of {false_positives}"),
            format!("blacklist {known_to_blacklist}"),
            known_to_gaps as f64 / known_to_blacklist.max(1) as f64,
            None,
        ))
    }
}

/// Bytes that remember a false positive, as a gap and in the blacklist.
fn byte_bars(setting: &Setting) -> [Bar; 3] {
    let mut rng = Rng::new(setting.seed);
    [(2, 32, 1.0), (2, 1_024, 0.25), (1_024, 1_024, 0.125)].map(|(shortest, longest, max)| {
        let draws = 10_000_u32;
        let mut blacklist = Blacklist::new();
        for _ in 0..draws {
            let lo = rng.next_u64() >> 1;
            let range = U64Range::new(lo, lo + rng.between(shortest, longest) - 1);
            blacklist.insert(range.expect("lengths are at least 1"));
        }
        let bytes = blacklist.payload_bytes() as f64 / f64::from(draws);
        let gap = GapSet::INTERVAL_BYTES;
        let name = format!("bytes of a false positive as a gap, ranges of {shortest}-{longest}");
        let beside = format!("blacklist {bytes:.1}");
        Bar::number(name, format!("{gap}"), beside, gap as f64 / bytes, AtMost(max))
    })
}

/// Ranges up to 2^20 after keys; a few keys are asked for far more often than the rest.
fn zipfian(setting: &Setting, keys: &[u64]) -> Ranges {
    let mut rng = Rng::new(setting.seed);
    let popular = ZipfPool::new(keys.len(), setting.seed).map(|rank| keys[rank * 7_919 % keys.len()]);
    let ranges =
        popular.map(|key| key.saturating_add(1 + rng.below(1 << 20))).map(|lo| (lo, lo.saturating_add(15)));
    ranges.filter(|&(lo, hi)| is_empty(keys, lo, hi)).take(keys.len() / 5).collect()
}
