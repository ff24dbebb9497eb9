//! Seeks over many files: against a model, and rule by rule.

mod model;
mod rules;
