//! Rates over real strings, or their twins: host names, paths, words, and points of many series, as they are, and addresses of
//! e-mail made of such words and hosts.

use std::ops::Bound;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use lacuna_base::{
    AlignedBytes, Budget, BuildPlan, ByteColumn, ByteRange, DynFilter, Position, Sample, Sealed, SortedKeys,
    Window,
};
use lacuna_families::{open, spec};
use lacuna_testkit::{demand, golden_bytes_are_kept};
use lacuna_workload::{Keys, Rng, end_before_next_key, end_in_last_place, is_empty_bytes, real_sets};

/// The same for each file.
const BITS_PER_KEY: f64 = 20.0;
const SEED: u64 = 42;
/// Queries of each kind that are the sample.
const SAMPLED: usize = 1_000;
/// Queries of each kind that are judged.
const JUDGED: usize = 1_000;
/// Two queries of those: a rate that says too little to be compared.
const FEW: f64 = 2.0 / JUDGED as f64;
/// The number of them with `LACUNA_LONG`.
const JUDGED_LONG: usize = 100_000;
/// Keys of each set, about; with `LACUNA_LONG`, all.
const KEYS: u64 = 24_000;

/// Queries of one kind.
struct Queries {
    sampled: Vec<(Vec<u8>, Vec<u8>)>,
    judged: Vec<(Vec<u8>, Vec<u8>)>,
}

/// A key set of which one key in ten is held out.
struct Strings {
    name: &'static str,
    kept: ByteColumn,
    /// Every fourth of them is for samples, the others are for queries that are judged.
    held_out: Vec<Vec<u8>>,
}

/// Whether slow proofs run.
fn is_long() -> bool {
    std::env::var_os("LACUNA_LONG").is_some()
}

/// The sets whose keys are longer than a window.
static SETS: LazyLock<Vec<Strings>> = LazyLock::new(load_sets);

fn load_sets() -> Vec<Strings> {
    let names = ["gov_hosts", "repo_paths", "wordnet_lemmas", "nab_series_points"];
    let sets = real_sets().into_iter().filter(|set| names.contains(&set.name()));
    let mut columns: Vec<(&'static str, ByteColumn)> = sets
        .map(|set| match set.load().expect("the set is readable") {
            Keys::Bytes(keys) => (set.name(), keys),
            Keys::U64(_) => panic!("{} holds byte strings", set.name()),
        })
        .collect();
    let named = |name: &str| &columns.iter().find(|(known, _)| *known == name).expect("it is in the list").1;
    let addresses = email_addresses(named("wordnet_lemmas"), named("gov_hosts"));
    columns.push(("email_addresses", addresses));
    let split = |(name, keys): (&'static str, ByteColumn)| {
        let mut rng = Rng::new(SEED);
        let (mut kept, mut held_out) = (ByteColumn::new(), Vec::new());
        let count = keys.len() as u64;
        let is_taken = |rng: &mut Rng| is_long() || rng.below(count) < KEYS;
        for key in keys.iter() {
            if !is_taken(&mut rng) {
                continue;
            }
            match rng.below(10) {
                0 => held_out.push(key.to_vec()),
                _ => kept.push(key),
            }
        }
        Strings { name, kept, held_out }
    };
    columns.into_iter().map(split).collect()
}

/// Some 100,000 addresses as people have them, such as `jane.doe123@host.gov`: few first names, many last names, a number in two of
/// three, and hosts of which some are far more common than others.
fn email_addresses(words: &ByteColumn, hosts: &ByteColumn) -> ByteColumn {
    let mut rng = Rng::new(SEED);
    let is_name = |word: &&[u8]| (3..=9).contains(&word.len()) && word.iter().all(u8::is_ascii_lowercase);
    let names: Vec<&[u8]> = words.iter().filter(is_name).collect();
    let first_names: Vec<&[u8]> = (0..100).map(|_| names[rng.index(names.len())]).collect();
    let hosts: Vec<&[u8]> = (0..500).map(|_| hosts.get(rng.index(hosts.len()))).collect();
    let address = |rng: &mut Rng| {
        let (first, last) = (popular(&first_names, rng), names[rng.index(names.len())]);
        let number = if rng.below(3) > 0 { rng.below(1_000).to_string() } else { String::new() };
        [first, b".", last, number.as_bytes(), b"@", popular(&hosts, rng)].concat()
    };
    match Keys::from_byte_strings((0..100_000).map(|_| address(&mut rng)).collect::<Vec<_>>()) {
        Keys::Bytes(keys) => keys,
        Keys::U64(_) => panic!("made of byte strings"),
    }
}

/// One of `these`, the first of them more often than the last.
fn popular<'a>(these: &[&'a [u8]], rng: &mut Rng) -> &'a [u8] {
    let end = rng.index(these.len()) + 1;
    these[rng.index(end)]
}

