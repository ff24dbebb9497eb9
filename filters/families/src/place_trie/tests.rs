//! What a place trie has of its own; the conformance suite proves the rest.

use std::ops::Bound;
use std::sync::Arc;

use lacuna_base::{
    Budget, BuildPlan, ByteColumn, ByteRange, DynFilter, Envelope, FilterSpec, KeyStatistics, Sample, Sealed,
    SortedKeys, U64Range,
};
use lacuna_workload::Rng;

use super::{PlaceTrie, PlaceTrieSpec, likely_design};

const SEED: u64 = 42;

fn budget(bits_per_key: f64) -> Budget {
    Budget::bits_per_key(bits_per_key).expect("in range")
}

fn seal(spec: &PlaceTrieSpec, keys: &ByteColumn, plan: &BuildPlan<[u8]>) -> Sealed {
    spec.build(SortedKeys::byte_strings(keys).expect("ascending"), plan).expect("fits")
}

fn open(sealed: Sealed) -> Box<DynFilter<[u8]>> {
    crate::open::<[u8], _>(sealed.into_bytes()).expect("just sealed")
}

/// The example of the module page, with the four bits in the highest.
#[test]
fn leaves_are_cut_after_they_part() {
    let keys = [0b0001u64, 0b0100, 0b0101, 0b1110].map(|key| key << 60);
    let plan = BuildPlan::<u64>::new(budget(40.0));
    let spec = PlaceTrieSpec::new().with_edge(64).with_tail(1);
    let sealed = spec.build(SortedKeys::integers(&keys).expect("ascending"), &plan).expect("fits");
    let filter = crate::open::<u64, _>(sealed).expect("just sealed");
    let ask =
        |lo: u64, hi: u64| filter.may_contain_range(U64Range::new(lo << 60, hi << 60).expect("in order"));
    assert!(!ask(0b0110, 0b1010) && !ask(0b0010, 0b0011));
    assert!(ask(0b1100, 0b1101), "in a leaf");
    assert!(ask(0b0110, 0b1100) && ask(0b0010, 0b0100), "up to a leaf");
}

/// Every range of small integers against every trie over some of them, of all edges and tails.
#[test]
fn every_range_is_answered_by_its_leaves() {
    let mut rng = Rng::new(SEED);
    for round in 0..40 {
        let shift = [0, 3, 40, 58][rng.index(4)];
        let kept = 1 + rng.below(9);
        let keys: Vec<u64> = (0..64u64).filter(|_| rng.below(10) < kept).map(|key| key << shift).collect();
        for (edge, tail) in [(512, 0), (0, 0), (1, 1), (5, 2), (64, 60)] {
            let spec = PlaceTrieSpec::new().with_edge(edge).with_tail(tail);
            let plan = BuildPlan::<u64>::new(budget(128.0).with_extra_bytes(2_000));
            let sorted = SortedKeys::integers(&keys).expect("ascending");
            let filter =
                crate::open::<u64, _>(spec.build(sorted, &plan).expect("fits")).expect("just sealed");
            for lo in 0..64u64 {
                for hi in lo..64 {
                    let range = U64Range::new(lo << shift, hi << shift).expect("in order");
                    let holds = keys.iter().any(|&key| range.contains(key));
                    let answer = filter.may_contain_range(range);
                    assert!(
                        answer || !holds,
                        "{spec} over {keys:?} denies {range:?}, round {round}, seed {SEED}"
                    );
                    let is_exact = edge >= 64 && tail >= 60;
                    assert!(!is_exact || answer == holds, "{spec} over {keys:?}: {range:?}, round {round}");
                }
            }
        }
    }
}

/// Names under folders: neighbours share anything from nothing to most of a name.
fn names(count: u32) -> ByteColumn {
    let mut rng = Rng::new(SEED);
    let word = |rng: &mut Rng| -> String {
        (0..2 + rng.below(5))
            .map(|_| char::from(b'a' + u8::try_from(rng.below(12)).expect("small")))
            .collect()
    };
    let folders: Vec<String> =
        (0..300).map(|_| (0..1 + rng.below(6)).map(|_| word(&mut rng) + "/").collect()).collect();
    let mut names: Vec<String> =
        (0..count).map(|_| folders[rng.index(300)].clone() + &word(&mut rng)).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().collect()
}

type Queries = Vec<(Vec<u8>, Vec<u8>)>;

