//! The checker of the core's simulation, and the rows it knows.

#[path = "../../../../protocol/tests/it/sim/history.rs"]
pub(crate) mod history;
#[path = "../../../../protocol/tests/it/sim/joined.rs"]
pub(crate) mod joined;
#[path = "../../../../protocol/tests/it/sim/store.rs"]
pub(crate) mod store;
#[path = "../../../../protocol/tests/it/sim/table.rs"]
pub(crate) mod table;
