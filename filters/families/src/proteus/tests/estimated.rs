//! Tries that turn out larger than their design said.

use lacuna_base::hash::{IntegerHasher, reduce};
use lacuna_base::{Budget, BuildPlan, ByteColumn, Envelope, FilterSpec, Sealed, SortedKeys};

use super::support::plan;
use crate::proteus::builder::write_within;
use crate::proteus::codec::Body;
use crate::proteus::cpfpr::{KeyCounts, LOOKED_AT};
use crate::proteus::design::Design;
use crate::{ProteusSpec, open};

const KEYS: usize = 300_000;

/// Keys that follow one another where the model looks at them, and are 2^42 apart elsewhere.
fn dense_where_looked_at() -> Vec<u64> {
    const CHUNK: usize = 64;
    let (chunks, hasher) = (LOOKED_AT / CHUNK, IntegerHasher::new(0));
    let stride = KEYS / chunks;
    let mut steps = vec![1_u64 << 42; KEYS];
    for chunk in 0..chunks {
        let jitter = reduce(hasher.hash(chunk as u64), (stride - CHUNK) as u64);
        let start = chunk * stride + usize::try_from(jitter).expect("below the stride");
        steps[start..=start + CHUNK].fill(1);
    }
    let mut key = 1 << 40;
    let next = |step: &u64| {
        key += step;
        key
    };
    steps.iter().map(next).collect()
}

fn build(spec: ProteusSpec, keys: &[u64], plan: &BuildPlan<u64>) -> Sealed {
    spec.build(SortedKeys::integers(keys).expect("ascending"), plan).expect("fits")
}

/// The bits of the prefixes in the trie and in the Bloom filter, as the header says.
fn lengths(body: &[u8]) -> (u32, u32) {
    let field = |at: usize| u32::from_le_bytes(*body[at..].first_chunk().expect("a header"));
    (field(0), field(4))
}

#[test]
fn an_underestimated_trie_is_designed_again() {
    let keys = dense_where_looked_at();
    let [seen, all] = [LOOKED_AT, KEYS].map(|looked_at| KeyCounts::of(&keys[..], 64, looked_at).distinct(62));
    assert!(seen < 80_000 && all > 220_000, "{all} prefixes are estimated as {seen}");

    let unsampled = plan(12.0, &[], 1);
    let beside: Vec<(u64, u64)> = keys
        .windows(2)
        .filter(|pair| pair[1] - pair[0] > 99)
        .map(|pair| (pair[0] + 2, pair[0] + 9))
        .collect();
    let sampled = plan(12.0, &beside, 100);
    for (spec, plan, bloom_bits) in [
        (ProteusSpec::new(), &unsampled, Some(59)),
        (ProteusSpec::new().with_bloom_bits(0), &unsampled, Some(0)),
        (ProteusSpec::new(), &sampled, None),
    ] {
        let view = SortedKeys::integers(&keys).expect("ascending");
        let design = spec.predict(view, plan).design;
        assert!(design.trie_bits > 60 && design.bloom_bits == 0, "{design:?}");
        let sealed = build(spec, &keys, plan);
        let (trie, bloom) = lengths(sealed.payload());
        println!("{}: {design:?}, then {trie} and {bloom} bits", FilterSpec::<u64>::name(&spec));
        let filter = open::<u64, _>(sealed).expect("just sealed");
        assert!(keys.iter().step_by(7).all(|&key| filter.may_contain(key)), "{trie} and {bloom} bits");
        let is_expected = trie < design.trie_bits && bloom_bits.is_none_or(|bits| bits == bloom);
        assert!(is_expected, "{trie} and {bloom} bits");
    }
}

#[test]
fn an_underestimated_trie_of_strings_is_designed_again() {
    let keys: ByteColumn = dense_where_looked_at().iter().map(|key| key.to_be_bytes()).collect();
    let view = SortedKeys::byte_strings(&keys).expect("ascending");
    let plan = BuildPlan::<[u8]>::new(Budget::bits_per_key(12.0).expect("in range"));
    let spec = ProteusSpec::new();
    let design = spec.predict(view, &plan).design;
    assert!(design.trie_bits > 60 && design.bloom_bits == 0, "{design:?}");
    let filter = open::<[u8], _>(spec.build(view, &plan).expect("fits")).expect("just sealed");
    assert!((0..keys.len()).step_by(7).all(|place| filter.may_contain(keys.get(place))));
}

/// A trie alone stays alone while there is room for one.
#[test]
fn a_trie_that_does_not_fit_becomes_shallower() {
    let keys: Vec<u64> = (0..1_000_u64).map(|key| (key * key) << 44).collect();
    let any = build(ProteusSpec::new().with_trie_bits(0).with_bloom_bits(58), &keys, &plan(14.0, &[], 1));
    let (envelope, _) = Envelope::open(any.as_bytes()).expect("just sealed");
    for (max_bytes, has_trie) in [(41, false), (200, true), (1_000, true), (4_000, true)] {
        let design = Design { trie_bits: 64, bloom_bits: 0, probes: 9 };
        let body = write_within(&keys[..], design, 1, max_bytes).expect("a Bloom filter fits");
        let (trie, bloom) = lengths(&body);
        assert_eq!(
            (trie > 0, bloom == 0),
            (has_trie, has_trie),
            "{trie} and {bloom} bits in {max_bytes} bytes"
        );
        assert!(
            trie < 64 && Body::open(&body, &envelope).is_ok(),
            "{trie} and {bloom} bits in {max_bytes} bytes"
        );
    }
}