/// Keys of `names` of which one in ten is left out, and ranges from each of those to what parts from the next key one byte earlier.
fn held_out(names: &ByteColumn) -> (ByteColumn, Queries) {
    let mut rng = Rng::new(SEED + 1);
    let (mut kept, mut left) = (ByteColumn::new(), Vec::new());
    for name in names.iter() {
        if rng.below(10) == 0 { left.push(name.to_vec()) } else { kept.push(name) }
    }
    let next = |name: &Vec<u8>| kept.iter().find(|key| *key > name.as_slice()).map(<[u8]>::to_vec);
    let before = |lo: &[u8], next: Vec<u8>| {
        // What begins as the next key does, with one less where the two part.
        let shared = lo.iter().zip(&next).take_while(|(a, b)| a == b).count();
        [&next[..shared], &[next[shared] - 1], &[b'~'; 8]].concat()
    };
    let queries = left.iter().filter_map(|name| Some((name.clone(), before(name, next(name)?))));
    let queries = queries.filter(|(lo, hi)| lo <= hi).collect();
    (kept, queries)
}

fn plan_for(queries: &[(Vec<u8>, Vec<u8>)], bits_per_key: f64) -> BuildPlan<[u8]> {
    let mut sample = Sample::new();
    queries.iter().for_each(|(lo, hi)| sample.push(lo.as_slice(), hi.as_slice()));
    BuildPlan::new(budget(bits_per_key)).with_sample(Arc::new(sample)).with_seed(SEED)
}

fn rate(filter: &DynFilter<[u8]>, queries: &[(Vec<u8>, Vec<u8>)]) -> f64 {
    let maybes =
        queries.iter().filter(|(lo, hi)| filter.may_contain_range(ByteRange::new(lo, hi).expect("in order")));
    maybes.count() as f64 / queries.len() as f64
}

#[test]
fn the_rate_is_as_predicted_and_better_than_that_of_places_of_one_length() {
    let (keys, queries) = held_out(&names(12_000));
    let half = |first: usize| -> Queries { queries.iter().skip(first).step_by(2).cloned().collect() };
    let (sampled, judged) = (half(0), half(1));
    assert!(judged.len() > 300, "{}", judged.len());
    for bits_per_key in [14.0, 18.0, 24.0] {
        let plan = plan_for(&sampled, bits_per_key);
        let known = KeyStatistics::new(SortedKeys::byte_strings(&keys).expect("ascending"), &plan);
        let (spec, prediction) = likely_design(&known).expect("there are queries");
        let sealed = seal(&spec, &keys, &plan);
        let bytes = sealed.payload().len();
        let filter = open(sealed);
        assert!(keys.iter().all(|key| filter.may_contain(key)), "{spec}, seed {SEED}");
        let found = rate(&*filter, &judged);
        println!("{bits_per_key} bits: {spec}, {:.4} predicted, {found:.4} found", prediction.rate);
        let spread = (prediction.rate.max(0.01) / judged.len() as f64).sqrt();
        assert!((found - prediction.rate).abs() < 4.0 * spread, "{spec}, seed {SEED}");
        let predicted = prediction.payload_bytes as f64;
        assert!((bytes as f64 - predicted).abs() < 0.1 * predicted, "{bytes} bytes, {predicted} predicted");
        let even =
            open(crate::spec::<[u8]>("grafite").expect("known").build(known.keys(), &plan).expect("fits"));
        assert!(found < 0.8 * rate(&*even, &judged), "{spec}: places of one length are as good, seed {SEED}");
    }
}

/// More bits are longer tails, which deny more.
#[test]
fn a_larger_budget_makes_longer_tails() {
    let (keys, queries) = held_out(&names(4_000));
    let mut before = 1.0;
    for bits_per_key in [13.0, 15.0, 18.0, 22.0] {
        let filter = open(seal(&PlaceTrieSpec::new().with_edge(512), &keys, &plan_for(&[], bits_per_key)));
        let found = rate(&*filter, &queries);
        assert!(
            found < before || found == 0.0,
            "{found} at {bits_per_key} bits, {before} before, seed {SEED}"
        );
        before = found;
    }
}

#[test]
fn a_design_is_built_as_its_text_says() {
    let (keys, queries) = held_out(&names(4_000));
    let plan = plan_for(&queries, 18.0);
    let known = KeyStatistics::new(SortedKeys::byte_strings(&keys).expect("ascending"), &plan);
    let (spec, _) = likely_design(&known).expect("there are queries");
    let read: PlaceTrieSpec = spec.to_string().parse().expect("its own text");
    assert_eq!(read, spec);
    assert!(
        seal(&read, &keys, &plan) == seal(&PlaceTrieSpec::new(), &keys, &plan),
        "the family designs the same"
    );
}

