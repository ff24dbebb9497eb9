//! Frames: the units of a stream of bytes. See [`docs/format/dendrite-protocol.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/dendrite-protocol.md).

use lacuna_base::wire::Reader;
use lacuna_cache_protocol::{Error, Result};

use crate::cluster::message::MessageKind;
use crate::cluster::secret::{Seal, TAG_BYTES};

/// Longest frame before both sides have proved that they know the secret.
const LONGEST_UNPROVED: usize = 1_024;
/// Longest frame afterwards.
pub(crate) const LONGEST: usize = 16 << 20;
/// Length, which counts neither itself nor the tag.
const LENGTH_BYTES: usize = 4;
/// Kind of the frame that ends a connection.
pub(crate) const GOODBYE: u8 = MessageKind::Goodbye as u8;
/// Kind and checksum.
const SHORTEST: usize = 5;

/// Reads the body of a frame.
pub(crate) const fn reader(body: &[u8]) -> Reader<'_> {
    Reader::new(body, "a frame of a dendrite")
}

pub(crate) fn malformed(what: &str) -> Error {
    reader(&[]).malformed(what).into()
}

/// A frame of this kind and body, tagged if there is a seal.
///
/// # Errors
/// `InvalidInput` if it would be too long to be read.
pub(crate) fn write_frame(kind: u8, body: &[u8], seal: Option<&mut Seal>) -> Result<Vec<u8>> {
    let len = body.len() + SHORTEST;
    let max = if seal.is_some() { LONGEST } else { LONGEST_UNPROVED };
    let Some(length) = u32::try_from(len).ok().filter(|_| len <= max) else {
        let message = format!("a message of {len} bytes is longer than the {max} that a dendrite takes");
        return Err(Error::invalid_input(message));
    };
    let mut frame = Vec::with_capacity(LENGTH_BYTES + len + TAG_BYTES);
    frame.extend_from_slice(&length.to_le_bytes());
    frame.push(kind);
    frame.extend_from_slice(body);
    frame.extend_from_slice(&crc32c::crc32c(&frame).to_le_bytes());
    if let Some(seal) = seal {
        let tag = seal.tag(&frame);
        frame.extend_from_slice(&tag);
    }
    Ok(frame)
}

/// Cuts a stream into frames.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    bytes: Vec<u8>,
    /// Offset of the next frame.
    start: usize,
    pub(crate) seal: Option<Seal>,
    /// Whether the next frame may be an untagged goodbye: the other side does not know the secret.
    pub(crate) may_be_goodbye: bool,
}

impl Frames {
    /// Appends received bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if self.start == self.bytes.len() {
            self.bytes.clear();
            self.start = 0;
        } else if self.start > 1 << 16 {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// Whether the stream may end here.
    pub(crate) fn is_empty(&self) -> bool {
        self.start == self.bytes.len()
    }

    /// Kind and body of the next frame, if it is complete. After an error the stream cannot be read further.
    ///
    /// # Errors
    /// `Corrupt` for a frame that is damaged, of an invalid length, or not tagged by a peer that knows the secret.
    pub(crate) fn next(&mut self) -> Result<Option<(u8, &[u8])>> {
        let rest = &self.bytes[self.start..];
        let Some(length) = rest.first_chunk::<LENGTH_BYTES>() else { return Ok(None) };
        let len = u32::from_le_bytes(*length) as usize;
        if self.may_be_goodbye && rest.len() == LENGTH_BYTES {
            return Ok(None);
        }
        let is_goodbye = self.may_be_goodbye && rest.get(LENGTH_BYTES) == Some(&GOODBYE);
        let is_tagged = self.seal.is_some() && !is_goodbye;
        let (max, tag) = if is_tagged { (LONGEST, TAG_BYTES) } else { (LONGEST_UNPROVED, 0) };
        if !(SHORTEST..=max).contains(&len) {
            return Err(malformed("length"));
        }
        let Some(whole) = rest.get(..LENGTH_BYTES + len + tag) else { return Ok(None) };
        let (frame, tag) = whole.split_at(LENGTH_BYTES + len);
        let (content, check) = frame.split_last_chunk::<4>().expect("a frame has at least 9 bytes");
        if u32::from_le_bytes(*check) != crc32c::crc32c(content) {
            return Err(malformed("checksum"));
        }
        if let Some(seal) = self.seal.as_mut().filter(|_| is_tagged)
            && !seal.is_tag(frame, tag)
        {
            return Err(Error::corrupt(
                "a frame was not sent by a peer that knows the secret, or was changed on the way",
            ));
        }
        self.start += whole.len();
        self.may_be_goodbye = false;
        Ok(Some((content[LENGTH_BYTES], &content[LENGTH_BYTES + 1..])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::secret::{Secret, Side};

    fn seal() -> Seal {
        Secret::new(b"a secret of tests").unwrap().seal(Side::Caller, b"words")
    }

    #[test]
    fn frames_come_back_however_the_stream_is_cut() {
        let mut sealing = seal();
        let stream: Vec<u8> = (0..20u8)
            .flat_map(|kind| {
                write_frame(kind, &vec![kind; 100 * usize::from(kind)], Some(&mut sealing)).unwrap()
            })
            .collect();
        for step in [1, 7, 1_000, stream.len()] {
            let mut frames = Frames { seal: Some(seal()), ..Frames::default() };
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
    fn any_flipped_bit_of_a_tagged_frame_is_reported() {
        let frame = write_frame(16, b"a read", Some(&mut seal())).unwrap();
        for bit in 0..frame.len() * 8 {
            let mut damaged = frame.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let mut frames = Frames { seal: Some(seal()), ..Frames::default() };
            frames.push(&damaged);
            // A longer length waits for bytes that never come; every other change is reported.
            assert!(!matches!(frames.next(), Ok(Some(_))), "bit {bit}");
        }
    }

    #[test]
    fn a_repeated_frame_is_reported() {
        let frame = write_frame(16, b"a write", Some(&mut seal())).unwrap();
        let mut frames = Frames { seal: Some(seal()), ..Frames::default() };
        frames.push(&frame);
        frames.push(&frame);
        assert!(frames.next().unwrap().is_some());
        assert!(frames.next().is_err(), "it was sent once");
    }

    #[test]
    fn lengths_that_no_frame_has_are_reported_at_once() {
        for (len, proved) in [(0, false), (4, true), (1_025, false), (u32::MAX, true)] {
            let mut frames = Frames { seal: proved.then(seal), ..Frames::default() };
            frames.push(&len.to_le_bytes());
            assert!(frames.next().is_err(), "{len}");
        }
        assert!(write_frame(1, &[0; 1_020], None).is_err());
    }
}
