//! The whole protocol under faults, from one seed.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]

mod clean;
mod controls;
mod deletions;
mod explore;
mod guests;
mod log_golden;
mod one_owner;
mod reads_over_ranges;
mod replaced;
mod scripts;
mod several;
mod sim;
mod trouble;
mod waiting;
mod warm;
