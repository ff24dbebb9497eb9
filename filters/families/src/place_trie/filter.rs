//! The opened filter over byte strings.

use lacuna_base::{ByteRange, RangeFilter, Result};

use super::codec::{Body, VERSION};
use crate::family::OpenFrame;
use crate::frame::{FilterBytes, Frame, check_version, sizes_of_frame};

/// A place trie over byte strings.
#[derive(Debug)]
pub(crate) struct StringPlaceTrie<B> {
    frame: Frame<B>,
    /// Without one there is no key.
    body: Option<Body>,
}

impl<B: FilterBytes> OpenFrame<B> for StringPlaceTrie<B> {
    const SEES_INTEGERS: bool = true;

    fn open(frame: Frame<B>) -> Result<Self> {
        check_version(frame.envelope(), VERSION)?;
        let is_empty = frame.envelope().key_count == 0 && frame.body().is_empty();
        let body = if is_empty { None } else { Some(Body::open(frame.body(), frame.envelope())?) };
        Ok(Self { frame, body })
    }
}

impl<B: FilterBytes> RangeFilter<[u8]> for StringPlaceTrie<B> {
    fn may_contain_range(&self, range: ByteRange<'_>) -> bool {
        let Some(body) = &self.body else { return false };
        let Some((lo, hi)) = self.frame.view().long_cover(range) else { return false };
        // Without what follows the body, which is no part of its last block.
        body.holds(self.frame.body(), &lo, &hi)
    }

    sizes_of_frame!();
}
