//! The largest number that still fits a budget.

/// The largest `x` in `0..=most` with `fits(x)`, if `fits(0)`; `fits` must not turn true again once it is false.
pub(crate) fn largest_within(max: u64, fits: impl Fn(u64) -> bool) -> Option<u64> {
    if fits(max) {
        return Some(max);
    }
    if !fits(0) {
        return None;
    }
    let (mut fitting, mut beyond) = (0, max);
    while beyond - fitting > 1 {
        let middle = fitting + (beyond - fitting) / 2;
        if fits(middle) {
            fitting = middle;
        } else {
            beyond = middle;
        }
    }
    Some(fitting)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_fitting_number_is_found() {
        for limit in [0u64, 1, 2, 999, 1_000] {
            assert_eq!(largest_within(1_000, |x| x <= limit), Some(limit));
        }
        assert_eq!(largest_within(u64::MAX, |x| x < 1 << 60), Some((1 << 60) - 1));
        assert_eq!(largest_within(10, |_| false), None);
    }
}
