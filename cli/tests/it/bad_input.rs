//! Whatever is wrong with the input ends in one clear sentence and exit code 2, and leaves no file behind.

use std::fs;

use crate::support::Folder;

/// A folder with good and bad files in it.
fn prepared() -> Folder {
    let folder = Folder::new();
    folder.write_integers("keys.u64", &[10, 20, 30, 44, 55, 66, 77, 88, 99, 40_000]);
    folder.write("odd.u64", [0; 13]);
    folder.write("junk.bin", (0..200).rev().collect::<Vec<u8>>());
    folder.write("utf16.txt", b"\xFF\xFEa\0\n\0");
    folder.write("words.txt", "apple\nbanana\ncherry\n");
    folder.write("unsorted.txt", "banana\napple\n");
    folder.write("unsorted_numbers.txt", "7\n3\n");
    folder.write("not.gz", "plain");
    folder.write("inverted_batch.txt", "1 2\n3 4\n9 5\n");
    folder.write("letters_batch.txt", "1 2\n3 x\n");
    folder.write("crowded_batch.txt", "1 2\n7 8 9\n");
    fs::create_dir(folder.path("folder")).expect("the folder takes folders");
    folder.lacuna("build --keys keys.u64 --filter grafite --bits-per-key 14 --out numbers.lacuna").done();
    folder.lacuna("build --keys words.txt --filter grafite --bits-per-key 14 --out words.lacuna").done();
    let sealed = fs::read(folder.path("numbers.lacuna")).expect("it was just built");
    folder.write("cut.lacuna", &sealed[..sealed.len() - 1]);
    folder.write("stub.lacuna", &sealed[..20]);
    for (name, place) in [("flipped_header.lacuna", 30), ("flipped_payload.lacuna", sealed.len() - 3)] {
        let mut flipped = sealed.clone();
        flipped[place] ^= 4;
        folder.write(name, flipped);
    }
    folder
}

