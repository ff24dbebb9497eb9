//! What is Rosetta's own; the conformance suite proves the rest.

mod answers;
mod designs;
mod support;
