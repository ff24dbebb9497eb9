//! The cache, before a real PostgreSQL.

mod history;
mod identities;
mod replies;
mod rights;
mod setting;
mod tap;
mod transactions;
