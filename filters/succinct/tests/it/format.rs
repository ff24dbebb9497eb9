//! The bytes of the pictures in [`docs/format/`](https://github.com/lacuna-db/lacuna/tree/main/docs/format/).

use lacuna_succinct::rank_select::Samples;
use lacuna_succinct::trie::{Builder, Plan};
use lacuna_succinct::{BitVector, EliasFano, PackedInts, RankSelect};

const KEYS: [u64; 5] = [3, 9, 10, 20, 37];

#[test]
fn elias_fano_bytes_match_their_page() {
    let expected = [
        [5, 0, 0, 0, 0, 0, 0, 0],
        [0x28, 0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0xFF, 7, 2, 4],
        [0xE6, 0xDE, 0xFF, 0x24, 0, 0, 0, 0],
    ];
    let written = EliasFano::from_sorted(&KEYS, 40);
    assert_eq!(written.as_bytes()[..40], *expected.as_flattened());
    assert_eq!(written.as_bytes()[40..], [0; 4]);
}

#[test]
fn packed_bytes_match_their_page() {
    let mut bytes = Vec::new();
    PackedInts::encode(&KEYS, 6, &mut bytes);
    assert_eq!(bytes[..12], [5, 0, 0, 0, 0, 0, 0, 6, 0x43, 0xA2, 0x50, 0x25]);
    assert_eq!(bytes[12..], [0; 8]);
}

#[test]
fn rank_select_bytes_match_their_page() {
    let bits: BitVector = (0..40).map(|bit| KEYS.contains(&bit)).collect();
    let mut bytes = Vec::new();
    RankSelect::encode(&bits, Samples { ones: true, zeros: false }, &mut bytes);
    let expected = [
        [0x28, 0, 0, 0, 0, 0, 0, 0],
        [5, 0, 0, 0, 0, 0, 0, 0],
        [1, 0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0, 0],
        [8, 6, 0x10, 0, 0x20, 0, 0, 0],
    ];
    assert_eq!(bytes, *expected.as_flattened());
}

#[test]
fn trie_bytes_match_their_page() {
    let mut builder = Builder::new(Plan { value_bits: 8, ..Plan::default() });
    for (value, key) in (1..).zip(["f", "far", "fat", "s", "top"]) {
        builder.add(key.as_bytes(), value).expect("ascending");
    }
    let bytes = builder.finish();
    let header = [
        [0, 0, 0, 0, 0, 0, 0, 0],
        [9, 0, 0, 0, 0, 0, 0, 0],
        [5, 0, 0, 0, 0, 0, 0, 0],
        [3, 0, 0, 0, 8, 0, 0, 0],
    ];
    assert_eq!(bytes[..32], *header.as_flattened());
    assert_eq!(bytes[32..48], [0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(bytes[48..52], [0; 4]);
    assert_eq!(bytes[52..68], [0x35, 0, 0, 0, 0, 0, 0, 0, 0x69, 1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(bytes[68..77], *b"fst\xFFaortp");
    assert_eq!(bytes[77..], [4, 1, 2, 3, 5]);
}
