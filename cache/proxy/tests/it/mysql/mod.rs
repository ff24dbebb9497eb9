//! The proxy before a real MariaDB: relay and suggestions.

mod clients;
mod faults;
mod limits;
mod raw;
mod stops;
mod streams;
mod suggestions;
mod transcripts;
mod world;
