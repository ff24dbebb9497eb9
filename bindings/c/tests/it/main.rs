//! The C interface, called as C would.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]
#![allow(unsafe_code, reason = "the border to C")]

mod building;
mod filters;
mod header;
mod secrets;
mod tables;