impl Strings {
    fn keys(&self) -> SortedKeys<'_, [u8]> {
        SortedKeys::byte_strings(&self.kept).expect("ascending")
    }

    /// From a held-out key on, 1 to 4 in its last place.
    fn last_places(&self, seed: u64) -> Queries {
        self.draw(seed, |key, rng| end_in_last_place(key, u8::try_from(rng.below(4)).expect("below 4")))
    }

    /// From a held-out key on, up to before the next key branches off.
    fn between(&self, seed: u64) -> Queries {
        self.draw(seed, |key, _| end_before_next_key(&self.kept, key))
    }

    /// Held-out keys.
    fn points(&self, seed: u64) -> Queries {
        self.draw(seed, |key, _| key.to_vec())
    }

    /// Empty queries, the sampled ones from other keys than those that are judged.
    fn draw(&self, seed: u64, end: impl Fn(&[u8], &mut Rng) -> Vec<u8>) -> Queries {
        let mut rng = Rng::new(seed);
        let mut draw = |is_sample: bool, count: usize| {
            let keys = self.held_out.iter().enumerate().filter(|(place, _)| (place % 4 == 0) == is_sample);
            let keys: Vec<&Vec<u8>> = keys.map(|(_, key)| key).collect();
            let mut found = Vec::new();
            for _ in 0..40 * count {
                let lo = keys[rng.index(keys.len())];
                let hi = end(lo, &mut rng);
                if is_empty_bytes(&self.kept, lo, &hi) {
                    found.push((lo.clone(), hi));
                }
                if found.len() == count {
                    return found;
                }
            }
            panic!("{}: only {} empty queries, seed {seed}", self.name, found.len());
        };
        let judged = draw(false, if is_long() { JUDGED_LONG } else { JUDGED });
        Queries { judged, sampled: draw(true, SAMPLED) }
    }

    /// The rate of queries over the integers that the window of eight bytes makes of keys and queries, with the same bytes.
    fn rate_through_window(&self, text: &str, queries: &Queries) -> f64 {
        let keys = self.keys();
        let (first, last) = (keys.get(0), keys.get(keys.len() - 1));
        let window = Window::new(&first[..Window::common_prefix_len(first, last)], Window::MAX_WIDTH);
        let place = |key: &[u8]| match window.position(key) {
            Position::At(place) => place,
            other => panic!("{key:?} is {other:?} the window"),
        };
        let mut places: Vec<u64> = keys.iter().map(place).collect();
        places.dedup();
        let cover = |(lo, hi): &(Vec<u8>, Vec<u8>)| window.cover(ByteRange::new(lo, hi)?);
        let mut sample = Sample::new();
        queries.sampled.iter().filter_map(cover).for_each(|cover| sample.push(cover.lo(), cover.hi()));
        let bits = BITS_PER_KEY * self.kept.len() as f64 / places.len() as f64;
        let plan = BuildPlan::new(Budget::bits_per_key(bits.min(128.0)).expect("in range"));
        let plan = plan.with_sample(Arc::new(sample)).with_seed(SEED);
        let sealed = spec::<u64>(text).expect("a family");
        let sealed = sealed.build(SortedKeys::integers(&places).expect("ascending"), &plan).expect("fits");
        let filter = open::<u64, _>(sealed.into_bytes()).expect("opens");
        let covers = queries.judged.iter().filter_map(cover);
        covers.filter(|cover| filter.may_contain_range(*cover)).count() as f64 / queries.judged.len() as f64
    }

    /// The filter, if it fits the budget.
    fn try_build(&self, text: &str, sample: &[&Queries]) -> Option<Box<DynFilter<[u8]>>> {
        let mut sampled = Sample::new();
        for queries in sample {
            queries.sampled.iter().for_each(|(lo, hi)| sampled.push(lo.as_slice(), hi.as_slice()));
        }
        let budget = Budget::bits_per_key(BITS_PER_KEY).expect("in range");
        let plan = BuildPlan::new(budget).with_sample(Arc::new(sampled)).with_seed(SEED);
        let sealed = spec::<[u8]>(text).expect("a family").build(self.keys(), &plan).ok()?;
        let most = budget.payload_bytes(self.kept.len());
        assert!(
            sealed.payload().len() <= most,
            "{text} on {}: {} of {most}",
            self.name,
            sealed.payload().len()
        );
        let filter = open::<[u8], _>(sealed.into_bytes()).expect("opens");
        for key in self.kept.iter().step_by(101) {
            assert!(filter.may_contain(key), "{text} on {} misses {key:?}", self.name);
        }
        Some(filter)
    }
}

