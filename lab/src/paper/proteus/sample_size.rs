//! Table 1: how far a rate that a sample predicts may be off.

use lacuna_base::Result;
use lacuna_families::testing::cpfpr::sample_error_bound;

use crate::paper::{Claim, Finding, Session};

/// What the paper prints for N d^2 of 1 to 5.
const PRINTED: [f64; 5] = [0.004_25, 0.001_32, 0.000_05, 0.000_002, 0.000_000_1];

/// Table 1.
///
/// # Errors
/// None.
pub(super) fn bounds(_session: &mut Session<'_>) -> Result<Finding> {
    let claim = |(weight, printed): (u64, f64)| {
        // A distance of a hundredth, so that N d^2 is a ten-thousandth of N.
        let bound = sample_error_bound(weight * 10_000, 0.01, 0.1);
        Claim::new(format!("N d^2 = {weight}, rates up to 0.1"), printed, Some(bound))
    };
    let claims = (1..).zip(PRINTED).map(claim).collect();
    let note = "The first entry is misprinted: e^-5 + e^-(10/3) is 0.0424. So 10,000 sampled queries give a rate to \
                within a hundredth all but 4 times in a hundred, not in a thousand.";
    Ok(Finding { claims, notes: vec![note.into()], ..Finding::default() })
}
