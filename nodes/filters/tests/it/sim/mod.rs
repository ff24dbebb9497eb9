//! A small cluster with a store, faulty clocks, a faulty network and a moving ring, from one seed.

mod faults;
mod heads;
mod history;
mod network;
mod replica;
mod ring;
mod world;

pub(crate) use world::{Setup, World};
