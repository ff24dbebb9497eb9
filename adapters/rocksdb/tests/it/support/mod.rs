//! Databases in memory, and rows as tests compare them.

mod database;
mod rows;

pub(crate) use database::{TestDb, compact_all, gap, key, options};
pub(crate) use rows::{Row, collect, rows_of};
