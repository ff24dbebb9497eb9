//! Filters of a few lines: correct ones, and ones with a single fault each.

pub(crate) mod integers;
pub(crate) mod quirk;
pub(crate) mod strings;
