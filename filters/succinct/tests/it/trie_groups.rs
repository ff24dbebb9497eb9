//! Tries whose children lie many groups of blocks ahead, with the groups' numbers of nodes and without them.

use lacuna_succinct::trie::{Builder, Divide, Plan, Trie};

use crate::tools::Random;

const SEED: u64 = 41;

/// 200 groups that share five bytes, and many labels below them: the step to those passes up to twelve groups.
fn keys(random: &mut Random) -> Vec<[u8; 8]> {
    let mut key = || {
        let [group, tail @ ..] = [random.below(200) as u8, random.next() as u8, random.next() as u8];
        [group, b's', b'h', b'a', b'r', b'e', tail[0], tail[1]]
    };
    let mut keys: Vec<[u8; 8]> = (0..60_000).map(|_| key()).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

fn trie_bytes(keys: &[[u8; 8]], divide: Divide) -> Vec<u8> {
    let mut builder = Builder::new(Plan { value_bits: 5, divide, ..Plan::default() });
    for (place, key) in (0..).zip(keys) {
        builder.add(key, place % 32).expect("ascending");
    }
    builder.finish()
}

/// First bytes of the entries of the sparse groups.
fn sparse_groups(bytes: &[u8]) -> impl Iterator<Item = usize> + use<> {
    let number = |at: usize| u64::from_le_bytes(*bytes[at..].first_chunk().expect("a header")) as usize;
    let (dense_nodes, sparse_slots) = (number(0), number(8));
    (0..sparse_slots.div_ceil(4_096)).map(move |group| 32 + (dense_nodes.div_ceil(16) + group) * 16)
}

/// As written before groups stored their numbers of nodes.
fn without_node_counts(bytes: &[u8]) -> Vec<u8> {
    let mut old = bytes.to_vec();
    for group in sparse_groups(bytes) {
        old[group + 6..group + 8].fill(0);
    }
    old
}

fn check(keys: &[[u8; 8]], bytes: &[u8], name: &str) {
    let trie = Trie::open(bytes).expect("written here");
    let mut random = Random(SEED);
    let mut cursor = trie.cursor();
    for _ in 0..20_000 {
        let mut query = keys[random.below(keys.len() as u64) as usize];
        query[random.below(8) as usize] ^= (random.next() & random.next()) as u8;
        let place = keys.partition_point(|key| *key < query);
        let value = (keys.get(place) == Some(&query)).then_some(place as u64 % 32);
        assert_eq!(trie.get(&query), value, "{name}, get {query:?}, seed {SEED}");
        let after = (keys.len() - place) as u64;
        assert_eq!(trie.count(&query, None), after, "{name}, from {query:?}, seed {SEED}");
        cursor.seek(&query);
        assert_eq!(cursor.key(), keys.get(place).map(<[u8; 8]>::as_slice), "{name}, {query:?}, seed {SEED}");
    }
}

#[test]
fn nodes_many_groups_ahead_are_found() {
    let keys = keys(&mut Random(SEED));
    for divide in [Divide::LeastSize, Divide::Levels(0), Divide::Levels(7)] {
        check(&keys, &trie_bytes(&keys, divide), &format!("{divide:?}"));
    }
}

/// Digests of these bytes as they were written before groups stored their numbers of nodes.
const OLD_DIGESTS: [u64; 2] = [0xE283_6F2B_73C2_BA7B, 0x777C_DA96_EB78_80A5];

#[test]
fn tries_without_node_counts_are_read() {
    let keys = keys(&mut Random(SEED));
    let digests = [Divide::LeastSize, Divide::Levels(0)].map(|divide| {
        let bytes = trie_bytes(&keys, divide);
        let old = without_node_counts(&bytes);
        assert_ne!(old, bytes, "groups store their numbers of nodes, {divide:?}");
        check(&keys, &old, &format!("old, {divide:?}"));
        fnv(&old)
    });
    assert_eq!(digests, OLD_DIGESTS, "not the bytes that were written before, seed {SEED}");
}

#[test]
fn wrong_node_counts_still_answer() {
    let keys = keys(&mut Random(SEED));
    let good = trie_bytes(&keys, Divide::LeastSize);
    for seed in 0..200 {
        let mut random = Random(seed);
        let mut bytes = good.clone();
        for group in sparse_groups(&good) {
            bytes[group + 6] = random.next() as u8;
            bytes[group + 7] = (random.next() & random.next() & random.next()) as u8;
        }
        let trie = Trie::open(bytes).expect("the header is whole");
        let mut cursor = trie.cursor();
        for key in keys.iter().step_by(997) {
            let _ = (trie.get(key), trie.count(key, None));
            cursor.seek(key);
            cursor.step();
        }
    }
}

/// The digest of Fowler, Noll and Vo, so that this test depends on nothing that it tests.
fn fnv(bytes: &[u8]) -> u64 {
    let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, step)
}
