//! What several prefix Bloom filters have of their own; the conformance suite proves the rest.

use std::ops::Bound;
use std::sync::Arc;

use lacuna_base::{
    Budget, BuildPlan, ByteColumn, ByteRange, DynFilter, Envelope, FilterSpec, KeyStatistics, Sample, Sealed,
    SortedKeys, U64Range,
};
use lacuna_workload::Rng;

use super::{MultiPrefixBloom, MultiPrefixBloomSpec, likely_design};

const SEED: u64 = 42;

fn budget(bits_per_key: f64) -> Budget {
    Budget::bits_per_key(bits_per_key).expect("in range")
}

fn seal(spec: &MultiPrefixBloomSpec, keys: &ByteColumn, plan: &BuildPlan<[u8]>) -> Sealed {
    spec.build(SortedKeys::byte_strings(keys).expect("ascending"), plan).expect("fits")
}

fn open(sealed: Sealed) -> Box<DynFilter<[u8]>> {
    crate::open::<[u8], _>(sealed.into_bytes()).expect("just sealed")
}

fn asks(filter: &DynFilter<[u8]>, lo: &str, hi: &str) -> bool {
    filter.may_contain_range(ByteRange::new(lo.as_bytes(), hi.as_bytes()).expect("in order"))
}

/// The example of the module page.
#[test]
fn each_length_denies_what_it_tells_from_the_keys() {
    let keys: ByteColumn = ["alpha/one", "alpha/two", "beta", "zeta"].into_iter().collect();
    // Four keys have room for next to nothing.
    let plan = BuildPlan::new(budget(128.0).with_extra_bytes(1_000)).with_seed(SEED);
    let filter = open(seal(&MultiPrefixBloomSpec::new().with_lengths(&[8, 48, 72]), &keys, &plan));
    assert!(!asks(&*filter, "alpha/tom", "alpha/toz"), "the longest prefixes tell it from both keys");
    assert!(!asks(&*filter, "delta", "gamma"), "the shortest ones do, and the others are too many");
    assert!(asks(&*filter, "alpha/tom", "alpha/two") && asks(&*filter, "beta", "beta"));
    let short = open(seal(&MultiPrefixBloomSpec::new().with_lengths(&[8]), &keys, &plan));
    let long = open(seal(&MultiPrefixBloomSpec::new().with_lengths(&[72]), &keys, &plan));
    assert!(asks(&*short, "alpha/tom", "alpha/toz") && asks(&*long, "delta", "gamma"));
}

/// All strings of up to three of these bytes: the least and the greatest, and one between.
fn short_strings() -> Vec<Vec<u8>> {
    let mut all = vec![Vec::new()];
    for length in 0..3 {
        let longest: Vec<Vec<u8>> = all.iter().filter(|key| key.len() == length).cloned().collect();
        all.extend(longest.iter().flat_map(|key| [0, b'a', 0xFF].map(|byte| [&key[..], &[byte]].concat())));
    }
    all.sort_unstable();
    all
}

/// Lengths below, at and beyond the ends of keys, within their bytes and at their borders.
const LENGTHS: [&[u32]; 5] = [&[8, 16], &[24, 1], &[3, 13, 20], &[17, 9, 8, 4], &[200, 16]];

#[test]
fn no_range_with_a_key_is_denied() {
    deny_no_key(&short_strings(), &LENGTHS, 30);
}

/// Prefixes of more than 64 bits have a head: heads that keys share, that end with zeros, and that the keys of the other one do not have.
#[test]
fn no_range_with_a_key_is_denied_below_long_prefixes() {
    let short = short_strings();
    let heads: [&[u8]; 3] = [b"", b"the/same/for/many\0", &[0xFF; 11]];
    let mut strings: Vec<Vec<u8>> =
        heads.iter().flat_map(|head| short.iter().map(|string| [*head, &string[..]].concat())).collect();
    strings.sort_unstable();
    strings.dedup();
    // Within both heads, at their ends, in what follows, and beyond it.
    deny_no_key(&strings, &[&[88, 8], &[72, 144], &[93, 151, 160], &[168, 96, 64, 65], &[400, 152]], 8);
}

