//! The bars of the project: each a ratio of two things measured in one run, or a rate with a statistical margin, so that
//! it means the same on every machine.
//!
//! Groups of bars over filters are in [`groups`]; a new group is a module there and a line in its list. Those of the range
//! cache, which start servers, are in [`cache`].

pub(crate) mod bar;
#[cfg(feature = "cache")]
pub(crate) mod cache;
pub(crate) mod groups;
pub(crate) mod page;
pub(crate) mod setting;
