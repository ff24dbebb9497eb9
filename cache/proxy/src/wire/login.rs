//! Messages of logins, which come one by one.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt as _};

/// Longest message of a login.
const MAX_MESSAGE: usize = 64 << 10;

/// What a message `R` of the server asks for, or says.
pub(crate) const OK: i32 = 0;
pub(crate) const CLEAR_PASSWORD: i32 = 3;
pub(crate) const MD5_PASSWORD: i32 = 5;
pub(crate) const SASL: i32 = 10;
pub(crate) const SASL_CONTINUE: i32 = 11;
pub(crate) const SASL_FINAL: i32 = 12;

/// The length that a header gives, if a message of a login may have it.
pub(crate) fn checked_len(length: i32) -> Option<usize> {
    usize::try_from(length).ok().filter(|len| (4..=MAX_MESSAGE).contains(len))
}

/// Type and body of the next message, and not a byte more.
///
/// # Errors
/// `InvalidData` if it has a length that no message of a login has.
pub(crate) async fn read(from: &mut (impl AsyncRead + Unpin)) -> io::Result<(u8, Vec<u8>)> {
    let tag = from.read_u8().await?;
    let len = checked_len(from.read_i32().await?);
    let len = len.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "it is no message of a login"))?;
    let mut body = vec![0; len - 4];
    from.read_exact(&mut body).await?;
    Ok((tag, body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_message_is_read_and_what_follows_stays() {
        let mut bytes = &b"R\0\0\0\x08\0\0\0\x00Z"[..];
        assert_eq!(read(&mut bytes).await.unwrap(), (b'R', vec![0; 4]));
        assert_eq!(bytes, b"Z");
        for length in [3, -1, 65_537] {
            let header = [&b"R"[..], &i32::to_be_bytes(length)].concat();
            let why = read(&mut &header[..]).await.unwrap_err();
            assert_eq!(why.kind(), io::ErrorKind::InvalidData, "{length}");
        }
    }
}
