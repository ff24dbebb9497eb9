//! RocksDB: databases written file by file, and what they read.
//!
//! | file | idea |
//! | --- | --- |
//! | `layout.rs` | how a database is shaped: levels, files, compression, cache |
//! | `bulk.rs` | levels written file by file, so that only the filters differ between two databases |
//! | `database.rs` | an open database that counts what it reads |
//! | `direct.rs` | whether blocks can be read past the page cache |
//! | `filter_bytes.rs` | how large its filters are |

mod bulk;
mod database;
mod direct;
mod filter_bytes;
mod layout;

use crate::engine::{Database, DatabasePlan, Engine, FilterChoice, deal_out};
use lacuna_base::Result;
use lacuna_rocksdb::RangeFilters;

pub use database::RocksDatabase;
pub use layout::{Layout, Style};

/// RocksDB with levels written file by file, read past the page cache where the file system lets it; with compactions of
/// the universal style instead, filled by puts.
#[derive(Debug, Clone, Copy)]
pub struct RocksDbEngine {
    /// The shape; the plan replaces its levels, size ratio, cache and Bloom filter.
    pub layout: Layout,
}

impl RocksDbEngine {
    /// Uncompressed files of 4 MiB.
    pub const PLAIN: Self = Self { layout: Layout::PLAIN };
}

impl Engine for RocksDbEngine {
    fn name(&self) -> &'static str {
        "rocksdb"
    }

    fn create(&self, plan: &DatabasePlan<'_>) -> Result<Box<dyn Database>> {
        let layout = Layout {
            levels: plan.levels,
            size_ratio: plan.size_ratio,
            cache_bytes: plan.cache_bytes,
            bloom_bits: match plan.filter {
                FilterChoice::Engine { bits_per_key } => Some(*bits_per_key),
                _ => None,
            },
            ..self.layout
        };
        let lacuna = plan.filter.guard_spec(plan.codec, plan.seed)?.map(RangeFilters::new);
        if let Some(lacuna) = &lacuna {
            lacuna.seed_sample(plan.sample)?;
        }
        if layout.compactions == Some(Style::Universal) {
            let database = RocksDatabase::write(layout, lacuna, &[], plan.value_bytes, plan.seed)?;
            database.fill(plan.keys, layout.file_bytes, plan.value_bytes, plan.seed)?;
            return Ok(Box::new(database));
        }
        let levels = deal_out(plan.keys, plan.levels, plan.size_ratio, plan.seed);
        let database = RocksDatabase::write(layout, lacuna, &levels, plan.value_bytes, plan.seed)?;
        Ok(Box::new(database))
    }
}
