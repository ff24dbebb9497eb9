//! The checker of the core's simulation, and the rows it knows.

#[path = "../../../../../crates/range-cache/tests/it/sim/history.rs"]
pub(crate) mod history;
#[path = "../../../../../crates/range-cache/tests/it/sim/store.rs"]
pub(crate) mod store;
#[path = "../../../../../crates/range-cache/tests/it/sim/table.rs"]
pub(crate) mod table;
