//! MariaDB and MySQL: their protocol, relayed and followed, and what their statements say about columns.
//!
//! | module | what it is |
//! | --- | --- |
//! | `wire` | the bytes of the protocol: packets in a stream, abilities, answers, errors |
//! | `hello` | the server's greeting and the client's first packet |
//! | `follow` | what goes on in a session, without a change to its bytes |
//! | `grammar` | the words of a statement by MySQL's rules |
//! | `session` | a client from its first packet to its last |
//!
//! There is no cache of these databases yet.

pub(crate) mod follow;
pub(crate) mod grammar;
mod hello;
pub(crate) mod session;
mod wire;
