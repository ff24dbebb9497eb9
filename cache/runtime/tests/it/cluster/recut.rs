//! Ranges that are cut anew while a dendrite does not know it yet.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use lacuna_cache::cluster::{Membership, Net};
use lacuna_cache::sql::Options;
use lacuna_cache_protocol::ports::{Coordinator, Directory, Reply, Tenure};
use lacuna_cache_protocol::{Epoch, RangeId, RangeTable};

use crate::cluster::dendrites::{AT_MOST, CUT, TABLE, schema, secret};

/// Grants range 0 by the newer of two tables, which the dendrite knows later.
#[derive(Debug)]
struct Recut {
    before: Arc<RangeTable>,
    after: Arc<RangeTable>,
    is_known: AtomicBool,
    granted: AtomicU64,
}

impl Coordinator for Recut {
    fn claim(&self, range: RangeId, _: Option<usize>) -> Reply<'_, Option<Tenure>> {
        let epoch = Epoch(1 + self.granted.fetch_add(1, Ordering::SeqCst));
        let table = Some(self.after.clone());
        let tenure = Tenure { epoch, cache: 0, serve_after_ms: 0, before: None, lease_ms: None, table };
        Box::pin(async move { Ok((range == RangeId(0)).then_some(tenure)) })
    }

    fn renew(&self, _: RangeId, _: Epoch) -> Reply<'_, bool> {
        Box::pin(async { Ok(true) })
    }

    fn release(&self, _: RangeId, _: Epoch) -> Reply<'_, ()> {
        Box::pin(async { Ok(()) })
    }
}

impl Directory for Recut {
    fn table(&self) -> Reply<'_, Arc<RangeTable>> {
        let is_known = self.is_known.load(Ordering::SeqCst);
        let table = if is_known { &self.after } else { &self.before };
        let table = table.clone();
        Box::pin(async move { Ok(table) })
    }

    fn address(&self, range: RangeId) -> Reply<'_, Option<String>> {
        Box::pin(async move { Ok((range != RangeId(0)).then(|| "127.0.0.1:1".to_owned())) })
    }
}

/// The other part may have an owner by then, which has acknowledged writes of which no entry here knows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_range_is_served_as_it_was_cut_when_it_was_granted() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("app.db").display());
    let cache = Options::new(url).with_patience(Duration::from_millis(500)).open().await.unwrap();
    cache.run_sql("CREATE TABLE slots (id INTEGER PRIMARY KEY, place BIGINT, name TEXT)").await.unwrap();
    let ranges = Arc::new(Recut {
        before: Arc::new(schema().cut_before(&[]).unwrap()),
        after: Arc::new(schema().cut_before(&[CUT.into()]).unwrap()),
        is_known: AtomicBool::new(false),
        granted: AtomicU64::new(0),
    });
    let transport = Arc::new(Net::new(secret(), TABLE));
    let membership = Membership { directory: ranges.clone(), transport, address: "127.0.0.1:2".to_owned() };
    let dendrite = cache.dendrite(schema(), ranges.clone(), membership).await.unwrap();
    let slots = cache.table_over(schema(), Arc::new(dendrite.clone())).await.unwrap();
    let start = Instant::now();
    while !dendrite.owned().contains(&RangeId(0)) {
        assert!(start.elapsed() < AT_MOST, "it claims the range");
        drop(slots.get("place", 0..=CUT - 1).await);
    }
    for _ in 0..3 {
        let others = slots.get("place", CUT..=CUT + 9).await;
        assert!(others.is_err(), "they belong to range 1: {others:?}");
    }
    ranges.is_known.store(true, Ordering::SeqCst);
    while slots.get("place", 0..=CUT - 1).await.is_err() {
        assert!(start.elapsed() < AT_MOST, "its own part is served");
    }
    assert!(slots.get("place", CUT..=CUT + 9).await.is_err(), "there is no owner");
    dendrite.stop().await.unwrap();
    cache.stop().await.unwrap();
}
