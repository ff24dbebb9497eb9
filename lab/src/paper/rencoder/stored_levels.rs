//! Figure 4: rate and share of ones by the number of stored levels.

use lacuna_base::{AlignedBytes, Result};

use super::header::Header;
use crate::paper::grid::{build, count_maybes, plan, ranges};
use crate::paper::{Axis, Finding, Line, Plot, Session};

/// Two hash functions fill half of 14.4 bits a key with five levels, where the paper's figure has its minimum.
const BITS: f64 = 14.4;
const HASHES: u32 = 2;
const MAX_LEVELS: u32 = 12;

/// Figure 4.
pub(super) fn run(session: &mut Session<'_>) -> Result<Finding> {
    let keys = session.keys(&format!("uniform:{}", session.key_count(10_000_000)))?;
    let test_bed = session.test_bed(&keys, "uniform:N:2-32")?;
    let plan = plan(&test_bed, BITS, session.seed())?;
    let ranges: Vec<_> = ranges(&test_bed.queries).collect();
    let (mut rates, mut ones) = (Vec::new(), Vec::new());
    for levels in 1..=MAX_LEVELS {
        session.say(format!("{levels} levels"));
        let sealed = build(&format!("rencoder:k={HASHES},stored={levels}"), &test_bed, &plan)?;
        ones.push((f64::from(levels), Header::of(sealed.payload()).ones));
        let filter = lacuna_families::open::<u64, AlignedBytes>(sealed.into_bytes())?;
        let rate = count_maybes(&*filter, &ranges) as f64 / ranges.len() as f64;
        rates.push((f64::from(levels), rate));
    }
    let chosen = Header::of(build(&format!("rencoder:k={HASHES}"), &test_bed, &plan)?.payload());
    let best = rates.iter().min_by(|one, other| one.1.total_cmp(&other.1)).map_or(0.0, |(levels, _)| *levels);
    let note = format!(
        "Lowest rate with {best} levels; the builder chooses {} by counting, without trying any ({HASHES} hash \
         functions, {BITS} bits per key).",
        chosen.level_count
    );
    let x = || Axis::linear("stored levels");
    let panel = |title: &str, y, points| Plot {
        title: title.to_owned(),
        x: x(),
        y,
        lines: vec![Line::ours("REncoder", points)],
    };
    let plots = vec![
        panel("rate, ranges of 2 to 32 keys", Axis::logarithmic("false positive rate"), rates),
        panel("share of ones", Axis::linear("share of ones in the filter"), ones),
    ];
    Ok(Finding { plots, notes: vec![note], ..Finding::default() })
}
