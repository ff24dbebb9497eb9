//! A toy family, complete and for tests only: it proves that a new family is its folder and one line in a table.
//!
//! The span of the keys is cut into stretches of a power of two, at most 64 of them; a bitmap says which hold a key. With
//! keys 3, 5 and 40 from 0 to 63, each stretch is one key wide, and the bits 0, 2 and 37 are set (3 is the smallest).
//!
//! A range is "maybe" if a stretch that it touches holds a key. Query: one mask. Size: nine bytes, whatever the keys.

mod builder;
mod codec;
mod predict;
mod query;
mod spec;
#[cfg(test)]
mod tests;

pub(crate) use query::Toy;
pub(crate) use spec::ToySpec;
