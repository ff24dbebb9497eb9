//! What a given design answers, and what it may ask.

use lacuna_base::{Budget, BuildPlan, ByteColumn, ByteRange, Envelope, FilterSpec, SortedKeys, U64Range};
use lacuna_succinct::arch::Scalar;
use lacuna_workload::Rng;

use super::support::{plan, workload};
use crate::proteus::codec::Body;
use crate::proteus::cover::Run;
use crate::proteus::prefix_key::StringTail;
use crate::proteus::query::Plan;
use crate::{ProteusSpec, open};

/// Figure 3: 24-bit keys (in the high bits), a trie of 16 bits, a Bloom filter of 20.
#[test]
fn both_queries_of_the_paper_are_denied() {
    // The keys of the figure, and others far from them: five keys alone have no room for a trie.
    let mut keys: Vec<u64> = [0x00F123, 0x020040, 0x0200FF, 0x020180, 0xFFFFFF].to_vec();
    keys.extend((0..200).map(|place| 0x100000 + place * 0x777));
    keys.sort_unstable();
    keys.iter_mut().for_each(|key| *key <<= 40);
    let plan = BuildPlan::<u64>::new(Budget::bits_per_key(128.0).expect("in range"));
    let spec = ProteusSpec::new().with_trie_bits(16).with_bloom_bits(20);
    let sealed = spec.build(SortedKeys::integers(&keys).expect("ascending"), &plan).expect("fits");
    let filter = open::<u64, _>(sealed).expect("just sealed");
    let ask = |lo: u64, hi: u64| {
        filter.may_contain_range(U64Range::new(lo << 40, (hi << 40) | 0xFF_FFFF_FFFF).expect("in order"))
    };
    assert!(!ask(0x00F200, 0x010000), "the trie denies it");
    assert!(!ask(0x020073, 0x02009C), "the Bloom filter denies it");
    assert!(ask(0x020030, 0x020041) && ask(0x01FFFF, 0x020040) && ask(0x0200FF, 0x0200FF));
}

#[test]
fn no_query_asks_for_more_than_its_bound() {
    let (keys, queries) = workload("clustered:20k", &["uniform:2k:1-1M", "correlated:2k:1-4k:64"], 3);
    let mut rng = Rng::new(3);
    for spec in ["proteus:trie=0,bloom=58", "proteus:trie=24,bloom=60,probes=7", "proteus:trie=18,bloom=64"] {
        let sealed = crate::spec::<u64>(spec)
            .expect("known")
            .build(SortedKeys::integers(&keys).expect("ascending"), &plan(14.0, &queries, 1));
        let sealed = sealed.expect("fits");
        let (envelope, _) = Envelope::open(sealed.as_bytes()).expect("just sealed");
        let body = Body::open(sealed.payload(), &envelope).expect("just sealed");
        let mut max = 0;
        let wide = (0..2_000).map(|_| {
            let (one, other) = (rng.next_u64(), rng.next_u64() >> rng.below(64));
            (one.saturating_sub(other), one)
        });
        for (lo, hi) in queries.iter().copied().chain(wide) {
            if let Plan::Ask(runs) = body.plan(Scalar, sealed.payload(), lo, hi, false) {
                max = max.max(runs.iter().flatten().map(Run::len).sum());
            }
        }
        assert!(max > 1 && max <= body.probes, "{spec}: {max} of {}", body.probes);
    }
}

/// What two runs cover is what the ends say, for lengths on both sides of 64 bits.
#[test]
fn long_prefixes_are_counted_exactly() {
    let mut rng = Rng::new(4);
    let keys: ByteColumn = (0..500u32).map(|place| [&[0xFF; 9][..], &place.to_be_bytes()].concat()).collect();
    let budget = BuildPlan::<[u8]>::new(Budget::bits_per_key(30.0).expect("in range"));
    for bits in [8u32, 60, 64, 71, 88, 104] {
        let spec = ProteusSpec::new().with_trie_bits(0).with_bloom_bits(bits);
        let sealed = spec.build(SortedKeys::byte_strings(&keys).expect("ascending"), &budget).expect("fits");
        let (envelope, _) = Envelope::open(sealed.as_bytes()).expect("just sealed");
        let body = Body::open(sealed.payload(), &envelope).expect("just sealed");
        let bits = body.bloom.expect("it was asked for").1;
        for _ in 0..400 {
            let lo =
                ((u128::from(rng.next_u64()) << 64) | u128::from(rng.next_u64())) | (0xFFFF << rng.below(90));
            let hi = lo.saturating_add(u128::from(rng.next_u64()) << rng.below(60));
            let (from, to) = (lo.to_be_bytes(), hi.to_be_bytes());
            let count = (hi >> (128 - bits)) - (lo >> (128 - bits)) + 1;
            let plan = body.plan(Scalar, sealed.payload(), StringTail(&from), StringTail(&to), false);
            match plan {
                Plan::Ask(runs) => {
                    let told: u64 = runs.iter().flatten().map(Run::len).sum();
                    assert_eq!(u128::from(told), count, "{lo:#x}..={hi:#x}, {bits} bits");
                }
                Plan::Settled(answer) => assert!(answer && count > 64, "{lo:#x}..={hi:#x}, {bits} bits"),
            }
        }
    }
}

/// Eight bytes after the common prefix would not distinguish these keys.
#[test]
fn strings_are_told_apart_behind_the_window() {
    let key = |place: u32| {
        let mut key = format!("{}/an-object-with-a-long-name/{place:08}", place % 3).into_bytes();
        key.resize(180, b'.');
        key
    };
    let mut all: Vec<Vec<u8>> = (0..3_000).map(|place| key(place * 10)).collect();
    all.sort();
    let keys: ByteColumn = all.iter().collect();
    let plan = BuildPlan::<[u8]>::new(Budget::bits_per_key(16.0).expect("in range"));
    let spec = ProteusSpec::new().with_trie_bits(0).with_bloom_bits(37 * 8);
    let sealed = spec.build(SortedKeys::byte_strings(&keys).expect("ascending"), &plan).expect("fits");
    let filter = open::<[u8], _>(sealed).expect("just sealed");
    assert!(all.iter().all(|key| filter.may_contain(key)));
    let absent = (0..3_000).map(|place| key(place * 10 + 5));
    let maybes = absent.filter(|key| filter.may_contain(key)).count();
    assert!(maybes < 60, "{maybes} of 3,000");
    let between = (0..2_900u32).filter(|&place| {
        let (lo, hi) = (key(place * 10 + 3), key(place * 10 + 6));
        filter.may_contain_range(ByteRange::new(&lo, &hi).expect("in order"))
    });
    let maybes = between.count();
    assert!(maybes < 60, "{maybes} of 2,900 ranges");
}

#[test]
fn specs_are_written_as_they_are_read() {
    for text in [
        "proteus",
        "proteus:trie=24,bloom=57,probes=9",
        "proteus:trie=0",
        "proteus:probes=max",
        "proteus:bloom=44,probes=max",
        "two_prefix_bloom:short=26,long=57,share=50,probes=3",
    ] {
        assert_eq!(crate::spec::<u64>(text).expect("known").name(), text);
    }
    for text in [
        "proteus:trie=30,bloom=30",
        "proteus:trie=0,bloom=0",
        "proteus:probes=0",
        "two_prefix_bloom:short=9,long=9",
        "two_prefix_bloom:share=5",
    ] {
        assert!(crate::spec::<u64>(text).is_err(), "{text}");
    }
}
