//! Dendrites and clients in one process, over real sockets.

mod dendrites;
mod loads;
mod moves;
mod peers;
mod relay;
mod strangers;
mod transactions;
mod wire;
