//! Counting probes, in the tests of this crate only: no question asks for more than its family states.
//!
//! A family calls [`note_probe`] wherever it looks for one thing: a key or prefix by its hash, a node, a mini-tree, a place in
//! an ordered sequence, a step of a trie, a block. What one probe reads is bounded by the family's format.

/// Notes a probe; does nothing outside of this crate's tests.
#[inline(always)]
pub(crate) fn note_probe() {
    #[cfg(test)]
    counted::PROBES.with(|probes| probes.set(probes.get() + 1));
}

#[cfg(test)]
mod counted {
    use std::cell::Cell;

    thread_local! {
        pub(super) static PROBES: Cell<u64> = const { Cell::new(0) };
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use lacuna_base::{Budget, BuildPlan, ByteColumn, ByteRange, DynFilter, Sample, SortedKeys, U64Range};
    use lacuna_workload::Rng;

    use super::counted::PROBES;
    use crate::families::FAMILIES;

    const SEED: u64 = 31;

    /// Most probes of a question to a filter over `key_bytes` bytes a key, as the family's page says.
    fn stated(family: &str, key_bytes: u64) -> u64 {
        match family {
            // Key by key, or prefix by prefix.
            "bloom" | "blocked_bloom" | "cuckoo" | "prefix_bloom" => 64,
            // Nodes; mini-trees; prefixes, of either length.
            "rosetta" | "rencoder" | "rencoder:published" | "proteus" => 64,
            "two_prefix_bloom" => 128,
            "multi_prefix_bloom" => 8 * 64,
            // Blocks: those that the search looks at, and one or two more.
            "place_trie" => 20,
            // One place, or two in each of two blocks; one block of ranks.
            "bucketing" | "snarf" => 1,
            "grafite" => 4,
            // Blocks, each with a window and two places of the spill.
            "ribbon" => 3 * 64,
            // A step for each byte of both ends.
            "surf" => 2 * key_bytes,
            _ => panic!("state the bound of {family}"),
        }
    }

    /// Specs with a bound of their own.
    const GIVEN: &[(&str, u64)] = &[
        #[cfg(feature = "baselines")]
        ("rosetta:probes=7", 7),
        #[cfg(feature = "baselines")]
        ("rosetta:single,probes=200", 200),
        #[cfg(feature = "baselines")]
        ("rosetta:published", 1 << 20),
        ("rencoder:probes=9", 9),
        #[cfg(feature = "baselines")]
        ("rencoder:published,probes=7", 7),
        #[cfg(feature = "baselines")]
        ("rencoder:published,k=1,probes=max", 4_096),
        ("rencoder:ss", 64),
        ("proteus:trie=0,bloom=60,probes=5", 5),
        ("proteus:trie=20,bloom=58", 64),
        ("multi_prefix_bloom:lengths=58,probes=11", 11),
        ("multi_prefix_bloom:lengths=60+58+50,probes=7", 21),
        #[cfg(feature = "baselines")]
        ("two_prefix_bloom:short=0,long=58,probes=11", 11),
        #[cfg(feature = "baselines")]
        ("two_prefix_bloom:short=50,long=58,probes=3", 6),
    ];

    /// Probes that `ask` makes.
    fn probes_of(ask: impl FnOnce() -> bool) -> u64 {
        let before = PROBES.get();
        ask();
        PROBES.get() - before
    }

    /// Keys alone and in runs, and ranges of all lengths beside and between them.
    fn keys_and_ranges() -> (Vec<u64>, Vec<(u64, u64)>) {
        let mut rng = Rng::new(SEED);
        let mut keys = Vec::new();
        while keys.len() < 20_000 {
            let start = rng.next_u64() >> 1;
            keys.extend((0..rng.between(1, 40)).map(|place| start + 3 * place));
        }
        keys.sort_unstable();
        keys.dedup();
        let ranges = (0..30_000).map(|number| {
            let lo = match number % 3 {
                0 => rng.next_u64() >> 1,
                1 => keys[rng.index(keys.len())].saturating_add(1),
                _ => keys[rng.index(keys.len())] & (u64::MAX << rng.below(40)),
            };
            let length = match number % 5 {
                // As many keys, prefixes of six bits or mini-trees as may be asked for.
                0 => 63 << [0, 6, 8, 14][rng.index(4)],
                _ => rng.next_u64() >> rng.below(64),
            };
            (lo, lo.saturating_add(length))
        });
        let ranges = ranges.collect();
        (keys, ranges)
    }

    fn max_probes(filter: &DynFilter<u64>, ranges: &[(u64, u64)]) -> u64 {
        let ranges = ranges.iter().map(|&(lo, hi)| U64Range::new(lo, hi).expect("in order"));
        ranges.map(|range| probes_of(|| filter.may_contain_range(range))).max().expect("there are some")
    }

    /// The bounds are kept, and met or nearly so: a bound far above every measured count would be useless.
    #[test]
    fn no_question_exceeds_its_stated_bound() {
        let (keys, ranges) = keys_and_ranges();
        let mut sample = Sample::new();
        ranges.iter().step_by(50).for_each(|&(lo, hi)| sample.push(lo, hi));
        let plan = BuildPlan::new(Budget::bits_per_key(16.0).expect("in range"))
            .with_seed(SEED)
            .with_sample(Arc::new(sample));
        let keys = SortedKeys::integers(&keys).expect("ascending");
        let names = FAMILIES.iter().map(|family| family.kind.name());
        let families = names.map(|name| (name, stated(name, 8)));
        for (spec, bound) in families.chain(GIVEN.iter().copied()) {
            let sealed = crate::spec::<u64>(spec).expect("known").build(keys, &plan).expect("fits");
            let filter = crate::open::<u64, _>(sealed).expect("just sealed");
            let max = max_probes(&*filter, &ranges);
            println!("{spec}: {max} probes of {bound}");
            assert!(max <= bound, "{spec}: {max} probes, {bound} stated, seed {SEED}");
            // The sample or the keys decide whether these ask for much.
            let is_open = matches!(spec, "proteus" | "two_prefix_bloom" | "ribbon");
            assert!(is_open || bound > 200 || max * 3 >= bound, "{spec}: {max} of {bound}, seed {SEED}");
        }
    }

    #[test]
    fn no_question_over_strings_exceeds_its_stated_bound() {
        let (keys, ranges) = keys_and_ranges();
        let name = |key: u64| [b"row/", &key.to_be_bytes()[..], b"/tail"].concat();
        let column: ByteColumn = keys.iter().map(|&key| name(key)).collect();
        let keys = SortedKeys::byte_strings(&column).expect("ascending");
        let plan = BuildPlan::<[u8]>::new(Budget::bits_per_key(16.0).expect("in range")).with_seed(SEED);
        for family in FAMILIES {
            let family = family.kind.name();
            let sealed = crate::spec::<[u8]>(family).expect("known").build(keys, &plan).expect("fits");
            let filter = crate::open::<[u8], _>(sealed).expect("just sealed");
            // A point is asked of the hashes of whole keys first.
            let bound = stated(family, 17) + 1;
            let max = ranges.iter().map(|&(lo, hi)| {
                let (lo, hi) = (name(lo), name(hi));
                let range = ByteRange::new(&lo, &hi).expect("in order");
                probes_of(|| filter.may_contain_range(range))
            });
            let max = max.max().expect("there are some");
            assert!(max <= bound, "{family}: {max} probes, {bound} stated, seed {SEED}");
        }
    }
}
