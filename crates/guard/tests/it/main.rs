//! What an adapter may rely on, over every family and codec.

mod building;
mod opening;
mod support;
