//! What is Ribbon's own; the conformance suite proves the rest.
