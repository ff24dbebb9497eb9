//! Keys and queries of one's own, wherever they come from.

use std::fs;

use serde_json::Value;

use crate::support::Folder;

/// Words and ranges between them: two without a word, one with; and the empty string, which is none of the words.
fn words() -> Folder {
    let folder = Folder::new();
    let words: Vec<String> = (0..2_000).map(|number| format!("word {:05}\n", number * 7)).collect();
    folder.write("words.txt", words.concat());
    folder.write("asked.txt", "word 00001\tword 00003\n\nword 00007\tword 00007x\nword 00008\tword 00009\n");
    folder
}

#[test]
fn filters_are_compared_with_the_users_queries() {
    let folder = words();
    let bench = "bench filters --keys words.txt --filters bloom,surf --bits-per-key 30 --quick --format json \
                 --queries file:asked.txt";
    for line in folder.lacuna(bench).done().lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        assert_eq!(row["queries"], "file:asked.txt");
        assert_eq!((&row["query_count"], &row["empty_count"]), (&4.into(), &3.into()), "{line}");
        assert_eq!(row["false_negatives"], 0);
    }
    folder.write("numbers.txt", "3,5\n9\n\n12 40\n");
    let bench = "bench filters --keys uniform:1k --filters bloom --quick --format csv --queries file:numbers.txt,points:9";
    assert_eq!(folder.lacuna(bench).done().lines().count(), 3);
}

#[test]
fn engines_are_asked_the_users_queries() {
    let folder = words();
    let bench = "bench engine --engine slatedb --keys words.txt --filters none,bloom --levels 1 --format json \
                 --queries file:asked.txt";
    let rows = folder.lacuna(bench).done();
    assert_eq!(rows.lines().count(), 2, "{rows}");
    for line in rows.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        assert_eq!(row["queries"], "file:asked.txt", "{line}");
    }
    let refused = folder.lacuna(&format!("{bench} --empty 0.5"));
    assert!(refused.sentence(2).contains("leave out --empty"), "{}", refused.stderr);
}

#[test]
fn samples_and_proofs_take_the_users_queries() {
    let folder = words();
    folder
        .lacuna("build --keys words.txt --filter auto --sample file:asked.txt --bits-per-key 20 --out f")
        .done();
    let report = folder.lacuna("verify f --keys words.txt --queries file:asked.txt").done();
    assert!(report.contains("rate      ok      file:asked.txt: "), "{report}");
    assert!(
        report.contains("of 3 empty ranges") && report.contains("0 of 1 ranges with a key denied"),
        "{report}"
    );
}

#[test]
fn a_file_of_queries_is_read_in_the_type_of_the_keys() {
    let folder = Folder::new();
    folder.write("days.txt", "2024-01-31\n2024-03-01\n");
    folder.write("asked.txt", "2024-02-01,2024-02-02\n2024-01-31\n");
    folder.lacuna("build --keys days.txt --key-type date --filter grafite --bits-per-key 40 --out f").done();
    let report = folder.lacuna("verify f --keys days.txt --queries file:asked.txt").done();
    assert!(
        report.contains("0 of 1 empty ranges") && report.contains("0 of 1 ranges with a key"),
        "{report}"
    );
    folder.write("wrong.txt", "2024-02-01 soon\n");
    let refused = folder.lacuna("verify f --keys days.txt --queries file:wrong.txt");
    assert!(refused.sentence(2).contains("wrong.txt: line 1: `soon` is not a day"), "{}", refused.stderr);
}

#[test]
fn a_file_of_keys_is_named_as_one_of_queries() {
    let folder = words();
    let bench =
        "bench filters --keys file:words.txt --filters bloom --quick --format json --queries file:asked.txt";
    assert!(folder.lacuna(bench).done().contains("\"key_count\":2000"));
    folder.write("uniform:5", "a\nb\n");
    let build = "build --keys file:uniform:5 --filter bloom --bits-per-key 14 --out";
    assert!(folder.lacuna(&format!("{build} f")).done().contains("2 distinct keys of file:uniform:5"));
    let refused = folder.lacuna(&format!("{build} uniform:5")).sentence(2);
    assert!(refused.contains("is the file of the keys, which would be lost"), "{refused}");
}

