//! Real clusters of etcd, which lose members, and processes that own ranges through them.

mod claims;
mod interleavings;
mod loads;
mod local_transport;
mod members;
mod secure;
mod together;
mod warmth;
