//! Tenures of the tables of a file that this process alone has open, remembered in the file.
//!
//! A program that begins warm must know which tenure was the last. The row of a table in `lacuna_fence` gets the epoch of each
//! tenure before it begins, so that no two processes ever use one epoch, even if the first dies before it serves; what stood
//! there is the tenure before. With 5 in the row, the next process begins tenure 6 after 5. If it dies at once, the one after it
//! begins tenure 7 after 6, finds that 6 never recovered, and begins with an empty cache.
//!
//! Cost: one transaction for each tenure.

use std::sync::Arc;

use lacuna_cache_protocol::embedded::SingleProcess;
use lacuna_cache_protocol::ports::{Coordinator, Reply, Tenure};
use lacuna_cache_protocol::{Epoch, RangeId};
use lacuna_cache_protocol::{Error, Result};

use crate::sql::database::{Database, Failure};
use crate::sql::fenced::{fence_of, integer};

/// Grants every claim, as a lock on the file keeps other processes away.
#[derive(Debug)]
pub(crate) struct FileTenures {
    database: Arc<dyn Database>,
    process: SingleProcess,
}

impl FileTenures {
    pub(crate) const fn new(database: Arc<dyn Database>, process: SingleProcess) -> Self {
        Self { database, process }
    }

    async fn grant(&self, range: RangeId, lost_cache: Option<usize>) -> Result<Option<Tenure>> {
        let tenure = self.process.grant(range, lost_cache);
        let before = fence_of(&*self.database, range).await?;
        let before =
            before.ok_or_else(|| Error::unavailable(format!("no table has the range {}", range.0)))?;
        let is_next = self.record(range, before, tenure.epoch).await.map_err(|failure| failure.error)?;
        let before = Some(before).filter(|before| before.0 > 0);
        Ok(is_next.then_some(Tenure { before, ..tenure }))
    }

    /// Whether the epoch is larger than the one before, and now in the file.
    async fn record(&self, range: RangeId, before: Epoch, epoch: Epoch) -> Result<bool, Failure> {
        let sql = "UPDATE lacuna_fence SET epoch = {} WHERE range_id = {} AND epoch = {} AND epoch < {}";
        let values = [integer(epoch.0), i64::from(range.0).into(), integer(before.0), integer(epoch.0)];
        let mut open = self.database.begin().await?;
        let changed = open.execute(&self.database.dialect().statement(sql, &values)).await?;
        open.commit().await?;
        Ok(changed == 1)
    }
}

impl Coordinator for FileTenures {
    fn claim(&self, range: RangeId, lost_cache: Option<usize>) -> Reply<'_, Option<Tenure>> {
        Box::pin(self.grant(range, lost_cache))
    }

    fn renew(&self, range: RangeId, epoch: Epoch) -> Reply<'_, bool> {
        self.process.renew(range, epoch)
    }

    fn release(&self, range: RangeId, epoch: Epoch) -> Reply<'_, ()> {
        self.process.release(range, epoch)
    }
}
