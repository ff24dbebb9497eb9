//! The secret against enemies: one who knows the seed, one who has read another file, one who has learned from answers.

use lacuna_base::{
    Budget, BuildPlan, ByteColumn, DynFilter, ErrorKind, Sealed, Secret, SortedKeys, U64Range,
};
use lacuna_workload::Rng;

const SEED: u64 = 41;
const SECRET: Secret = Secret::new(*b"no enemy has it.");
const FAMILIES: [&str; 2] = ["ribbon", "grafite"];

fn keys(count: usize, seed: u64) -> Vec<u64> {
    let mut rng = Rng::new(seed);
    let mut keys: Vec<u64> = (0..count).map(|_| rng.next_u64()).collect();
    keys.sort_unstable();
    keys
}

fn plan(bits: f64) -> BuildPlan<u64> {
    BuildPlan::new(Budget::bits_per_key(bits).expect("in range"))
}

fn sealed(spec: &str, keys: &[u64], plan: &BuildPlan<u64>) -> Sealed {
    let spec = crate::spec::<u64>(spec).expect("known");
    spec.build(SortedKeys::integers(keys).expect("ascending"), plan).expect("fits")
}

fn built(spec: &str, keys: &[u64], plan: &BuildPlan<u64>) -> Box<DynFilter<u64>> {
    crate::open(sealed(spec, keys, plan)).expect("just sealed")
}

/// Ranges of `len` keys without a key that `filter` does not deny.
fn false_positives(filter: &DynFilter<u64>, keys: &[u64], len: u64, count: usize) -> Vec<U64Range> {
    let mut rng = Rng::new(SEED);
    let drawn = std::iter::repeat_with(|| {
        let lo = rng.between(keys[0] + 1, keys[keys.len() - 1] - len);
        U64Range::new(lo, lo + len - 1).expect("in order")
    });
    let is_empty = |range: &U64Range| {
        let next = keys.partition_point(|&key| key < range.lo());
        keys[next] > range.hi()
    };
    drawn.filter(is_empty).filter(|range| filter.may_contain_range(*range)).take(count).collect()
}

fn maybes(filter: &DynFilter<u64>, asked: &[U64Range]) -> usize {
    asked.iter().filter(|range| filter.may_contain_range(**range)).count()
}

/// Most "maybe" at the bound, and four deviations.
fn most(filter: &DynFilter<u64>, asked: &[U64Range], len: u64) -> f64 {
    let expected = asked.len() as f64 * filter.rate_bound(len);
    expected + 4.0 * expected.sqrt() + 1.0
}

/// The enemy knows keys, budget and seed, builds the filter, and keeps the questions that it gets wrong.
#[test]
fn an_enemy_who_knows_the_seed_hits_always_and_with_a_secret_at_the_bound() {
    let keys = keys(4_000, SEED);
    for family in FAMILIES {
        for (len, bits) in [(1, 9.0), (16, 12.0)] {
            let theirs = built(family, &keys, &plan(bits));
            let asked = false_positives(&*theirs, &keys, len, 2_000);
            let seeded = built(family, &keys, &plan(bits));
            assert_eq!(maybes(&*seeded, &asked), asked.len(), "{family}: all of them hit");
            let secret = built(&format!("{family}:secret"), &keys, &plan(bits).with_secret(SECRET));
            let (found, max) = (maybes(&*secret, &asked), most(&*secret, &asked, len));
            assert!(secret.rate_bound(len) < 0.1, "{family}: {}", secret.rate_bound(len));
            assert!(
                found as f64 <= max,
                "{family}, {len} keys: {found} of {}, not {max}, seed {SEED}",
                asked.len()
            );
        }
    }
}

/// The enemy has read a file under the same secret, whose keys differ by one, and so has its key and its mistakes.
#[test]
fn an_enemy_who_has_read_one_file_is_a_stranger_to_the_next() {
    let (ours, mut theirs) = (keys(4_000, SEED), keys(4_000, SEED));
    theirs[2_000] += 1;
    for family in FAMILIES {
        let spec = format!("{family}:secret");
        let read = built(&spec, &theirs, &plan(10.0).with_secret(SECRET));
        let asked = false_positives(&*read, &theirs, 1, 2_000);
        let asked: Vec<U64Range> =
            asked.into_iter().filter(|range| ours.binary_search(&range.lo()).is_err()).collect();
        let filter = built(&spec, &ours, &plan(10.0).with_secret(SECRET));
        let (found, max) = (maybes(&*filter, &asked), most(&*filter, &asked, 1));
        assert!(found as f64 <= max, "{family}: {found} of {}, not {max}, seed {SEED}", asked.len());
    }
}

