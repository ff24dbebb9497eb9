//! Every kind of query keeps its promise, on integers and on byte strings.

use lacuna_workload::{
    KeySource, Keys, Lengths, Queries, QueryShape, QuerySource, ReadOptions, Workload, ZipfPool, count_empty,
    to_be_bytes,
};

const KINDS: [&str; 14] = [
    "points:300",
    "uniform:300:1-32",
    "correlated:300:1-32:64",
    "split:300:1-32:64",
    "heldout:300:1-32",
    "offset:300:1-32:64",
    "shift:300:16-64",
    "lastbyte:300",
    "half:300",
    "half:300:1-32",
    "half:heldout:300:1-32",
    "half:correlated:300:1-32:64",
    "half:lastbyte:300",
    "half:shift:300:0-64",
];

fn parsed(text: &str) -> QuerySource {
    QuerySource::parse(text).unwrap()
}

fn generated(text: &str, seed: u64) -> Vec<u64> {
    let keys = KeySource::parse(text).unwrap().load(&ReadOptions::default(), seed, &mut |_| {}).unwrap();
    let Keys::U64(keys) = keys else { panic!("generated keys are integers") };
    keys
}

/// Integers around both ends of the space and in between, close enough that ranges of 32 can hold two.
fn integers(seed: u64) -> Keys {
    let near = generated("uniform:2k", seed).into_iter().flat_map(|key| [key, key ^ 20]);
    Keys::from_u64s(near.chain([0, 1, u64::MAX - 1, u64::MAX]).collect())
}

/// Words with a common prefix; short ones, long ones, some that share 8 bytes after the prefix, some with 0xFF.
fn strings(seed: u64) -> Keys {
    let words = generated("uniform:1k", seed).into_iter().flat_map(|key| {
        let text = format!("user/{key:x}");
        let nearby = [&b"user/"[..], &(key ^ 20).to_be_bytes()].concat();
        [
            text.clone().into_bytes(),
            text.clone().into_bytes()[..8].to_vec(),
            format!("{text}/more").into_bytes(),
            [text.as_bytes(), b"\xff"].concat(),
            [&b"user/"[..], &key.to_be_bytes()].concat(),
            nearby,
        ]
    });
    Keys::from_byte_strings(words)
}

