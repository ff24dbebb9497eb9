//! What a client sends first: a length and a number, without a type.

use super::Fields;

/// Longest packet, as PostgreSQL has it (`MAX_STARTUP_PACKET_LENGTH`).
const MAX_LEN: usize = 10_000;
/// Bytes of the length and the number.
const MIN_LEN: usize = 8;

const CANCEL: i32 = 80_877_102;
const SSL: i32 = 80_877_103;
const GSS: i32 = 80_877_104;

/// Version 3.0, which every server speaks.
pub(crate) const VERSION_3_0: i32 = 3 << 16;

/// The first byte of TLS without a request before it (`sslnegotiation=direct` of PostgreSQL 17).
pub(crate) const TLS_HANDSHAKE: u8 = 0x16;

/// What a packet asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Request {
    /// A session.
    Startup,
    /// TLS.
    Tls,
    /// Encryption by GSSAPI.
    Gss,
    /// That a statement of another connection ends. The key is 4 bytes in version 3.0, and up to 256 in 3.2.
    Cancel,
}

/// The length of the packet that `bytes` begin with, once it has come; `Some(None)` if no packet is that long.
pub(crate) fn packet_len(bytes: &[u8]) -> Option<Option<usize>> {
    let length = Fields::new(bytes).int32()?;
    Some(usize::try_from(length).ok().filter(|len| (MIN_LEN..=MAX_LEN).contains(len)))
}

/// What `packet` asks for, which is a whole one.
pub(crate) fn request(packet: &[u8]) -> Option<Request> {
    let mut fields = Fields::new(packet);
    fields.int32()?;
    Some(match fields.int32()? {
        SSL => Request::Tls,
        GSS => Request::Gss,
        CANCEL => Request::Cancel,
        // Versions that are not known, too: the server says which it speaks.
        _ => Request::Startup,
    })
}

/// The role that a packet of a session names. The last one counts, as for the server.
pub(crate) fn role(packet: &[u8]) -> Option<&[u8]> {
    let mut fields = Fields::new(packet.get(MIN_LEN..)?);
    let mut role = None;
    while let Some(name) = fields.text().filter(|name| !name.is_empty()) {
        let value = fields.text()?;
        if name == b"user" {
            role = Some(value);
        }
    }
    role
}

/// The packet that asks a server for TLS.
pub(crate) fn tls_request() -> [u8; MIN_LEN] {
    let [a, b, c, d] = SSL.to_be_bytes();
    [0, 0, 0, 8, a, b, c, d]
}
