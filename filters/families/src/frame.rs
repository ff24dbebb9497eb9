//! The frame around every family's body: the envelope, and for byte strings the prefix that all keys share.
//!
//! A payload over integers is the body alone. Over byte strings the body comes first, so that its cache lines stay
//! aligned, then the common prefix, then its length in two bytes and the width of the window after it in one. Smallest and largest key are in the envelope; sets
//! of at most two integers are therefore described exactly without a body, and families never see a query outside
//! `smallest < lo <= hi < largest`.

use std::fmt::Debug;

use lacuna_base::testing::cross;
use lacuna_base::{Envelope, Error, KeySpaceId, PlaceMap, Result, SortedKeys, U64Range, Window};

use crate::kind::Kind;
use crate::string_view::StringView;

/// Bytes after the prefix: its length, then the width of the window.
pub(crate) const TRAILER_BYTES: usize = 3;
/// Bytes beside the sections where there may be points: the length of theirs, then the trailer.
pub(crate) const POINTS_TRAILER_BYTES: usize = 4 + TRAILER_BYTES;
/// Added to the width of a window beside points; a place map, which always may have points, has the width 0 alone.
const BESIDE_POINTS: u8 = 16;
/// Longest prefix stored. Keys that share more are kept apart by the window after these bytes, which is still correct.
const LONGEST_PREFIX: usize = 256;

/// Bytes a filter can be a view over.
pub trait FilterBytes: AsRef<[u8]> + Debug + Send + Sync + 'static {}
impl<B: AsRef<[u8]> + Debug + Send + Sync + 'static> FilterBytes for B {}

/// An opened envelope with the bytes it came from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame<B> {
    envelope: Envelope,
    bytes: B,
    body_end: usize,
    points_end: usize,
    prefix_start: usize,
    prefix_end: usize,
    window_width: usize,
}

/// The methods of `RangeFilter` that follow from a filter's `frame`: number of keys, and sizes.
macro_rules! sizes_of_frame {
    () => {
        fn key_count(&self) -> u64 {
            self.frame.envelope().key_count
        }

        fn size_in_bytes(&self) -> usize {
            self.frame.sealed_bytes()
        }

        fn memory_bytes(&self) -> usize {
            size_of::<Self>() + self.frame.sealed_bytes()
        }
    };
}
pub(crate) use sizes_of_frame;

/// The answer about a range from the smallest and largest key alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clipped {
    /// They settle it.
    Settled(bool),
    /// Ask the body about this range, which lies strictly between them.
    Inside(U64Range),
}

/// The integers strictly between the smallest and the largest key, for one comparison a question.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Inside {
    first: u64,
    count: u64,
}

impl Inside {
    #[inline(always)]
    pub(crate) fn holds(self, key: u64) -> bool {
        key.wrapping_sub(self.first) < self.count
    }
}

/// The bytes from `start` on, none if there are fewer. A branch that is never taken costs a question less than the choice between
/// two slices.
#[inline(always)]
pub(crate) fn bytes_from(bytes: &[u8], start: usize) -> &[u8] {
    #[cold]
    #[inline(never)]
    fn none<'a>() -> &'a [u8] {
        &[]
    }
    bytes.get(start..).unwrap_or_else(none)
}

impl<B: AsRef<[u8]>> Frame<B> {
    /// A frame over integers: the payload is the body.
    pub(crate) fn whole(envelope: Envelope, bytes: B) -> Result<Self> {
        check_key_space(&envelope, KeySpaceId::U64)?;
        let end = bytes.as_ref().len();
        Ok(Self {
            envelope,
            bytes,
            body_end: end,
            points_end: end,
            prefix_start: end,
            prefix_end: end,
            window_width: Window::MAX_WIDTH,
        })
    }

