//! The bytes of the protocol of MySQL and MariaDB.
//!
//! A stream is made of packets: three bytes of a length, the first one the lowest, a number, and what they hold. What is longer than
//! 16 MiB less two bytes goes on in the next packet: [`Framer`] joins such packets to one message. The numbers begin with 0 at each
//! command, and both sides count on. Bytes are never decoded and written anew, but for abilities in the first packets.

mod answer;
mod capabilities;
mod error;
mod fields;
mod framer;
mod packet;

#[cfg(test)]
mod tests;

pub(crate) use answer::{
    ERROR, FILE_REQUEST, OK, Prepared, Status, affected_rows, end_status, eof_status, is_end, is_error,
    is_progress, ok_status, prepared,
};
pub(crate) use capabilities::Capabilities;
pub(crate) use error::{Complaint, error_packet};
pub(crate) use fields::Fields;
pub(crate) use framer::{BadLength, Framer, Message};
#[cfg(test)]
pub(crate) use packet::packet;
pub(crate) use packet::read_packet;

/// Bytes of a header: the length and the number.
pub(crate) const HEADER: usize = 4;
/// The length of a packet that goes on in the next one.
const FULL: usize = 0xff_ffff;
