//! What has come of a stream, message by message, for a reader that must know a message before it is passed on.
//!
//! A message of up to 64 kB is waited for; a longer one comes in parts, as it comes, so that no length makes a buffer.

use std::io;
use std::ops::Range;

use tokio::io::{AsyncRead, AsyncReadExt as _};

use super::HEADER;

/// Longest message that is waited for.
const MAX_WHOLE: usize = 64 << 10;
/// Room for one read.
const ROOM: usize = 8 << 10;

/// Bytes that have come.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    bytes: Vec<u8>,
    /// Where what was not taken begins.
    start: usize,
    /// The type of a long message, and how many of its bytes have not come.
    coming: Option<(u8, usize)>,
}

/// What is next in an [`Inbox`], as a place in its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Next {
    /// A message with its header.
    Whole(u8, Range<usize>),
    /// Bytes of a long message, its header among the first of them, and whether they end it.
    Part { tag: u8, place: Range<usize>, is_first: bool, is_last: bool },
    /// All that is there, which is no message.
    Broken(Range<usize>),
    /// Nothing, until more has come.
    Nothing,
}

impl Inbox {
    /// Reads what comes; `false` at the end of the stream.
    pub(crate) async fn read(&mut self, from: &mut (impl AsyncRead + Unpin)) -> io::Result<bool> {
        self.bytes.drain(..self.start);
        self.start = 0;
        self.bytes.reserve(ROOM);
        Ok(from.read_buf(&mut self.bytes).await? > 0)
    }

    /// Puts bytes that were read elsewhere after the others.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// What was not taken.
    pub(crate) fn rest(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    /// Whether the stream is at the beginning of a message.
    pub(crate) const fn is_between_messages(&self) -> bool {
        self.coming.is_none()
    }

    pub(crate) fn bytes(&self, place: &Range<usize>) -> &[u8] {
        &self.bytes[place.clone()]
    }

    /// Takes everything.
    pub(crate) fn take_all(&mut self) -> Range<usize> {
        self.take(self.bytes.len() - self.start)
    }

    /// Takes what is next. The place is good until the next [`Inbox::read`].
    pub(crate) fn next(&mut self) -> Next {
        let there = self.bytes.len() - self.start;
        if let Some((tag, missing)) = self.coming {
            return if there == 0 { Next::Nothing } else { self.part(tag, missing, false) };
        }
        let Some(&[tag, ref length @ ..]) = self.rest().first_chunk::<HEADER>() else { return Next::Nothing };
        let Some(len) = usize::try_from(i32::from_be_bytes(*length)).ok().filter(|len| *len >= HEADER - 1)
        else {
            return Next::Broken(self.take_all());
        };
        let len = len + 1;
        match there {
            _ if len > MAX_WHOLE => self.part(tag, len, true),
            _ if there < len => Next::Nothing,
            _ => Next::Whole(tag, self.take(len)),
        }
    }

    fn part(&mut self, tag: u8, missing: usize, is_first: bool) -> Next {
        let place = self.take(missing.min(self.bytes.len() - self.start));
        let is_last = place.len() == missing;
        self.coming = (!is_last).then(|| (tag, missing - place.len()));
        Next::Part { tag, place, is_first, is_last }
    }

    const fn take(&mut self, count: usize) -> Range<usize> {
        let start = self.start;
        self.start += count;
        start..self.start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(tag: u8, len: usize) -> Vec<u8> {
        [&[tag][..], &u32::try_from(len + 4).unwrap().to_be_bytes(), &vec![7; len]].concat()
    }

    /// The messages of a stream that comes in pieces of this size: type, bytes, and whether they came as a whole.
    fn read(stream: &[u8], size: usize) -> Vec<(u8, usize, bool)> {
        let mut inbox = Inbox::default();
        let mut found: Vec<(u8, usize, bool)> = Vec::new();
        for piece in stream.chunks(size) {
            inbox.push(piece);
            loop {
                match inbox.next() {
                    Next::Whole(tag, place) => found.push((tag, place.len(), true)),
                    Next::Part { tag, place, is_first: true, .. } => found.push((tag, place.len(), false)),
                    Next::Part { place, .. } => found.last_mut().unwrap().1 += place.len(),
                    Next::Broken(place) => found.push((b'!', place.len(), false)),
                    Next::Nothing => break,
                }
            }
        }
        found
    }

    #[test]
    fn any_pieces_give_the_same_messages() {
        let lens = [0, 10, 65_000, 70_000, 3];
        let stream: Vec<u8> = lens.iter().zip(b'a'..).flat_map(|(len, tag)| message(tag, *len)).collect();
        let expected: Vec<_> =
            lens.iter().zip(b'a'..).map(|(len, tag)| (tag, len + 5, *len != 70_000)).collect();
        for size in [1, 2, 5, 7, 8_192, 200_000] {
            assert_eq!(read(&stream, size), expected, "{size}");
        }
    }

    #[test]
    fn what_is_no_message_is_taken_as_it_is() {
        assert_eq!(read(b"Q\0\0\0\x03abc", 100), [(b'!', 8, false)]);
        assert_eq!(read(b"Q\xff\xff\xff\xff", 100), [(b'!', 5, false)]);
    }
}
