//! What stands around every family's body: the envelope, and for byte strings the prefix all keys share.
//!
//! A payload over integers is the body alone. Over byte strings the body comes first, so that its cache lines stay
//! aligned, then the common prefix, then its length in two bytes. Smallest and largest key are in the envelope; sets
//! of at most two integers are therefore told exactly without a body, and families never see a query outside
//! `smallest < lo <= hi < largest`.

use lacuna_core::{Envelope, Error, KeySpaceId, Result, SortedKeys, U64Range, Window};

/// Bytes behind the prefix that hold its length.
const LENGTH_BYTES: usize = 2;
/// Longest prefix stored. Keys that share more are told apart by the window behind these bytes, which is still correct.
const LONGEST_PREFIX: usize = 256;

/// An opened envelope with the bytes it came from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame<B> {
    envelope: Envelope,
    bytes: B,
    body_end: usize,
    prefix_end: usize,
}

/// What the smallest and largest key alone say about a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clipped {
    /// They settle it.
    Settled(bool),
    /// Ask the body about this range, which lies strictly between them.
    Inside(U64Range),
}

impl<B: AsRef<[u8]>> Frame<B> {
    /// A frame over integers: the payload is the body.
    pub(crate) fn whole(envelope: Envelope, bytes: B) -> Result<Self> {
        check_key_space(&envelope, KeySpaceId::U64)?;
        let end = bytes.as_ref().len();
        Ok(Self { envelope, bytes, body_end: end, prefix_end: end })
    }

    /// A frame over byte strings: body, prefix, length of the prefix.
    pub(crate) fn with_prefix(envelope: Envelope, bytes: B) -> Result<Self> {
        check_key_space(&envelope, KeySpaceId::Bytes)?;
        let all = bytes.as_ref();
        let cut = || Error::corrupt("the payload is too short for the prefix it promises");
        let (rest, length) = all.split_last_chunk::<LENGTH_BYTES>().ok_or_else(cut)?;
        let prefix_bytes = usize::from(u16::from_le_bytes(*length));
        let body_end = rest.len().checked_sub(prefix_bytes).ok_or_else(cut)?;
        if body_end < lacuna_core::ENVELOPE_BYTES {
            return Err(cut());
        }
        Ok(Self { envelope, prefix_end: rest.len(), body_end, bytes })
    }

    /// The envelope.
    pub(crate) fn envelope(&self) -> &Envelope {
        &self.envelope
    }

    /// The family's bytes.
    #[inline]
    pub(crate) fn body(&self) -> &[u8] {
        self.bytes.as_ref().get(lacuna_core::ENVELOPE_BYTES..self.body_end).unwrap_or_default()
    }

    /// The common prefix, as far as it is stored.
    #[inline]
    pub(crate) fn prefix(&self) -> &[u8] {
        self.bytes.as_ref().get(self.body_end..self.prefix_end).unwrap_or_default()
    }

    /// The window behind the common prefix.
    #[inline]
    pub(crate) fn window(&self) -> Window<'_> {
        Window::new(self.prefix())
    }

    /// Length of the sealed bytes.
    pub(crate) fn sealed_bytes(&self) -> usize {
        self.bytes.as_ref().len()
    }

    /// What the smallest and largest key say about `range`.
    #[inline(always)]
    pub(crate) fn clip(&self, range: U64Range) -> Clipped {
        let Envelope { key_count, smallest, largest, .. } = self.envelope;
        if key_count == 0 || range.lo() > largest || range.hi() < smallest {
            return Clipped::Settled(false);
        }
        if range.lo() <= smallest || range.hi() >= largest {
            return Clipped::Settled(true);
        }
        Clipped::Inside(range)
    }
}

fn check_key_space(envelope: &Envelope, expected: KeySpaceId) -> Result<()> {
    if envelope.key_space == expected {
        Ok(())
    } else {
        Err(Error::unsupported(format!(
            "the filter's keys are {}, but it was opened for {}",
            key_space_name(envelope.key_space),
            key_space_name(expected)
        )))
    }
}

fn key_space_name(key_space: KeySpaceId) -> &'static str {
    match key_space {
        KeySpaceId::U64 => "integers",
        KeySpaceId::Bytes => "byte strings",
    }
}

/// The part of the keys' common prefix worth storing within a payload of `payload_bytes`.
pub(crate) fn stored_prefix(keys: SortedKeys<'_, [u8]>, payload_bytes: usize) -> &[u8] {
    let (Some(first), Some(last)) = (keys.first(), keys.last()) else { return &[] };
    let shared = Window::common_prefix_len(first, last);
    // A single key shares all of itself; leaving its last bytes to the window keeps it apart from its neighbours.
    let useful = if keys.len() == 1 { shared.saturating_sub(8) } else { shared };
    &first[..useful.min(LONGEST_PREFIX).min(payload_bytes / 4)]
}

/// Bytes of the section behind the body.
pub(crate) fn prefix_section_bytes(prefix: &[u8]) -> usize {
    prefix.len() + LENGTH_BYTES
}

/// Appends the section behind the body.
pub(crate) fn push_prefix_section(payload: &mut Vec<u8>, prefix: &[u8]) {
    let length = u16::try_from(prefix.len()).expect("a prefix has at most LONGEST_PREFIX bytes");
    payload.extend_from_slice(prefix);
    payload.extend_from_slice(&length.to_le_bytes());
}
