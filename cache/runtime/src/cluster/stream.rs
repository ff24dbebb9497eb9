//! Frames over sockets.

use std::time::Duration;

use lacuna_cache_protocol::{Error, Result};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;

use crate::cluster::frame::{Frames, write_frame};
use crate::cluster::message::Message;
use crate::cluster::secret::Seal;

/// How long the other side may accept no bytes at all.
const STALL: Duration = Duration::from_secs(10);
/// Bytes that are written at once.
const BATCH: usize = 64 << 10;

fn broken_connection(error: &std::io::Error) -> Error {
    Error::unavailable(error.to_string())
}

/// 32 unpredictable bytes.
pub(crate) fn random() -> Result<[u8; 32]> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| Error::unavailable(error.to_string()))?;
    Ok(bytes)
}

/// Writes one frame.
pub(crate) async fn write_all(
    to: &mut (impl AsyncWrite + Unpin),
    kind: u8,
    body: &[u8],
    seal: Option<&mut Seal>,
) -> Result<()> {
    let frame = write_frame(kind, body, seal)?;
    to.write_all(&frame).await.map_err(|error| broken_connection(&error))
}

/// The incoming frames.
#[derive(Debug)]
pub(crate) struct Incoming<R> {
    from: R,
    frames: Frames,
    buffer: Vec<u8>,
}

impl<R: AsyncRead + Unpin> Incoming<R> {
    pub(crate) fn new(from: R) -> Self {
        Self { from, frames: Frames::default(), buffer: vec![0; 16 << 10] }
    }

    /// From now on frames are tagged.
    pub(crate) fn seal(&mut self, seal: Seal) {
        self.frames.seal = Some(seal);
    }

    /// The next frame is tagged, unless it is a goodbye of a peer that does not know the secret.
    pub(crate) fn seal_if_tagged(&mut self, seal: Seal) {
        self.frames.seal = Some(seal);
        self.frames.may_be_goodbye = true;
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
            let end = if self.frames.is_empty() { "was closed" } else { "ended in the middle of a frame" };
            return Err(Error::unavailable(format!("the connection {end}")));
        }
        self.frames.push(&self.buffer[..len]);
        Ok(())
    }
}

/// The outgoing messages.
#[derive(Debug)]
pub(crate) struct Outgoing<W> {
    to: W,
    seal: Seal,
}

impl<W: AsyncWrite + Unpin> Outgoing<W> {
    pub(crate) const fn new(to: W, seal: Seal) -> Self {
        Self { to, seal }
    }

    /// Writes messages until there are no more senders, or the other side accepts no bytes.
    pub(crate) async fn run(mut self, mut from: mpsc::Receiver<Message>) {
        while let Some(first) = from.recv().await {
            let mut batch = Vec::new();
            let mut next = Some(first);
            while let Some(message) = next {
                // A message that is too long was refused before; later tickets are answered nevertheless.
                let (kind, body) = message.to_frame();
                batch.extend(write_frame(kind, &body, Some(&mut self.seal)).unwrap_or_default());
                next = if batch.len() < BATCH { from.try_recv().ok() } else { None };
            }
            if !matches!(tokio::time::timeout(STALL, self.to.write_all(&batch)).await, Ok(Ok(()))) {
                return;
            }
        }
        drop(self.to.shutdown().await);
    }
}
