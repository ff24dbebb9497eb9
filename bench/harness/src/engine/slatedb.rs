//! `SlateDB` in a local folder: a file of level 0 for each level, no compactor.

use std::sync::Arc;

use lacuna_base::{Error, Result};
use lacuna_slatedb::RangeFilters;
use lacuna_slatedb::measure::MeasuredDb;
use lacuna_workload::Rng;
use slatedb::config::{FlushOptions, FlushType, ScanOptions};
use slatedb::object_store::local::LocalFileSystem;
use slatedb::{Db, Error as StoreError, IterationOrder, WriteBatch};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

use super::{
    Counts, Database, DatabasePlan, Direction, Engine, FilterChoice, Question, Shape, deal_out,
    half_zero_value,
};

/// `SlateDB`. Files with fewer than 1,000 rows get no filter, of whatever kind.
#[derive(Debug, Clone, Copy)]
pub struct SlateDbEngine;

struct SlateDatabase {
    db: Db,
    measured: MeasuredDb,
    /// Whether filters of ours are there to be asked.
    guarded: bool,
    runtime: Runtime,
    _folder: TempDir,
}

impl Engine for SlateDbEngine {
    fn name(&self) -> &'static str {
        "slatedb"
    }

    fn create(&self, plan: &DatabasePlan<'_>) -> Result<Box<dyn Database>> {
        let folder = tempfile::tempdir().map_err(|error| failed("no folder can be made", error))?;
        let store = LocalFileSystem::new_with_prefix(folder.path());
        let store = Arc::new(store.map_err(|error| failed("the folder cannot be used", error))?);
        let lacuna = lacuna(plan)?;
        let measured = match plan.filter {
            FilterChoice::None => MeasuredDb::without_filters(store, "measured"),
            _ => MeasuredDb::new(store, "measured", Some(lacuna)),
        };
        // One thread, so that the stopwatch measures all of the database's work and no other program's.
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| failed("no threads for the store", error))?;
        runtime.block_on(write(&measured, plan)).map_err(store_failed)?;
        let db = runtime.block_on(measured.open_warm(plan.cache_bytes)).map_err(store_failed)?;
        let guarded = matches!(plan.filter, FilterChoice::Lacuna { .. });
        Ok(Box::new(SlateDatabase { db, measured, guarded, runtime, _folder: folder }))
    }
}

/// Filters of ours, or none of ours and the engine's own.
fn lacuna(plan: &DatabasePlan<'_>) -> Result<RangeFilters> {
    match (plan.filter.guard_spec(plan.codec, plan.seed)?, plan.filter) {
        (Some(spec), _) => {
            let lacuna = RangeFilters::new(spec);
            lacuna.seed_sample(plan.sample)?;
            Ok(lacuna)
        }
        (None, FilterChoice::Engine { bits_per_key }) =>
        {
            #[expect(clippy::cast_possible_truncation, reason = "budgets end at 128")]
            #[expect(clippy::cast_sign_loss, reason = "budgets are above 0")]
            RangeFilters::parse("off")?.with_slatedb_bloom(bits_per_key.ceil() as u32)
        }
        (None, _) => RangeFilters::parse("off"),
    }
}

async fn write(measured: &MeasuredDb, plan: &DatabasePlan<'_>) -> std::result::Result<(), StoreError> {
    let db = measured.builder().build().await?;
    let (mut rng, mut value) = (Rng::new(plan.seed), Vec::new());
    for level in deal_out(plan.keys, plan.levels, plan.size_ratio, plan.seed).iter().rev() {
        let mut batch = WriteBatch::new();
        for key in level.iter() {
            half_zero_value(&mut rng, plan.value_bytes, &mut value);
            batch.put(key, &value);
        }
        db.write(batch).await?;
        db.flush_with_options(FlushOptions { flush_type: FlushType::MemTable }).await?;
    }
    db.close().await
}

impl SlateDatabase {
    async fn rows(
        &self,
        Question { lo, hi, .. }: &Question,
        direction: Direction,
        max_rows: u64,
    ) -> std::result::Result<u64, StoreError> {
        let order = match direction {
            Direction::Forward => IterationOrder::Ascending,
            Direction::Reverse => IterationOrder::Descending,
        };
        let options = ScanOptions { cache_blocks: true, order, ..ScanOptions::default() };
        let mut count = 0;
        match self.measured.lacuna().filter(|_| self.guarded) {
            Some(lacuna) => {
                let mut rows = lacuna.scan_with_options(&self.db, &lo[..]..=&hi[..], &options).await?;
                while count < max_rows && rows.next().await?.is_some() {
                    count += 1;
                }
            }
            None => {
                let mut rows = self.db.scan_with_options(&lo[..]..=&hi[..], &options).await?;
                while count < max_rows && rows.next().await?.is_some() {
                    count += 1;
                }
            }
        }
        Ok(count)
    }
}

impl Database for SlateDatabase {
    fn seek(&self, question: &Question, direction: Direction, max_rows: u64) -> Result<u64> {
        self.runtime.block_on(self.rows(question, direction, max_rows)).map_err(store_failed)
    }

    fn has(&self, key: &[u8]) -> Result<bool> {
        Ok(self.runtime.block_on(self.db.get(key)).map_err(store_failed)?.is_some())
    }

    fn counts(&self) -> Counts {
        let asked = self.measured.lacuna().map(|lacuna| lacuna.stats().total()).unwrap_or_default();
        Counts {
            data_blocks: self.measured.store().reads().gets,
            skipped: asked.skipped,
            false_positives: asked.false_positives,
            read_ns: 0,
        }
    }

    fn shape(&self) -> Result<Shape> {
        let manifest = self.db.manifest();
        let files: Vec<u64> = manifest.all_sst_views().map(|view| view.sst.info.filter_len).collect();
        Ok(Shape { files: files.len(), filter_bytes: files.iter().sum(), io: "local folder, page cache" })
    }
}

impl Drop for SlateDatabase {
    fn drop(&mut self) {
        // The folder goes away with it: nothing is lost if the database cannot be closed.
        drop(self.runtime.block_on(self.db.close()));
    }
}

fn store_failed(error: StoreError) -> Error {
    failed("the store failed", error)
}

fn failed(what: &str, error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::unavailable(format!("{what}: {error}")).with_source(error)
}
