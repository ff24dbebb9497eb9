//! How large the filters of a database are.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use lacuna_base::Result;
use lacuna_rocksdb::PROPERTY_NAME;
use rust_rocksdb::{DB, ReadOptions};

use crate::engine::rocksdb::database::failed;

/// Bytes of all filters of ours, summed up by a table filter that lets nothing pass.
pub(crate) fn ours(db: &DB) -> Result<u64> {
    let sum = Arc::new(AtomicU64::new(0));
    let adding = Arc::clone(&sum);
    let mut options = ReadOptions::default();
    options.set_table_filter(move |table| {
        let ours = table.user_collected_properties().find(|(name, _)| *name == PROPERTY_NAME.as_bytes());
        adding.fetch_add(ours.map_or(0, |(_, bytes)| bytes.len() as u64), Relaxed);
        false
    });
    let mut tables = db.raw_iterator_opt(options);
    tables.seek_to_first();
    tables.status().map_err(failed)?;
    Ok(sum.load(Relaxed))
}

/// Bytes of all of RocksDB's own filters.
pub(crate) fn rocksdbs(db: &DB) -> Result<u64> {
    let text = db.property_value("rocksdb.aggregated-table-properties").map_err(failed)?.unwrap_or_default();
    let size = text.split(';').find_map(|part| part.trim().strip_prefix("filter block size="));
    Ok(size.and_then(|size| size.parse().ok()).unwrap_or(0))
}
