//! Real clusters of etcd, which lose members, and processes that own ranges through them.

mod claims;
mod interleavings;
mod loads;
mod members;
mod secure;
mod street;
mod together;
mod warmth;
