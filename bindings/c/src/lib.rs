//! Lacuna's filters through a C interface.
//!
//! `include/lacuna.h` is written by cbindgen from this crate and checked in; a test holds the two together.
//! `include/lacuna_rocksdb.h` stands on it: a collector factory and table filters for programs that use RocksDB in C++.
//!
//! - `lacuna_build_*`, `lacuna_builder_*`, [`Plan`], `lacuna_sample_*`, [`Secret`]: a filter of keys, at once or one by one;
//! - [`lacuna_open`], [`lacuna_open_borrowed`], [`lacuna_bytes`], [`lacuna_close`]: its bytes, of any origin;
//! - `lacuna_may_contain_*`, `lacuna_count_*`, `lacuna_seek_*`: questions;
//! - [`lacuna_inspect`], [`lacuna_describe`], [`lacuna_explain`]: what it is;
//! - `lacuna_table_guard_*`, `lacuna_collector_*`, `lacuna_question_*`: the filter property of a RocksDB table.
//!
//! Rules for callers: pointers from here go back to the function that frees them, once; byte pointers may be null where
//! their size is zero; every function may be called from any thread, and those that take a `const` pointer from several
//! at once. Pointers that are null or not aligned, and numbers that no enumeration has, are errors, in a question a doubt;
//! such a pointer frees nothing. A thread may call until it has ended, from its last destructors, too, where what a failure
//! said is no longer kept. No panic crosses the interface; a function that catches one answers "maybe" or reports a failure.
//! Without memory the process ends.

#![warn(missing_docs)]
#![allow(unsafe_code, reason = "the border to C")]

mod arguments;
mod build;
mod builder;
mod count;
mod explain;
mod filter;
mod inspect;
mod key_type;
mod plan;
mod property;
mod questions;
mod sample;
mod sealing;
mod secret;
mod seek;
mod status;
mod table;
mod value;
mod version;

pub use arguments::Bytes;
pub use build::{lacuna_build_bytes, lacuna_build_f64, lacuna_build_i64, lacuna_build_u64};
pub use builder::{
    Builder, lacuna_builder_add_bytes, lacuna_builder_add_f64, lacuna_builder_add_i64,
    lacuna_builder_add_u64, lacuna_builder_finish, lacuna_builder_free, lacuna_builder_new_bytes,
    lacuna_builder_new_f64, lacuna_builder_new_i64, lacuna_builder_new_u64,
};
pub use count::{CountBounds, lacuna_count_bytes, lacuna_count_f64, lacuna_count_i64, lacuna_count_u64};
pub use explain::lacuna_explain;
pub use filter::{
    Filter, Verify, VerifyNumber, lacuna_bytes, lacuna_close, lacuna_open, lacuna_open_borrowed,
};
pub use inspect::{Info, lacuna_describe, lacuna_inspect, lacuna_rate_bound};
pub use key_type::{KeySpace, KeyType, KeyTypeNumber};
pub use plan::Plan;
pub use questions::{
    Bound, BoundNumber, lacuna_check_key_type, lacuna_may_contain_between_bytes, lacuna_may_contain_bytes,
    lacuna_may_contain_f64, lacuna_may_contain_i64, lacuna_may_contain_key_bytes, lacuna_may_contain_key_f64,
    lacuna_may_contain_key_i64, lacuna_may_contain_key_u64, lacuna_may_contain_many_bytes,
    lacuna_may_contain_many_f64, lacuna_may_contain_many_i64, lacuna_may_contain_many_u64,
    lacuna_may_contain_prefix, lacuna_may_contain_u64,
};
pub use sample::{
    Sample, lacuna_sample_add_bytes, lacuna_sample_add_f64, lacuna_sample_add_i64, lacuna_sample_add_u64,
    lacuna_sample_free, lacuna_sample_new,
};
pub use secret::{SECRET_BYTES, Secret, lacuna_secret_read};
pub use seek::{
    Candidate, Direction, DirectionNumber, lacuna_seek_bytes, lacuna_seek_f64, lacuna_seek_i64,
    lacuna_seek_u64,
};
pub use status::{Status, lacuna_last_error, lacuna_last_smallest_bits_per_key};
pub use table::{
    Counts, Emit, EntryType, EntryTypeNumber, Guard, TableCollector, TableQuestion, lacuna_collector_add,
    lacuna_collector_finish, lacuna_collector_free, lacuna_collector_new, lacuna_property_name,
    lacuna_question_free, lacuna_question_may_contain, lacuna_question_new, lacuna_question_note_empty,
    lacuna_table_guard_clone, lacuna_table_guard_counts, lacuna_table_guard_free,
    lacuna_table_guard_last_problem, lacuna_table_guard_new,
};
pub use version::lacuna_version;
