//! `verify` says yes to a sound filter and no to anything else.

use crate::support::Folder;

#[test]
fn a_filter_over_other_keys_does_not_hold() {
    let folder = Folder::new();
    folder.write_integers("keys.u64", &(0..1_000).map(|key| key * 1_000_003).collect::<Vec<u64>>());
    folder.write_integers("others.u64", &(0..1_000).map(|key| key * 1_000_003 + 77).collect::<Vec<u64>>());
    folder.lacuna("build --keys others.u64 --filter grafite --bits-per-key 14 --out f").done();
    let run = folder.lacuna("verify f --keys keys.u64");
    let sentence = run.sentence(1);
    assert!(sentence.contains("f does not hold what it promises: keys, points, ranges"), "{sentence}");
    for said in ["keys      FAILED  1,000 of keys.u64: another smallest", "the first denial of all: 0 to 0"] {
        assert!(run.stdout.contains(said), "{said} is not in\n{}", run.stdout);
    }
}

/// The verdict is in the exit code even if the report is not read.
#[cfg(unix)]
#[test]
fn a_verdict_needs_no_reader() {
    let folder = Folder::new();
    folder.lacuna("build --keys uniform:1k --filter bloom --bits-per-key 14 --out f").done();
    for (keys, code) in [("uniform:1k", 0), ("uniform:2k", 1)] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = std::process::Command::new(crate::BINARY)
            .args(["verify", "f", "--keys", keys])
            .current_dir(folder.root())
            .stdout(writer)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        assert_eq!(output.stderr.is_empty(), code == 0, "{output:?}");
    }
}

/// The verdict on many answers, too.
#[cfg(unix)]
#[test]
fn the_verdict_of_a_query_needs_no_reader() {
    let folder = Folder::new();
    folder.lacuna("build --keys uniform:1k --filter grafite --bits-per-key 20 --out f").done();
    let answers = |last: &str| {
        let lines = (1..5_000).map(|number| format!("{number}\n")).collect::<String>() + last;
        folder.write("asked.txt", lines);
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = std::process::Command::new(crate::BINARY)
            .args(["query", "f", "--batch", "asked.txt", "--exit-code"])
            .current_dir(folder.root())
            .stdout(writer)
            .output()
            .unwrap();
        assert!(output.stderr.is_empty(), "{output:?}");
        output.status.code()
    };
    assert_eq!(answers(""), Some(1));
    assert_eq!(answers("0 18446744073709551615\n"), Some(0));
}

/// Rows that are not read do not end the comparison before its report.
#[cfg(unix)]
#[test]
fn a_report_needs_no_reader() {
    let folder = Folder::new();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let bench = "bench filters --filters bloom --keys uniform:1k --queries points:50,uniform:50:32 --quick --report r";
    let output = std::process::Command::new(crate::BINARY)
        .args(bench.split_whitespace())
        .current_dir(folder.root())
        .stdout(writer)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let rows = std::fs::read_to_string(folder.path("r/rows.jsonl")).unwrap();
    assert_eq!(rows.lines().count(), 2, "{rows}");
}

#[test]
fn other_keys_are_asked_about() {
    let folder = Folder::new();
    folder.lacuna("build --keys uniform:1k --filter bloom --bits-per-key 14 --out f").done();
    let sentence = folder.lacuna("verify f --keys uniform:2k").sentence(1);
    assert!(sentence.ends_with("; is uniform:2k what it was built from?"), "{sentence}");
}

#[test]
fn a_missing_key_does_not_hold() {
    let folder = Folder::new();
    folder.write("some.txt", "apple\ncherry\n");
    folder.write("all.txt", "apple\nbanana\ncherry\n");
    folder.lacuna("build --keys some.txt --filter bloom --bits-per-key 40 --out f").done();
    let run = folder.lacuna("verify f --keys all.txt");
    run.sentence(1);
    assert!(run.stdout.contains("built from 2 keys, all.txt holds 3"), "{}", run.stdout);
    assert!(run.stdout.contains("1 denied, the first denial of all: `banana` to `banana`"), "{}", run.stdout);
}