    /// A frame over byte strings: body, prefix, length of the prefix, width of the window.
    pub(crate) fn with_prefix(envelope: Envelope, bytes: B) -> Result<Self> {
        check_key_space(&envelope, KeySpaceId::Bytes)?;
        let all = bytes.as_ref();
        let cut = || Error::corrupt("the payload is too short for the prefix it promises");
        let (rest, &[low, high, width]) = all.split_last_chunk::<TRAILER_BYTES>().ok_or_else(cut)?;
        let prefix_bytes = usize::from(u16::from_le_bytes([low, high]));
        let window_width = usize::from(width & !BESIDE_POINTS);
        if window_width > Window::MAX_WIDTH || width == BESIDE_POINTS {
            return Err(Error::corrupt(format!("the width {width} of a window does not exist")));
        }
        let prefix_end = rest.len();
        let prefix_start = prefix_end.checked_sub(prefix_bytes).ok_or_else(cut)?;
        let (before, section) = rest.split_at(prefix_start);
        if width == 0 {
            cross("strings: place map");
            PlaceMap::new(section).ok_or_else(|| Error::corrupt("the place map does not open"))?;
        }
        let has_points = width == 0 || width & BESIDE_POINTS != 0;
        let (body_end, points_end) =
            if has_points { points_before(before)? } else { (prefix_start, prefix_start) };
        if body_end < lacuna_base::ENVELOPE_BYTES {
            return Err(cut());
        }
        Ok(Self { envelope, body_end, points_end, prefix_start, prefix_end, window_width, bytes })
    }

    /// The envelope.
    pub(crate) fn envelope(&self) -> &Envelope {
        &self.envelope
    }

    /// The family's bytes, for opening.
    pub(crate) fn body(&self) -> &[u8] {
        self.bytes.as_ref().get(lacuna_base::ENVELOPE_BYTES..self.body_end).unwrap_or_default()
    }

    /// The family's bytes and whatever follows them: what questions are asked of, for a shorter way there.
    #[inline(always)]
    pub(crate) fn body_and_rest(&self) -> &[u8] {
        bytes_from(self.bytes.as_ref(), lacuna_base::ENVELOPE_BYTES)
    }

    /// The common prefix, as far as it is stored.
    #[inline]
    pub(crate) fn prefix(&self) -> &[u8] {
        match self.window_width {
            0 => &[],
            _ => self.bytes.as_ref().get(self.prefix_start..self.prefix_end).unwrap_or_default(),
        }
    }

    /// The hashes of whole keys.
    #[inline(always)]
    pub(crate) fn points(&self) -> &[u8] {
        self.bytes.as_ref().get(self.body_end..self.points_end).unwrap_or_default()
    }

    /// How strings become integers.
    #[inline(always)]
    pub(crate) fn view(&self) -> StringView<'_> {
        let map = || PlaceMap::new(self.bytes.as_ref().get(self.prefix_start..self.prefix_end)?);
        match self.window_width {
            0 => map().map_or(StringView::Window(self.window()), StringView::Map),
            _ => StringView::Window(self.window()),
        }
    }

    /// The window after the common prefix.
    #[inline]
    pub(crate) fn window(&self) -> Window<'_> {
        Window::new(self.prefix(), self.window_width)
    }

    /// Length of the sealed bytes.
    pub(crate) fn sealed_bytes(&self) -> usize {
        self.bytes.as_ref().len()
    }

    /// The sealed bytes.
    #[inline(always)]
    pub(crate) fn sealed(&self) -> &[u8] {
        self.bytes.as_ref()
    }

    /// The integers strictly between smallest and largest key.
    pub(crate) fn inside(&self) -> Inside {
        let Envelope { smallest, largest, .. } = self.envelope;
        Inside { first: smallest.wrapping_add(1), count: largest.saturating_sub(smallest).saturating_sub(1) }
    }

    /// Whether `key` is the smallest or the largest.
    #[inline(always)]
    pub(crate) fn is_an_end(&self, key: u64) -> bool {
        let Envelope { smallest, largest, key_count, .. } = self.envelope;
        (key == smallest || key == largest) && key_count > 0
    }

    /// The answer about `range` from the smallest and largest key.
    #[inline(always)]
    pub(crate) fn clip(&self, range: U64Range) -> Clipped {
        let Envelope { smallest, largest, .. } = self.envelope;
        // An empty set has both ends at 0, so nothing is inside of it.
        if smallest < range.lo() && range.hi() < largest {
            return Clipped::Inside(range);
        }
        let touches = range.lo() <= largest && smallest <= range.hi();
        Clipped::Settled(touches && self.envelope.key_count > 0)
    }
}

