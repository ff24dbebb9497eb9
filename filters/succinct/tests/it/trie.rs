//! The trie against sorted keys.

use lacuna_succinct::trie::{Builder, Divide, Keep, OutOfOrder, Plan, Trie};

use crate::tools::Random;

const DIVISIONS: [Divide; 6] = [
    Divide::LeastSize,
    Divide::Ratio(64),
    Divide::Levels(0),
    Divide::Levels(1),
    Divide::Levels(3),
    Divide::Levels(usize::MAX),
];

/// A value that depends on the key's place, of `bits` bits.
fn value_of(place: usize, bits: u32) -> u64 {
    if bits == 0 { 0 } else { (place as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - bits) }
}

fn build(keys: &[Vec<u8>], plan: Plan) -> Trie<Vec<u8>> {
    let mut builder = Builder::new(plan);
    for (place, key) in keys.iter().enumerate() {
        builder.add(key, value_of(place, plan.value_bits)).expect("ascending");
    }
    Trie::open(builder.finish()).expect("just written")
}

/// Holds everything the trie says about `asked` against the sorted keys.
fn check(keys: &[Vec<u8>], asked: &[Vec<u8>], plan: Plan, name: &str) {
    let trie = build(keys, plan);
    assert_eq!((trie.len(), trie.as_bytes().len()), (keys.len() as u64, trie.layout().byte_len()), "{name}");
    check_iteration(keys, &trie, plan, name);
    let mut cursor = trie.cursor();
    let mut last_place = 0;
    for (number, query) in asked.iter().enumerate() {
        let place = keys.partition_point(|key| key < query);
        let found = keys.get(place).filter(|key| *key == query);
        let value = found.map(|_| value_of(place, plan.value_bits));
        assert_eq!(trie.get(query), value, "{name}, {plan:?}, get {query:?}");
        cursor.seek(query);
        assert_eq!(cursor.key(), keys.get(place).map(Vec::as_slice), "{name}, {plan:?}, seek {query:?}");
        assert_eq!(cursor.value(), keys.get(place).map(|_| value_of(place, plan.value_bits)), "{name}");
        cursor.seek_back(query);
        let before = (place + usize::from(found.is_some())).checked_sub(1);
        assert_eq!(cursor.key(), before.map(|place| &keys[place][..]), "{name}, {plan:?}, back {query:?}");
        assert_eq!(trie.count(query, None), (keys.len() - place) as u64, "{name}, {plan:?}, from {query:?}");
        let other = &asked[(number * 7 + last_place) % asked.len()];
        let end = keys.partition_point(|key| key < other);
        let count = end.saturating_sub(place) as u64;
        assert_eq!(trie.count(query, Some(other)), count, "{name}, {plan:?}, {query:?} to {other:?}");
        last_place = place;
    }
}

fn check_iteration(keys: &[Vec<u8>], trie: &Trie<Vec<u8>>, plan: Plan, name: &str) {
    let mut cursor = trie.cursor();
    assert_eq!(cursor.key(), None);
    cursor.seek_first();
    for (place, key) in keys.iter().enumerate() {
        assert_eq!(cursor.key(), Some(&key[..]), "{name}, {plan:?}, forwards at {place}");
        assert_eq!(cursor.value(), Some(value_of(place, plan.value_bits)), "{name}, {plan:?}");
        cursor.step();
    }
    assert_eq!(cursor.key(), None, "{name}");
    cursor.seek_last();
    for (place, key) in keys.iter().enumerate().rev() {
        assert_eq!(cursor.key(), Some(&key[..]), "{name}, {plan:?}, backwards at {place}");
        cursor.step_back();
    }
    assert_eq!(cursor.key(), None, "{name}");
}

fn check_all_plans(keys: &[Vec<u8>], asked: &[Vec<u8>], name: &str) {
    for (place, divide) in DIVISIONS.into_iter().enumerate() {
        let value_bits = [0, 1, 7, 13, 57, 64][place];
        check(keys, asked, Plan { keep: Keep::Whole, divide, value_bits }, name);
    }
}

