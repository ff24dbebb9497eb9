//! A filter names the type of its keys, and nobody gets a "no" about another type.

use std::fs;
use std::sync::Arc;

use lacuna_base::{Budget, BuildPlan, ByteColumn, Date, KeyType, SortedKeys, TypedKey};
use lacuna_guard::{Counters, GuardBuilder, GuardSpec, QueryLog};
use serde_json::Value;

use crate::support::Folder;

/// Types, their keys, and a range that holds one of them.
const TYPES: [(&str, &str, [&str; 2]); 7] = [
    ("u64", "7\n900\n", ["800", "1000"]),
    ("i64", "-900\n7\n", ["-1000", "-800"]),
    ("f64", "-21.5\n1.5\n3.25\n", ["1", "2"]),
    ("date", "2024-01-31\n2024-03-01\n", ["2024-01-30", "2024-02-01"]),
    ("timestamp", "2024-01-31T12:00:00\n2024-03-01T00:00:00.25Z\n", ["2024-01-30", "2024-01-31"]),
    ("text", "ab\nplum\n", ["aa", "ac"]),
    ("hex", "6162\n706c756d\n", ["6161", "6163"]),
];

/// A filter over the keys of one type, as `f` in a folder of its own.
fn built(key_type: &str, keys: &str) -> Folder {
    let folder = Folder::new();
    folder.write("keys.txt", keys);
    folder
        .lacuna(&format!(
            "build --keys keys.txt --key-type {key_type} --filter grafite --bits-per-key 40 --out f"
        ))
        .done();
    folder
}

#[test]
fn a_query_needs_no_type_and_takes_no_other() {
    for (key_type, keys, [low, high]) in TYPES {
        let folder = built(key_type, keys);
        let query = |extra: &[&str]| folder.run(&[&["query", "f"], extra, &["--", low, high]].concat(), "");
        assert_eq!(query(&[]).done(), "maybe\n", "{key_type}");
        assert_eq!(query(&["--key-type", key_type]).done(), "maybe\n", "{key_type}");
        for (other, _, _) in TYPES.iter().filter(|(other, _, _)| *other != key_type) {
            let sentence = query(&["--key-type", other]).sentence(2);
            assert!(sentence.contains(&format!("of type {key_type}, not {other}")), "{sentence}");
        }
    }
}

#[test]
fn verification_takes_the_type_from_the_filter() {
    for (key_type, keys, _) in TYPES {
        let folder = built(key_type, keys);
        folder.lacuna("verify f --keys keys.txt").done();
        let other = if key_type == "u64" { "i64" } else { "u64" };
        let sentence = folder.lacuna(&format!("verify f --keys keys.txt --key-type {other}")).sentence(2);
        assert!(sentence.contains(&format!("of type {key_type}, not {other}")), "{sentence}");
    }
    let folder = built("f64", "1.5\n");
    assert!(
        folder
            .lacuna("verify f --keys uniform:1")
            .sentence(2)
            .contains("those of the filter are of type f64")
    );
    let folder = built("timestamp", "2024-01-31T00:00:00.000005\n");
    folder.write("whole.txt", "2024-01-31\n");
    // Whole seconds may be what a filter of microseconds was built from; these are not.
    let sentence = folder.lacuna("verify f --keys whole.txt").sentence(1);
    assert!(sentence.contains("keys"), "{sentence}");
}

#[test]
fn inspection_names_the_type_and_its_ends() {
    for (key_type, keys, _) in TYPES {
        let folder = built(key_type, keys);
        let found: Value = serde_json::from_str(&folder.lacuna("inspect f --format json").done()).unwrap();
        assert_eq!(found["key_type"], key_type);
        let table = folder.lacuna("inspect f").done();
        assert!(table.contains(&format!("key type    {key_type}")), "{table}");
    }
    let table = built("f64", "-21.5\n3.25\n").lacuna("inspect f").done();
    assert!(table.contains("smallest    -21.5\n") && table.contains("largest     3.25\n"), "{table}");
    let table = built("timestamp", "2024-01-31\n").lacuna("inspect f").done();
    assert!(table.contains("timestamp in seconds") && table.contains("2024-01-31T00:00:00Z"), "{table}");
}

/// A filter that a program built from integers that mean something else.
#[test]
fn a_filter_without_a_type_is_not_guessed_at() {
    let folder = Folder::new();
    let plan = BuildPlan::new(Budget::bits_per_key(20.0).unwrap());
    let keys = [1.5_f64.to_key()];
    let spec = lacuna_families::spec::<u64>("grafite").unwrap();
    let sealed = spec.build(SortedKeys::try_new(&keys[..]).unwrap(), &plan).unwrap();
    folder.write("f", sealed.as_bytes());
    let said = folder.lacuna("query f 1 2").sentence(2);
    assert!(
        said.contains("--key-type u64, i64, f64, date, timestamp-s, timestamp-ms or timestamp-us"),
        "{said}"
    );
    assert_eq!(folder.lacuna("query f 1 2 --key-type f64").done(), "maybe\n");
    assert!(folder.lacuna("query f 1 2 --key-type text").sentence(2).contains("does not name"));
}

