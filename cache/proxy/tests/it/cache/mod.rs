//! The cache, before a real PostgreSQL.

mod asked;
mod auto;
mod guards;
mod history;
mod hosts;
mod identities;
pub(crate) mod log;
mod lookups;
mod moments;
mod numbers;
mod owed;
mod prepared;
mod replies;
mod rights;
pub(crate) mod setting;
mod shadow;
mod takeover;
mod tap;
mod texts;
mod transactions;
mod unregistered;
