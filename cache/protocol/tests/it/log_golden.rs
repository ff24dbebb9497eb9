//! The bytes of log records are kept.

use std::ops::Bound::{Excluded, Included, Unbounded};
use std::path::Path;

use lacuna_cache_protocol::{Interval, LogRecord, RangeKey, read_chunk, write_chunk};
use lacuna_testkit::golden_bytes_are_kept;

fn records() -> [LogRecord; 6] {
    let key = |text: &str| Some(text.as_bytes().to_vec());
    let number = |value: u64| RangeKey::from(value);
    let record = |lsn, domain, interval: Option<Interval<RangeKey>>, key| LogRecord {
        lsn,
        domain,
        interval: interval.expect("not empty"),
        key,
    };
    [
        record(300, 0, Interval::closed(number(18), number(22)), key("k")),
        record(301, 0, Interval::closed(number(18), number(22)), None),
        record(1, 2, Interval::new(Excluded(number(5)), Unbounded), key("above five")),
        record(2, 2, Interval::new(Unbounded, Excluded(number(5))), key("below five")),
        record(u64::MAX, 0, Some(Interval::all()), None),
        record(
            9,
            1,
            Interval::new(
                Included(RangeKey::from_bytes(b"anna")),
                Included(RangeKey::from_bytes(b"annabelle")),
            ),
            key(""),
        ),
    ]
}

#[test]
fn log_records_of_version_1_are_kept() {
    let mut chunk = Vec::new();
    write_chunk(&mut chunk, &records());
    assert_eq!(read_chunk(&chunk).unwrap(), records());
    golden_bytes_are_kept(Path::new("tests/golden/log_v1.bin"), &chunk).unwrap();
}
