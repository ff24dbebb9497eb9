//! Key files: every form reads, every mistake is named.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use lacuna_base::{Date, TypedKey};
#[cfg(feature = "csv")]
use lacuna_workload::KeySource;
use lacuna_workload::{
    Error, ErrorKind, KeyType, Keys, Queries, ReadOptions, Result, TimeUnit, TypedKeys, parse_query_file,
    read_keys, to_be_bytes,
};

/// Moments as the name of the type means them.
const MOMENTS: KeyType = KeyType::Timestamp(TimeUnit::Microseconds);

/// Writes a file of this test run; `name` is unique among the tests.
fn file(name: &str, content: &[u8]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("key_files");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    fs::write(&path, content).unwrap();
    path
}

fn packed(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn little_endian(keys: &[u64]) -> Vec<u8> {
    keys.iter().flat_map(|key| key.to_le_bytes()).collect()
}

fn read(path: &Path, key_type: Option<KeyType>, sort: bool) -> Result<Keys> {
    read_typed(path, key_type, sort).map(|typed| typed.keys)
}

fn read_typed(path: &Path, key_type: Option<KeyType>, sort: bool) -> Result<TypedKeys> {
    read_keys(path, &ReadOptions { key_type, sort }, &mut |_| {})
}

fn texts(words: &[&str]) -> Keys {
    Keys::Bytes(words.iter().collect())
}

#[test]
fn every_form_reads() {
    let keys = [0, 7, 1 << 40, u64::MAX];
    let cases = [
        ("plain.u64", little_endian(&keys), None, Keys::U64(keys.to_vec())),
        ("packed.u64.gz", packed(&little_endian(&keys)), None, Keys::U64(keys.to_vec())),
        ("empty.u64", vec![], None, Keys::U64(vec![])),
        ("empty.txt", vec![], None, texts(&[])),
        ("lf.txt", b"a b\nc\n".to_vec(), None, texts(&["a b", "c"])),
        ("crlf.txt", b"a\r\nc\r\n".to_vec(), None, texts(&["a", "c"])),
        ("last.txt", b"a\nc".to_vec(), None, texts(&["a", "c"])),
        ("packed.txt.gz", packed(b"a\nc\n"), None, texts(&["a", "c"])),
        ("two.txt.gz", [packed(b"a\n"), packed(b"c\n")].concat(), None, texts(&["a", "c"])),
        ("repeats.txt", b"a\na\nc\n".to_vec(), None, texts(&["a", "c"])),
        ("repeats.u64", little_endian(&[3, 3, 4]), None, Keys::U64(vec![3, 4])),
        ("numbers.txt", b"9\n10\n".to_vec(), Some(KeyType::U64), Keys::U64(vec![9, 10])),
        (
            "hex.txt",
            b"00\n00ff\n".to_vec(),
            Some(KeyType::Hex),
            Keys::Bytes([&b"\0"[..], b"\0\xff"].iter().collect()),
        ),
    ];
    for (name, content, key_type, expected) in cases {
        assert_eq!(read(&file(name, &content), key_type, false).unwrap(), expected, "{name}");
    }
}

#[test]
fn typed_lines_keep_their_order() {
    let floats = file("floats.txt", b"-inf\n-21.5\n-0.0\n0.0\n1e-300\n8.6e8\ninf\n");
    assert_eq!(read(&floats, Some(KeyType::F64), false).unwrap().len(), 6, "both zeros are one key");
    let refused = read(&file("nan.txt", b"1.5\nnan\n"), Some(KeyType::F64), false).unwrap_err().to_string();
    assert!(refused.contains("line 2: NaN is no key"), "{refused}");
    let dates = file(
        "moments.txt",
        b"1969-12-31\n1970-01-01\n2024-01-31\n2024-01-31T12:00:00\n2024-01-31T12:00:01Z\n",
    );
    assert_eq!(read(&dates, Some(MOMENTS), false).unwrap().len(), 5);
    let days = file("days.txt", b"1969-12-31\n1970-01-01\n2024-01-31\n");
    let days = read_typed(&days, Some(KeyType::Date), false).unwrap();
    let expected = [-1, 0, 19_753].map(|days| Date { days }.to_key());
    assert_eq!(days.keys, Keys::U64(expected.to_vec()), "the days that the library makes");
    let signed = file("signed.txt", b"-9\n-1\n0\n7\n");
    assert_eq!(read(&signed, Some(KeyType::I64), false).unwrap().len(), 4);
}

#[test]
fn moments_have_the_coarsest_unit_that_fits() {
    for (name, last, unit) in [
        ("seconds.txt", "2024-01-31T12:00:01Z", TimeUnit::Seconds),
        ("millis.txt", "2024-01-31T12:00:01.5Z", TimeUnit::Milliseconds),
        ("micros.txt", "2024-01-31T12:00:01.000001Z", TimeUnit::Microseconds),
    ] {
        let path = file(name, format!("1969-12-31T23:59:59Z\n2024-01-31\n{last}\n").as_bytes());
        let found = read_typed(&path, Some(MOMENTS), false).unwrap();
        assert_eq!((found.keys.len(), found.key_type), (3, KeyType::Timestamp(unit)), "{name}");
        let Keys::U64(keys) = found.keys else { panic!("moments are integers") };
        assert_eq!(keys[0], (-unit_per_second(unit)).to_key(), "{name}");
    }
}

/// How many of the unit make a second.
fn unit_per_second(unit: TimeUnit) -> i64 {
    1_000_000 / unit.micros()
}

#[test]
fn the_empty_string_is_a_key() {
    let words = file("empty_first.txt", b"\na\n");
    assert_eq!(read(&words, None, false).unwrap(), texts(&["", "a"]));
    let hex = file("empty_hex.txt", b"0x\n00\n");
    assert_eq!(read(&hex, Some(KeyType::Hex), false).unwrap().len(), 2);
    let message = read(&file("blank.txt", b"a\n\nb\n"), None, false).unwrap_err().to_string();
    assert!(message.contains("line 2, the empty key, is below the key before it"), "{message}");
}

#[test]
fn marks_and_junk_are_recognised() {
    let marked = file("marked.txt", b"\xEF\xBB\xBFa\nb\n");
    assert_eq!(read(&marked, None, false).unwrap(), texts(&["a", "b"]));
    let junk = file("junk.bin", &(0..200).rev().collect::<Vec<u8>>());
    for sort in [false, true] {
        let message = read(&junk, None, sort).unwrap_err().to_string();
        assert!(message.contains("looks like a binary file"), "{message}");
    }
}

#[test]
fn unsorted_keys_need_permission() {
    let (words, numbers) =
        (file("unsorted.txt", b"a\nc\nb\nc\n"), file("unsorted.u64", &little_endian(&[5, 9, 5])));
    assert_eq!(read(&words, None, true).unwrap(), texts(&["a", "b", "c"]));
    assert_eq!(read(&numbers, None, true).unwrap(), Keys::U64(vec![5, 9]));
    for (path, said) in [(&words, "line 3 is below the key before it"), (&numbers, "key number 3 is below")] {
        let message = read(path, None, false).unwrap_err().to_string();
        assert!(message.contains(said) && message.contains("--sort"), "{message}");
    }
}

#[test]
fn mistakes_are_named() {
    let sound = packed(b"a\nc\n");
    let cut = &sound[..sound.len() - 3];
    let cases = [
        (file("odd.u64", &[0; 11]), None, "3 bytes follow the last whole key"),
        (file("words.txt", b"12\ntwelve\n"), Some(KeyType::U64), "line 2: `twelve` is not an integer"),
        (file("blank_number.txt", b"1\n\n2\n"), Some(KeyType::U64), "line 2: the key is empty"),
        (file("half.txt", b"00\n0\n"), Some(KeyType::Hex), "line 2: `0` is not hexadecimal"),
        (file("day.txt", b"2024-02-30\n"), Some(KeyType::Date), "line 1: `2024-02-30` is not a day"),
        (file("real.txt", b"1.0\n1,5\n"), Some(KeyType::F64), "line 2: `1,5` is not a number"),
        (file("typed.u64", &[0; 8]), Some(KeyType::Text), "a .u64 file holds integers, not text"),
        (file("wrong.txt.gz", b"a\nc\n"), None, "not sound gzip"),
        (file("cut.txt.gz", cut), None, "not sound gzip"),
        (file("old_mac.txt", b"a\rb\rc\r"), None, "line 1: a carriage return stands within the line"),
        (PathBuf::from("no/such/file.txt"), None, "there is no such file"),
        (PathBuf::from(env!("CARGO_TARGET_TMPDIR")), None, "is a directory; give a file"),
    ];
    for (path, key_type, said) in cases {
        let error = read(&path, key_type, false).unwrap_err();
        let message = error.to_string();
        let name = path.to_string_lossy();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{message}");
        assert!(message.contains(said) && message.contains(&*name) && !message.contains('\n'), "{message}");
    }
}

#[test]
fn progress_reaches_the_file_size() {
    let keys: Vec<u64> = (0..100_000).collect();
    let path = file("progress.u64", &little_endian(&keys));
    let mut heard = Vec::new();
    read_keys(&path, &ReadOptions::default(), &mut |bytes| heard.push(bytes)).unwrap();
    assert!(heard.is_sorted() && heard.len() > 2, "{heard:?}");
    assert_eq!(heard.last(), Some(&800_000));
}

#[test]
fn query_files_read_or_name_the_line() {
    let numbers = file("queries.txt", b"1 5\r\n7\t7\n");
    assert_eq!(parse_query_file(&numbers, KeyType::U64).unwrap(), Queries::U64(vec![(1, 5), (7, 7)]));
    let words = file("queries.txt.gz", &packed(b"a b\tb\n"));
    let Queries::Bytes(ranges) = parse_query_file(&words, KeyType::Text).unwrap() else {
        panic!("text is bytes")
    };
    assert_eq!(ranges.iter().collect::<Vec<_>>(), [(&b"a b"[..], &b"b"[..])]);
    let wrong: Error = parse_query_file(&file("inverted.txt", b"1 2\n9 3\n"), KeyType::U64).unwrap_err();
    assert!(
        wrong.to_string().ends_with("inverted.txt: line 2: the range runs backwards; give 3 before 9"),
        "{wrong}"
    );
    assert!(parse_query_file(Path::new("no/such/queries.txt"), KeyType::U64).is_err());
}

#[test]
fn big_endian_forms_keep_the_keys() {
    let keys = Keys::U64(vec![1, 256, u64::MAX]);
    assert_eq!(keys.to_be_bytes(), to_be_bytes(&[1, 256, u64::MAX]));
}

/// Rows that a parser would take into another cell, and cells that are no text.
#[cfg(feature = "csv")]
#[test]
fn tables_that_are_no_clean_text_are_refused() {
    let utf16: Vec<u8> =
        "\u{feff}id\tname\r\n1\tapple\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let read = |path: &Path, column: &str| {
        let source = KeySource::File(path.to_owned()).with_column(column).unwrap();
        source.load(&ReadOptions { sort: true, ..ReadOptions::default() }, 0, &mut |_| {})
    };
    for (path, said) in [
        (
            file("misplaced.csv", b"id,name\n1,\"abc\n2,def\n3,\"x\"\n4,y\n"),
            "line 4: a quote stands within the cell that begins with one in line 2",
        ),
        (file("open.csv", b"id\n1\n\"2\n3\n"), "line 3: the quote that begins a cell is never closed"),
        (file("utf16.tsv", &utf16), "this is UTF-16"),
        (file("utf16_bare.tsv", &utf16[2..]), "byte 0x00 stands in no text"),
        (file("cut.csv.gz", &packed(b"id\n1\n")[..20]), "not sound gzip"),
    ] {
        for column in ["id", "1"] {
            let Err(error) = read(&path, column) else { panic!("{} column {column}", path.display()) };
            // Without a mark the first row of UTF-16 has another name.
            if column == "1" || !path.ends_with("utf16_bare.tsv") {
                assert!(error.to_string().contains(said), "{column}: {error}");
            }
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
        }
    }
    let sound = file("sound.csv", b"id,note\r\n\"a1\",\"two\nlines\"\r\na2,5\" wide\r\n");
    assert_eq!(read(&sound, "id").unwrap(), texts(&["a1", "a2"]));
}

/// The mark stands before the first cell of the first row, and nowhere else is it one.
#[cfg(feature = "csv")]
#[test]
fn only_the_first_cell_loses_a_byte_order_mark() {
    let path = file("marks.csv", "\u{FEFF}a,\u{FEFF}x\n".as_bytes());
    let column = |column: &str| {
        let source = KeySource::File(path.clone()).with_column(column).unwrap();
        source.load(&ReadOptions::default(), 0, &mut |_| {})
    };
    assert_eq!(column("1").unwrap(), texts(&["a"]));
    assert_eq!(column("2").unwrap(), texts(&["\u{FEFF}x"]));
    assert_eq!(column("a").unwrap(), texts(&[]));
    assert_eq!(column("\u{FEFF}x").unwrap(), texts(&[]));
    assert!(column("x").is_err());
}
