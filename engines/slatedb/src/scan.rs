//! Scans that remember when they found nothing.
//!
//! A filter never learns how a scan ended, so the scan itself notes it: once, when its first row is asked for and there
//! is none. The queries noted this way are what the next filters are designed for, and the filters that let the scan
//! pass are counted as false positives.

use std::ops::Bound;
use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::Bytes;
use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use lacuna_base::ByteRange;
use slatedb::config::ScanOptions;
use slatedb::{ByteRangeBounds, DbIterator, DbReadOps, Error, KeyValue};

use crate::config::RangeFilters;
use crate::policy::Shared;
use crate::probes::Probe;

/// Scans of a batch that are under way at once, so that the reads of an object store wait together.
const SCANS_AT_ONCE: usize = 64;

/// The rows of a range, as SlateDB's own iterator gives them.
pub struct GuardedScan {
    /// `None` if no key can lie between the bounds.
    rows: Option<DbIterator>,
    /// `Some` until the first row was asked for.
    watch: Option<Watch>,
}

struct Watch {
    lo: Bound<Bytes>,
    hi: Bound<Bytes>,
    probe: Probe,
    shared: Shared,
}

impl RangeFilters {
    /// Scans a range of a database, reader, snapshot or transaction. An empty or inverted range has no row, where
    /// SlateDB's own scan panics.
    ///
    /// # Errors
    /// As SlateDB's `scan`.
    pub async fn scan<R, T>(&self, db: &R, range: T) -> Result<GuardedScan, Error>
    where
        R: DbReadOps + Sync,
        T: ByteRangeBounds + Send,
    {
        self.scan_with_options(db, range, &ScanOptions::default()).await
    }

    /// Scans a range with options. A `filter_context` in them is kept; filters that pass in vain are then not counted.
    ///
    /// # Errors
    /// As SlateDB's `scan_with_options`.
    pub async fn scan_with_options<R, T>(
        &self,
        db: &R,
        range: T,
        options: &ScanOptions,
    ) -> Result<GuardedScan, Error>
    where
        R: DbReadOps + Sync,
        T: ByteRangeBounds + Send,
    {
        if ByteRange::from_bounds(range.start_bound(), range.end_bound()).is_none() {
            return Ok(GuardedScan { rows: None, watch: None });
        }
        let (lo, hi) = (copy(range.start_bound()), copy(range.end_bound()));
        let probe = self.shared().probes.start();
        let mut options = options.clone();
        options.filter_context.get_or_insert_with(|| probe.context());
        let rows = Some(db.scan_with_options(range, &options).await?);
        Ok(GuardedScan { rows, watch: Some(Watch { lo, hi, probe, shared: self.shared().clone() }) })
    }

    /// For each range, whether a database, reader, snapshot or transaction has a row in it, in the order of the ranges, which may
    /// overlap. An SST is read only for the ranges that its filter lets pass, and up to 64 ranges are looked into at once. Ranges
    /// without a row are noted as those of [`scan`](Self::scan) are.
    ///
    /// Each answer is true of a moment during the call; of a snapshot, all are true of the same.
    ///
    /// # Errors
    /// As SlateDB's `scan`.
    ///
    /// ```
    /// use lacuna_slatedb::{RangeFilters, prefix_range};
    /// use slatedb::object_store::memory::InMemory;
    /// use slatedb::Db;
    /// use std::sync::Arc;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let lacuna = RangeFilters::parse("surf@30")?;
    /// let db = lacuna.install(Db::builder("users", Arc::new(InMemory::new()))).build().await?;
    /// db.put("user/7/mail", b"").await?;
    ///
    /// let users = ["user/5/", "user/7/"].map(|prefix| prefix_range(prefix.as_bytes()));
    /// assert_eq!(lacuna.contains_ranges(&db, users).await?, [false, true]);
    /// db.close().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn contains_ranges<R, T>(
        &self,
        db: &R,
        ranges: impl IntoIterator<Item = T>,
    ) -> Result<Vec<bool>, Error>
    where
        R: DbReadOps + Sync,
        T: ByteRangeBounds,
    {
        let owned = |range: T| (copy(range.start_bound()), copy(range.end_bound()));
        let ranges: Vec<(Bound<Bytes>, Bound<Bytes>)> = ranges.into_iter().map(owned).collect();
        let has_row = |range: (Bound<Bytes>, Bound<Bytes>)| async move {
            let mut rows = self.scan(db, range).await?;
            Ok::<bool, Error>(rows.next().await?.is_some())
        };
        stream::iter(ranges).map(has_row).buffered(SCANS_AT_ONCE).try_collect().await
    }
}

impl GuardedScan {
    /// The next row, or `None` after the last.
    ///
    /// # Errors
    /// As SlateDB's `DbIterator::next`.
    pub async fn next(&mut self) -> Result<Option<KeyValue>, Error> {
        let Some(rows) = &mut self.rows else { return Ok(None) };
        let row = rows.next().await?;
        if let Some(watch) = self.watch.take()
            && row.is_none()
        {
            watch.try_note_empty();
        }
        Ok(row)
    }

    /// Goes on at `next_key`, which must lie in the range and not before the current row. What is found from here on
    /// is no longer noted.
    ///
    /// # Errors
    /// As SlateDB's `DbIterator::seek`.
    pub async fn seek<K: AsRef<[u8]>>(&mut self, next_key: K) -> Result<(), Error> {
        self.watch = None;
        match &mut self.rows {
            Some(rows) => rows.seek(next_key).await,
            None => Ok(()),
        }
    }
}

impl Watch {
    /// The scan is right without being noted.
    fn try_note_empty(&self) {
        if catch_unwind(AssertUnwindSafe(|| self.note_empty())).is_err() {
            self.shared.counters.count_panic("noting an empty scan panicked; please report this");
        }
    }

    fn note_empty(&self) {
        let Shared { log, counters, probes, gaps } = &self.shared;
        counters.count_empty_scan();
        counters.count_false_positives(None, probes.passes(self.probe));
        log.record(borrow(&self.lo), borrow(&self.hi));
        if let Some(gaps) = gaps {
            gaps.hint(borrow(&self.lo), borrow(&self.hi), &probes.files(self.probe));
        }
    }
}

fn copy(bound: Bound<&[u8]>) -> Bound<Bytes> {
    bound.map(Bytes::copy_from_slice)
}

fn borrow(bound: &Bound<Bytes>) -> Bound<&[u8]> {
    bound.as_ref().map(|bytes| &bytes[..])
}
