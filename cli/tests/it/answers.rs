//! What `query` answers: one way of asking is as good as the other, and a key is never denied.

use std::process::{Command, Stdio};

use lacuna_base::{RangeFilter as _, TypedKey as _};
use lacuna_workload::{Key, KeyType, Queries, QuerySource, parse_key, real_sets};

use crate::support::Folder;

const FAMILIES: [&str; 7] =
    ["bloom", "blocked_bloom", "prefix_bloom:bits=40", "bucketing", "grafite", "rencoder", "surf:cut"];

fn lines(queries: &[(String, String)]) -> String {
    queries.iter().map(|(low, high)| format!("{low}\t{high}\n")).collect()
}

#[test]
fn batches_answer_like_single_ranges() {
    let folder = Folder::new();
    folder
        .write_integers("keys.u64", &(0..500).map(|key| key * key * 1_000_000_000_000).collect::<Vec<u64>>());
    let ranges: Vec<(String, String)> = (0..40_u64)
        .map(|step| (step * 4_000_000_000_000_000, step * 4_000_000_000_000_000 + step * step * 10))
        .map(|(low, high)| (low.to_string(), high.to_string()))
        .collect();
    folder.write("ranges.txt", lines(&ranges));
    for family in FAMILIES {
        folder.lacuna(&format!("build --keys keys.u64 --filter {family} --bits-per-key 14 --out f")).done();
        let batch = folder.lacuna("query f --batch ranges.txt").done();
        let piped = folder.run(&["query", "f", "--batch", "-"], &lines(&ranges)).done();
        let single: String =
            ranges.iter().map(|(low, high)| folder.run(&["query", "f", low, high], "").done()).collect();
        assert_eq!((&batch, &piped), (&single, &single), "{family}");
        assert!(batch.contains("maybe\n") && batch.contains("no\n"), "{family}: {batch}");
    }
}

#[test]
fn long_batches_answer_line_by_line() {
    let folder = Folder::new();
    folder.lacuna("build --keys uniform:10k --filter grafite --bits-per-key 14 --out f").done();
    let Queries::U64(queries) = QuerySource::parse("split:5000:1-32:8:any")
        .and_then(|source| {
            let keys = lacuna_workload::KeySource::parse("uniform:10k")?.load(
                &Default::default(),
                1,
                &mut |_| {},
            )?;
            Ok(source.workload(keys, 1)?.queries)
        })
        .unwrap()
    else {
        panic!("integers stay integers")
    };
    let ranges: Vec<(String, String)> =
        queries.iter().map(|(low, high)| (low.to_string(), high.to_string())).collect();
    folder.write("ranges.txt", lines(&ranges));
    let batch = folder.lacuna("query f --batch ranges.txt").done();
    let piped = folder.run(&["query", "f", "--batch", "-"], &lines(&ranges)).done();
    assert_eq!(batch.lines().count(), 5_000);
    assert_eq!(batch, piped);
}

#[test]
fn typed_keys_are_found_as_typed() {
    let folder = Folder::new();
    let cases = [
        ("f64", "-21.5\n-0.25\n3\n8.6e8\n", ["-21.5", "-0.25", "3.0", "860000000"], ("5", "6")),
        (
            "timestamp",
            "2024-01-31\n2024-02-01T12:00:00\n",
            ["2024-01-31", "2024-01-31T00:00:00Z", "2024-02-01T12:00:00Z", "2024-01-31"],
            ("2024-01-31T01:00:00", "2024-01-31T02:00:00"),
        ),
        (
            "date",
            "2024-01-31\n2024-02-03\n",
            ["2024-01-31", "2024-01-31", "2024-02-03", "2024-02-03"],
            ("2024-02-01", "2024-02-02"),
        ),
        ("i64", "-5\n7\n", ["-5", "-5", "7", "7"], ("-4", "6")),
        ("hex", "00ff\n0a0b0c\n", ["00ff", "0x00FF", "0A0B0C", "0a0b0c"], ("0b", "0c")),
        ("text", "a b\nc d\n", ["a b", "a b", "c d", "c d"], ("b", "c")),
    ];
    for (key_type, keys, present, (low, high)) in cases {
        folder.write("keys.txt", keys);
        let key_type = ["--key-type", key_type];
        let build =
            ["build", "--keys", "keys.txt", "--filter", "grafite", "--bits-per-key", "40", "--out", "f"];
        folder.run(&[&build[..], &key_type].concat(), "").done();
        for key in present {
            let answer = folder.run(&[&["query", "f"], &key_type[..], &["--", key, key]].concat(), "").done();
            assert_eq!(answer, "maybe\n", "{key_type:?} {key}");
        }
        let answer = folder.run(&[&["query", "f"], &key_type[..], &["--", low, high]].concat(), "").done();
        assert_eq!(answer, "no\n", "{key_type:?} {low} {high}");
    }
}

