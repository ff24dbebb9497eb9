//! Gaps learned from raw entries: what must never be learned, whose gaps are whose, and what they save.

mod learner;
mod savings;
mod tables;
mod truth;
