//! The facts, grouped; each public function is one line of the checklist and one test of a family.

pub mod allocation;
pub mod answers;
pub mod budget;
pub mod damage;
pub mod edges;
pub mod peers;
pub(crate) mod probe;
pub mod proof;
pub mod rate;
pub mod reproducible;
pub mod round_trip;

/// Budgets that the checks on answers cycle through, in bits per key: small, so that rare paths are walked.
pub(crate) const SMALL_BUDGETS: [f64; 4] = [2.0, 4.0, 6.5, 10.0];
