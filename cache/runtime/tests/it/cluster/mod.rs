//! Dendrites and clients in one process, over real sockets.

mod dendrites;
mod events;
mod joined;
mod limits;
mod loads;
mod moves;
mod other_columns;
mod peers;
mod recut;
mod relay;
mod rights;
mod strangers;
mod transactions;
mod wire;