/// A unit that is guessed at asks a thousand or a million times too high.
#[test]
fn moments_of_a_filter_without_a_type_need_their_unit() {
    let folder = Folder::new();
    // Whole seconds, which a reader that may choose counts in seconds.
    folder.write("keys.txt", "2024-01-31T12:00:00\n2024-03-01T00:00:00\n");
    let seconds = [1_706_702_400_i64, 1_709_251_200];
    let spec = lacuna_families::spec::<u64>("grafite").unwrap();
    for (key_type, units) in [("timestamp-s", 1), ("timestamp-ms", 1_000), ("timestamp-us", 1_000_000)] {
        let plan = BuildPlan::new(Budget::bits_per_key(40.0).unwrap());
        let keys = seconds.map(|second| (second * units).to_key());
        let sealed = spec.build(SortedKeys::try_new(&keys[..]).unwrap(), &plan).unwrap();
        folder.write("f", sealed.as_bytes());
        assert_eq!(folder.lacuna(&format!("query f 2024-01-31 --key-type {key_type}")).done(), "maybe\n");
        assert_eq!(folder.lacuna(&format!("query f 2024-02-01 --key-type {key_type}")).done(), "no\n");
        folder.lacuna(&format!("verify f --keys keys.txt --key-type {key_type}")).done();
        for line in ["query f 2024-01-31", "verify f --keys keys.txt"] {
            let said = folder.lacuna(&format!("{line} --key-type timestamp")).sentence(2);
            assert!(said.contains("give --key-type timestamp-s, timestamp-ms or timestamp-us"), "{said}");
        }
        folder
            .lacuna(&format!(
                "build --keys keys.txt --key-type {key_type} --filter grafite --bits-per-key 40 --out g"
            ))
            .done();
        assert_eq!(folder.lacuna(&format!("query g 2024-01-31 --key-type {key_type}")).done(), "maybe\n");
        folder.lacuna(&format!("verify g --keys keys.txt --key-type {key_type}")).done();
        // The filter names its unit, whatever unit the keys alone would have.
        folder.lacuna("verify g --keys keys.txt").done();
        folder.lacuna("verify g --keys keys.txt --key-type timestamp").done();
    }
    let said = folder.lacuna("query g 2024-01-31 --key-type timestamp-s").sentence(2);
    assert!(said.contains("of type timestamp in microseconds, not timestamp-s"), "{said}");
}

#[test]
fn the_library_and_the_command_line_mean_the_same_day() {
    let folder = Folder::new();
    let plan = BuildPlan::new(Budget::bits_per_key(20.0).unwrap()).with_key_type(Date::KEY_TYPE);
    let keys = [Date { days: 19_753 }.to_key()];
    let spec = lacuna_families::spec::<u64>("grafite").unwrap();
    let sealed = spec.build(SortedKeys::try_new(&keys[..]).unwrap(), &plan).unwrap();
    folder.write("f", sealed.as_bytes());
    assert_eq!(folder.lacuna("query f 2024-01-31").done(), "maybe\n");
    assert_eq!(folder.lacuna("query f 2024-02-01 2025-01-01").done(), "no\n");
    folder.write("days.txt", "2024-01-31\n");
    folder
        .lacuna("build --keys days.txt --key-type date --filter grafite --bits-per-key 20 --seed 0 --out g")
        .done();
    assert_eq!(fs::read(folder.path("f")).unwrap(), fs::read(folder.path("g")).unwrap());
}

#[test]
fn tuples_are_asked_for_in_hexadecimal() {
    let folder = Folder::new();
    let plan = BuildPlan::new(Budget::bits_per_key(40.0).unwrap()).with_key_type(KeyType::Tuple);
    let keys: ByteColumn = [b"\x01ab\0"].into_iter().collect();
    let spec = lacuna_families::spec::<[u8]>("bloom").unwrap();
    let sealed = spec.build(SortedKeys::<[u8]>::try_new(&keys).unwrap(), &plan).unwrap();
    folder.write("f", sealed.as_bytes());
    assert!(folder.lacuna("query f ab").sentence(2).contains("--key-type hex"));
    assert_eq!(folder.lacuna("query f 01616200 --key-type hex").done(), "maybe\n");
}

#[test]
fn a_day_as_a_bound_of_moments_is_whole() {
    let folder = built("timestamp", "2024-01-31T12:00:00\n");
    assert_eq!(folder.lacuna("query f 2024-01-01 2024-01-31").done(), "maybe\n");
    assert_eq!(folder.lacuna("query f 2024-01-31").done(), "maybe\n");
    assert_eq!(folder.lacuna("query f 20240101 20240131").done(), "maybe\n");
    assert_eq!(folder.lacuna("query f 20240131").done(), "maybe\n");
    assert_eq!(folder.lacuna("query f 2024-01-31T14:00:00+02:00").done(), "maybe\n");
    assert_eq!(folder.lacuna("query f 2024-01-31T11:59:59.5 2024-01-31T12:00:00.5").done(), "maybe\n");
    assert_eq!(folder.lacuna("query f 2024-02-01 2024-02-02").done(), "no\n");
}

