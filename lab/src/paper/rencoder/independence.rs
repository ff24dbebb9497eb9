//! Table 4: whether a bit is independent of the bits before it, in our layout and in the paper's own.

use lacuna_base::Result;

use super::filters::PUBLISHED_SPEC;
use super::header::{Header, PUBLISHED_ARRAY_AT};
use crate::paper::grid::{build, plan};
use crate::paper::{Claim, Conclusion, Finding, Session};

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

/// Farthest that a share of the paper's row is from its share overall; it concludes that bits are independent.
pub(super) const CONCLUDES: [Conclusion; 1] = [Conclusion::at_most(FARTHEST, 0.0134)];
const FARTHEST: &str = "farthest from the share overall";

/// Table 4.
pub(super) fn run(session: &mut Session<'_>) -> Result<Finding> {
    let keys = session.keys(&format!("uniform:{}", session.key_count(50_000_000)))?;
    let test_bed = session.test_bed_of(&keys, "uniform:N:2-32", 2)?;
    let mut claims = Vec::new();
    for (layout, spec, lines_at) in LAYOUTS {
        session.say(format!("counting bits of {spec}"));
        let payload = build(spec, &test_bed, &plan(&test_bed, BITS, session.seed())?)?.payload().to_vec();
        claims.extend(claims_of(layout, &payload[lines_at(&payload)..]));
    }
    let note = "Bits are taken in the order of the bytes, least significant first, within words of 64. In the published layout \
                the nodes near the root of a mini-tree stand side by side at the first bits of a byte."
        .to_owned();
    Ok(Finding { claims, notes: vec![note], ..Finding::default() })
}

/// A name, a spec, and where the bits of its payload begin.
type Layout = (&'static str, &'static str, fn(&[u8]) -> usize);
const LAYOUTS: [Layout; 2] = [
    ("", "rencoder", |payload| Header::of(payload).lines_at),
    (", published layout", PUBLISHED_SPEC, |_| PUBLISHED_ARRAY_AT),
];

/// The shares of `lines` beside the paper's, and how far the farthest is from the one overall.
fn claims_of(layout: &str, lines: &[u8]) -> Vec<Claim> {
    let shares = PAPER.map(|(before, _)| share_after(lines, before));
    let pairs = PAPER.iter().zip(shares);
    let mut claims: Vec<Claim> =
        pairs.map(|(&(before, paper), ours)| Claim::new(named(before) + layout, paper, Some(ours))).collect();
    let paper = farthest(&PAPER.map(|(_, share)| share));
    claims.push(Claim::new(format!("{FARTHEST}{layout}"), paper, Some(farthest(&shares))));
    claims
}

/// The largest distance of the other shares from the first.
fn farthest(shares: &[f64]) -> f64 {
    shares[1..].iter().map(|share| (share - shares[0]).abs()).fold(0.0, f64::max)
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
    fn dependent_bits_turn_the_verdict() {
        use crate::paper::conclusion::verdict;
        let judged = |bits: &[u8]| verdict(claims_of("", bits).last().expect("the farthest"), &CONCLUDES);
        let mut rng = lacuna_workload::Rng::new(5);
        let random: Vec<u8> = (0..40_000).flat_map(|_| rng.next_u64().to_le_bytes()).collect();
        assert!(judged(&random).ends_with(": holds"), "{}, seed 5", judged(&random));
        let pairs = 0x3333_3333_3333_3333_u64.to_le_bytes().repeat(100);
        assert!(judged(&pairs).contains("does not hold"), "{}", judged(&pairs));
    }

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