/// Command lines and what their sentence must say.
const CASES: &[(&str, &str)] = &[
    // key files
    ("build --keys none.u64 --filter bloom --bits-per-key 14 --out new", "there is no such file"),
    ("build --keys folder --filter bloom --bits-per-key 14 --out new", "is a directory"),
    ("build --keys odd.u64 --filter bloom --bits-per-key 14 --out new", "5 bytes follow the last whole key"),
    ("build --keys unsorted.txt --filter bloom --bits-per-key 14 --out new", "--sort"),
    ("build --keys unsorted_numbers.txt --key-type u64 --filter bloom --bits-per-key 14 --out new", "line 2"),
    ("build --keys words.txt --key-type u64 --filter bloom --bits-per-key 14 --out new", "line 1: `apple`"),
    (
        "build --keys keys.u64 --key-type text --filter bloom --bits-per-key 14 --out new",
        "holds integers, not text",
    ),
    ("build --keys not.gz --filter bloom --bits-per-key 14 --out new", "not sound gzip"),
    ("build --keys uniforn:10 --filter bloom --bits-per-key 14 --out new", "neither a key file nor"),
    ("build --keys uniform:ten --filter bloom --bits-per-key 14 --out new", "`ten` is not a count"),
    (
        "build --keys keys.u64 --key-type u65 --filter bloom --bits-per-key 14 --out new",
        "`u65` is not a key type",
    ),
    ("build --keys junk.bin --filter bloom --bits-per-key 14 --out new", "looks like a binary file"),
    ("build --keys junk.bin --sort --filter bloom --bits-per-key 14 --out new", "looks like a binary file"),
    ("build --keys numbers.lacuna --filter bloom --bits-per-key 14 --out new", "this is a filter"),
    ("build --keys utf16.txt --filter bloom --bits-per-key 14 --out new", "save it as UTF-8"),
    // specs and budgets
    ("build --keys keys.u64 --filter blom --bits-per-key 14 --out new", "no filter family `blom`"),
    ("build --keys keys.u64 --filter bloom:z=1 --bits-per-key 14 --out new", "no parameter `z`"),
    ("build --keys keys.u64 --filter bloom:k=99 --bits-per-key 14 --out new", "from 1 to 32"),
    ("build --keys keys.u64 --filter bloom --bits-per-key 0 --out new", "the budget is 0 bits per key"),
    ("build --keys keys.u64 --filter bloom --bits-per-key -1 --out new", "the budget is -1 bits per key"),
    ("build --keys keys.u64 --filter bloom --bits-per-key nan --out new", "the budget is NaN bits per key"),
    ("build --keys keys.u64 --filter bloom --bits-per-key 10000 --out new", "at most 128"),
    ("build --keys keys.u64 --filter bloom --bits-per-key 10,000 --out new", "--bits-per-key"),
    (
        "build --keys keys.u64 --filter bloom --bits-per-key abc --out new",
        "`abc` is not a number; give one such as 14",
    ),
    ("bench filters --keys keys.u64 --queries points:9 --bits-per-key 10,,14", "`` is not a number"),
    (
        "build --keys keys.u64 --filter bloom --bits-per-key 14 --sample heldout:9:1 --out new",
        "not of empty queries",
    ),
    (
        "build --keys keys.u64 --filter bloom --bits-per-key 14 --sample uniform:9 --out new",
        "uniform:N:LO-HI",
    ),
    // output files
    ("build --keys keys.u64 --filter bloom --bits-per-key 14 --out missing/new", "no folder missing"),
    ("build --keys keys.u64 --filter bloom --bits-per-key 14 --out folder", "it is a directory"),
    ("build --keys keys.u64 --filter bloom --bits-per-key 14 --out /dev/null", "not a regular file"),
    ("build --keys keys.u64 --filter bloom --bits-per-key 14", "--out"),
    // filter files
    ("query none.lacuna 1 2", "there is no such file"),
    ("query folder 1 2", "it is a directory"),
    ("query keys.u64 1 2", "not a Lacuna filter"),
    ("query cut.lacuna 1 2", "the file was cut"),
    ("query stub.lacuna 1 2", "the filter was cut: 20 bytes"),
    ("query flipped_header.lacuna 1 2", "checksum"),
    ("query flipped_payload.lacuna 1 2", "checksum"),
    ("inspect flipped_payload.lacuna", "checksum"),
    ("verify flipped_payload.lacuna --keys keys.u64", "checksum"),
    // ranges
    ("query numbers.lacuna 9 5", "give 5 before 9"),
    ("query numbers.lacuna 1 two", "`two` is not an integer"),
    ("query numbers.lacuna 1 -2", "`-2` is not an integer"),
    ("query numbers.lacuna", "<LO>"),
    ("query numbers.lacuna 1 2 --batch inverted_batch.txt", "cannot be used with"),
    ("query numbers.lacuna --batch inverted_batch.txt", "line 3: the range runs backwards"),
    ("query numbers.lacuna --batch letters_batch.txt", "line 2: `x`"),
    ("query numbers.lacuna --batch crowded_batch.txt", "line 2: the line is not one range"),
    ("query numbers.lacuna --batch /dev/zero", "looks like a binary file"),
    ("query numbers.lacuna --batch none.txt", "there is no such file"),
    ("query numbers.lacuna --batch folder", "is a directory"),
    // key spaces that do not match
    ("query numbers.lacuna apple banana", "`apple` is not an integer"),
    ("query numbers.lacuna apple banana --key-type text", "the filter's keys are of type u64, not text"),
    ("query words.lacuna 1 2 --key-type u64", "the filter's keys are of type text, not u64"),
    ("verify numbers.lacuna --keys words.txt", "line 1: `apple` is not an integer"),
    ("verify words.lacuna --keys keys.u64", "those of the filter are of type text"),
    // queries to measure with
    ("verify numbers.lacuna --keys keys.u64 --queries heldout:5:1-2", "take keys out"),
    ("verify numbers.lacuna --keys keys.u64 --queries sideways:5", "`sideways` is not a kind of query"),
    ("bench filters --keys keys.u64 --queries uniform:9:1 --filters blom --quick", "no filter family `blom`"),
    ("bench filters --keys keys.u64 --queries uniform:9:1 --bits-per-key 14,0 --quick", "the budget is 0"),
    (
        "bench filters --keys keys.u64 --queries uniform:9:1 --report keys.u64 --quick",
        "cannot be written into keys.u64: it is a file; give a folder",
    ),
    // engines
    ("bench engine --engine leveldb --keys keys.u64 --queries uniform:9:1", "leveldb"),
    (
        "bench engine --engine slatedb --keys keys.u64 --queries uniform:9:1 --filters blom",
        "no filter family `blom`",
    ),
    (
        "bench engine --engine slatedb --keys keys.u64 --queries uniform:9:1 --bits-per-key 0",
        "the budget is 0",
    ),
    ("bench engine --engine slatedb --keys keys.u64 --queries uniform:9:1 --empty 1.5", "give 0 to 1"),
    ("bench engine --engine slatedb --keys keys.u64 --queries uniform:9:1 --empty -1", "give 0 to 1"),
    ("bench engine --engine slatedb --keys keys.u64 --queries uniform:9:1:hit", "leave out `:hit`"),
    ("bench engine --engine slatedb --keys keys.u64 --queries uniform:9:1 --levels 0", "0 levels"),
    ("bench engine --engine slatedb --keys keys.u64 --queries uniform:9:1 --direction up", "up"),
    // the command line itself
    ("frobnicate", "frobnicate"),
    ("inspect numbers.lacuna --format xml", "xml"),
];

#[test]
fn bad_input_ends_in_one_sentence() {
    let folder = prepared();
    let before = folder.names();
    for (line, said) in CASES {
        let run = folder.lacuna(line);
        let sentence = run.sentence(2);
        assert!(sentence.contains(said), "lacuna {line}\n{sentence}\ndoes not say: {said}");
        assert_eq!(run.stdout, "", "lacuna {line}");
        assert_eq!(folder.names(), before, "lacuna {line} left something behind");
    }
}

#[test]
fn names_with_line_breaks_stay_in_one_sentence() {
    let folder = Folder::new();
    folder.run(&["inspect", "two\nlines"], "").sentence(2);
}

#[test]
fn wrong_lines_of_a_pipe_are_named() {
    let folder = prepared();
    let run = folder.run(&["query", "numbers.lacuna", "--batch", "-"], "10 10\n2 1\n");
    assert_eq!(run.sentence(2), "lacuna: standard input: line 2: the range runs backwards; give 1 before 2");
    assert_eq!(run.stdout, "maybe\n", "the answers before the wrong line are given");
}

#[test]
fn any_flipped_bit_is_refused() {
    let folder = prepared();
    let sealed = fs::read(folder.path("numbers.lacuna")).unwrap();
    for place in (0..sealed.len()).step_by(7) {
        let mut flipped = sealed.clone();
        flipped[place] ^= 1 << (place % 8);
        folder.write("flipped.lacuna", flipped);
        folder.lacuna("query flipped.lacuna 1 2").sentence(2);
    }
}