/// Where body and points end in what is before a place map, or the prefix of a window beside points.
fn points_before(before: &[u8]) -> Result<(usize, usize)> {
    let cut = || Error::corrupt("the payload is too short for the sections it promises");
    let (rest, length) = before.split_last_chunk::<4>().ok_or_else(cut)?;
    let length = usize::try_from(u32::from_le_bytes(*length)).map_err(|_| cut())?;
    Ok((rest.len().checked_sub(length).ok_or_else(cut)?, rest.len()))
}

/// Refuses a filter of another family than `expected`.
pub(crate) fn check_kind(envelope: &Envelope, expected: Kind) -> Result<()> {
    if envelope.kind == expected.id() {
        return Ok(());
    }
    let (found, expected, name) = (envelope.kind.0, expected.id().0, expected.name());
    Err(Error::unsupported(format!("the filter is of family {found}, not {expected} ({name})")))
}

/// Refuses a payload newer than `newest`.
pub(crate) fn check_version(envelope: &Envelope, newest: u16) -> Result<()> {
    match envelope.payload_version {
        0 => Err(Error::corrupt("payload version 0 was never written")),
        version if version <= newest => Ok(()),
        version => Err(Error::unsupported(format!(
            "the filter's payload has version {version}, this code reads up to {newest}; update it"
        ))),
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

/// The window for `keys` whose prefix takes at most `max_prefix` bytes: after what all keys share, and no wider than
/// the longest key.
pub(crate) fn window_for(keys: SortedKeys<'_, [u8]>, max_prefix: usize) -> Window<'_> {
    let (Some(first), Some(last)) = (keys.first(), keys.last()) else { return Window::new(&[], 1) };
    let shared = Window::common_prefix_len(first, last);
    // A single key shares all of itself; leaving its last bytes to the window keeps it apart from its neighbours.
    let useful = if keys.len() == 1 { shared.saturating_sub(Window::MAX_WIDTH) } else { shared };
    let prefix = &first[..useful.min(LONGEST_PREFIX).min(max_prefix)];
    let longest = keys.iter().map(<[u8]>::len).max().unwrap_or(0);
    Window::new(prefix, longest - prefix.len())
}

/// Bytes of the section after the body.
pub(crate) fn window_section_bytes(window: Window<'_>) -> usize {
    window.prefix().len() + TRAILER_BYTES
}

/// Appends the section after the body.
pub(crate) fn push_window_section(payload: &mut Vec<u8>, window: Window<'_>) {
    let length = u16::try_from(window.prefix().len()).expect("a prefix has at most LONGEST_PREFIX bytes");
    let width = u8::try_from(window.width()).expect("at most eight");
    payload.extend_from_slice(window.prefix());
    payload.extend_from_slice(&length.to_le_bytes());
    payload.push(width);
}

/// Appends points and the section of a window after the body.
pub(crate) fn push_points_and_window(payload: &mut Vec<u8>, points: &[u8], window: Window<'_>) {
    push_points(payload, points);
    push_window_section(payload, window);
    payload.iter_mut().next_back().into_iter().for_each(|width| *width |= BESIDE_POINTS);
}

fn push_points(payload: &mut Vec<u8>, points: &[u8]) {
    payload.extend_from_slice(points);
    let length = u32::try_from(points.len()).expect("a section for points has at most MAX_POINT_BYTES");
    payload.extend_from_slice(&length.to_le_bytes());
}

/// Appends points and map after the body.
pub(crate) fn push_map_sections(payload: &mut Vec<u8>, points: &[u8], map: &[u8]) {
    push_points(payload, points);
    payload.extend_from_slice(map);
    let length = u16::try_from(map.len()).expect("a map has less than 64 KiB");
    payload.extend_from_slice(&length.to_le_bytes());
    payload.push(0);
}
