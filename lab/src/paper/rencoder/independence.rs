//! Table 4: whether a bit is independent of the bits before it.

use lacuna_base::Result;

use super::header::Header;
use crate::paper::grid::{build, plan};
use crate::paper::{Claim, Finding, Session};

/// Budget; the paper does not say its own.
const BITS: f64 = 16.0;

/// Shares of ones after the bits named; the paper's second row, whose share of ones is 0.4767 overall.
const PAPER: [(&str, f64); 7] = [
    ("", 0.4767),
    ("0", 0.4750),
    ("1", 0.4786),
    ("00", 0.4633),
    ("01", 0.4736),
    ("10", 0.4879),
    ("11", 0.4840),
];

/// Table 4.
pub(super) fn run(session: &mut Session<'_>) -> Result<Finding> {
    let keys = session.keys(&format!("uniform:{}", session.key_count(50_000_000)))?;
    let test_bed = session.test_bed_of(&keys, "uniform:N:2-32", 2)?;
    session.say("counting bits");
    let sealed = build("rencoder", &test_bed, &plan(&test_bed, BITS, session.seed())?)?;
    let lines = &sealed.payload()[Header::of(sealed.payload()).lines_at..];
    let shares = PAPER.map(|(before, _)| share_after(lines, before));
    let claims: Vec<Claim> = PAPER
        .iter()
        .zip(shares)
        .map(|(&(before, paper), ours)| Claim::new(named(before), paper, Some(ours)))
        .collect();
    let farthest = |shares: &mut dyn Iterator<Item = f64>, all: f64| {
        shares.map(|share| (share - all).abs()).fold(0.0, f64::max)
    };
    let note = format!(
        "Farthest from the share overall: {:.4} here, {:.4} in the paper. Bits are taken in the order of the bytes, least \
         significant first, within words of 64.",
        farthest(&mut shares.into_iter().skip(1), shares[0]),
        farthest(&mut PAPER.iter().skip(1).map(|(_, share)| *share), PAPER[0].1),
    );
    Ok(Finding { claims, notes: vec![note], ..Finding::default() })
}

fn named(before: &str) -> String {
    if before.is_empty() { "share of ones".to_owned() } else { format!("share of ones after {before}") }
}

/// Share of ones among the bits of `lines` that stand right after the bits `before`, within a word.
fn share_after(lines: &[u8], before: &str) -> f64 {
    let (mut places, mut ones) = (0u64, 0u64);
    for word in lines.as_chunks::<8>().0 {
        let word = u64::from_le_bytes(*word);
        let mut fits = u64::MAX << before.len();
        for (distance, bit) in before.bytes().rev().enumerate() {
            let earlier = word << (distance + 1);
            fits &= if bit == b'1' { earlier } else { !earlier };
        }
        places += u64::from(fits.count_ones());
        ones += u64::from((fits & word).count_ones());
    }
    ones as f64 / places.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_counted_behind_others() {
        // Bits from the least significant: 1 1 0 1 0 0 0 0, then zeros.
        let lines = 0b1011_u64.to_le_bytes();
        assert_eq!(share_after(&lines, ""), 3.0 / 64.0);
        assert_eq!(share_after(&lines, "1"), 1.0 / 3.0);
        assert_eq!(share_after(&lines, "0"), 1.0 / 60.0);
        assert_eq!(share_after(&lines, "10"), 1.0 / 2.0);
        assert_eq!(share_after(&lines, "11"), 0.0);
    }
}
