//! A filter asked where its bytes lie.
//!
//! RocksDB lends the bytes of a property for one callback, while filters are views over bytes that live for ever. The
//! view here is made, asked and dropped before the loan ends, never leaves this page, and takes no memory of the heap.

#![allow(unsafe_code, reason = "a view over borrowed bytes that a filter can own")]

use std::ops::Bound;
use std::slice;

use lacuna_base::{Cover, DynFilter, Error, KeyCodec, KeySpace, RangeFilter, Result};
use lacuna_families::{FilterVisitor, OpenFilter};
use lacuna_guard::GuardCodec;

use crate::property::Property;

/// A filter over lent bytes, and the codec its keys went through.
#[derive(Clone, Copy)]
pub(crate) enum InPlace<'a> {
    Integers(&'a DynFilter<u64>, &'a dyn KeyCodec<u64>),
    Strings(&'a DynFilter<[u8]>, &'a dyn KeyCodec<[u8]>),
}

/// Opens the filter of a property whose bytes were verified in O(1), without a copy or an allocation, and shows it to `ask`.
///
/// # Errors
/// `Unsupported` for bytes newer than this code or of another codec, `Corrupt` for bytes that do not hold together.
pub(crate) fn ask_in_place<T>(
    property: Property<'_>,
    codec: &GuardCodec,
    ask: impl FnOnce(InPlace<'_>) -> T,
) -> Result<T> {
    let (envelope, sealed) = (property.envelope(codec)?, property.sealed);
    // SAFETY: the bytes are valid until this function returns. The filter made of them is dropped within `visit_kind`;
    // `ask` sees it for a lifetime of no name, so that neither it nor anything borrowed from it can be kept.
    let lent: &'static [u8] = unsafe { slice::from_raw_parts(sealed.as_ptr(), sealed.len()) };
    match codec {
        GuardCodec::Integers { codec, .. } => {
            u64::visit_kind(envelope, lent, Asking { codec: &**codec, ask })
        }
        GuardCodec::Strings { codec } => <[u8]>::visit_kind(envelope, lent, Asking { codec: &**codec, ask }),
        _ => Err(Error::unsupported("a codec of a key space that this code does not know")),
    }
}

struct Asking<'c, C: ?Sized, A> {
    codec: &'c C,
    ask: A,
}

impl<T, A: FnOnce(InPlace<'_>) -> T> FilterVisitor<u64> for Asking<'_, dyn KeyCodec<u64>, A> {
    type Output = T;
    fn visit<F: RangeFilter<u64> + 'static>(self, filter: F) -> T {
        (self.ask)(InPlace::Integers(&filter, self.codec))
    }
}

impl<T, A: FnOnce(InPlace<'_>) -> T> FilterVisitor<[u8]> for Asking<'_, dyn KeyCodec<[u8]>, A> {
    type Output = T;
    fn visit<F: RangeFilter<[u8]> + 'static>(self, filter: F) -> T {
        (self.ask)(InPlace::Strings(&filter, self.codec))
    }
}

impl InPlace<'_> {
    /// Whether a key can lie between the bounds; `false` proves that none does.
    pub(crate) fn may_contain_bounds(&self, lo: Bound<&[u8]>, hi: Bound<&[u8]>) -> bool {
        match self {
            Self::Integers(filter, codec) => match codec.cover(lo, hi) {
                Cover::Empty => false,
                Cover::Range(range) => filter.may_contain_range(range),
                Cover::Unknown => true,
            },
            Self::Strings(filter, codec) => match codec.cover(lo, hi) {
                Cover::Empty => false,
                Cover::Range(range) => filter.may_contain_range(range),
                Cover::Unknown => true,
            },
        }
    }

    /// As [`may_contain_bounds`](Self::may_contain_bounds), of many ranges in one batch.
    pub(crate) fn may_contain_many<'b>(
        &self,
        bounds: impl Iterator<Item = (Bound<&'b [u8]>, Bound<&'b [u8]>)>,
    ) -> Vec<bool> {
        match self {
            Self::Integers(filter, codec) => ask_many(*filter, *codec, bounds),
            Self::Strings(filter, codec) => ask_many(*filter, *codec, bounds),
        }
    }
}

fn ask_many<'b, K: KeySpace + ?Sized>(
    filter: &DynFilter<K>,
    codec: &dyn KeyCodec<K>,
    bounds: impl Iterator<Item = (Bound<&'b [u8]>, Bound<&'b [u8]>)>,
) -> Vec<bool> {
    let (mut answers, mut places, mut ranges) = (Vec::new(), Vec::new(), Vec::new());
    for (lo, hi) in bounds {
        let cover = codec.cover(lo, hi);
        answers.push(!matches!(cover, Cover::Empty));
        if let Cover::Range(range) = cover {
            places.push(answers.len() - 1);
            ranges.push(range);
        }
    }
    let mut found = vec![true; ranges.len()];
    filter.may_contain_ranges(&ranges, &mut found);
    places.iter().zip(found).for_each(|(&place, found)| answers[place] = found);
    answers
}
