//! Bytes, bit fields and packed integers.

use lacuna_succinct::bytes::{BitWriter, bits_at, low_mask, word};
use lacuna_succinct::packed::width_for;
use lacuna_succinct::{BitVector, OpenError, PackedInts};
use proptest::prelude::*;

use crate::tools::Random;

proptest! {
    #[test]
    fn written_fields_are_read_back(fields in prop::collection::vec((any::<u64>(), 0..=64_u32), 0..200)) {
        let mut bytes = Vec::new();
        let mut writer = BitWriter::new(&mut bytes);
        for &(value, width) in &fields {
            writer.push(value & low_mask(width), width);
        }
        let bits = writer.finish();
        prop_assert_eq!(bits, fields.iter().map(|field| u64::from(field.1)).sum::<u64>());
        prop_assert_eq!(bytes.len() as u64, bits.div_ceil(8));
        let mut at = 0;
        for &(value, width) in &fields {
            prop_assert_eq!(bits_at(&bytes, at, width), value & low_mask(width));
            at += u64::from(width);
        }
    }

    #[test]
    fn reads_outside_give_zeros(bytes in prop::collection::vec(any::<u8>(), 0..20), at in 0..400_u64, width in 0..=64_u32) {
        let bit = |place: u64| {
            let byte = bytes.get((place / 8) as usize).copied().unwrap_or(0);
            u64::from(byte >> (place % 8) & 1)
        };
        let expected = (0..u64::from(width)).map(|index| bit(at + index) << index).sum::<u64>();
        prop_assert_eq!(bits_at(&bytes, at, width), expected);
        prop_assert_eq!(bits_at(&bytes, u64::MAX - at, width), 0);
    }

    #[test]
    fn packed_integers_are_read_back(values in prop::collection::vec(any::<u64>(), 0..100), width in 0..=64_u32) {
        let values: Vec<u64> = values.into_iter().map(|value| value & low_mask(width)).collect();
        let mut bytes = Vec::new();
        PackedInts::encode(&values, width, &mut bytes);
        let table = PackedInts::open(&bytes).expect("just written");
        prop_assert_eq!(table.byte_len(), bytes.len());
        prop_assert_eq!((table.len(), table.width()), (values.len() as u64, width));
        let read: Vec<u64> = (0..table.len()).map(|index| table.get(&bytes, index)).collect();
        prop_assert_eq!(read, values);
        prop_assert_eq!(table.get(&bytes, table.len()), 0);
    }

    #[test]
    fn partition_finds_the_border(mut values in prop::collection::vec(0..1_000_u64, 0..100), border in 0..1_001_u64) {
        values.sort_unstable();
        let mut bytes = Vec::new();
        PackedInts::encode(&values, width_for(999), &mut bytes);
        let table = PackedInts::open(&bytes).expect("just written");
        let expected = values.partition_point(|&value| value < border);
        prop_assert_eq!(table.partition_point(&bytes, |value| value < border), expected as u64);
    }
}

#[test]
fn words_past_the_end_are_zero() {
    let bytes = [1, 0, 0, 0, 0, 0, 0, 0, 2];
    assert_eq!((word(&bytes, 0), word(&bytes, 1), word(&bytes, 2), word(&bytes, usize::MAX)), (1, 2, 0, 0));
}

#[test]
fn damaged_packed_headers_are_refused() {
    let mut bytes = Vec::new();
    PackedInts::encode(&[1, 2, 3], 2, &mut bytes);
    for kept in 0..bytes.len() {
        assert!(matches!(PackedInts::open(&bytes[..kept]), Err(OpenError::Truncated { .. })));
    }
    bytes[7] = 65;
    assert!(matches!(PackedInts::open(&bytes), Err(OpenError::Invalid(_))));
    bytes[..8].fill(0xFF);
    bytes[7] = 64;
    assert!(matches!(PackedInts::open(&bytes), Err(OpenError::Truncated { .. })));
}

#[test]
#[should_panic(expected = "a value needs more than 3 bits")]
fn too_wide_values_are_refused() {
    PackedInts::encode(&[1, 8], 3, &mut Vec::new());
}

#[test]
fn pushed_bits_are_kept_in_order() {
    let mut random = Random(5);
    let mut bits = BitVector::new();
    let mut expected = Vec::new();
    for _ in 0..500 {
        let (value, width) = (random.next(), random.below(65) as u32);
        bits.push_bits(value, width);
        expected.extend((0..width).map(|index| value >> index & 1 == 1));
    }
    assert_eq!(bits.len(), expected.len());
    assert!((0..bits.len()).all(|index| bits.get(index) == expected[index]));
    assert_eq!(bits, expected.iter().copied().collect());
    let mut set = BitVector::zeroed(expected.len());
    expected.iter().enumerate().filter(|(_, bit)| **bit).for_each(|(index, _)| set.set(index));
    assert_eq!(set, bits);
}
