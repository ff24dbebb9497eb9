//! Real databases, with and without trouble.

mod beyond;
mod buffered;
mod certainty;
mod clients;
mod conditions;
mod edges;
mod nemesis;
mod policies;
mod prefetch;
mod redis;
mod rights;
mod schemas;
mod servers;
mod shared;
mod shared_rows;
mod strangers;
mod types;
mod values;
mod world;