fn key_sets(seed: u64) -> [(&'static str, Keys); 3] {
    let raw = Keys::Bytes(integers(seed).to_be_bytes());
    [("integers", integers(seed)), ("strings", strings(seed)), ("big-endian integers", raw)]
}

fn check_ranges(queries: &Queries) {
    match queries {
        Queries::U64(ranges) => assert!(ranges.iter().all(|(low, high)| low <= high)),
        Queries::Bytes(ranges) => assert!(ranges.iter().all(|(low, high)| low <= high)),
    }
}

#[test]
fn empty_ranges_hold_no_key() {
    for seed in 0..3 {
        for ((name, keys), text) in key_sets(seed).iter().flat_map(|set| KINDS.map(|text| (set, text))) {
            let workload = parsed(text).workload(keys.clone(), seed);
            let workload = workload.unwrap_or_else(|error| panic!("{text} on {name}, seed {seed}: {error}"));
            check_ranges(&workload.queries);
            assert_eq!(workload.queries.len(), 300, "{text} on {name}, seed {seed}");
            let empty = count_empty(&workload.inserted, &workload.queries);
            assert_eq!(empty, 300, "{text} on {name}, seed {seed}");
        }
    }
}

#[test]
fn hit_ranges_hold_a_key() {
    let never_hit_alone = ["offset", "shift"]; // a fixed distance needs keys at that distance
    for ((name, keys), text) in key_sets(4).iter().flat_map(|set| KINDS.map(|text| (set, text))) {
        if never_hit_alone.contains(&text.split(':').next().unwrap()) {
            continue;
        }
        let workload = parsed(&format!("{text}:hit")).workload(keys.clone(), 4);
        let workload = workload.unwrap_or_else(|error| panic!("{text}:hit on {name}, seed 4: {error}"));
        check_ranges(&workload.queries);
        assert_eq!(workload.queries.len(), 300, "{text}:hit on {name}, seed 4");
        assert_eq!(count_empty(&workload.inserted, &workload.queries), 0, "{text}:hit on {name}, seed 4");
    }
}

#[test]
fn fixed_distances_can_hit() {
    let keys = Keys::U64((0..1_000).map(|key| key * 64).collect());
    for text in ["offset:100:1-32:64:hit", "offset:100:2:63:hit", "shift:100:1-64:hit"] {
        let workload = parsed(text).workload(keys.clone(), 1).unwrap();
        assert_eq!(count_empty(&workload.inserted, &workload.queries), 0, "{text}, seed 1");
    }
}

#[test]
fn ranges_as_drawn_mix_both_answers() {
    let workload = parsed("half:points:1000:any").workload(integers(5), 5).unwrap();
    let empty = count_empty(&workload.inserted, &workload.queries);
    assert!((430..570).contains(&empty), "{empty} of 1000 are empty, seed 5");
}

#[test]
fn taken_out_keys_are_the_rest() {
    for ((name, keys), (text, share)) in key_sets(6).iter().flat_map(|set| {
        [("heldout:10:1", 10), ("half:10", 2), ("points:10", usize::MAX)].map(|case| (set, case))
    }) {
        let Workload { inserted, held_out, .. } = parsed(text).workload(keys.clone(), 6).unwrap();
        assert_eq!(held_out.len(), keys.len() / share, "{text} on {name}, seed 6");
        let together = match (inserted, held_out) {
            (Keys::U64(left), Keys::U64(right)) => Keys::from_u64s([left, right].concat()),
            (Keys::Bytes(left), Keys::Bytes(right)) => {
                Keys::from_byte_strings(left.iter().chain(right.iter()))
            }
            _ => panic!("both parts are of one key space"),
        };
        assert_eq!(&together, keys, "{text} on {name}, seed 6");
    }
}

#[test]
fn shapes_keep_their_distances() {
    let keys = generated("uniform:1k", 7);
    let ranges = |text: &str| {
        let Queries::U64(ranges) = parsed(text).workload(Keys::U64(keys.clone()), 7).unwrap().queries else {
            panic!("integers stay integers")
        };
        ranges
    };
    let before = |point: u64| keys[keys.partition_point(|&key| key < point) - 1];
    for (low, high) in ranges("correlated:1000:8-32:64") {
        assert!(
            (1..=64).contains(&(low - before(low))) && (7..32).contains(&(high - low)),
            "{low} {high}, seed 7"
        );
    }
    for (low, high) in ranges("offset:1000:4:9") {
        assert_eq!((low - before(low), high - low), (9, 3), "{low} {high}, seed 7");
    }
    for (low, high) in ranges("shift:1000:3-30") {
        assert_eq!((low - before(low), high - before(low)), (3, 30), "{low} {high}, seed 7");
    }
    for (index, (low, _)) in ranges("split:1000:1:64").into_iter().enumerate() {
        let near = low - before(low) <= 64;
        assert_eq!(near, index % 2 == 1, "place {index}: {low}, seed 7");
    }
    for (low, high) in ranges("uniform:1000:1-32") {
        assert!(low >= keys[0] && low <= keys[999] && high - low < 32, "{low} {high}, seed 7");
    }
    let lengths: Vec<u64> =
        ranges("uniform:1000:1-4").into_iter().map(|(low, high)| high - low + 1).collect();
    assert!((1..=4).all(|length| lengths.iter().filter(|&&drawn| drawn == length).count() > 180), "seed 7");
}

#[test]
fn held_out_ranges_cover_a_taken_key() {
    let Workload { held_out, queries, .. } = parsed("heldout:500:1-32").workload(integers(8), 8).unwrap();
    assert_eq!(count_empty(&held_out, &queries), 0, "seed 8");
    let Workload { held_out, queries, .. } = parsed("lastbyte:500").workload(strings(8), 8).unwrap();
    assert_eq!(count_empty(&held_out, &queries), 0, "seed 8");
}

#[test]
fn same_seed_gives_same_workload() {
    for ((name, keys), text) in key_sets(9).iter().flat_map(|set| KINDS.map(|text| (set, text))) {
        let draw = |seed| parsed(text).workload(keys.clone(), seed).unwrap();
        assert_eq!(draw(1), draw(1), "{text} on {name}");
        assert_ne!(draw(1).queries, draw(2).queries, "{text} on {name}");
    }
}

#[test]
fn impossible_requests_say_how_many_were_found() {
    let dense = Keys::U64((0..1_000).collect());
    let few = Keys::U64(vec![0, 1 << 40]);
    for (text, keys, said) in [
        ("points:10", dense.clone(), "only 0 of 10 empty ranges were found in 100,001 attempts"),
        ("shift:10:1-1:hit", few, "only 0 of 10 non-empty ranges"),
        ("correlated:10:2^63:1", Keys::U64(vec![0, 1 << 63]), "only 0 of 10 empty ranges"),
        ("offset:10:1:2^63:any", Keys::U64(vec![u64::MAX]), "only 0 of 10 possible ranges"),
        ("uniform:10:1000-2000", dense, "ask for shorter ranges"),
        ("correlated:10:1:1", Keys::U64(vec![]), "there is no key to make ranges from"),
        ("points:10:hit", Keys::U64(vec![]), "there is no key to make ranges from"),
        ("heldout:10:1", Keys::U64(vec![5]), "taken out of at least 2"),
        ("half:10", Keys::from_byte_strings(["one"]), "taken out of at least 2"),
    ] {
        match parsed(text).workload(keys, 1) {
            Ok(workload) => panic!("{text} gave {} ranges", workload.queries.len()),
            Err(error) => assert!(error.to_string().contains(said), "{text}: {error}"),
        }
    }
}

#[test]
fn a_request_for_what_is_found_gets_fewer() {
    let gaps = |keys: u64| Keys::U64((0..keys).filter(|key| key % 5_000 != 4_999).collect());
    for (text, keys, is_some) in [("points:1k", gaps(4_999), false), ("points:1k", gaps(100_000), true)] {
        let asked = parsed(text);
        assert!(asked.workload(keys.clone(), 1).is_err(), "{text}, seed 1");
        let found = asked.workload_of_found(keys.clone(), 1).unwrap();
        let count = found.queries.len();
        assert!(found.inserted == keys && (count > 0) == is_some && count < 1_000, "{count}, seed 1");
        assert_eq!(count_empty(&keys, &found.queries), count, "seed 1");
    }
    let enough = parsed("points:50");
    let keys = integers(12);
    assert_eq!(
        enough.workload_of_found(keys.clone(), 1).unwrap(),
        enough.workload(keys, 1).unwrap(),
        "seed 1"
    );
    assert!(parsed("correlated:10:1:1").workload_of_found(Keys::U64(vec![]), 1).is_err());
}

#[test]
fn extreme_key_sets_work() {
    for keys in [vec![], vec![0], vec![u64::MAX], vec![0, u64::MAX]] {
        for set in [Keys::U64(keys.clone()), Keys::Bytes(to_be_bytes(&keys))] {
            for text in ["points:50", "uniform:50:1-8"] {
                let workload = parsed(text).workload(set.clone(), 1).unwrap();
                assert_eq!(count_empty(&set, &workload.queries), 50, "{text} on {keys:?}, seed 1");
            }
        }
    }
    for text in ["uniform:50:2-8:hit", "correlated:50:1-8:4:hit", "points:50:hit"] {
        let workload = parsed(text).workload(Keys::U64(vec![0, u64::MAX]), 1).unwrap();
        assert_eq!(count_empty(&workload.inserted, &workload.queries), 0, "{text}, seed 1");
    }
    let none = parsed("points:0").workload(Keys::U64(vec![]), 1).unwrap();
    assert!(none.queries.is_empty());
}

#[test]
fn pool_repeats_its_favourites() {
    let pool = parsed("uniform:1000:1-32").workload(integers(10), 10).unwrap();
    let asked = pool.queries.repeated_by_zipf(10_000, 10);
    assert_eq!(count_empty(&pool.inserted, &asked), 10_000, "seed 10");
    let favourite = ZipfPool::new(1_000, 10).take(10_000).filter(|&index| index == 0).count();
    assert!((1_150..1_520).contains(&favourite), "{favourite} of 10,000, expected 1,336, seed 10");
}

#[test]
fn shape_names_match_their_texts() {
    let lengths = Lengths::POINT;
    assert_eq!(QueryShape::Uniform { lengths }.name(), "uniform");
    assert_eq!(parsed("half:correlated:1:1:1").shape.name(), "correlated");
}
