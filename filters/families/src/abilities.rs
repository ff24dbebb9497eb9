//! From bytes to a filter that names next keys or counts, for callers that do not know its family.
//!
//! An erased filter answers "may there be a key?" and nothing else. A caller that wants more opens the bytes for it and learns
//! from the error which families could.

use lacuna_base::{CountEstimate, Envelope, Error, Result, SeekCandidate};

use crate::family::{FamilyKey, FilterFamily as _};
use crate::frame::FilterBytes;
use crate::kind::Kind;
use crate::registry::family;
use crate::surf::{Surf, SurfSpec};

/// Families that name next keys and count.
const ABLE: [Kind; 1] = [SurfSpec::KIND];

/// A key space over which filters can be opened for more than yes and no: `u64` or `[u8]`.
#[expect(private_bounds, reason = "its two implementations are all there are")]
pub trait OpenAbility: FamilyKey {
    /// See [`open_seek`].
    ///
    /// # Errors
    /// As there.
    fn open_seek<B: FilterBytes>(bytes: B) -> Result<Box<dyn SeekCandidate<Self>>>;
    /// See [`open_count`].
    ///
    /// # Errors
    /// As there.
    fn open_count<B: FilterBytes>(bytes: B) -> Result<Box<dyn CountEstimate<Self>>>;
}

impl OpenAbility for u64 {
    fn open_seek<B: FilterBytes>(bytes: B) -> Result<Box<dyn SeekCandidate<Self>>> {
        Ok(Box::new(Surf::<Self, B>::open(able(bytes, SEEKING)?)?))
    }
    fn open_count<B: FilterBytes>(bytes: B) -> Result<Box<dyn CountEstimate<Self>>> {
        Ok(Box::new(Surf::<Self, B>::open(able(bytes, COUNTING)?)?))
    }
}

impl OpenAbility for [u8] {
    fn open_seek<B: FilterBytes>(bytes: B) -> Result<Box<dyn SeekCandidate<Self>>> {
        Ok(Box::new(Surf::<Self, B>::open(able(bytes, SEEKING)?)?))
    }
    fn open_count<B: FilterBytes>(bytes: B) -> Result<Box<dyn CountEstimate<Self>>> {
        Ok(Box::new(Surf::<Self, B>::open(able(bytes, COUNTING)?)?))
    }
}

const SEEKING: &str = "name next keys";
const COUNTING: &str = "count keys";

/// The bytes, if their family is able to.
fn able<B: FilterBytes>(bytes: B, ability: &str) -> Result<B> {
    let (envelope, _) = Envelope::open(bytes.as_ref())?;
    let kind = family(envelope.kind)?.kind;
    if ABLE.contains(&kind) {
        return Ok(bytes);
    }
    let able = ABLE.map(Kind::name).join(", ");
    Err(Error::unsupported(format!("a {} filter cannot {ability}; build it as: {able}", kind.name())))
}

/// Opens a filter that names the next key there may be, in O(1), as [`open`](crate::open).
///
/// ```
/// use lacuna_base::{Budget, BuildPlan, SortedKeys};
///
/// let plan = BuildPlan::<u64>::new(Budget::bits_per_key(100.0)?);
/// let sealed = |family| lacuna_families::spec::<u64>(family)?.build(SortedKeys::integers(&[3, 5, 8])?, &plan);
/// let filter = lacuna_families::open_seek::<u64, _>(sealed("surf")?)?;
/// let mut candidate = 0;
/// assert!(filter.first_candidate(9, &mut candidate).is_none());
/// let refused = lacuna_families::open_seek::<u64, _>(sealed("bloom")?).expect_err("a Bloom filter has no order");
/// assert!(refused.to_string().contains("build it as: surf"));
/// # Ok::<(), lacuna_base::Error>(())
/// ```
///
/// # Errors
/// As [`open`](crate::open); `Unsupported` also if the family cannot do it; the message lists the families that can.
pub fn open_seek<K: OpenAbility + ?Sized, B: FilterBytes>(bytes: B) -> Result<Box<dyn SeekCandidate<K>>> {
    K::open_seek(bytes)
}

/// Opens a filter that counts the keys of ranges, in O(1), as [`open`](crate::open).
///
/// # Errors
/// As [`open_seek`].
pub fn open_count<K: OpenAbility + ?Sized, B: FilterBytes>(bytes: B) -> Result<Box<dyn CountEstimate<K>>> {
    K::open_count(bytes)
}