/// Every range between two of `strings`, with every kind of end, over some of them as keys and some of `lengths`.
fn deny_no_key(strings: &[Vec<u8>], lengths: &[&[u32]], rounds: u64) {
    let mut rng = Rng::new(SEED);
    let bounds = |key: &'static [u8]| [Bound::Included(key), Bound::Excluded(key)];
    let leaked: Vec<&'static [u8]> = strings.iter().map(|key| &*key.clone().leak()).collect();
    let ends: Vec<Bound<&[u8]>> =
        leaked.iter().flat_map(|key| bounds(key)).chain([Bound::Unbounded]).collect();
    for round in 0..rounds {
        let lengths = lengths[rng.index(lengths.len())];
        let spec =
            MultiPrefixBloomSpec::new().with_lengths(lengths).with_probes([1, 64, 1 << 10][rng.index(3)]);
        let kept = 1 + rng.below(20);
        let keys: ByteColumn = leaked.iter().filter(|_| rng.below(20) < kept).collect();
        let plan = BuildPlan::new(budget(100.0)).with_seed(round);
        let sorted = SortedKeys::byte_strings(&keys).expect("ascending");
        let Ok(sealed) = spec.build(sorted, &plan) else { continue };
        let filter = open(sealed);
        let mut denied = 0;
        for &lo in &ends {
            for &hi in &ends {
                let Some(range) = ByteRange::from_bounds(lo, hi) else { continue };
                let holds = |key: &[u8]| {
                    let starts = match lo {
                        Bound::Included(lo) => lo <= key,
                        Bound::Excluded(lo) => lo < key,
                        Bound::Unbounded => true,
                    };
                    let ends = match hi {
                        Bound::Included(hi) => key <= hi,
                        Bound::Excluded(hi) => key < hi,
                        Bound::Unbounded => true,
                    };
                    starts && ends
                };
                let answer = filter.may_contain_range(range);
                denied += usize::from(!answer);
                assert!(
                    answer || !keys.iter().any(holds),
                    "{spec} over {keys:?} denies {range:?}, round {round}, seed {SEED}"
                );
            }
        }
        assert!(
            denied > 0 || keys.len() > strings.len() / 2,
            "{spec} over {keys:?} denies nothing, round {round}, seed {SEED}"
        );
    }
}

/// After a common first byte, each sixteenth value of the second one begins keys. The range begins after one of them.
#[test]
fn a_range_of_too_many_prefixes_is_a_maybe() {
    let keys: ByteColumn = (0..16u8).flat_map(|high| [[b'k', 16 * high, 0], [b'k', 16 * high, 9]]).collect();
    let plan = BuildPlan::new(budget(128.0)).with_seed(SEED);
    let filter = |probes: u32| {
        let spec = MultiPrefixBloomSpec::new().with_lengths(&[8]).with_probes(probes);
        open(seal(&spec, &keys, &plan))
    };
    let asks = |filter: &DynFilter<[u8]>, last: u8| {
        filter.may_contain_range(ByteRange::new(&[b'k', 17], &[b'k', last, 0xFF]).expect("in order"))
    };
    let (few, enough) = (filter(14), filter(15));
    assert!(!asks(&*few, 30) && asks(&*few, 31), "14 are asked for, 15 are too many");
    assert!(!asks(&*enough, 31) && asks(&*enough, 32), "a key");
}

/// Names under directories of several depths: neighbours share anything from nothing to most of a name.
fn names(count: u32) -> ByteColumn {
    let mut rng = Rng::new(SEED);
    let word = |rng: &mut Rng| -> String {
        (0..2 + rng.below(5))
            .map(|_| char::from(b'a' + u8::try_from(rng.below(12)).expect("small")))
            .collect()
    };
    let folders: Vec<String> =
        (0..400).map(|_| (0..1 + rng.below(5)).map(|_| word(&mut rng) + "/").collect()).collect();
    let mut names: Vec<String> =
        (0..count).map(|_| folders[rng.index(400)].clone() + &word(&mut rng)).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().collect()
}

type Queries = Vec<(Vec<u8>, Vec<u8>)>;

