//! Real databases, with and without trouble.

mod beyond;
mod buffered;
mod certainty;
mod clients;
mod conditions;
mod edges;
mod every_type;
mod hidden_changes;
mod key_forms;
mod keys;
mod migrations;
mod nemesis;
mod other_schemas;
mod plain;
mod policies;
mod prefetch;
mod redis;
mod rights;
mod schemas;
mod secure;
mod servers;
mod shared;
mod shared_rows;
mod strangers;
mod types;
mod values;
pub(crate) mod world;
