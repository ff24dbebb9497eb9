//! A real server against the model that the simulation breaks.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]

mod logs;
mod scripts;
mod warm;
