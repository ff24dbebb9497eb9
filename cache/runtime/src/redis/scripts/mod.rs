//! What runs inside the server, each whole and at once.
//!
//! `KEYS[1]` is the fence and `ARGV[1]` the epoch of the caller, everywhere. Scripts that take something away may run when
//! memory is full; those that add are refused then, before they have done anything.
//!
//! The fence of a cache server is `epoch`, or `epoch:generation` where the log of entries is kept. A value begins with eight bytes
//! of its generation: the epoch of the last tenure that began cold. Values of other generations are not there.
//!
//! A value that a writer hides moves into the lease and is handed to the writer, who brings it back, or a newer one, when the
//! write is durable. So a lease that the server loses loses an entry, and never shows an old one; and to hide once more, as a
//! reply was lost, gives the same answer.

mod buffered;
mod cache;
mod entry_log;

pub(crate) use buffered::LogScripts;
pub(crate) use cache::CacheScripts;
