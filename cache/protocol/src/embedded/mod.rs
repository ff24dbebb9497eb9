//! Implementations of the ports that need no server: for one process, and for tests.

mod log;
mod memory_cache;
mod region;
mod single_process;
mod steady_clock;

pub use log::{Kept, MemoryLog};
pub use memory_cache::MemoryCache;
pub use single_process::SingleProcess;
pub use steady_clock::SteadyClock;
