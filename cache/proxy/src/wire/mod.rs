//! The bytes of PostgreSQL's protocol, versions 3.0 and 3.2.
//!
//! A connection begins with packets without a type ([`startup`]). From then on each message has a type byte, a length
//! and a body; [`Framer`] finds them in a stream that comes in pieces of any size, and keeps of a body only what is
//! asked for. Bytes are never decoded and written anew: what is relayed is what came.

pub(crate) mod bind;
mod error_response;
mod fields;
mod framer;
mod inbox;
pub(crate) mod login;
pub(crate) mod startup;

#[cfg(test)]
mod tests;

pub(crate) use error_response::{Severity, error_response, error_sentence, severity_and_code};
pub(crate) use fields::Fields;
pub(crate) use framer::{BadLength, Framer, Message};
pub(crate) use inbox::{Inbox, Next};

/// Bytes of a header: the type and the length, which counts itself.
const HEADER: usize = 5;

/// A message of this type.
pub(crate) fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).expect("messages of the proxy are short");
    [&[tag][..], &length.to_be_bytes(), body].concat()
}
