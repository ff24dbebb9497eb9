//! The cache, before a real PostgreSQL.

mod replies;
mod setting;
