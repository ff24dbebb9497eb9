//! Real clusters of etcd, which lose members, and processes that own ranges through them.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]

mod claims;
mod interleavings;
mod loads;
mod members;
mod secure;
mod street;
mod together;
mod warmth;
