//! The range cache beside the store alone and beside caches without leases, over real servers.
//!
//! | file | idea |
//! | --- | --- |
//! | `setup.rs`, `choice.rs` | what a run is, and what its clients ask for |
//! | `servers.rs`, `data_folder.rs` | its servers, and the disk of a store with little memory |
//! | `relay.rs` | networks that are longer or thinner than the loopback |
//! | `records.rs`, `bare.rs` | the rows, and the store without a cache |
//! | `system/` | the range cache, the store alone, and caches without leases |
//! | `run/`, `versions.rs`, `pinned.rs` | load, warm up, measure, drain, check |
//! | `log_notes.rs` | the calls of a log server |
//! | `row.rs` | what a run showed |
//! | `interrupt.rs` | Ctrl-C |

pub(crate) mod bare;
pub(crate) mod choice;
pub(crate) mod data_folder;
pub(crate) mod interrupt;
pub(crate) mod log_notes;
pub(crate) mod pinned;
pub(crate) mod records;
pub(crate) mod relay;
pub(crate) mod row;
pub(crate) mod run;
pub(crate) mod servers;
pub(crate) mod setup;
pub(crate) mod system;
pub(crate) mod versions;

pub use row::COLUMNS;
