//! The demo: what it saves, and what it refuses.

use crate::support::Folder;

/// The object reads in the line of `store` in the first table.
fn reads(output: &str, store: &str) -> u64 {
    let table = output.split("scans that find nothing    object reads").nth(1).expect("the first table");
    let line = table.lines().find(|line| line.trim_start().starts_with(store)).expect("a line for the store");
    let columns: Vec<&str> = line.split("  ").filter(|column| !column.trim().is_empty()).collect();
    columns[1].trim().replace(',', "").parse().expect("a number of reads")
}

#[test]
fn empty_scans_are_saved_over_integers_and_strings() {
    let folder = Folder::new();
    let lines: Vec<String> = (0..6_000u64).map(|i| format!("host/{:08x}", i * 48_271 % (1 << 31))).collect();
    folder.write("hosts.txt", lines.join("\n"));
    for keys in ["uniform:20k", "hosts.txt"] {
        let output = folder.lacuna(&format!("demo --scans 100 --sort --keys {keys}")).done();
        let (none, ours) = (reads(&output, "no filter"), reads(&output, "Lacuna"));
        assert!(none > 50, "{none} reads without a filter:\n{output}");
        assert!(ours * 10 <= none, "{ours} reads with Lacuna, {none} without:\n{output}");
        assert!(output.contains("all answers were the same"), "{output}");
    }
}

#[test]
fn too_few_rows_are_refused() {
    let folder = Folder::new();
    folder.write("one", b"1");
    let run = folder.lacuna("demo --folder .");
    let sentence = run.sentence(2);
    assert!(sentence.contains("1 rows are too few"), "{sentence}");
}

#[test]
fn a_missing_folder_is_refused() {
    let run = Folder::new().lacuna("demo --folder /does/not/exist");
    let sentence = run.sentence(2);
    assert!(sentence.contains("is not a folder"), "{sentence}");
}

#[test]
fn an_unknown_filter_is_refused() {
    let run = Folder::new().lacuna("demo --keys uniform:2k --filter grafit@14");
    let sentence = run.sentence(2);
    assert!(sentence.contains("grafit"), "{sentence}");
}
