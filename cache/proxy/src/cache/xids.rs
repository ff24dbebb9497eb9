//! Numbers of transactions. Rows and the log have their low halves only.

/// The number whose low half this is, of those within two thousand million around `near`.
pub(super) fn whole(low: u32, near: u64) -> Option<u64> {
    #[expect(clippy::cast_possible_truncation, reason = "the low half")]
    let ahead = low.wrapping_sub(near as u32).cast_signed();
    near.checked_add_signed(i64::from(ahead))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_number_with_this_low_half_is_meant() {
        for near in [5_u64, 1 << 31, (1 << 32) - 1, 1 << 32, (7 << 32) + 5] {
            for ahead in [-3_i64, 0, 3, 1 << 30, -(1 << 30)] {
                let Some(number) = near.checked_add_signed(ahead) else { continue };
                let low = u32::try_from(number & u64::from(u32::MAX)).unwrap();
                assert_eq!(whole(low, near), Some(number), "{near} {ahead}");
            }
        }
        assert_eq!(whole(u32::MAX, 3), None, "before the first");
    }
}
