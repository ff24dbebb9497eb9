//! Owners, clusters and clients over real databases and servers, with and without trouble, and over simulated ones.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]

mod authority;
mod cluster;
mod etcd;
mod mongodb;
mod redis;
#[allow(dead_code, reason = "the simulation of the protocol uses more of them")]
mod sim;
mod simulation;
mod sql;
