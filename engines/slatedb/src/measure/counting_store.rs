//! An object store that counts what is read from SSTs, and can be as far away as a cloud.

use std::fmt;
use std::ops::Sub;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use async_trait::async_trait;
use futures::stream::BoxStream;
use slatedb::object_store::path::Path;
use slatedb::object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, RenameOptions, Result,
};

/// Reads of SSTs, manifests and write-ahead logs left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reads {
    /// GET requests.
    pub gets: u64,
    /// Bytes they returned.
    pub bytes: u64,
}

impl Sub for Reads {
    type Output = Self;
    fn sub(self, earlier: Self) -> Self {
        Self { gets: self.gets - earlier.gets, bytes: self.bytes - earlier.bytes }
    }
}

/// Passes everything on to another object store and counts the reads of SSTs.
///
/// ```
/// use lacuna_slatedb::measure::CountingStore;
/// use slatedb::object_store::memory::InMemory;
/// use slatedb::object_store::path::Path;
/// use slatedb::object_store::{ObjectStoreExt, PutPayload};
/// use std::sync::Arc;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> slatedb::object_store::Result<()> {
/// let store = CountingStore::new(Arc::new(InMemory::new()));
/// let sst = Path::from("db/compacted/1.sst");
/// store.put(&sst, PutPayload::from_static(b"ten bytes!")).await?;
/// store.get_range(&sst, 0..4).await?;
/// assert_eq!((store.reads().gets, store.reads().bytes), (1, 4));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct CountingStore {
    inner: Arc<dyn ObjectStore>,
    gets: AtomicU64,
    bytes: AtomicU64,
    read_delay: Duration,
}

impl CountingStore {
    /// Counts the reads of `inner`, from now on.
    pub fn new(inner: Arc<dyn ObjectStore>) -> Self {
        Self { inner, gets: AtomicU64::new(0), bytes: AtomicU64::new(0), read_delay: Duration::ZERO }
    }

    /// Waits `delay` before each read, as if the objects lay in a cloud.
    #[must_use]
    pub(crate) fn with_read_delay(mut self, delay: Duration) -> Self {
        self.read_delay = delay;
        self
    }

    /// Reads so far.
    pub fn reads(&self) -> Reads {
        Reads { gets: self.gets.load(Relaxed), bytes: self.bytes.load(Relaxed) }
    }
}

/// Whether `location` is an SST: SlateDB keeps them in the folder `compacted`, level 0 included.
fn is_sst(location: &Path) -> bool {
    location.as_ref().split('/').any(|part| part == "compacted")
}

impl fmt::Display for CountingStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CountingStore({})", self.inner)
    }
}

#[async_trait]
impl ObjectStore for CountingStore {
    async fn put_opts(&self, location: &Path, payload: PutPayload, opts: PutOptions) -> Result<PutResult> {
        self.inner.put_opts(location, payload, opts).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        opts: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(location, opts).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        if !self.read_delay.is_zero() {
            tokio::time::sleep(self.read_delay).await;
        }
        let head = options.head;
        let result = self.inner.get_opts(location, options).await?;
        if is_sst(location) && !head {
            self.gets.fetch_add(1, Relaxed);
            self.bytes.fetch_add(result.range.end - result.range.start, Relaxed);
        }
        Ok(result)
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list_with_offset(prefix, offset)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        self.inner.rename_opts(from, to, options).await
    }
}
