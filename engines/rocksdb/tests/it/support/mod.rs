//! Databases in memory, and rows as tests compare them.

mod database;
mod learning;
mod rows;

pub(crate) use database::{TestDb, compact_all, gap, key, options};
pub(crate) use learning::{BLIND, Learning};
pub(crate) use rows::{Row, collect, rows_of};