#[test]
fn keys_come_from_a_pipe() {
    let folder = words();
    let words = fs::read_to_string(folder.path("words.txt")).unwrap();
    let build = ["build", "--keys", "-", "--filter", "grafite", "--bits-per-key", "14", "--out", "piped"];
    assert!(folder.run(&build, &words).done().contains("2,000 distinct keys of -"));
    folder.lacuna("build --keys words.txt --filter grafite --bits-per-key 14 --out read").done();
    assert_eq!(fs::read(folder.path("piped")).unwrap(), fs::read(folder.path("read")).unwrap());
    let wrong = folder.run(&build, "b\na\n").sentence(2);
    assert!(wrong.contains("standard input: line 2 is below the key before it"), "{wrong}");
}

#[test]
fn the_filter_goes_into_a_pipe() {
    let folder = words();
    let output = std::process::Command::new(crate::BINARY)
        .args(["build", "--keys", "words.txt", "--filter", "grafite", "--bits-per-key", "14", "--out", "-"])
        .current_dir(folder.root())
        .output()
        .unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    folder.lacuna("build --keys words.txt --filter grafite --bits-per-key 14 --out f").done();
    assert_eq!(output.stdout, fs::read(folder.path("f")).unwrap());
    assert_eq!(folder.names(), ["asked.txt", "f", "words.txt"]);
}

#[cfg(feature = "csv")]
#[test]
fn keys_come_from_a_column() {
    let folder = Folder::new();
    folder.write("people.csv", "\u{feff}name,age\n\"Smith, Anna\",20\nBob,7\n\"Ca\"\"rl\",\n");
    folder.write("bare.tsv", "7\tx\n9\ty\n");
    let build = |rest: &str| format!("build {rest} --filter bloom --bits-per-key 40 --out f");
    let done = folder.lacuna(&build("--keys people.csv --column name --sort")).done();
    assert!(done.contains("3 distinct keys"), "{done}");
    assert_eq!(folder.run(&["query", "f", "Smith, Anna"], "").done(), "maybe\n");
    assert_eq!(folder.run(&["query", "f", "Ca\"rl"], "").done(), "maybe\n");
    let done = folder.lacuna(&build("--keys people.csv --column age --key-type i64 --sort")).done();
    assert!(done.contains("2 distinct keys"), "a row without a number has no key: {done}");
    folder.lacuna("verify f --keys people.csv --column age --sort").done();
    folder.lacuna(&build("--keys bare.tsv --column 1 --key-type u64")).done();
    assert_eq!(folder.lacuna("query f 7").done(), "maybe\n");
    for (rest, said) in [
        ("--keys people.csv --column size", "there is no column `size`; the first row names name, age"),
        ("--keys people.csv --column 3", "line 1 has 2 cells, so there is no column 3"),
        ("--keys people.csv --column age --key-type i64", "line 3 is below the key before it"),
        ("--keys people.csv --column name --key-type f64 --sort", "line 2: `Smith, Anna` is not a number"),
        ("--keys uniform:9 --column name", "`uniform:9` has no columns"),
    ] {
        assert!(folder.lacuna(&build(rest)).sentence(2).contains(said), "{rest}");
    }
}

