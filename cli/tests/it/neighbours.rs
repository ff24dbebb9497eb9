//! `query --count`, `--seek` and `--seek-last`: what they print always holds.

use lacuna_workload::Rng;

use crate::support::Folder;

const SPECS: [&str; 3] = ["surf", "surf:real=0", "surf:cut"];

/// `12`, or `10-12`.
fn count(line: &str) -> (u64, u64) {
    let number = |text: &str| text.parse::<u64>().unwrap_or_else(|_| panic!("`{line}` is no count"));
    line.split_once('-').map_or_else(|| (number(line), number(line)), |(min, max)| (number(min), number(max)))
}

fn integers(folder: &Folder, spec: &str, seed: u64) -> (Vec<u64>, Vec<(u64, u64)>) {
    let mut rng = Rng::new(seed);
    let mut keys: Vec<u64> = (0..3_000).map(|_| rng.below(1 << 40) << 20).collect();
    keys.sort_unstable();
    keys.dedup();
    folder.write_integers("keys.u64", &keys);
    let bits = if spec == "surf:cut" { 8 } else { 60 };
    folder.lacuna(&format!("build --keys keys.u64 --filter {spec} --bits-per-key {bits} --out f")).done();
    let ranges = (0..400).map(|_| {
        let lo =
            if rng.below(2) == 0 { keys[rng.index(keys.len())] + rng.below(3) } else { rng.below(1 << 60) };
        let width = rng.below(59);
        (lo, lo + rng.below(1 << width))
    });
    let ranges: Vec<(u64, u64)> = ranges.collect();
    folder.write("ranges.txt", ranges.iter().map(|(lo, hi)| format!("{lo} {hi}\n")).collect::<String>());
    (keys, ranges)
}

#[test]
fn counts_hold_the_truth() {
    for (seed, spec) in (1..).zip(SPECS) {
        let folder = Folder::new();
        let (keys, ranges) = integers(&folder, spec, seed);
        let lines = folder.lacuna("query f --count --batch ranges.txt").done();
        assert_eq!(lines.lines().count(), ranges.len());
        for (line, (lo, hi)) in lines.lines().zip(&ranges) {
            let truth = keys.iter().filter(|key| (lo..=hi).contains(key)).count() as u64;
            let (min, max) = count(line);
            assert!(min <= truth && truth <= max, "{spec}, seed {seed}: {line}, not {truth}");
            assert!(max - min <= 2 || spec == "surf:cut", "{spec}, seed {seed}: {line}");
        }
    }
}

#[test]
fn seeks_pass_no_key() {
    for (seed, spec) in (11..).zip(SPECS) {
        let folder = Folder::new();
        let (keys, ranges) = integers(&folder, spec, seed);
        let lines = |option: &str| folder.lacuna(&format!("query f {option} --batch ranges.txt")).done();
        let (first, last) = (lines("--seek"), lines("--seek-last"));
        for ((first, last), (lo, hi)) in first.lines().zip(last.lines()).zip(&ranges) {
            let inside: Vec<u64> = keys.iter().copied().filter(|key| (lo..=hi).contains(&key)).collect();
            let place = |line: &str, word: &str| -> Option<u64> {
                let key = line.strip_prefix(word).map(|key| key.parse().expect("an integer"));
                assert!(key.is_some() || line == "no", "{spec}, seed {seed}: {line}");
                key
            };
            match (place(first, "from "), inside.first()) {
                (Some(place), key) => {
                    assert!(*lo <= place && place <= *key.unwrap_or(hi), "{spec}, seed {seed}: {first}");
                }
                (None, key) => assert_eq!(key, None, "{spec}, seed {seed}: {first} in {lo} {hi}"),
            }
            match (place(last, "through "), inside.last()) {
                (Some(place), key) => {
                    assert!(*key.unwrap_or(lo) <= place && place <= *hi, "{spec}, seed {seed}: {last}");
                }
                (None, key) => assert_eq!(key, None, "{spec}, seed {seed}: {last} in {lo} {hi}"),
            }
        }
    }
}

#[test]
fn texts_are_named_and_counted() {
    let folder = Folder::new();
    folder.write("words.txt", "apple\nbanana\ncherry\n");
    folder.lacuna("build --keys words.txt --filter surf:real=0 --bits-per-key 128 --out f").done();
    let cases = [
        ("--count apple cherry", "1-3"),
        ("--count aa b", "0-2"),
        ("--count a zebra", "2-3"),
        ("--count aa aa", "0-1"),
        ("--count d zebra", "0"),
        ("--seek 0 zebra", "from a"),
        ("--seek b~ zebra", "from b~"),
        ("--seek cz zebra", "no"),
        ("--seek d zebra", "no"),
        ("--seek-last a zebra", "below d"),
        ("--seek-last aa b", "through b"),
        ("--seek-last 0 1", "no"),
    ];
    for (question, answer) in cases {
        assert_eq!(folder.lacuna(&format!("query f {question}")).done(), format!("{answer}\n"), "{question}");
    }
    let piped = folder.run(&["query", "f", "--seek", "--batch", "-"], "0\tz\nd\tz\n").done();
    assert_eq!(piped, "from a\nno\n");
}

#[test]
fn typed_keys_are_named_as_typed() {
    let folder = Folder::new();
    let days = (1..=29).map(|day| format!("2024-02-{day:02}T12:00:00\n"));
    folder.write("keys.txt", days.collect::<String>());
    folder
        .lacuna("build --keys keys.txt --key-type timestamp --filter surf:real=56 --bits-per-key 128 --out f")
        .done();
    let named = folder.lacuna("query f --seek 2024-02-10T12:00:01 2030-01-01").done();
    assert_eq!(named, "from 2024-02-11T12:00:00Z\n");
    let named = folder.lacuna("query f --seek-last 2020-01-01 2024-02-11T00:00:00").done();
    assert_eq!(named, "through 2024-02-10T12:00:00Z\n");
}

#[test]
fn families_without_the_ability_name_those_that_have_it() {
    let folder = Folder::new();
    for family in ["bloom", "blocked_bloom", "prefix_bloom:bits=40", "bucketing", "grafite", "rencoder"] {
        folder
            .lacuna(&format!("build --keys uniform:100 --filter {family} --bits-per-key 14 --out f"))
            .done();
        for (option, ability) in
            [("--count", "cannot count"), ("--seek", "cannot name"), ("--seek-last", "cannot name")]
        {
            let run = folder.lacuna(&format!("query f {option} 1 2"));
            let name = family.split(':').next().expect("a name");
            let said = run.sentence(2);
            for part in [name, ability, "build it as: surf"] {
                assert!(said.contains(part), "{family} {option}: {said}");
            }
        }
    }
    let run = folder.lacuna("query f --count --seek 1 2");
    assert!(run.sentence(2).contains("cannot be used with"), "{}", run.stderr);
}