/// Keys of `names` of which one in ten is left out, and empty ranges of 1 to 4 in the last byte of those.
fn held_out(names: &ByteColumn) -> (ByteColumn, Queries) {
    let mut rng = Rng::new(SEED + 1);
    let (mut kept, mut queries) = (ByteColumn::new(), Vec::new());
    for name in names.iter() {
        match rng.below(10) {
            0 => {
                let mut hi = name.to_vec();
                *hi.last_mut().expect("not empty") += u8::try_from(rng.below(4)).expect("small");
                queries.push((name.to_vec(), hi));
            }
            _ => kept.push(name),
        }
    }
    queries.retain(|(lo, hi)| !kept.iter().any(|key| lo.as_slice() <= key && key <= hi.as_slice()));
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
fn the_rate_is_as_predicted_and_better_than_that_of_one_length() {
    let (keys, queries) = held_out(&names(12_000));
    let half = |first: usize| -> Queries { queries.iter().skip(first).step_by(2).cloned().collect() };
    let (sampled, judged) = (half(0), half(1));
    assert!(judged.len() > 400, "{}", judged.len());
    for bits_per_key in [8.0, 14.0, 20.0] {
        let plan = plan_for(&sampled, bits_per_key);
        let known = KeyStatistics::new(SortedKeys::byte_strings(&keys).expect("ascending"), &plan);
        let (spec, prediction) = likely_design(&known).expect("there are queries");
        let filter = open(seal(&spec, &keys, &plan));
        assert!(keys.iter().all(|key| filter.may_contain(key)), "{spec}, seed {SEED}");
        let found = rate(&*filter, &judged);
        println!(
            "{bits_per_key} bits: {spec}, {:.4} predicted, {found:.4} found, {:.4} of the sample",
            prediction.rate,
            rate(&*filter, &sampled)
        );
        // Both are means of some 500 queries, of which the design saw the first.
        let spread = (prediction.rate.max(0.01) / judged.len() as f64).sqrt();
        assert!((found - prediction.rate).abs() < 4.0 * spread, "{spec}, seed {SEED}");
        let one = crate::spec::<[u8]>("proteus:trie=0").expect("known");
        let one = open(one.build(known.keys(), &plan).expect("fits"));
        assert!(found < 0.8 * rate(&*one, &judged), "{spec}: one length is as good, seed {SEED}");
    }
}

#[test]
fn a_design_is_built_as_its_text_says() {
    let (keys, queries) = held_out(&names(4_000));
    let plan = plan_for(&queries, 16.0);
    let known = KeyStatistics::new(SortedKeys::byte_strings(&keys).expect("ascending"), &plan);
    let (spec, _) = likely_design(&known).expect("there are queries");
    assert!(spec.to_string().contains('+'), "{spec} has several lengths");
    let read: MultiPrefixBloomSpec = spec.to_string().parse().expect("its own text");
    assert_eq!(read, spec);
    let sealed = seal(&read, &keys, &plan);
    assert!(sealed == seal(&MultiPrefixBloomSpec::new(), &keys, &plan), "the family designs the same");
}

/// Under one seed, a key that ends before both lengths would have the same places in both filters.
#[test]
fn short_keys_err_independently_in_two_lengths() {
    let key = |number: u64| format!("{:06}", number * 7 % 1_000_003);
    let mut all: Vec<String> = (0..20_000).map(key).collect();
    all.sort_unstable();
    let keys: ByteColumn = all.iter().collect();
    let plan = BuildPlan::new(budget(20.0)).with_seed(SEED);
    let filter = open(seal(&MultiPrefixBloomSpec::new().with_levels(&[(200, 3), (208, 3)]), &keys, &plan));
    let maybes = (20_000..60_000).filter(|&number| filter.may_contain(key(number).as_bytes())).count();
    // 10 bits for 3 of each: 1.74 % in each, 0.03 % in both.
    assert!(maybes < 40, "{maybes} of 40,000, seed {SEED}");
}

#[test]
fn a_whole_key_bounds_the_rate_over_integers() {
    let keys: Vec<u64> = (0..5_000u64).map(|key| key * 0x1_0000_0001).collect();
    let sorted = SortedKeys::integers(&keys).expect("ascending");
    let plan = BuildPlan::<u64>::new(budget(14.0)).with_seed(SEED);
    let filter = |lengths: &[u32]| {
        let sealed = MultiPrefixBloomSpec::new().with_lengths(lengths).build(sorted, &plan).expect("fits");
        crate::open::<u64, _>(sealed).expect("just sealed")
    };
    assert_eq!(filter(&[60, 63]).rate_bound(1), 1.0, "a query in the prefix of a key is a maybe");
    let whole = filter(&[60, 64]);
    let bound = whole.rate_bound(4);
    assert!(bound < 0.3 && whole.rate_bound(65) == 1.0, "{bound}");
    let range = |start: u64| U64Range::new(start, start + 3).expect("in order");
    let maybes = keys.iter().filter(|&&key| whole.may_contain_range(range(key + 1))).count();
    assert!(maybes as f64 <= 1.3 * bound * keys.len() as f64, "{maybes} maybes, {bound} bound, seed {SEED}");
}

/// Budgets so small that one length of one bit does not fit its half full filter.
#[test]
fn little_room_is_for_one_length() {
    let (keys, queries) = held_out(&names(2_000));
    for bits_per_key in [0.01, 0.5, 1.0, 2.0] {
        for queries in [&queries[..], &[]] {
            let plan = plan_for(queries, bits_per_key);
            let sealed = seal(&MultiPrefixBloomSpec::new(), &keys, &plan);
            let filter = open(sealed);
            assert!(keys.iter().all(|key| filter.may_contain(key)), "{bits_per_key} bits, seed {SEED}");
        }
    }
    let keys: ByteColumn = ["a common prefix/1", "a common prefix/2"].into_iter().collect();
    let spec = MultiPrefixBloomSpec::new().with_lengths(&[8, 16, 24, 32, 40, 48, 56, 64]);
    let sorted = SortedKeys::byte_strings(&keys).expect("ascending");
    let refused = spec.build(sorted, &BuildPlan::new(budget(1.0))).expect_err("eight filters for one byte");
    assert!(refused.to_string().contains("multi_prefix_bloom"), "{refused}");
    let filter = open(seal(&MultiPrefixBloomSpec::new(), &keys, &BuildPlan::new(budget(0.01))));
    assert!(keys.iter().all(|key| filter.may_contain(key)));
}

#[test]
fn specs_are_written_as_they_are_read() {
    for text in [
        "multi_prefix_bloom",
        "multi_prefix_bloom:lengths=72",
        "multi_prefix_bloom:lengths=72+8+120,probes=9",
        "multi_prefix_bloom:lengths=72+8,hashes=3+32,probes=max",
    ] {
        assert_eq!(crate::spec::<[u8]>(text).expect("known").name(), text);
    }
    for text in [
        "multi_prefix_bloom:lengths=0",
        "multi_prefix_bloom:lengths=1+2+3+4+5+6+7+8+9",
        "multi_prefix_bloom:lengths=524281",
        "multi_prefix_bloom:hashes=3",
        "multi_prefix_bloom:lengths=8+9,hashes=3",
        "multi_prefix_bloom:lengths=8,hashes=33",
    ] {
        assert!(crate::spec::<[u8]>(text).is_err(), "{text}");
    }
}

/// Each field of the header, and what no builder writes there.
#[test]
fn a_damaged_header_is_corrupt() {
    let keys: Vec<u64> = (0..1_000).map(|key| key << 30).collect();
    let plan = BuildPlan::<u64>::new(budget(20.0));
    let spec = MultiPrefixBloomSpec::new().with_lengths(&[40, 60]);
    let sealed = spec.build(SortedKeys::integers(&keys).expect("ascending"), &plan).expect("fits");
    let (envelope, _) = Envelope::open(sealed.as_bytes()).expect("just sealed");
    let opens = |body: &[u8]| MultiPrefixBloom::open(body, &envelope).is_ok();
    let body = sealed.payload().to_vec();
    assert!(opens(&body));
    let first_bytes = u64::from_le_bytes(*body[12..].first_chunk().expect("a header"));
    let damages: [(usize, &[u8]); 9] = [
        (0, &[0]),
        (0, &[1]),
        (0, &[9]),
        (0, &[3]),
        (4, &[1, 0, 0, 1]),
        (8, &[0]),
        (8, &[65]),
        (12, &(first_bytes + 1).to_le_bytes()),
        (12, &u64::MAX.to_le_bytes()),
    ];
    for (at, bytes) in damages {
        let mut damaged = body.clone();
        damaged[at..at + bytes.len()].copy_from_slice(bytes);
        assert!(!opens(&damaged), "{bytes:?} at {at}");
    }
    assert!((0..body.len()).all(|len| !opens(&body[..len])), "cut short");
    assert!(!opens(&[&body[..], &[0]].concat()), "a byte too many");
}
