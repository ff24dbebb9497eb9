//! Rice codes.

use lacuna_succinct::bytes::BitWriter;
use lacuna_succinct::rice::{MAX_LOW_BITS, RiceList};
use proptest::prelude::*;

/// The list and its bytes, after `before` bits of something else.
fn encoded(numbers: &[u64], low_bits: u32, before: u32) -> (RiceList, Vec<u8>) {
    let list = RiceList::new(numbers.len() as u64, low_bits);
    let mut bytes = Vec::new();
    let mut writer = BitWriter::new(&mut bytes);
    writer.push(0, before);
    list.encode(numbers.iter().copied(), &mut writer);
    let bits = writer.finish();
    assert_eq!(bits, u64::from(before) + list.len_bits(numbers.iter().copied()));
    (list, bytes)
}

/// Ascending numbers up to 2^`bits`, some of them equal.
fn ascending(bits: u32) -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(0..1u64 << bits, 0..200).prop_map(|mut numbers| {
        numbers.sort_unstable();
        numbers
    })
}

proptest! {
    #[test]
    fn coded_numbers_are_read_back(
        (numbers, low_bits) in (1..60u32).prop_flat_map(|bits| (ascending(bits), bits.saturating_sub(8)..=bits)),
        before in 0..64u32,
    ) {
        let (list, bytes) = encoded(&numbers, low_bits, before);
        prop_assert_eq!(list.iter(&bytes, u64::from(before)).collect::<Vec<u64>>(), numbers);
    }

    #[test]
    fn rice_ranges_are_answered_truly(
        (numbers, low_bits, bits) in (1..40u32)
            .prop_flat_map(|bits| (ascending(bits), bits.saturating_sub(8)..=bits, Just(bits))),
        draws in prop::collection::vec((any::<u64>(), any::<u64>()), 50),
        before in 0..64u32,
    ) {
        let (list, bytes) = encoded(&numbers, low_bits, before);
        let start = u64::from(before);
        for (from, length) in draws {
            let lo = from >> (63 - bits);
            let hi = lo + length.checked_shr(64 - bits / 2).unwrap_or(0);
            let truth = numbers.iter().any(|number| (lo..=hi).contains(number));
            prop_assert_eq!(list.any_in(&bytes, start, lo, hi), truth, "{}..={} in {:?}", lo, hi, numbers);
        }
        for &number in &numbers {
            prop_assert!(list.any_in(&bytes, start, number, number));
        }
    }

    #[test]
    fn arbitrary_lists_end(
        bytes in prop::collection::vec(any::<u8>(), 0..60),
        (count, low_bits) in (0..300u64, 0..=MAX_LOW_BITS),
        (start, lo, length) in (prop_oneof![0..600u64, any::<u64>()], any::<u64>(), 0..1_000u64),
    ) {
        let list = RiceList::new(count, low_bits);
        prop_assert!(list.iter(&bytes, start).count() as u64 <= count);
        // As many words are read as the value asked for has rests.
        let lo = lo & ((1 << low_bits) - 1);
        list.any_in(&bytes, start, lo, lo + length.min(1 << low_bits));
    }
}

#[test]
fn long_rests_are_read_back() {
    for gap in [62, 63, 64, 65, 126, 127, 1_000] {
        let numbers = [gap, gap, 2 * gap + 1, 2 * gap + 2];
        let (list, bytes) = encoded(&numbers, 0, 3);
        assert_eq!(list.iter(&bytes, 3).collect::<Vec<u64>>(), numbers);
        assert!(list.any_in(&bytes, 3, gap + 1, 2 * gap + 1));
        assert!(!list.any_in(&bytes, 3, gap + 1, 2 * gap));
    }
}

/// Differences that are geometric around 2^k take k + 1.6 bits or less.
#[test]
fn even_numbers_take_few_bits() {
    let mut random = crate::tools::Random(5);
    let mut numbers: Vec<u64> = (0..50_000).map(|_| random.below(50_000 << 8)).collect();
    numbers.sort_unstable();
    let low_bits = RiceList::low_bits_for(50_000, 50_000 << 8);
    let bits = RiceList::new(50_000, low_bits).len_bits(numbers.iter().copied());
    assert!(bits as f64 / 50_000.0 < 8.0 + 1.62, "{bits} bits, seed 5");
}

/// The page's example.
#[test]
fn the_bytes_of_a_list_are_kept() {
    let (_, bytes) = encoded(&[3, 9, 10, 20, 37], 2, 0);
    assert_eq!(bytes, [0x9B, 0x35, 0x21]);
}
