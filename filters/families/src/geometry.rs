//! The cut of the Elias-Fano sequence inside a filter, as part of a spec.
//!
//! Users need not set it: with `slice` and `heavy`, tests reach with a handful of keys the paths that otherwise take
//! thousands.

use lacuna_base::Result;
use lacuna_base::testing::cross;
use lacuna_succinct::elias_fano::{Geometry, Layout, encode_runs};

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

/// A body of at most `max_bytes`: `header`, then the ascending values of `runs`, up to `last`; each run on a thread of its own.
pub(crate) fn body_of(
    header: &[u8],
    runs: Vec<Vec<u64>>,
    last: u64,
    geometry: Geometry,
    max_bytes: usize,
) -> Vec<u8> {
    let mut body = Vec::with_capacity(max_bytes);
    body.extend_from_slice(header);
    encode_runs(runs, last, geometry, &mut body);
    debug_assert!(body.len() <= max_bytes, "the bound was chosen to fit {max_bytes} bytes");
    if Layout::open(&body[header.len()..]).is_ok_and(|layout| layout.spilled_len() > 0) {
        cross("elias_fano: spilled");
    }
    body
}