/// Short strings and long ones, the ends of the byte order, keys that others begin with, and 600 bytes that all share.
#[test]
fn no_range_with_a_key_is_denied() {
    let mut keys: Vec<Vec<u8>> = names(2_000).iter().map(<[u8]>::to_vec).collect();
    for key in keys.clone().iter().step_by(7) {
        keys.extend([[&key[..], &[0]].concat(), [&key[..], &[0xFF; 9]].concat(), key[..1].to_vec()]);
        keys.extend([[&[b'p'; 600][..], key].concat(), [&key[..], &[b'q'; 300], key].concat()]);
    }
    keys.extend([Vec::new(), vec![0], vec![0xFF; 3], vec![0xFF; 700]]);
    keys.sort_unstable();
    keys.dedup();
    let column: ByteColumn = keys.iter().collect();
    let plan = BuildPlan::new(budget(40.0)).with_seed(SEED);
    for text in
        ["place_trie", "place_trie:edge=9", "place_trie:edge=30,tail=3,map=1", "place_trie:edge=512,map=40"]
    {
        let spec: PlaceTrieSpec = text.parse().expect("known");
        let filter = open(seal(&spec, &column, &plan));
        for (index, key) in keys.iter().enumerate() {
            assert!(filter.may_contain(key), "{text} misses {key:?}");
            let before = index.checked_sub(1).map(|index| keys[index].as_slice());
            let after = keys.get(index + 1).map(Vec::as_slice);
            let parent = &key[..key.len() / 2];
            for (lo, hi) in [
                (before.map_or(Bound::Unbounded, Bound::Excluded), Bound::Included(key.as_slice())),
                (Bound::Included(key.as_slice()), after.map_or(Bound::Unbounded, Bound::Excluded)),
                (
                    before.map_or(Bound::Unbounded, Bound::Excluded),
                    after.map_or(Bound::Unbounded, Bound::Excluded),
                ),
                (Bound::Included(parent), Bound::Included(key.as_slice())),
                (Bound::Included(key.as_slice()), Bound::Unbounded),
                (Bound::Unbounded, Bound::Included(key.as_slice())),
            ] {
                let range = ByteRange::from_bounds(lo, hi).expect("holds the key");
                assert!(filter.may_contain_range(range), "{text} misses {key:?} in {range:?}");
            }
        }
    }
}

#[test]
fn any_bytes_answer_something() {
    let keys: Vec<u64> = (0..3_000u64).map(|key| key * key * 0x1_0001).collect();
    let sorted = SortedKeys::integers(&keys).expect("ascending");
    let plan = BuildPlan::<u64>::new(budget(20.0));
    let sealed = PlaceTrieSpec::new().build(sorted, &plan).expect("fits");
    let (envelope, _) = Envelope::open(sealed.as_bytes()).expect("just sealed");
    let mut rng = Rng::new(SEED);
    let mut body = sealed.payload().to_vec();
    for _ in 0..400 {
        let end = if rng.below(2) == 0 { 40 } else { body.len() };
        let place = rng.index(end);
        body[place] = [0, 0xFF, u8::try_from(rng.below(256)).expect("a byte")][rng.index(3)];
        let Ok(trie) = PlaceTrie::open(&body, &envelope) else { continue };
        for &key in keys.iter().step_by(97) {
            let (lo, hi) =
                (lacuna_base::LongPlace::from_word(key), lacuna_base::LongPlace::from_word(key + 9));
            trie.holds(&body, &lo, &hi);
        }
    }
    for (at, bytes) in [(0, [0, 1]), (2, [0, 0]), (2, [1, 2])] {
        let mut damaged = sealed.payload().to_vec();
        damaged[at..at + 2].copy_from_slice(&bytes);
        assert!(PlaceTrie::open(&damaged, &envelope).is_err(), "{bytes:?} at {at}");
    }
    assert!(PlaceTrie::open(&sealed.payload()[..36], &envelope).is_err(), "no leaf");
}

#[test]
fn specs_are_written_as_they_are_read() {
    for text in ["place_trie", "place_trie:edge=0,tail=255,map=50", "place_trie:tail=3", "place_trie:map=1"] {
        assert_eq!(crate::spec::<[u8]>(text).expect("known").name(), text);
    }
    for text in ["place_trie:edge=513", "place_trie:tail=256", "place_trie:map=0", "place_trie:map=51"] {
        assert!(crate::spec::<[u8]>(text).is_err(), "{text}");
    }
}