/// The enemy repeats what was "maybe", which no filter that stands still can help, and looks for more beside it: in blocks that
/// differ in one bit, at the same place.
#[test]
fn answers_about_one_block_say_nothing_of_the_next() {
    let keys = keys(4_000, SEED);
    let secret = built("ribbon:secret", &keys, &plan(10.0).with_secret(SECRET));
    let learned = false_positives(&*secret, &keys, 1, 1_000);
    assert_eq!(maybes(&*secret, &learned), learned.len());
    let beside = |range: &U64Range| (32..50).map(|bit| range.lo() ^ (1 << bit)).collect::<Vec<_>>();
    let asked =
        learned.iter().flat_map(beside).filter(|key| keys.binary_search(key).is_err()).map(U64Range::point);
    let asked: Vec<U64Range> = asked.collect();
    let (found, max) = (maybes(&*secret, &asked), most(&*secret, &asked, 1));
    assert!(found as f64 <= max, "{found} of {}, not {max}, seed {SEED}", asked.len());
}

/// Keys in a few lumps fill blocks, and the spill has a key of its own.
#[test]
fn no_key_is_lost_under_a_secret() {
    let lumps = |count: u64| -> Vec<u64> { (0..count).map(|i| ((i / 50) << 30) | ((i % 50) * 5)).collect() };
    let forced = [
        "ribbon:secret",
        "grafite:secret",
        "ribbon:secret,block=4,planes=6,window=2,layer=1",
        "ribbon:secret,block=2,planes=20",
        "ribbon:secret,cell=12",
        "ribbon:secret,cell=12,near=50",
    ];
    for set in
        [lumps(3_000), keys(3_000, SEED), lumps(7), keys(5, SEED), vec![0, 1, u64::MAX], vec![9], Vec::new()]
    {
        for spec in forced {
            for bits in [8.0, 24.0, 128.0] {
                let Ok(sealed) = crate::spec::<u64>(spec)
                    .expect("known")
                    .build(SortedKeys::integers(&set).expect("ascending"), &plan(bits).with_secret(SECRET))
                else {
                    continue;
                };
                assert!(
                    sealed.payload().len() <= plan(bits).budget().payload_bytes(set.len()),
                    "{spec} {bits}"
                );
                let filter = crate::open_verified::<u64, _>(sealed).expect("just sealed");
                for &key in &set {
                    let range =
                        U64Range::new(key.saturating_sub(3), key.saturating_add(1 << 20)).expect("in order");
                    assert!(
                        filter.may_contain(key) && filter.may_contain_range(range),
                        "{spec}, {bits} bits: {key}"
                    );
                }
            }
        }
    }
}

/// All sets of four-bit keys, with parameters that walk the rare paths, against every range.
#[test]
fn small_universes_are_answered_truly_under_a_secret() {
    let specs = [
        "grafite:secret,block=1,slice=1,heavy=1",
        "ribbon:secret,block=1,planes=2,window=1,layer=1",
        "ribbon:secret,block=2,planes=3,window=2,layer=1",
    ];
    for set in (1_u32..1 << 16).step_by(lacuna_testkit::effort::short_or_long(257, 1)) {
        let keys: Vec<u64> = (0..16).filter(|bit| set >> bit & 1 == 1).map(|bit| bit * 3).collect();
        for spec in specs {
            let Ok(sealed) = crate::spec::<u64>(spec).expect("known").build(
                SortedKeys::integers(&keys).expect("ascending"),
                &plan(if spec.starts_with('r') { 128.0 } else { 1.0 }).with_secret(SECRET),
            ) else {
                continue;
            };
            let filter = crate::open::<u64, _>(sealed).expect("just sealed");
            for lo in 0..48 {
                for hi in lo..48 {
                    let holds = keys.iter().any(|key| (lo..=hi).contains(key));
                    let maybe = filter.may_contain_range(U64Range::new(lo, hi).expect("in order"));
                    assert!(maybe || !holds, "{spec}, {keys:?}: {lo}..={hi}");
                }
            }
        }
    }
}

