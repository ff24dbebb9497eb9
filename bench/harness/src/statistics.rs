//! Medians, and when a measured rate meets its bar.
//!
//! A rate is measured by counting, and a count of rare events scatters: with 100 expected, 110 is usual and 140 is
//! not. So a rate passes while its count stays within 3.3 standard deviations above what the bar allows, which a
//! filter that is exactly as good as its bar misses once in about 2,000 tries, and a filter that is 1.5 times worse
//! passes about never, as long as at least 100 are expected.

use lacuna_base::{Error, Result};

/// Standard deviations that a count may lie above the bar.
const TOLERATED_DEVIATIONS: f64 = 3.3;

/// The middle of `values`; the mean of the two middle ones when their number is even.
///
/// ```
/// use lacuna_bench::statistics::median;
///
/// assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
/// assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
/// ```
///
/// # Panics
/// If there are no values.
pub fn median(values: &[f64]) -> f64 {
    assert!(!values.is_empty(), "an empty list has no median");
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { f64::midpoint(sorted[middle - 1], sorted[middle]) }
}

/// Whether `false_positives` among `empty_queries` meet the rate `bar`: at most `E + 3.3 sqrt(E)`, where
/// `E = bar * empty_queries` are expected.
///
/// ```
/// use lacuna_bench::statistics::rate_passes;
///
/// assert!(rate_passes(110, 0.01, 10_000, 100.0)?);
/// assert!(!rate_passes(150, 0.01, 10_000, 100.0)?);
/// assert!(rate_passes(0, 0.01, 100, 100.0).is_err());
/// # Ok::<(), lacuna_base::Error>(())
/// ```
///
/// # Errors
/// `InvalidInput` if fewer than `min_expected` are expected: too few for a verdict.
pub fn rate_passes(false_positives: u64, bar: f64, empty_queries: u64, min_expected: f64) -> Result<bool> {
    let expected = bar * empty_queries as f64;
    // A hundredth below is rounding in the caller's number of queries, not a weaker test.
    if expected < min_expected * 0.99 || expected.is_nan() {
        return Err(Error::invalid_input(format!(
            "{empty_queries} empty queries let a rate of {bar} expect {expected:.1} false positives, fewer than the \
             {min_expected} needed for a verdict; ask at least {}",
            queries_expecting(min_expected, bar)
        )));
    }
    Ok(false_positives as f64 <= expected + TOLERATED_DEVIATIONS * expected.sqrt())
}

/// Fewest empty queries among which the rate `bar` expects `expected` false positives.
pub fn queries_expecting(expected: f64, bar: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "f64 to u64 saturates, and that many are never asked"
    )]
    let count = (expected / bar).ceil() as u64;
    count
}