/// The rate of "maybe" among the queries that are judged.
fn rate(filter: &DynFilter<[u8]>, queries: &Queries) -> f64 {
    let is_maybe = |(lo, hi): &&(Vec<u8>, Vec<u8>)| {
        let range = ByteRange::from_bounds(Bound::Included(lo), Bound::Included(hi)).expect("not inverted");
        filter.may_contain_range(range)
    };
    queries.judged.iter().filter(is_maybe).count() as f64 / queries.judged.len() as f64
}

/// Families that see the integers of strings.
const FAMILIES: [&str; 6] = ["bucketing", "grafite", "ribbon", "rencoder", "snarf", "prefix_bloom"];

// With `LACUNA_LONG`: the table of docs/design/windows.md.
#[test]
fn rates_over_real_strings_are_printed() {
    if !is_long() {
        return;
    }
    for set in SETS.iter() {
        let (last, between, points) = (set.last_places(1), set.between(2), set.points(3));
        println!("{}, {} keys", set.name, set.kept.len());
        println!(
            "{:<18} {:>8} {:>8} {:>8} {:>8} {:>8}",
            "spec", "last", "between", "points", "mixed", "points"
        );
        for text in
            FAMILIES.into_iter().chain(["surf", "proteus", "multi_prefix_bloom", "place_trie", "auto"])
        {
            let alone = |queries| set.try_build(text, &[queries]).map(|filter| rate(&*filter, queries));
            let (Some(last_rate), Some(between_rate), Some(point_rate)) =
                (alone(&last), alone(&between), alone(&points))
            else {
                println!("{text:<18} does not fit");
                continue;
            };
            let mixed = set.try_build(text, &[&last, &points]).expect("it fitted before");
            let (mixed_last, mixed_points) = (rate(&*mixed, &last), rate(&*mixed, &points));
            println!(
                "{text:<18} {last_rate:>8.4} {between_rate:>8.4} {point_rate:>8.5} {mixed_last:>8.4} {mixed_points:>8.5}"
            );
        }
    }
}

/// Of ranges next to keys, `auto` reads at most two thirds of what the better one of SuRF and Proteus reads, unless it reads
/// next to nothing.
#[test]
fn ranges_next_to_keys_cost_less_than_with_surf_and_proteus() {
    for set in SETS.iter() {
        for (kind, queries) in [("last place", set.last_places(1)), ("between neighbours", set.between(2))] {
            let found =
                |text: &str| set.try_build(text, &[&queries]).map_or(1.0, |filter| rate(&*filter, &queries));
            let (auto, others) = (found("auto"), found("surf").min(found("proteus")));
            println!("{}, {kind}: {auto:.4} of {others:.4}, seed {SEED}", set.name);
            assert!(
                auto <= FEW || auto * 1.5 <= others,
                "{}, {kind}: {auto:.4} of {others:.4}, seed {SEED}",
                set.name
            );
        }
    }
}

/// Ranges of 1 to 4 in the last place: Proteus sees whole keys, Grafite the places of a map.
#[test]
fn grafite_is_not_far_from_proteus_next_to_keys() {
    for set in SETS.iter() {
        let last = set.last_places(1);
        let found = |text: &str| rate(&*set.try_build(text, &[&last]).expect("fits"), &last);
        let (grafite, proteus) = (found("grafite"), found("proteus"));
        println!("{}: {grafite:.4}, Proteus {proteus:.4}, seed {SEED}", set.name);
        // Each is known to a hundredth and a half, at most.
        assert!(grafite <= 1.2 * proteus + 0.02, "{}: {grafite:.4} and {proteus:.4}, seed {SEED}", set.name);
    }
}

#[test]
fn points_of_held_out_keys_are_denied() {
    for set in SETS.iter() {
        let (last, points) = (set.last_places(1), set.points(2));
        for text in FAMILIES {
            for sample in [&[&last, &points][..], &[]] {
                let found = rate(&*set.try_build(text, sample).expect("fits"), &points);
                // 2^-10, and three deviations of 1,000 answers.
                let most = (1.0 + 3.0) / 1_024.0;
                assert!(found <= most, "{text} on {}: {found} of held-out keys, seed {SEED}", set.name);
            }
        }
    }
}

#[test]
fn ranges_cost_no_more_than_through_a_window() {
    for set in SETS.iter() {
        for (kind, queries) in [("last place", set.last_places(1)), ("between neighbours", set.between(2))] {
            for text in FAMILIES {
                let found = rate(&*set.try_build(text, &[&queries]).expect("fits"), &queries);
                let window = set.rate_through_window(text, &queries);
                println!("{text} on {}, {kind}: {found:.4}, through a window {window:.4}", set.name);
                // Each is known to a hundredth and a half.
                assert!(found <= window + 0.03, "{text} on {}, {kind}, seed {SEED}", set.name);
            }
        }
    }
}

