//! What an adapter may rely on, over every family and codec.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]

#[global_allocator]
static ALLOCATOR: lacuna_testkit::CountingAllocator = lacuna_testkit::CountingAllocator;

mod building;
mod composites;
mod gaps;
mod opening;
mod seek_planner;
mod support;
