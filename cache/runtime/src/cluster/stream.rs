//! Frames over sockets.

use std::time::Duration;

use lacuna_cache_protocol::{Error, Result};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;

use crate::cluster::frame::{Frames, LONGEST, LONGEST_OPEN, malformed, write_frame};
use crate::cluster::message::Message;
use crate::cluster::noise::{Opener, Sealer};

/// How long the other side may accept no bytes at all, whatever there is to write.
const STALL: Duration = Duration::from_secs(10);
/// Bytes that are written at once.
const BATCH: usize = 64 << 10;

fn broken_connection(error: &std::io::Error) -> Error {
    Error::unavailable(error.to_string())
}

/// Writes one frame of the handshake, which is not encrypted.
pub(crate) async fn write_open(to: &mut (impl AsyncWrite + Unpin), kind: u8, body: &[u8]) -> Result<()> {
    write_bytes(to, &write_frame(kind, body, LONGEST_OPEN)?).await
}

/// Writes one encrypted frame.
pub(crate) async fn write_sealed(
    to: &mut (impl AsyncWrite + Unpin),
    kind: u8,
    body: &[u8],
    sealer: &mut Sealer,
) -> Result<()> {
    write_bytes(to, &sealer.seal(&write_frame(kind, body, LONGEST)?)?).await
}

async fn write_bytes(to: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> Result<()> {
    to.write_all(bytes).await.map_err(|error| broken_connection(&error))
}

/// The incoming frames.
#[derive(Debug)]
pub(crate) struct Incoming<R> {
    from: R,
    /// Once the handshake has keys.
    opener: Option<Opener>,
    frames: Frames,
    buffer: Vec<u8>,
}

impl<R: AsyncRead + Unpin> Incoming<R> {
    pub(crate) fn new(from: R) -> Self {
        Self { from, opener: None, frames: Frames::default(), buffer: vec![0; 16 << 10] }
    }

    /// From now on frames are encrypted, and as long as requests may be.
    ///
    /// # Errors
    /// `Corrupt` if the peer has already sent something that is not.
    pub(crate) fn decrypt(&mut self, opener: Opener) -> Result<()> {
        if !self.frames.is_empty() {
            return Err(malformed("order"));
        }
        (self.opener, self.frames.max) = (Some(opener), LONGEST);
        Ok(())
    }

    /// The next frame.
    ///
    /// # Errors
    /// `Unavailable` if the connection ends, `Corrupt` if a frame is damaged.
    pub(crate) async fn frame(&mut self) -> Result<(u8, Vec<u8>)> {
        loop {
            if let Some((kind, body)) = self.frames.next()? {
                return Ok((kind, body.to_vec()));
            }
            self.more().await?;
        }
    }

    /// The next message.
    ///
    /// # Errors
    /// As [`Incoming::frame`], and `Corrupt` or `Unsupported` if the frame does not hold a message.
    pub(crate) async fn message(&mut self) -> Result<Message> {
        loop {
            if let Some((kind, body)) = self.frames.next()? {
                return Message::read(kind, body);
            }
            self.more().await?;
        }
    }

    async fn more(&mut self) -> Result<()> {
        let len = self.from.read(&mut self.buffer).await.map_err(|error| broken_connection(&error))?;
        if len == 0 {
            let is_between = self.opener.as_ref().is_none_or(Opener::is_empty) && self.frames.is_empty();
            let end = if is_between { "was closed" } else { "ended in the middle of a frame" };
            return Err(Error::unavailable(format!("the connection {end}")));
        }
        match &mut self.opener {
            Some(opener) => self.frames.push(&opener.open(&self.buffer[..len])?),
            None => self.frames.push(&self.buffer[..len]),
        }
        Ok(())
    }
}

/// The outgoing frames.
#[derive(Debug)]
pub(crate) struct Outgoing<W> {
    to: W,
    sealer: Sealer,
}

impl<W: AsyncWrite + Unpin> Outgoing<W> {
    pub(crate) const fn new(to: W, sealer: Sealer) -> Self {
        Self { to, sealer }
    }

    /// Writes frames until there are no more senders, or the other side accepts no bytes.
    pub(crate) async fn run(mut self, mut from: mpsc::Receiver<Vec<u8>>) {
        while let Some(mut batch) = from.recv().await {
            while batch.len() < BATCH
                && let Ok(frame) = from.try_recv()
            {
                batch.extend(frame);
            }
            let Ok(batch) = self.sealer.seal(&batch) else { return };
            if !write_while_accepted(&mut self.to, &batch, STALL).await {
                return;
            }
        }
        drop(self.to.shutdown().await);
    }
}

/// Writes bytes for as long as the other side accepts some of them within `stall`, however long all take; returns whether it has
/// accepted all.
async fn write_while_accepted(to: &mut (impl AsyncWrite + Unpin), bytes: &[u8], stall: Duration) -> bool {
    let mut rest = bytes;
    while !rest.is_empty() {
        match tokio::time::timeout(stall, to.write(rest)).await {
            Ok(Ok(len @ 1..)) => rest = &rest[len..],
            _ => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEN: usize = 100 << 10;

    #[tokio::test]
    async fn a_slow_side_is_written_to_as_long_as_it_accepts_something() {
        let (mut here, mut there) = tokio::io::duplex(1_024);
        let reading = tokio::spawn(async move {
            let (mut buffer, mut read) = ([0; 1_024], 0);
            while read < LEN {
                tokio::time::sleep(Duration::from_millis(20)).await;
                read += there.read(&mut buffer).await.unwrap();
            }
            there
        });
        let begun = tokio::time::Instant::now();
        assert!(write_while_accepted(&mut here, &[7; LEN], Duration::from_secs(1)).await);
        assert!(begun.elapsed() > Duration::from_millis(1_500), "it took longer than one write may");
        let _there = reading.await.unwrap();
        assert!(!write_while_accepted(&mut here, &[7; LEN], Duration::from_millis(50)).await);
    }
}