/// A table whose columns have numbers for names, as pandas writes one that was given none.
#[cfg(feature = "csv")]
#[test]
fn a_column_that_may_be_two_is_asked_about() {
    let folder = Folder::new();
    folder.write("x.csv", "0,1\n10,500\n20,600\n");
    folder.write("twice.csv", "a,b,a\n1,2,3\n");
    let build =
        |rest: &str| format!("build {rest} --key-type u64 --filter grafite --bits-per-key 40 --out f");
    let refused = folder.lacuna(&build("--keys x.csv --column 1")).sentence(2);
    assert!(refused.contains("column 2 has `1` in the first row"), "{refused}");
    assert!(refused.contains("--first-row names or --first-row values"), "{refused}");
    for (first_row, inside, outside) in [("names", [500, 600], [1, 10]), ("values", [10, 20], [1, 500])] {
        folder.lacuna(&build(&format!("--keys x.csv --column 1 --first-row {first_row}"))).done();
        let answer = |key: u64| folder.lacuna(&format!("query f {key}")).done();
        assert_eq!(inside.map(answer), ["maybe\n"; 2], "{first_row}");
        assert_eq!(outside.map(answer), ["no\n"; 2], "{first_row}");
        folder.lacuna(&format!("verify f --keys x.csv --column 1 --first-row {first_row}")).done();
    }
    folder.write("years.csv", "region,2023,2024\n1,2,3\n");
    for rest in ["--keys twice.csv --column 3 --first-row names", "--keys years.csv --column 2024"] {
        folder.lacuna(&build(rest)).done();
        assert_eq!(folder.lacuna("query f 3").done(), "maybe\n", "{rest}");
        assert_eq!(folder.lacuna("query f 1").done(), "no\n", "{rest}");
    }
    // Whatever the first row holds, the column is the same.
    folder.lacuna(&build("--keys x.csv --column 0")).done();
    assert_eq!(folder.lacuna("query f 20").done(), "maybe\n");
    for (rest, said) in [
        ("--keys twice.csv --column a", "the first row names several columns `a`"),
        ("--keys x.csv --column 0 --first-row values", "`0` is no number of a column"),
        ("--keys x.csv --column 3 --first-row names", "there is no column `3`"),
        ("--keys x.csv --column 1 --first-row nothing", "names or values, not `nothing`"),
        ("--keys x.csv --first-row names", "--column"),
    ] {
        let refused = folder.lacuna(&build(rest)).sentence(2);
        assert!(refused.contains(said), "{rest}: {refused}");
    }
}

#[cfg(not(feature = "csv"))]
#[test]
fn a_build_without_csv_says_so() {
    let folder = Folder::new();
    folder.write("people.csv", "name\nAnna\n");
    let build = "build --keys people.csv --column name --filter bloom --bits-per-key 14 --out f";
    assert!(folder.lacuna(build).sentence(2).contains("--features csv"));
}

/// A command before a pipe that fails leaves nothing, and a filter of nothing denies every key.
#[test]
fn standard_input_without_a_key_leaves_the_old_filter() {
    let folder = words();
    folder.lacuna("build --keys words.txt --filter bloom --bits-per-key 14 --out f").done();
    let old = fs::read(folder.path("f")).unwrap();
    let build: Vec<&str> = "build --keys - --filter bloom --bits-per-key 14 --out f".split(' ').collect();
    let sentence = folder.run(&build, "").sentence(2);
    assert!(sentence.contains("did the command before the pipe fail?"), "{sentence}");
    assert_eq!(fs::read(folder.path("f")).unwrap(), old);
    folder.write("empty.txt", "");
    folder.lacuna("build --keys empty.txt --filter bloom --bits-per-key 14 --out f").done();
}

/// As texts, 10 stands before 9: "no" would be true of them and false for a person.
#[test]
fn numbers_are_not_taken_for_texts() {
    let folder = Folder::new();
    folder.write("ids.txt", "9\n10\n");
    folder.write("ascending.txt", "10\n20\n30\n");
    folder.write("codes.txt", "007\n10\n");
    folder.write("table.csv", "id\n10\n9\n");
    let build = |keys: &str| {
        folder.lacuna(&format!("build --keys {keys} --filter grafite --bits-per-key 20 --out f"))
    };
    for keys in [
        "ids.txt",
        "ids.txt --sort",
        "ascending.txt",
        "table.csv --column id",
        "table.csv --column id --sort",
    ] {
        let sentence = build(keys).sentence(2);
        assert!(sentence.contains("--key-type u64, i64 or f64"), "{keys}: {sentence}");
    }
    for keys in ["codes.txt", "ids.txt --key-type text --sort"] {
        build(keys).done();
    }
    build("ids.txt --key-type u64").done();
    assert_eq!(folder.lacuna("query f 5 60").done(), "maybe\n");
}

#[test]
fn tables_without_a_column_are_refused() {
    let folder = Folder::new();
    for name in ["people.csv", "people.tsv", "people.parquet", "people.csv.gz"] {
        let build = format!("build --keys {name} --filter bloom --bits-per-key 14 --out f");
        let sentence = folder.lacuna(&build).sentence(2);
        assert!(sentence.contains("name one with --column"), "{name}: {sentence}");
    }
    folder.write("people.csv", "1,Anna\n2,Bela\n");
    folder.lacuna("build --keys file:people.csv --filter bloom --bits-per-key 14 --out f").done();
}