#[test]
fn one_bound_asks_for_one_key() {
    let folder = built("u64", "5\n9000000\n");
    assert_eq!(folder.lacuna("query f 5").done(), "maybe\n");
    assert_eq!(folder.lacuna("query f 6").done(), "no\n");
    assert_eq!(folder.run(&["query", "f", "--batch", "-"], "5\n\n5,6\n7 8\n").done(), "maybe\nmaybe\nno\n");
}

#[test]
fn the_empty_string_is_a_key() {
    for (key_type, keys) in [("text", "\nplum\n"), ("hex", "0x\n706c\n")] {
        let folder = built(key_type, keys);
        assert_eq!(folder.run(&["query", "f", "", ""], "").done(), "maybe\n", "{key_type}");
        assert!(folder.lacuna("inspect f").done().contains("2 byte strings"), "{key_type}");
        folder.lacuna("verify f --keys keys.txt").done();
    }
}

#[test]
fn not_a_number_is_no_bound() {
    let folder = built("f64", "1.5\n");
    for asked in ["nan 5", "5 NaN", "nan", "nan nan", "-- -nan 5"] {
        let said = folder.lacuna(&format!("query f {asked}")).sentence(2);
        assert!(said.contains("NaN is no key and no end of a range"), "{asked}: {said}");
    }
    let said = folder.run(&["query", "f", "--batch", "-"], "1.5\nnan\n").stderr;
    assert!(said.contains("line 2: NaN is no key"), "{said}");
    folder.write("keys.txt", "1.5\nnan\n");
    let build = "build --keys keys.txt --key-type f64 --filter bloom --bits-per-key 20 --out g";
    let said = folder.lacuna(build).sentence(2);
    assert!(said.contains("line 2: NaN is no key"), "{said}");
}

#[test]
fn an_empty_line_asks_for_the_empty_string_where_it_is_a_key() {
    for (key_type, keys) in [("text", "\nplum\n"), ("hex", "\n706c\n")] {
        let folder = built(key_type, keys);
        // The keys, asked as they stand in their file: one answer a line.
        assert_eq!(folder.lacuna("query f --batch keys.txt").done(), "maybe\nmaybe\n", "{key_type}");
        assert_eq!(folder.run(&["query", "f", "--batch", "-"], keys).done(), "maybe\nmaybe\n", "{key_type}");
        folder.lacuna("verify f --keys keys.txt --queries file:keys.txt").done();
    }
    for (key_type, keys) in [("u64", "5\n"), ("f64", "5\n"), ("date", "2024-01-31\n")] {
        let folder = built(key_type, keys);
        let batch = format!("\n{keys}  \n\n");
        assert_eq!(folder.run(&["query", "f", "--batch", "-"], &batch).done(), "maybe\n", "{key_type}");
    }
}

/// A filter whose keys a codec has changed, as an engine writes it.
#[test]
fn keys_that_went_through_a_codec_are_not_verified() {
    let folder = Folder::new();
    let counters = Arc::new(Counters::new());
    let sealed = |spec: &str, keys: [&[u8]; 2]| {
        let spec = Arc::new(GuardSpec::parse(spec).unwrap());
        let log = Arc::new(QueryLog::new(spec.codec()));
        let mut builder = GuardBuilder::new(spec, log, Arc::clone(&counters));
        keys.iter().for_each(|key| builder.add(key));
        builder.finish().unwrap()
    };
    folder.write("keys.txt", "616263646566\n626263646566\n");
    for codec in ["head:4", "composite:2,4"] {
        let filter = sealed(&format!("grafite@40 codec={codec}"), [b"abcdef", b"bbcdef"]);
        folder.write("f", filter.as_bytes());
        for key_type in ["hex", "text", "u64"] {
            let said = folder.lacuna(&format!("verify f --keys keys.txt --key-type {key_type}"));
            let said = said.sentence(2);
            assert!(said.contains("keys went through codec") && said.contains("f: "), "{codec}: {said}");
        }
        assert!(folder.lacuna("query f 1 2 --key-type u64").sentence(2).contains("went through codec"));
    }
    // Big-endian integers of one width are what they were.
    let filter = sealed("grafite@40 codec=fixed_be:2", [b"\0\x07", b"\x03\x84"]);
    folder.write("f", filter.as_bytes());
    folder.write("keys.txt", "7\n900\n");
    folder.lacuna("verify f --keys keys.txt --key-type u64").done();
    assert_eq!(folder.lacuna("query f 7 --key-type u64").done(), "maybe\n");
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_key() {
    let folder = built("text", "\u{feff}a\nb\n");
    assert_eq!(folder.lacuna("query f a").done(), "maybe\n");
    assert_eq!(folder.run(&["query", "f", "--batch", "-"], "\u{feff}a\tb\n").done(), "maybe\n");
}