#[test]
fn the_secret_itself_is_in_no_filter() {
    let bytes: Vec<u8> = b"no enemy has it.".to_vec();
    let keys = keys(500, SEED);
    for family in FAMILIES {
        let spec = format!("{family}:secret");
        let sealed = sealed(&spec, &keys, &plan(14.0).with_secret(SECRET));
        let halves = [&bytes[..8], &bytes[8..]];
        assert!(
            halves.iter().all(|half| !sealed.as_bytes().windows(8).any(|window| window == *half)),
            "{spec}"
        );
        let again = built(&spec, &keys, &plan(14.0).with_secret(SECRET).with_seed(77));
        assert_eq!(
            crate::open::<u64, _>(sealed).expect("just sealed").size_in_bytes(),
            again.size_in_bytes()
        );
    }
}

/// The form under a key of each body, and the keys of a layer's spill.
#[test]
fn the_bytes_under_a_secret_are_kept() {
    let lumps: Vec<u64> = (0..2_000).map(|i| ((i / 3) << 30) | ((i % 3) * 5)).collect();
    let kept = [
        ("grafite:secret", 0x12F5_0440_CDB6_F727),
        ("ribbon:secret", 0xDD69_5B86_4C97_E89C),
        ("ribbon:secret,block=4,planes=9", 0xA363_7275_C378_7D90),
    ];
    let found = kept.map(|(spec, _)| {
        let bytes = sealed(spec, &lumps, &plan(16.0).with_secret(SECRET));
        (spec, lacuna_base::hash::hash_bytes(bytes.as_bytes(), 0))
    });
    assert_eq!(found, kept, "the format changed; filters on disk would not open");
}

#[test]
fn a_spec_that_asks_for_a_secret_is_not_built_without_one() {
    let keys = keys(100, SEED);
    for family in FAMILIES {
        let spec = crate::spec::<u64>(&format!("{family}:secret")).expect("known");
        assert_eq!(spec.name(), format!("{family}:secret"));
        let error =
            spec.build(SortedKeys::integers(&keys).expect("ascending"), &plan(14.0)).expect_err("no secret");
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.to_string().contains("give one with the plan"), "{error}");
        let begun = spec.builder(&plan(14.0)).map(|_| ()).expect_err("before there are keys");
        assert_eq!(begun.to_string(), error.to_string());
        assert!(spec.builder(&plan(14.0).with_secret(SECRET)).is_ok());
        // A plan may have a secret that no spec asks for: the bytes are the same.
        let [with, without] =
            [plan(14.0).with_secret(SECRET), plan(14.0)].map(|plan| sealed(family, &keys, &plan));
        assert_eq!(with, without);
        let strings: ByteColumn = ["ant", "bee", "cat"].iter().collect();
        let plan = BuildPlan::new(Budget::bits_per_key(14.0).expect("in range")).with_secret(SECRET);
        let over_strings = crate::spec::<[u8]>(&format!("{family}:secret")).expect("known");
        let error = over_strings.build(SortedKeys::byte_strings(&strings).expect("ascending"), &plan);
        assert!(error.expect_err("of strings nothing is promised").to_string().contains("is for integers"));
        let begun = over_strings.builder(&plan).map(|_| ()).expect_err("before there are keys");
        assert!(begun.to_string().contains("is for integers"), "{begun}");
    }
}

/// Whatever stands in the header, questions are answered or the bytes are refused.
#[test]
fn damaged_headers_of_keyed_filters_do_no_harm() {
    let keys = keys(300, SEED);
    for family in FAMILIES {
        let bytes =
            sealed(&format!("{family}:secret"), &keys, &plan(12.0).with_secret(SECRET)).as_bytes().to_vec();
        for at in (64..112).chain(bytes.len() - 10..bytes.len()) {
            for value in [0, 1, 3, 4, 5, 7, 64, 127, 128, 255] {
                let mut damaged = bytes.clone();
                damaged[at] = value;
                let Ok(filter) = crate::open::<u64, _>(damaged) else { continue };
                let answers = keys
                    .windows(2)
                    .step_by(17)
                    .map(|pair| filter.may_contain_range(U64Range::new(pair[0], pair[1]).expect("in order")));
                std::hint::black_box(answers.filter(|maybe| *maybe).count());
            }
        }
        for cut in 64..bytes.len() {
            assert!(crate::open::<u64, _>(bytes[..cut].to_vec()).is_err(), "{family}: cut at {cut}");
        }
    }
}
