//! A packet alone, as both sides send them at first.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt as _};

use super::HEADER;

/// Reads one packet with its header, and not a byte more. Room is made for what comes, not for what a length says.
///
/// # Errors
/// Those of the connection, and `InvalidData` for a packet that is longer than `max` bytes.
pub(crate) async fn read_packet(from: &mut (impl AsyncRead + Unpin), max: usize) -> io::Result<Vec<u8>> {
    let mut header = [0; HEADER];
    from.read_exact(&mut header).await?;
    let [low, middle, high, _] = header;
    let len = u32::from_le_bytes([low, middle, high, 0]);
    let is_allowed = usize::try_from(len).is_ok_and(|len| len <= max);
    if !is_allowed {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("its packet of {len} bytes is too long"),
        ));
    }
    let mut packet = header.to_vec();
    let count = from.take(len.into()).read_to_end(&mut packet).await?;
    if u64::try_from(count).is_ok_and(|count| count == u64::from(len)) {
        Ok(packet)
    } else {
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}

/// A packet of this number.
#[cfg(test)]
pub(crate) fn packet(number: u8, body: &[u8]) -> Vec<u8> {
    let [low, middle, high, ..] = u32::try_from(body.len()).unwrap().to_le_bytes();
    [&[low, middle, high, number][..], body].concat()
}