/// All strings of at most `longest` of two letters, ascending.
fn strings_of(letters: [u8; 2], longest: usize) -> Vec<Vec<u8>> {
    let mut strings = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..longest {
        let until = strings.len();
        for place in from..until {
            for letter in letters {
                strings.push([&strings[place][..], &[letter]].concat());
            }
        }
        from = until;
    }
    strings.sort();
    strings
}

#[test]
fn all_short_strings_are_ordered() {
    for letters in [[0, 1], [0, 0xFF], [0x7F, 0x80], [0xFE, 0xFF]] {
        let (keys, asked) = (strings_of(letters, 6), strings_of(letters, 7));
        check_all_plans(&keys, &asked, "all short strings");
        for seed in 0..60 {
            let mut random = Random(seed);
            let share = 1 + random.below(8);
            let some: Vec<_> = keys.iter().filter(|_| random.below(8) < share).cloned().collect();
            check_all_plans(&some, &asked, &format!("some of {letters:?}, seed {seed}"));
        }
    }
}

#[test]
fn every_set_of_tiny_strings_is_ordered() {
    for letters in [[0, 0xFF], [0xFE, 0xFF]] {
        let (all, asked) = (strings_of(letters, 2), strings_of(letters, 3));
        for chosen in 0_u32..1 << all.len() {
            let keys: Vec<_> = (0..)
                .zip(&all)
                .filter(|(place, _)| chosen >> place & 1 == 1)
                .map(|(_, key)| key.clone())
                .collect();
            check_all_plans(&keys, &asked, &format!("set {chosen:#b} of {letters:?}"));
        }
    }
}

/// The keys, and next to each of them what differs in one place.
fn neighbours(keys: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut asked = vec![Vec::new(), vec![0], vec![0xFF], vec![0xFF; 9]];
    for key in keys {
        asked.push(key.clone());
        asked.push([&key[..], &[0]].concat());
        asked.push([&key[..], &[0xFF]].concat());
        if let Some((last, rest)) = key.split_last() {
            asked.push(rest.to_vec());
            asked.push([rest, &[last.wrapping_add(1)]].concat());
            asked.push([rest, &[last.wrapping_sub(1)]].concat());
        }
    }
    asked
}

fn random_keys(random: &mut Random, count: u64, alphabet: u64, longest: u64) -> Vec<Vec<u8>> {
    let mut keys: Vec<Vec<u8>> = (0..count)
        .map(|_| {
            let letters = 0..random.below(longest + 1);
            letters.map(|_| (random.below(alphabet) * (255 / (alphabet - 1).max(1))) as u8).collect()
        })
        .collect();
    keys.sort();
    keys.dedup();
    keys
}

#[test]
fn random_strings_are_ordered() {
    for seed in 0..30 {
        let mut random = Random(seed);
        let (count, alphabet, longest) = (random.below(1_500), 2 + random.below(255), 1 + random.below(12));
        let keys = random_keys(&mut random, count, alphabet, longest);
        let mut asked = neighbours(&keys);
        asked.extend(random_keys(&mut random, 200, alphabet, longest));
        check_all_plans(&keys, &asked, &format!("random strings, seed {seed}"));
    }
}

#[test]
fn wide_nodes_cross_blocks() {
    // Nodes of 257 slots, sparse and dense, so that every block border falls inside a node.
    let mut keys = vec![Vec::new()];
    for first in 0..=u8::MAX {
        keys.push(vec![first]);
        keys.extend((0..=u8::MAX).step_by(1 + usize::from(first) % 3).map(|second| vec![first, second]));
    }
    let asked: Vec<_> = neighbours(&keys).into_iter().step_by(13).collect();
    check_all_plans(&keys, &asked, "wide nodes");
}