#[test]
fn a_budget_not_kept_does_not_hold() {
    let folder = Folder::new();
    folder.lacuna("build --keys uniform:10k --filter bloom --bits-per-key 14 --out f").done();
    let run = folder.lacuna("verify f --keys uniform:10k --bits-per-key 12");
    assert!(run.sentence(1).ends_with("promises: budget"), "{}", run.stderr);
    let unasked = folder.lacuna("verify f --keys uniform:10k").done();
    assert!(unasked.contains("\nbudget    -       14.0"), "{unasked}");
}

#[test]
fn measured_rates_stand_beside_stated_ones() {
    let folder = Folder::new();
    folder.lacuna("build --keys uniform:50k --filter grafite --bits-per-key 10 --out f").done();
    let report = folder.lacuna("verify f --keys uniform:50k --queries uniform:20k:32").done();
    let rate = report.lines().find(|line| line.starts_with("rate")).unwrap();
    assert!(rate.starts_with("rate      ok      uniform:20000:32-32: "), "{rate}");
    assert!(
        rate.contains("of 20,000 empty ranges answered maybe: 0.1") && rate.contains("stated bound 0.1"),
        "{rate}"
    );
}

#[test]
fn queries_with_a_key_are_never_denied() {
    let folder = Folder::new();
    folder.lacuna("build --keys uniform:50k --filter bucketing --bits-per-key 10 --out f").done();
    let report = folder.lacuna("verify f --keys uniform:50k --queries correlated:5k:32:16:hit").done();
    assert!(report.contains("0 of 5,000 ranges with a key denied"), "{report}");
}

#[test]
fn keys_without_gaps_leave_the_rate_unmeasured() {
    let folder = Folder::new();
    folder.write_integers("dense.u64", &(0..1_000).collect::<Vec<u64>>());
    folder.lacuna("build --keys dense.u64 --filter grafite --bits-per-key 14 --out f").done();
    let report = folder.lacuna("verify f --keys dense.u64").done();
    assert!(
        report.contains("rate      -       queries `points:100000`: only 0 of 100,000 empty"),
        "{report}"
    );
    folder.lacuna("verify f --keys dense.u64 --queries points:10").sentence(2);
}

#[test]
fn another_seed_gives_other_generated_keys() {
    let folder = Folder::new();
    folder.lacuna("build --keys uniform:1k --seed 5 --filter bloom --bits-per-key 14 --out f").done();
    folder.lacuna("verify f --keys uniform:1k --seed 5").done();
    folder.lacuna("verify f --keys uniform:1k").sentence(1);
}

#[test]
fn a_sample_between_dense_keys_is_what_is_found() {
    let folder = Folder::new();
    folder.write_integers("dense.u64", &(0..1_000).collect::<Vec<u64>>());
    let families = lacuna_families::FAMILIES.iter().map(|family| family.kind.name());
    for family in families.chain(["auto", "auto:robust"]) {
        let build = format!("build --keys dense.u64 --filter {family} --bits-per-key 40 --out");
        folder.lacuna(&format!("{build} plain")).done();
        let report = folder.lacuna(&format!("{build} sampled --sample points:10")).done();
        let said = "only 0 of 10 empty queries were found between these keys; the filter is built as without a sample";
        assert!(report.contains(said), "{family}: {report}");
        let bytes = |name| std::fs::read(folder.path(name)).unwrap();
        assert!(bytes("plain") == bytes("sampled"), "{family} without queries is another filter");
        folder.lacuna("verify sampled --keys dense.u64").done();
    }
    folder.write_integers("gaps.u64", &(0..100_000u64).filter(|key| key % 5_000 != 0).collect::<Vec<u64>>());
    let build = "build --keys gaps.u64 --filter bloom --bits-per-key 14 --sample points:1k --out f";
    let report = folder.lacuna(build).done();
    assert!(report.contains("of 1,000 empty queries were found between these keys; they are"), "{report}");
    assert!(!report.contains("only 0 of"), "{report}");
}

#[test]
fn a_sample_keeps_every_key() {
    let folder = Folder::new();
    folder.write("words.txt", "apple\nbanana\ncherry\n");
    for (keys, sample) in [("uniform:10k", "correlated:1k:1-32:32"), ("words.txt", "points:10")] {
        let build =
            format!("build --keys {keys} --filter grafite --sample {sample} --bits-per-key 20 --out f");
        folder.lacuna(&build).done();
        folder.lacuna(&format!("verify f --keys {keys} --bits-per-key 20")).done();
    }
}
