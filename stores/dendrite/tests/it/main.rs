//! Dendrites and clients in one process, over real sockets.

mod hall;
mod peers;
mod relay;
mod strangers;
