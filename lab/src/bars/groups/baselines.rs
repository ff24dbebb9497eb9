//! Rosetta and SNARF: what a question costs at the most, in standard Bloom filters asked for a point.

use lacuna_base::Result;

use super::bounded::Bounded;
use crate::bars::bar::Bar;
use crate::bars::bar::Limit::{AtMost, None};
use crate::bars::setting::Setting;
use lacuna_cli::Progress;

const BITS: f64 = 14.0;

/// Rosetta asked for ranges of about a million keys, which use up its 64 probes; as published it goes on.
pub(super) fn rosetta(setting: &Setting, progress: &Progress) -> Result<Vec<Bar>> {
    let specs = [("rosetta", AtMost(64.0)), ("rosetta:single", AtMost(64.0)), ("rosetta:published", None)];
    Bounded { specs: &specs, law: "uniform:N:1000000-1048576", bits: BITS }.bars(setting, progress)
}

/// SNARF asked for ranges of any length, each of which decodes half of one block of 128 or 32 keys.
pub(super) fn snarf(setting: &Setting, progress: &Progress) -> Result<Vec<Bar>> {
    let specs = [("snarf", AtMost(6.0)), ("snarf:block=32", AtMost(4.0))];
    Bounded { specs: &specs, law: "uniform:N:2-1048576", bits: BITS }.bars(setting, progress)
}
