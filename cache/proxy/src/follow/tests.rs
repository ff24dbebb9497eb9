//! Sessions as bytes of both sides.
