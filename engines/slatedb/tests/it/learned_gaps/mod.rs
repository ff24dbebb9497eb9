//! Gaps that are learned from SSTs: what they save, whose they are, and that they never hide or bring back a row.

mod files;
mod savings;
mod truth;
