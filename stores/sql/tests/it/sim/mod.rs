//! The checker of the core's simulation, and the rows it knows.

#[path = "../../../../../cache/protocol/tests/it/sim/history.rs"]
pub(crate) mod history;
#[path = "../../../../../cache/protocol/tests/it/sim/store.rs"]
pub(crate) mod store;
#[path = "../../../../../cache/protocol/tests/it/sim/table.rs"]
pub(crate) mod table;
