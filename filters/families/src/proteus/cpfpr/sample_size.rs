//! How far a rate measured on a sample may be from the true one.

/// The chance, at most, that a rate measured on `queries` independent queries is off by more than `distance`, if the true
/// rate is at most `rate`: the smaller of the two Chernoff bounds of section 4.3.
///
/// ```
/// use lacuna_families::testing::cpfpr::sample_error_bound;
///
/// // From 10,000 queries, a rate of up to a tenth is known to within a hundredth, in all but 4 cases of a hundred.
/// assert!(sample_error_bound(10_000, 0.01, 0.1) < 0.0425);
/// ```
pub fn sample_error_bound(queries: u64, distance: f64, rate: f64) -> f64 {
    let weight = queries as f64 * distance * distance;
    let additive = 2.0 * libm::exp(-2.0 * weight);
    let relative = libm::exp(-weight / (2.0 * rate)) + libm::exp(-weight / (3.0 * rate));
    additive.min(relative).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table 1 prints 0.00425 for the first entry, a tenth of what its own formula gives.
    #[test]
    fn table_one_is_its_formula() {
        let table = [0.042_5, 0.001_32, 0.000_05, 0.000_002, 0.000_000_1];
        for (weight, printed) in (1u64..).zip(table) {
            // N d^2 = weight with d = 0.01.
            let bound = sample_error_bound(weight * 10_000, 0.01, 0.1);
            assert!(bound <= printed * 1.01, "weight {weight}: {bound}, printed {printed}");
            assert!(bound > printed * 0.5, "weight {weight}: {bound}, printed {printed}");
        }
    }

    #[test]
    fn a_small_sample_promises_nothing() {
        assert_eq!(sample_error_bound(0, 0.01, 0.1), 1.0);
    }
}
