//! Rules, bytes, and the whole exchange under faults, from one seed.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]

mod burials;
mod confirmations;
mod controls;
mod eventual;
mod example;
mod golden;
mod hostile;
mod ingest;
mod leases;
mod memory;
mod pair;
mod rows;
mod rules;
mod safe;
mod saved;
mod sim;
mod sizes;
mod wanted;
mod water_marks;
