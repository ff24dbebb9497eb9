//! Scripts that run inside the server; each is atomic.
//!
//! `KEYS[1]` is the fence and `ARGV[1]` the epoch of the caller, everywhere. Scripts that remove data may run when
//! memory is full; those that add data are refused then, before they have done anything.
//!
//! The fence of a cache server is `epoch`, or `epoch:generation` if the log of entries is kept. A value begins
//! with eight bytes of its generation: the epoch of the last tenure that began cold. Values of other generations
//! count as absent.
//!
//! A hidden value moves into the lease and is returned to the writer, which restores it, or sets a newer one, when
//! the write is durable. So if the server loses a lease it loses an entry, and never shows an old one; and
//! repeating a hide after a lost reply gives the same answer.

mod buffered;
mod cache;
mod entry_log;

pub(crate) use buffered::LogScripts;
pub(crate) use cache::CacheScripts;
