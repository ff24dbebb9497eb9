//! The range filters `ribbon`, `bucketing` and `grafite` in at most 14 bits a key: rates, questions, builds,
//! and few keys.
//!
//! The bits are those of the sealed bytes, the envelope included; a filter gets a budget that leaves room for
//! it. Questions are ratios to a standard Bloom filter of as many bits that is asked for a key, in the same
//! rounds. Builds are the one bar with a limit in nanoseconds: on another machine they mean something only
//! beside the time of the Bloom filter, which is shown.

mod builds;
mod few_keys;
mod questions;
mod rates;
mod thread_builds;

use lacuna_base::{Budget, ENVELOPE_BYTES, Result};

use super::contest::PlannedFilter;
use crate::bars::bar::Bar;
use crate::bars::setting::Setting;
use lacuna_cli::Progress;

/// Sealed bits a key, at most.
const MAX_BITS: f64 = 14.0;
/// Bits beside the budget, whatever the number of keys: those of the payload, the envelope, and a byte that
/// rounding takes.
const FIXED_BITS: f64 = ((Budget::FIXED_BYTES + ENVELOPE_BYTES + 1) * 8) as f64;

/// Measures everything.
pub(super) fn run(setting: &Setting, progress: &Progress) -> Result<Vec<Bar>> {
    progress.say("ranges: drawing keys");
    let keys = setting.keys(&format!("uniform:{}", setting.speed_keys()))?;
    let mut bars = rates::uniform_bars(setting, progress, &keys)?;
    bars.extend(questions::bars(setting, progress, &keys)?);
    bars.extend(builds::bars(setting, progress, &keys)?);
    bars.extend(thread_builds::bars(setting, progress, &keys)?);
    drop(keys);
    bars.extend(rates::held_out_bars(setting, progress)?);
    bars.extend(rates::exact_bars(setting, progress)?);
    bars.extend(few_keys::bars(setting, progress)?);
    Ok(bars)
}

/// `spec` for `key_count` keys in at most `bits` sealed bits each.
fn planned(setting: &Setting, spec: &str, bits: f64, key_count: usize) -> Result<PlannedFilter> {
    PlannedFilter::try_new(spec, bits - FIXED_BITS / key_count as f64, setting.seed)
}
