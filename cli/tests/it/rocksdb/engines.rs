//! Two engines, one set of rows.

use lacuna_bench::engine::rocksdb::RocksDbEngine;
use lacuna_bench::engine::{Direction, EngineRow, EngineSetting, FilterChoice, SlateDbEngine, compare};
use lacuna_workload::{KeySource, Keys, QuerySource, ReadOptions};

const SEED: u64 = 5;

fn filters() -> Vec<FilterChoice> {
    vec![
        FilterChoice::None,
        FilterChoice::Engine { bits_per_key: 10.0 },
        FilterChoice::lacuna("grafite", 14.0),
        FilterChoice::lacuna("auto", 14.0),
    ]
}

fn setting(keys: Keys, queries: &str, empty_share: f64) -> EngineSetting {
    let source = QuerySource::parse(queries).unwrap();
    let setting = EngineSetting::new("keys", keys, &source, SEED).unwrap();
    setting.with_empty_share(empty_share).unwrap().with_levels(2, 2).unwrap()
}

fn uniform() -> Keys {
    KeySource::parse("uniform:6k").unwrap().load(&ReadOptions::default(), SEED, &mut |_| {}).unwrap()
}

/// Rows of both engines with every filter, which must all be as many.
fn rows(setting: &EngineSetting) -> Vec<EngineRow> {
    let mut rows = compare(&SlateDbEngine, &filters(), setting, &mut |_| {}).unwrap();
    rows.extend(compare(&RocksDbEngine::PLAIN, &filters(), setting, &mut |_| {}).unwrap());
    let counts: Vec<u64> = rows.iter().map(|row| row.rows).collect();
    assert!(counts.iter().all(|&count| count == counts[0] && count > 0), "{counts:?}, seed {SEED}");
    rows
}

#[test]
fn both_engines_find_the_same_rows() {
    let ranges = setting(uniform(), "uniform:300:1000000-9000000000000000", 0.3);
    for direction in [Direction::Forward, Direction::Reverse] {
        rows(&ranges.clone().with_direction(direction));
    }
    rows(&setting(uniform(), "points:300", 0.5));
}

#[test]
fn both_engines_find_the_same_strings() {
    let words = (0..4_000).map(|word| format!("word/{:05}/{}", word * 7_919 % 50_000, word % 13));
    rows(&setting(Keys::from_byte_strings(words), "heldout:200:1-17179869184", 0.5));
}

#[test]
fn filters_save_blocks_in_both_engines() {
    let rows = rows(&setting(uniform(), "uniform:600:32", 0.9));
    for engine in rows.chunks(4) {
        let [none, own, grafite, _auto] = engine else { panic!("four filters") };
        assert!(own.data_blocks_per_query > 0.8 * none.data_blocks_per_query, "{own:?}");
        assert!(grafite.data_blocks_per_query < 0.3 * none.data_blocks_per_query, "{grafite:?}, {none:?}");
        assert!(grafite.files_skipped_per_query > 1.5 && grafite.fpr < Some(0.02), "{grafite:?}");
        assert!((11.0..17.0).contains(&grafite.bits_per_key), "{grafite:?}");
        assert!((none.filter_bytes, none.fpr) == (0, None) && own.filter_bytes > 0, "{none:?}, {own:?}");
    }
}
