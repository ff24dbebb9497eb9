//! Frames: the units of a stream of bytes. See [`docs/format/dendrite-protocol.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/dendrite-protocol.md).

use lacuna_base::wire::Reader;
use lacuna_cache_protocol::{Error, Result};

/// Longest frame before the handshake is over.
pub(crate) const LONGEST_OPEN: usize = 1_024;
/// Longest frame afterwards.
pub(crate) const LONGEST: usize = 16 << 20;
/// Length, which does not count itself.
const LENGTH_BYTES: usize = 4;
/// Kind and checksum.
const SHORTEST: usize = 5;
/// Bytes of frames that were read before the others are moved to their place, and room that a connection keeps for more.
const KEPT_BYTES: usize = 1 << 16;

/// Reads the body of a frame.
pub(crate) const fn reader(body: &[u8]) -> Reader<'_> {
    Reader::new(body, "a frame of a dendrite")
}

pub(crate) fn malformed(what: &str) -> Error {
    reader(&[]).malformed(what).into()
}

/// A frame of this kind and body.
///
/// # Errors
/// `InvalidInput` if it would be longer than `max`, which counts kind, body and checksum.
pub(crate) fn write_frame(kind: u8, body: &[u8], max: usize) -> Result<Vec<u8>> {
    let len = body.len() + SHORTEST;
    let Some(length) = u32::try_from(len).ok().filter(|_| len <= max) else {
        let message = format!(
            "a message of {len} bytes is longer than the {max} of a frame between dendrites: ask or write less at once"
        );
        return Err(Error::invalid_input(message));
    };
    let mut frame = Vec::with_capacity(LENGTH_BYTES + len);
    frame.extend_from_slice(&length.to_le_bytes());
    frame.push(kind);
    frame.extend_from_slice(body);
    frame.extend_from_slice(&crc32c::crc32c(&frame).to_le_bytes());
    Ok(frame)
}

/// Cuts a stream into frames.
#[derive(Debug)]
pub(crate) struct Frames {
    bytes: Vec<u8>,
    /// Offset of the next frame.
    start: usize,
    /// The longest that a frame may be.
    pub(crate) max: usize,
}

impl Default for Frames {
    fn default() -> Self {
        Self { bytes: Vec::new(), start: 0, max: LONGEST_OPEN }
    }
}

impl Frames {
    /// Appends received bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if self.is_empty() || self.start > KEPT_BYTES {
            self.forget_read();
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// A connection that was once sent a long frame does not keep its room.
    fn forget_read(&mut self) {
        self.bytes.drain(..self.start);
        self.bytes.shrink_to(KEPT_BYTES);
        self.start = 0;
    }

    /// Whether the stream may end here.
    pub(crate) fn is_empty(&self) -> bool {
        self.start == self.bytes.len()
    }

    /// Kind and body of the next frame, if it is complete. After an error the stream cannot be read further.
    ///
    /// # Errors
    /// `Corrupt` for a frame that is damaged or of an invalid length.
    pub(crate) fn next(&mut self) -> Result<Option<(u8, &[u8])>> {
        if self.is_empty() {
            self.forget_read();
        }
        let rest = &self.bytes[self.start..];
        let Some(length) = rest.first_chunk::<LENGTH_BYTES>() else { return Ok(None) };
        let len = u32::from_le_bytes(*length) as usize;
        if !(SHORTEST..=self.max).contains(&len) {
            return Err(malformed("length"));
        }
        let Some(frame) = rest.get(..LENGTH_BYTES + len) else { return Ok(None) };
        let (content, check) = frame.split_last_chunk::<4>().expect("a frame has at least 9 bytes");
        if u32::from_le_bytes(*check) != crc32c::crc32c(content) {
            return Err(malformed("checksum"));
        }
        self.start += frame.len();
        Ok(Some((content[LENGTH_BYTES], &content[LENGTH_BYTES + 1..])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back_however_the_stream_is_cut() {
        let stream: Vec<u8> = (0..20u8)
            .flat_map(|kind| write_frame(kind, &vec![kind; 100 * usize::from(kind)], LONGEST).unwrap())
            .collect();
        for step in [1, 7, 1_000, stream.len()] {
            let mut frames = Frames { max: LONGEST, ..Frames::default() };
            let mut seen = 0;
            for piece in stream.chunks(step) {
                frames.push(piece);
                while let Some((kind, body)) = frames.next().unwrap() {
                    assert_eq!((kind, body.len()), (seen, 100 * usize::from(seen)));
                    seen += 1;
                }
            }
            assert_eq!((seen, frames.is_empty()), (20, true));
        }
    }

    #[test]
    fn the_room_of_a_long_frame_is_given_back_once_it_is_read() {
        let long = write_frame(1, &vec![7; 4 << 20], LONGEST).unwrap();
        let short = write_frame(2, b"short", LONGEST).unwrap();
        for begun in [0, 3] {
            let mut frames = Frames { max: LONGEST, ..Frames::default() };
            frames.push(&long);
            frames.push(&short[..begun]);
            assert_eq!(frames.next().unwrap().map(|(kind, body)| (kind, body.len())), Some((1, 4 << 20)));
            assert_eq!(frames.next().unwrap(), None);
            frames.push(&short[begun..]);
            assert!(frames.bytes.capacity() <= 2 * KEPT_BYTES, "{} bytes", frames.bytes.capacity());
            assert_eq!(frames.next().unwrap(), Some((2, &b"short"[..])));
        }
    }

    #[test]
    fn any_flipped_bit_of_a_frame_is_reported() {
        let frame = write_frame(16, b"a read", LONGEST).unwrap();
        for bit in 0..frame.len() * 8 {
            let mut damaged = frame.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let mut frames = Frames { max: LONGEST, ..Frames::default() };
            frames.push(&damaged);
            // A longer length waits for bytes that never come; every other change is reported.
            assert!(!matches!(frames.next(), Ok(Some(_))), "bit {bit}");
        }
    }

    #[test]
    fn lengths_that_no_frame_has_are_reported_at_once() {
        for (len, max) in [(0, LONGEST_OPEN), (4, LONGEST), (1_025, LONGEST_OPEN), (u32::MAX, LONGEST)] {
            let mut frames = Frames { max, ..Frames::default() };
            frames.push(&len.to_le_bytes());
            assert!(frames.next().is_err(), "{len}");
        }
        assert!(write_frame(1, &[0; 1_020], LONGEST_OPEN).is_err());
    }
}
