//! Clients, owners, cache servers, logs, a store and a coordinator, on one clock and one stream of random numbers.

mod client;
mod coordinator;
mod dendrite;
pub(crate) mod history;
pub(crate) mod joined;
mod joining;
mod nemesis;
mod network;
pub(crate) mod store;
pub(crate) mod table;
mod transaction;
mod world;

pub(crate) use world::{Setup, World};
