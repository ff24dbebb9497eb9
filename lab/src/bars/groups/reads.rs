//! Object reads of an embedded SlateDB that do not happen.
//!
//! Keys are dealt out to overlapping SSTs; the block cache holds a tenth of the data, filters and indexes have a cache of
//! their own, and all questions are asked once before they count. Half of the ranges start 1 to 32 after a key.

use std::sync::Arc;

use lacuna_base::{Error, Result};
use lacuna_slatedb::RangeFilters;
use lacuna_slatedb::measure::{MeasuredDb, Reads};
use slatedb::object_store::local::LocalFileSystem;

use crate::bars::bar::{Bar, Limit};
use crate::bars::setting::Setting;
use lacuna_cli::Progress;

const SSTS: usize = 16;
const QUESTIONS: usize = 1_000;
/// Bytes of a row: the key twice, and a value of a small record.
const VALUE_BYTES: usize = 92;
const ROW_BYTES: usize = 8 + 8 + VALUE_BYTES;

/// Measures the same questions without filters, with SlateDB's own, and with Grafite.
pub(super) fn run(setting: &Setting, progress: &Progress) -> Result<Vec<Bar>> {
    let keys = setting.keys(&format!("uniform:{}", setting.read_keys()))?;
    let questions = setting.ranges(&format!("split:{QUESTIONS}:1-32:32"), &keys)?;
    let runtime = tokio::runtime::Runtime::new().map_err(failure)?;
    let reads = |name: &str, open: fn(Arc<LocalFileSystem>) -> Result<MeasuredDb>| {
        progress.say(format!("reads: {name}"));
        runtime.block_on(count(&keys, &questions, open))
    };
    let none = reads("no filter", |store| Ok(MeasuredDb::without_filters(store, "db")))?;
    let bloom = reads("SlateDB's Bloom filter", |store| Ok(MeasuredDb::new(store, "db", None)))?;
    let lacuna = reads("grafite", |store| {
        let lacuna = RangeFilters::parse("grafite@14 codec=fixed_be:8")?;
        Ok(MeasuredDb::new(store, "db", Some(lacuna)))
    })?;
    let keys = keys.len();
    Ok(vec![
        Bar::times_fewer(
            format!("grafite at 14 bits, {keys} keys"),
            lacuna.gets,
            "no filter",
            none.gets,
            Limit::AtLeast(20.0),
        ),
        Bar::times_fewer(
            format!("SlateDB's Bloom, {keys} keys"),
            bloom.gets,
            "no filter",
            none.gets,
            Limit::None,
        ),
    ])
}

/// What the second pass over `questions` reads.
async fn count(
    keys: &[u64],
    questions: &[(u64, u64)],
    open: fn(Arc<LocalFileSystem>) -> Result<MeasuredDb>,
) -> Result<Reads> {
    let folder = tempfile::tempdir().map_err(failure)?;
    let store = LocalFileSystem::new_with_prefix(folder.path()).map_err(failure)?;
    let measured = open(Arc::new(store))?;
    measured.write_interleaved(keys, SSTS, VALUE_BYTES).await.map_err(failure)?;
    let cache_bytes = (keys.len() * ROW_BYTES / 10) as u64;
    let db = measured.open_warm(cache_bytes).await.map_err(failure)?;
    measured.scan_all(&db, questions).await.map_err(failure)?;
    let counted = measured.scan_all(&db, questions).await.map_err(failure)?;
    db.close().await.map_err(failure)?;
    assert_eq!(counted.rows, 0, "the questions are empty");
    Ok(counted.reads)
}

fn failure(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::unavailable(format!("the store failed: {error}")).with_source(error)
}
