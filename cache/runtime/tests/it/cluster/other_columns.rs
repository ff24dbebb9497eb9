//! Ranges that were cut anew for other registered columns while a dendrite is running.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use lacuna_cache::cluster::{Dendrite, Membership, Net};
use lacuna_cache::sql::{Cache, DomainType, Options, Schema, Table, WriteError};
use lacuna_cache_protocol::ports::{Coordinator, Directory, Reply, Tenure};
use lacuna_cache_protocol::{Epoch, ErrorKind, RangeId, RangeTable};

use crate::cluster::dendrites::{AT_MOST, CUT, TABLE, places, schema, secret, slot};

/// The only range of a dendrite, and a newer table that means other columns by its domains.
#[derive(Debug)]
struct CutAnew {
    own: Arc<RangeTable>,
    other: Arc<RangeTable>,
    /// Whether the coordinator grants the range by the other table.
    grants_other: AtomicBool,
    /// Whether the directory has the other table.
    lists_other: AtomicBool,
    granted: AtomicU64,
    released: AtomicU64,
    looks: AtomicU64,
}

impl CutAnew {
    fn new(grants_other: bool) -> Arc<Self> {
        let others = Schema::new(TABLE, "id").with_domain("place", DomainType::Unsigned);
        let own = schema().cut_before(&[]).unwrap();
        let other = others.cut_before(&[CUT.into()]).unwrap();
        assert!(own.marks() != other.marks() && own.version() < other.version());
        Arc::new(Self {
            own: Arc::new(own),
            other: Arc::new(other),
            grants_other: AtomicBool::new(grants_other),
            lists_other: AtomicBool::new(false),
            granted: AtomicU64::new(0),
            released: AtomicU64::new(0),
            looks: AtomicU64::new(0),
        })
    }

    fn table_if(&self, is_other: &AtomicBool) -> Arc<RangeTable> {
        if is_other.load(Ordering::SeqCst) { self.other.clone() } else { self.own.clone() }
    }
}

impl Coordinator for CutAnew {
    fn claim(&self, range: RangeId, _: Option<usize>) -> Reply<'_, Option<Tenure>> {
        let epoch = Epoch(1 + self.granted.fetch_add(1, Ordering::SeqCst));
        let table = Some(self.table_if(&self.grants_other));
        let tenure = Tenure { epoch, cache: 0, serve_after_ms: 0, before: None, lease_ms: None, table };
        Box::pin(async move { Ok((range == RangeId(0)).then_some(tenure)) })
    }

    fn renew(&self, _: RangeId, _: Epoch) -> Reply<'_, bool> {
        Box::pin(async { Ok(true) })
    }

    fn release(&self, _: RangeId, _: Epoch) -> Reply<'_, ()> {
        self.released.fetch_add(1, Ordering::SeqCst);
        Box::pin(async { Ok(()) })
    }
}

impl Directory for CutAnew {
    fn table(&self) -> Reply<'_, Arc<RangeTable>> {
        let table = self.table_if(&self.lists_other);
        self.looks.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move { Ok(table) })
    }

    fn address(&self, range: RangeId) -> Reply<'_, Option<String>> {
        Box::pin(async move { Ok((range != RangeId(0)).then(|| "127.0.0.1:1".to_owned())) })
    }
}

async fn opened(ranges: &Arc<CutAnew>, folder: &Path) -> (Cache, Dendrite, Table) {
    let url = format!("sqlite:{}", folder.join("app.db").display());
    let cache = Options::new(url).with_patience(Duration::from_secs(1)).open().await.unwrap();
    cache.run_sql("CREATE TABLE slots (id INTEGER PRIMARY KEY, place BIGINT, name TEXT)").await.unwrap();
    let transport = Arc::new(Net::new(secret(), TABLE));
    let membership = Membership { directory: ranges.clone(), transport, address: "127.0.0.1:2".to_owned() };
    let dendrite = cache.dendrite(schema(), ranges.clone(), membership).await.unwrap();
    let slots = cache.table_over(schema(), Arc::new(dendrite.clone())).await.unwrap();
    (cache, dendrite, slots)
}

/// To give such a tenure back would say that the store has every write of the owner before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tenure_of_ranges_for_other_columns_neither_begins_nor_is_given_back() {
    let folder = tempfile::tempdir().unwrap();
    let ranges = CutAnew::new(true);
    let (cache, dendrite, slots) = opened(&ranges, folder.path()).await;
    for _ in 0..2 {
        let why = slots.get("place", 0..=9).await.unwrap_err();
        assert!(
            why.kind() == ErrorKind::Unavailable && why.to_string().contains("for other columns"),
            "{why}"
        );
    }
    match slots.insert(slot(1, 5)).await {
        Err(WriteError::NotDone(why)) => assert!(why.to_string().contains("for other columns"), "{why}"),
        done => panic!("{done:?}"),
    }
    assert!(dendrite.owned().is_empty() && ranges.granted.load(Ordering::SeqCst) > 0);
    assert_eq!(ranges.released.load(Ordering::SeqCst), 0);

    ranges.grants_other.store(false, Ordering::SeqCst);
    let start = Instant::now();
    let found = loop {
        if let Ok(found) = slots.get("place", 0..=9).await {
            break found;
        }
        assert!(start.elapsed() < AT_MOST, "the range is served as this dendrite knows it");
    };
    assert!(found.is_empty(), "what was not done was not done: {found:?}");
    slots.insert(slot(1, 5)).await.unwrap();
    assert_eq!(places(&slots.get("place", 0..=9).await.unwrap()), [5]);
    assert_eq!(dendrite.owned(), [RangeId(0)]);
    assert_eq!(ranges.released.load(Ordering::SeqCst), 0);
    dendrite.stop().await.unwrap();
    cache.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_newer_table_for_other_columns_is_not_taken() {
    let folder = tempfile::tempdir().unwrap();
    let ranges = CutAnew::new(false);
    let (cache, dendrite, slots) = opened(&ranges, folder.path()).await;
    slots.insert(slot(1, 5)).await.unwrap();
    slots.insert(slot(2, CUT + 5)).await.unwrap();
    let tenures = dendrite.counts().tenures;

    ranges.lists_other.store(true, Ordering::SeqCst);
    let (before, start) = (ranges.looks.load(Ordering::SeqCst), Instant::now());
    while ranges.looks.load(Ordering::SeqCst) < before + 3 {
        assert!(start.elapsed() < AT_MOST, "a dendrite looks for newer tables");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(places(&slots.get("place", 0..=2 * CUT).await.unwrap()), [5, CUT + 5]);
    slots.insert(slot(3, CUT + 6)).await.unwrap();
    assert_eq!(places(&slots.get("place", CUT..=2 * CUT).await.unwrap()), [CUT + 5, CUT + 6]);
    assert_eq!((dendrite.owned(), dendrite.counts().tenures), (vec![RangeId(0)], tenures));
    dendrite.stop().await.unwrap();
    cache.stop().await.unwrap();
}
