//! A filter that asks the blacklist about every leaf it would let through.

use std::fmt;

use lacuna_base::{Envelope, Result, U64Range};

use super::table::Blacklist;
use crate::family::FilterFamily as _;
use crate::frame::{Clipped, FilterBytes, Frame, check_kind, check_version};
use crate::integer::IntegerBody;
use crate::rencoder::RencoderSpec;
use crate::rencoder::query::Rencoder;
use crate::rencoder::walk::{Next, Walk};

/// A REncoder filter over integers with the paper's blacklist in front of its "maybe".
///
/// ```
/// use lacuna_base::{Budget, BuildPlan, FilterSpec, SortedKeys, U64Range};
/// use lacuna_families::RencoderSpec;
/// use lacuna_families::testing::BlacklistedRencoder;
///
/// let keys: Vec<u64> = (0..1_000).map(|i| i * 1_000).collect();
/// let plan = BuildPlan::<u64>::new(Budget::bits_per_key(3.0)?);
/// let sealed = RencoderSpec::new().build(SortedKeys::integers(&keys)?, &plan)?;
/// let mut filter = BlacklistedRencoder::open(sealed)?;
///
/// let empty = U64Range::new(5_001, 5_999).expect("not inverted");
/// filter.report_false_positive(empty);
/// assert!(!filter.may_contain_range(empty));
/// assert!(filter.may_contain_range(U64Range::new(5_000, 5_999).expect("not inverted")));
/// # Ok::<(), lacuna_base::Error>(())
/// ```
pub struct BlacklistedRencoder<B> {
    frame: Frame<B>,
    body: Option<Rencoder>,
    blacklist: Blacklist,
}

impl<B: FilterBytes> BlacklistedRencoder<B> {
    /// Opens a sealed `rencoder` over integers, with an empty blacklist.
    ///
    /// # Errors
    /// As [`open`](crate::open); `Unsupported` if the bytes are of another family.
    pub fn open(bytes: B) -> Result<Self> {
        let (envelope, _) = Envelope::open(bytes.as_ref())?;
        check_kind(&envelope, RencoderSpec::KIND)?;
        check_version(&envelope, Rencoder::VERSION)?;
        let frame = Frame::whole(envelope, bytes)?;
        let settled = frame.body().is_empty() && envelope.key_count <= 2;
        let body = if settled { None } else { Some(Rencoder::open(frame.body(), &envelope)?) };
        Ok(Self { frame, body, blacklist: Blacklist::new() })
    }

    /// Remembers that `range`, which was a "maybe", holds no key: read it first.
    pub fn report_false_positive(&mut self, range: U64Range) {
        self.blacklist.insert(range);
    }

    /// The blacklist.
    pub fn blacklist(&self) -> &Blacklist {
        &self.blacklist
    }

    /// Whether any key of `range` may be there; `false` proves that none is.
    pub fn may_contain_range(&self, range: U64Range) -> bool {
        match (self.frame.clip(range), &self.body) {
            (Clipped::Settled(answer), _) => answer,
            (Clipped::Inside(_), None) => false,
            // The filter denies most empty ranges early; only ranges that it lets through are walked leaf by leaf.
            (Clipped::Inside(range), Some(body)) => {
                body.may_hold(self.frame.body(), range.lo(), range.hi()) && self.any_unlisted(body, range)
            }
        }
    }

    /// Whether a leaf that the filter lets through is not blacklisted as far as it lies in `range`.
    fn any_unlisted(&self, body: &Rencoder, range: U64Range) -> bool {
        let low = body.header.levels.low;
        let mut walk = Walk::new(body, self.frame.body(), range.hi() >> low);
        let mut from = range.lo() >> low;
        loop {
            match walk.next_from(from) {
                Next::End => return false,
                Next::Tired => return true,
                Next::Leaf(leaf) => {
                    let first = (leaf << low).max(range.lo());
                    let last = (leaf << low | ((1 << low) - 1)).min(range.hi());
                    let part = U64Range::new(first, last);
                    if !part.is_some_and(|part| self.blacklist.covers(part)) {
                        return true;
                    }
                    from = leaf + 1;
                }
            }
        }
    }
}

impl<B> fmt::Debug for BlacklistedRencoder<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlacklistedRencoder").field("body", &self.body).finish_non_exhaustive()
    }
}
