//! A filter asked where its bytes lie.
//!
//! RocksDB lends the bytes of a property for one callback, while filters are views over bytes that live for ever. The
//! view here is made, asked and dropped before the loan ends, and never leaves this page.

#![allow(unsafe_code, reason = "a view over borrowed bytes that a filter can own")]

use std::ops::Bound;
use std::slice;

use lacuna_core::{Cover, DynFilter, Envelope, Error, KeyCodec, Result};
use lacuna_filters::OpenFilter;
use lacuna_guard::GuardCodec;

/// A filter over lent bytes, and the codec its keys went through.
pub(crate) struct InPlace<'a> {
    space: Space<'a>,
}

enum Space<'a> {
    Integers(Box<DynFilter<u64>>, &'a dyn KeyCodec<u64>),
    Strings(Box<DynFilter<[u8]>>, &'a dyn KeyCodec<[u8]>),
}

impl<'a> InPlace<'a> {
    /// Opens `sealed` in O(1) and without a copy.
    ///
    /// # Errors
    /// `Unsupported` for bytes newer than this code or of another codec, `Corrupt` for bytes that do not hold together.
    pub(crate) fn open(sealed: &'a [u8], codec: &'a GuardCodec) -> Result<Self> {
        let (envelope, _) = Envelope::open(sealed)?;
        if envelope.key_space != codec.key_space() || envelope.codec != codec.id() {
            return Err(Error::unsupported(
                "the filter's keys went through another codec; reading the table",
            ));
        }
        // SAFETY: the bytes are valid for `'a`, and the filter made of them is owned by a private field of a value
        // that cannot outlive `'a`; a filter hands out nothing that borrows from its bytes.
        let lent: &'static [u8] = unsafe { slice::from_raw_parts(sealed.as_ptr(), sealed.len()) };
        let space = match codec {
            GuardCodec::Integers { codec, .. } => Space::Integers(u64::open_kind(envelope, lent)?, &**codec),
            GuardCodec::Strings { codec } => Space::Strings(<[u8]>::open_kind(envelope, lent)?, &**codec),
            _ => return Err(Error::unsupported("a codec of a key space that this code does not know")),
        };
        Ok(Self { space })
    }

    /// Whether a key can lie between the bounds; `false` proves that none does.
    pub(crate) fn may_contain_bounds(&self, lo: Bound<&[u8]>, hi: Bound<&[u8]>) -> bool {
        match &self.space {
            Space::Integers(filter, codec) => match codec.cover(lo, hi) {
                Cover::Empty => false,
                Cover::Range(range) => filter.may_contain_range(range),
                Cover::Unknown => true,
            },
            Space::Strings(filter, codec) => match codec.cover(lo, hi) {
                Cover::Empty => false,
                Cover::Range(range) => filter.may_contain_range(range),
                Cover::Unknown => true,
            },
        }
    }
}
