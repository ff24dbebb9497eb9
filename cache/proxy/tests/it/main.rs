//! The proxy before a real PostgreSQL, and a real MariaDB: programs and clients of raw bytes, direct and through it.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]

mod cache;
mod cancels;
mod encrypted;
mod faults;
mod hosts;
mod limits;
mod logins;
mod measure;
mod mysql;
mod programs;
mod raw;
mod sockets;
mod stops;
mod streams;
mod suggestions;
mod transcripts;
mod world;
