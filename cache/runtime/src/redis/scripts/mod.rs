//! Scripts that run inside the server; each is atomic.
//!
//! `KEYS[1]` is the fence and `ARGV[1]` the epoch of the caller and the identity of the server, `5@0123456789abcdef`,
//! everywhere in a cache server. Scripts that remove data may run when
//! memory is full; those that add data are refused then, before they have done anything.
//!
//! The fence of a cache server is `epoch@server`, or `epoch:generation@server` if the log of entries is kept. One that names
//! another server came with an older data set, and is no fence of anybody. A value begins
//! with a head of 25 bytes: eight bytes of its generation, which is the epoch of the last tenure that began cold;
//! epoch and session of its last change; one byte that says whether it is hidden. Values of other generations count as
//! absent.
//!
//! Writes append to values. A change is refused by a value that has seen its session or a later one, so a script may
//! be repeated; and what an earlier tenure has hidden is deleted rather than shown.

mod buffered;
mod cache;
mod entry_log;

pub(crate) use buffered::LogScripts;
pub(crate) use cache::CacheScripts;