#[test]
fn chains_and_long_keys_are_ordered() {
    let chain: Vec<Vec<u8>> = (0..300).map(|len| vec![0xFF; len]).collect();
    check_all_plans(&chain, &neighbours(&chain), "prefixes of 0xFF");
    let zeros: Vec<Vec<u8>> = (1..300).map(|len| vec![0; len]).collect();
    check_all_plans(&zeros, &neighbours(&zeros), "prefixes of zeros");
    let mut long = vec![vec![b'x'; 1 << 16], [&vec![b'x'; 1 << 16][..], b"y"].concat(), vec![b'x'; 40_000]];
    long.push([&vec![b'x'; 50_000][..], b"a"].concat());
    long.sort();
    for divide in [Divide::LeastSize, Divide::Levels(3), Divide::Levels(usize::MAX)] {
        check(&long, &neighbours(&long), Plan { divide, ..Plan::default() }, "keys of 64 KiB");
    }
}

#[test]
fn lone_keys_are_found() {
    for key in [vec![], vec![0], vec![0xFF], vec![0xFF; 8], vec![0; 8], b"one".to_vec(), vec![b'z'; 1 << 16]]
    {
        let keys = [key];
        check_all_plans(&keys, &neighbours(&keys), "one key");
    }
    check_all_plans(&[], &neighbours(&[]), "no key");
}

#[test]
fn unordered_keys_are_refused() {
    let mut builder = Builder::new(Plan::default());
    builder.add(b"b", 0).expect("the first");
    assert_eq!(builder.add(b"a", 0), Err(OutOfOrder));
    assert_eq!(builder.add(b"b", 0), Err(OutOfOrder));
    builder.add(b"c", 0).expect("above b");
    let trie = Trie::open(builder.finish()).expect("just written");
    assert_eq!((trie.get(b"a"), trie.get(b"b"), trie.get(b"c"), trie.len()), (None, Some(0), Some(0), 2));
}

#[test]
fn unique_paths_are_the_shortest() {
    let keys: Vec<Vec<u8>> =
        ["SIG", "SIGAI", "SIGMOD", "SIGOPS", "VLDB"].iter().map(|key| key.as_bytes().to_vec()).collect();
    let trie = build(&keys, Plan { keep: Keep::Unique, ..Plan::default() });
    let mut cursor = trie.cursor();
    cursor.seek_first();
    for expected in ["SIG", "SIGA", "SIGM", "SIGO", "V"] {
        assert_eq!(cursor.key(), Some(expected.as_bytes()));
        cursor.step();
    }
    assert_eq!(cursor.key(), None);
}

#[test]
fn a_branch_takes_ten_and_a_half_bits() {
    let mut random = Random(3);
    let keys = random_keys(&mut random, 60_000, 40, 9);
    for keep in [Keep::Whole, Keep::Unique] {
        let trie = build(&keys, Plan { keep, ..Plan::default() });
        let all_sparse = build(&keys, Plan { keep, divide: Divide::Levels(0), ..Plan::default() });
        let branches = all_sparse.layout().sparse_slots() as f64;
        for bytes in [trie.as_bytes().len(), all_sparse.as_bytes().len()] {
            let bits = bytes as f64 * 8.0 / branches;
            assert!(bits < 10.2, "{keep:?}: {bits} bits a branch");
        }
        assert!(trie.as_bytes().len() <= all_sparse.as_bytes().len());
    }
}

#[test]
fn the_ratio_keeps_dense_small() {
    let mut random = Random(4);
    let keys = random_keys(&mut random, 100_000, 256, 6);
    let trie = build(&keys, Plan { divide: Divide::Ratio(64), ..Plan::default() });
    let (dense, sparse) = (trie.layout().dense_nodes() * 512, trie.layout().sparse_slots() * 10);
    assert!(dense > 0 && dense * 64 <= sparse, "{dense} and {sparse} bits");
}
