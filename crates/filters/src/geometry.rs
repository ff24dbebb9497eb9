//! The cut of the Elias-Fano sequence inside a filter, as part of a spec.
//!
//! Nobody needs to set it: `slice` and `heavy` exist so that tests reach, with a handful of keys, the paths that
//! otherwise take thousands.

use lacuna_core::Result;
use lacuna_succinct::elias_fano::Geometry;

use crate::spec_text::SpecText;

/// `slice=LOG2,heavy=N` of a spec.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct GeometrySpec {
    slice_buckets_log2: Option<u32>,
    heavy: Option<u32>,
}

impl GeometrySpec {
    pub(crate) fn from_text(spec: &mut SpecText<'_>) -> Result<Self> {
        Ok(Self { slice_buckets_log2: spec.take("slice", 0, 8)?, heavy: spec.take("heavy", 1, 2047)? })
    }

    pub(crate) fn parameters(self) -> [(&'static str, Option<u32>); 2] {
        [("slice", self.slice_buckets_log2), ("heavy", self.heavy)]
    }

    pub(crate) fn geometry(self) -> Geometry {
        Geometry::new(self.slice_buckets_log2.unwrap_or(7), self.heavy.unwrap_or(2047))
    }
}
