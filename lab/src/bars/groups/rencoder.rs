//! REncoder beside the paper's own numbers: table 2, one filter for two laws of queries, what a sample gives, speed in
//! standard Blooms and in Rosettas, and section 5.11.

mod rates;
mod remembered;
mod speed;

use lacuna_base::Result;

use crate::bars::bar::Bar;
use crate::bars::setting::Setting;
use lacuna_cli::Progress;

/// Queries that `REncoderSE` is shown.
const SAMPLED: usize = 20_000;

/// Measures everything.
pub(super) fn run(setting: &Setting, progress: &Progress) -> Result<Vec<Bar>> {
    let mut bars = rates::bars(setting, progress)?;
    bars.extend(remembered::bars(setting, progress)?);
    bars.extend(speed::bars(setting, progress)?);
    Ok(bars)
}

/// Queries of `law` (its number of queries left as `N`) that none of the measured ones follows from.
fn sample(setting: &Setting, law: &str, keys: &[u64]) -> Result<Vec<(u64, u64)>> {
    let other = Setting { seed: setting.seed.wrapping_add(1), ..*setting };
    other.ranges(&law.replace('N', &SAMPLED.to_string()), keys)
}
