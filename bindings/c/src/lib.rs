//! Lacuna's filters through a C interface.
//!
//! `include/lacuna.h` is written by cbindgen from this crate and checked in; a test holds the two together.
//! `include/lacuna_rocksdb.h` stands on it: a collector factory and table filters for programs that use RocksDB in C++.
//!
//! - [`lacuna_open`], [`lacuna_may_contain_u64`], [`lacuna_may_contain_bytes`], [`lacuna_inspect`], [`lacuna_close`]: a
//!   sealed filter of any origin;
//! - `lacuna_table_guard_*`, `lacuna_collector_*`, `lacuna_question_*`: the filter property of a RocksDB table.
//!
//! Rules for callers: pointers from here go back to the function that frees them, once; byte pointers may be null where
//! their size is zero; every function may be called from any thread, and those that take a `const` pointer from several
//! at once. No panic crosses the interface; a function that catches one answers "maybe" or reports a failure.

#![warn(missing_docs)]
#![allow(unsafe_code, reason = "the border to C")]

mod filter;
mod lent;
mod status;
mod table;

pub use filter::{
    Filter, Info, KeySpace, KeyType, lacuna_close, lacuna_inspect, lacuna_may_contain_bytes,
    lacuna_may_contain_u64, lacuna_open,
};
pub use status::{Status, lacuna_last_error};
pub use table::{
    Bound, Counts, Emit, Guard, TableCollector, TableQuestion, lacuna_collector_add, lacuna_collector_finish,
    lacuna_collector_free, lacuna_collector_new, lacuna_property_name, lacuna_question_free,
    lacuna_question_may_contain, lacuna_question_new, lacuna_question_note_empty, lacuna_table_guard_clone,
    lacuna_table_guard_counts, lacuna_table_guard_free, lacuna_table_guard_new,
};