#[test]
fn negative_numbers_need_no_dashes() {
    let folder = Folder::new();
    folder.write("keys.txt", "-21.5\n3\n");
    folder.lacuna("build --keys keys.txt --key-type f64 --filter bloom --bits-per-key 14 --out f").done();
    assert_eq!(folder.lacuna("query f -21.5 -21.5 --key-type f64").done(), "maybe\n");
}

#[test]
fn an_empty_key_file_denies_everything() {
    let folder = Folder::new();
    folder.write("keys.u64", "");
    folder.write("words.txt", "");
    for family in FAMILIES {
        folder.lacuna(&format!("build --keys keys.u64 --filter {family} --bits-per-key 14 --out f")).done();
        assert_eq!(folder.lacuna("query f 0 18446744073709551615").done(), "no\n", "{family}");
        folder.lacuna("verify f --keys keys.u64 --bits-per-key 14").done();
        folder.lacuna(&format!("build --keys words.txt --filter {family} --bits-per-key 14 --out f")).done();
        assert_eq!(folder.lacuna("query f a z").done(), "no\n", "{family}");
        folder.lacuna("verify f --keys words.txt --bits-per-key 14").done();
    }
}

#[test]
fn the_exit_code_tells_a_script() {
    let folder = Folder::new();
    folder.write_integers("keys.u64", &[5, 9_000_000]);
    folder.lacuna("build --keys keys.u64 --filter grafite --bits-per-key 40 --out f").done();
    let code = |line: &str, input: &str| {
        let run = folder.run(&line.split_whitespace().collect::<Vec<_>>(), input);
        assert!(run.stderr.is_empty(), "{}", run.stderr);
        run.code
    };
    assert_eq!(code("query f 5 --exit-code", ""), Some(0));
    assert_eq!(code("query f 6 --exit-code", ""), Some(1));
    assert_eq!(code("query f 6", ""), Some(0));
    assert_eq!(code("query f --batch - --exit-code", "6\n5\n7\n"), Some(0));
    assert_eq!(code("query f --batch - --exit-code", "6\n7\n"), Some(1));
}

#[test]
fn an_empty_batch_gives_no_answer() {
    let folder = Folder::new();
    folder.write("batch.txt", "");
    folder.lacuna("build --keys uniform:10 --filter bloom --bits-per-key 14 --out f").done();
    assert_eq!(folder.lacuna("query f --batch batch.txt").done(), "");
    assert_eq!(folder.lacuna("query f --batch -").done(), "");
}

#[test]
fn packed_batches_are_read() {
    let set = real_sets().into_iter().find(|set| set.name() == "wordnet_lemmas" && !set.is_twin());
    let Some(path) = set.as_ref().and_then(|set| set.path()) else {
        println!("packed_batches_are_read: the file is absent, set LACUNA_DATA to its folder");
        return;
    };
    // A packed file whose lines are no ranges is unpacked before it is refused.
    let folder = Folder::new();
    folder.write("words.txt", "a\nb\n");
    folder.lacuna("build --keys words.txt --filter bloom --bits-per-key 14 --out f").done();
    let run = folder.run(&["query", "f", "--batch", path.to_str().unwrap()], "");
    assert!(
        run.sentence(2).contains("the line is not one range; give LO and HI with a tab between"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_reader_that_leaves_ends_the_run_quietly() {
    let folder = Folder::new();
    folder.lacuna("build --keys uniform:10 --filter bloom --bits-per-key 14 --out f").done();
    folder.write("batch.txt", "1 2\n".repeat(200_000));
    let mut child = Command::new(env!("CARGO_BIN_EXE_lacuna"))
        .args(["query", "f", "--batch", "batch.txt"])
        .current_dir(folder.root())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn keys_read_as_the_library_reads_them() {
    // The answers above hang on one map from text to keys; this pins it to the library's.
    let Key::U64(key) = parse_key(KeyType::F64, b"-21.5").unwrap() else { panic!("numbers map to integers") };
    let folder = Folder::new();
    folder.write("keys.txt", "-21.5\n");
    folder.lacuna("build --keys keys.txt --key-type f64 --filter bloom --bits-per-key 14 --out f").done();
    let bytes = std::fs::read(folder.path("f")).unwrap();
    let filter = lacuna_families::open::<u64, _>(bytes).unwrap();
    assert!(filter.may_contain((-21.5_f64).to_key()) && key == (-21.5_f64).to_key());
    assert!(!filter.may_contain(key - 1));
}