/// Long keys of a few series, enough of them for a place map.
fn series() -> ByteColumn {
    (0..5_000u32).map(|n| format!("metrics/host-{:02}/cpu|{:07}", n / 300, n * 37)).collect()
}

fn sealed_series(text: &str, seed: u64) -> Sealed {
    let plan = BuildPlan::new(Budget::bits_per_key(16.0).expect("in range")).with_seed(seed);
    let keys = series();
    let keys = SortedKeys::byte_strings(&keys).expect("ascending");
    spec::<[u8]>(text).expect("a family").build(keys, &plan).expect("fits")
}

/// Bytes with a map and points, and with a map alone: a sample of ranges asks for no points.
#[test]
fn bytes_with_a_place_map_are_kept() {
    let both = sealed_series("grafite", SEED);
    demand(golden_bytes_are_kept(Path::new("tests/golden/grafite_map_points_v1.lacuna"), both.as_bytes()));
    let (keys, mut sample) = (series(), Sample::new());
    for key in keys.iter().step_by(7) {
        sample.push([key, &b"0"[..]].concat().as_slice(), [key, &b"9"[..]].concat().as_slice());
    }
    let budget = Budget::bits_per_key(16.0).expect("in range");
    let plan = BuildPlan::new(budget).with_sample(Arc::new(sample)).with_seed(SEED);
    let sorted = SortedKeys::byte_strings(&keys).expect("ascending");
    let alone = spec::<[u8]>("grafite").expect("a family").build(sorted, &plan).expect("fits");
    demand(golden_bytes_are_kept(Path::new("tests/golden/grafite_map_v1.lacuna"), alone.as_bytes()));
    for sealed in [both, alone] {
        assert_eq!(sealed.payload().last(), Some(&0), "a place map");
    }
}

#[test]
fn damaged_sections_are_refused_or_harmless() {
    let keys = series();
    for text in ["grafite", "bucketing", "snarf"] {
        let whole = sealed_series(text, SEED).as_bytes().to_vec();
        let mut opened = 0;
        for place in (whole.len() - 600..whole.len()).step_by(7) {
            for damage in [0x01, 0x80, 0xFF] {
                let mut bytes = whole.clone();
                bytes[place] ^= damage;
                let Ok(filter) = open::<[u8], _>(AlignedBytes::copy_of(&bytes)) else { continue };
                opened += 1;
                for key in keys.iter().step_by(1_999) {
                    filter.may_contain(key);
                    filter.may_contain_range(ByteRange::new(key, b"n").expect("not inverted"));
                }
            }
        }
        assert!(opened > 0, "{text}: damage within a map is not seen without its checksum");
    }
}

#[test]
fn every_key_is_found_at_every_end() {
    let keys = series();
    for text in FAMILIES {
        let filter = open::<[u8], _>(sealed_series(text, SEED).into_bytes()).expect("opens");
        for (index, key) in keys.iter().enumerate() {
            assert!(filter.may_contain(key), "{text} misses {index}");
            let before = &key[..key.len() - 1];
            for (lo, hi) in [
                (Bound::Included(key), Bound::Unbounded),
                (Bound::Unbounded, Bound::Included(key)),
                (Bound::Excluded(before), Bound::Included(key)),
                (Bound::Included(key), Bound::Excluded(&b"n"[..])),
            ] {
                let range = ByteRange::from_bounds(lo, hi).expect("holds the key");
                assert!(filter.may_contain_range(range), "{text} misses {index} in {range:?}");
            }
        }
    }
}

#[test]
fn batches_answer_as_single_questions() {
    let keys = series();
    let absent: Vec<Vec<u8>> = keys.iter().map(|key| [key, &b"x"[..]].concat()).collect();
    let mut ranges: Vec<ByteRange<'_>> = absent.iter().map(|key| ByteRange::point(key)).collect();
    ranges.extend(keys.iter().zip(&absent).filter_map(|(key, end)| ByteRange::new(key, end)));
    for text in ["grafite", "snarf"] {
        let filter = open::<[u8], _>(sealed_series(text, SEED).into_bytes()).expect("opens");
        let mut answers = vec![false; ranges.len()];
        filter.may_contain_ranges(&ranges, &mut answers);
        let single: Vec<bool> = ranges.iter().map(|range| filter.may_contain_range(*range)).collect();
        assert_eq!(answers, single, "{text}");
        let points = answers[..absent.len()].iter().filter(|answer| **answer).count();
        assert!(points < absent.len() / 20, "{text}: {points} of {} absent points", absent.len());
    }
}
