//! The filter property of a RocksDB table: guard, collector, question. C++ programs use it through `lacuna_rocksdb.h`.

mod collector;
mod guard;
mod question;

pub use collector::{
    Emit, EntryType, EntryTypeNumber, TableCollector, lacuna_collector_add, lacuna_collector_finish,
    lacuna_collector_free, lacuna_collector_new,
};
pub use guard::{
    Counts, Guard, lacuna_property_name, lacuna_table_guard_clone, lacuna_table_guard_counts,
    lacuna_table_guard_free, lacuna_table_guard_last_problem, lacuna_table_guard_new,
};
pub use question::{
    TableQuestion, lacuna_question_free, lacuna_question_may_contain, lacuna_question_new,
    lacuna_question_note_empty,
};
