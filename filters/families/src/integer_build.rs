//! The write side that all integer families share: framing, budget, byte strings.

use std::fmt::Debug;

use lacuna_base::{
    Budget, BuildPlan, Envelope, Error, KeySpace, KeySpaceId, Result, Sealed, Secret, SecretUse, SortedKeys,
    Window,
};

use crate::family::FilterFamily;
use crate::frame::{window_for, window_section_bytes};
use crate::hashing::Hashing;
use crate::integer::places_of;
use crate::kind::Kind;
use crate::string_choice::StringChoice;
use crate::threads::Threads;

/// The write side of a family over integers.
pub(crate) trait IntegerSpec: FilterFamily + Debug + Clone + Send + Sync {
    /// Payload version written.
    const VERSION: u16;

    /// The spec as text.
    fn text(&self) -> String;

    /// Whether it hashes under the plan's secret.
    fn wants_secret(&self) -> bool {
        false
    }

    /// Writes the body for at least three ascending `keys` into at most `max_bytes`.
    fn write_body(&self, keys: &[u64], max_bytes: usize, order: &BodyOrder<'_>) -> Result<Vec<u8>, TooSmall>;
}

/// The parts of a plan other than its budget.
pub(crate) struct BodyOrder<'a> {
    /// Seed of every hash.
    pub(crate) seed: u64,
    /// The secret, for specs that want one.
    pub(crate) secret: Option<Secret>,
    /// Bits that keys have: 64, or those of places.
    pub(crate) key_bits: u32,
    /// The sampled queries, as closed `(lo, hi)`.
    pub(crate) sample_ranges: &'a dyn Fn() -> Vec<(u64, u64)>,
    /// The threads it may take; the bytes do not depend on them.
    pub(crate) threads: Threads,
}

impl BodyOrder<'_> {
    /// The hash of the blocks of `keys`.
    pub(crate) fn hashing(&self, keys: &[u64], wants_secret: bool) -> Hashing {
        match self.secret.filter(|_| wants_secret) {
            Some(secret) => Hashing::Keyed(secret.key_for(keys)),
            None => Hashing::Seeded(self.seed),
        }
    }
}

/// The body would need this many bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooSmall {
    pub(crate) smallest_bytes: usize,
}

/// Keys that need no body: the envelope's smallest and largest key say everything.
const KEYS_WITHOUT_BODY: usize = 2;

/// What `spec` does with a secret.
pub(crate) fn secret_use(spec: &impl IntegerSpec) -> SecretUse {
    if spec.wants_secret() { SecretUse::Required } else { SecretUse::Unused }
}

fn check_secret<K: KeySpace + ?Sized>(spec: &impl IntegerSpec, plan: &BuildPlan<K>) -> Result<()> {
    secret_use(spec).check::<K>(&spec.text(), plan.secret().is_some(), "with the plan")
}

/// Builds a family over integers.
pub(crate) fn build_u64<S: IntegerSpec>(
    spec: &S,
    keys: SortedKeys<'_, u64>,
    plan: &BuildPlan<u64>,
) -> Result<Sealed> {
    check_secret(spec, plan)?;
    let ranges = || plan.sample().iter().collect();
    let (seed, secret) = (plan.seed(), plan.secret());
    let threads = Threads::up_to(plan.threads());
    let order = BodyOrder { seed, secret, key_bits: u64::BITS, sample_ranges: &ranges, threads };
    let max_bytes = plan.budget().payload_bytes(keys.len());
    let body = write_body(spec, keys.column(), max_bytes, &order)
        .map_err(|small| budget_too_small::<S>(small.smallest_bytes, keys.len()))?;
    let ends = (keys.first().unwrap_or(0), keys.last().unwrap_or(0));
    Ok(Sealed::assemble(&envelope::<u64>(S::KIND, S::VERSION, plan, keys.len(), ends), &body))
}

/// Builds a family over byte strings, as [`StringChoice`] sees them.
pub(crate) fn build_bytes<S: IntegerSpec>(
    spec: &S,
    keys: SortedKeys<'_, [u8]>,
    plan: &BuildPlan<[u8]>,
) -> Result<Sealed> {
    check_secret(spec, plan)?;
    let max_bytes = plan.budget().payload_bytes(keys.len());
    // A prefix of a quarter of the payload at most; a shorter one where the body would find no room.
    build_behind(&StringChoice::of(keys, plan), spec, keys, plan).or_else(|small| {
        let trailer_bytes = window_section_bytes(Window::new(&[], 1));
        let room = max_bytes.saturating_sub(small.smallest_bytes + trailer_bytes);
        let window = window_for(keys, room.min(max_bytes / 4));
        build_behind(&StringChoice::window(window), spec, keys, plan)
            .map_err(|small| budget_too_small::<S>(small.smallest_bytes + trailer_bytes, keys.len()))
    })
}

/// Builds over the integers of `choice`.
pub(crate) fn build_behind<S: IntegerSpec>(
    choice: &StringChoice<'_>,
    spec: &S,
    keys: SortedKeys<'_, [u8]>,
    plan: &BuildPlan<[u8]>,
) -> Result<Sealed, TooSmall> {
    let view = choice.view();
    let places = places_of(keys, view);
    let ranges = || {
        let mut comes_to_body = choice.body_filter();
        let ranges = plan.sample().ranges().filter(|range| comes_to_body(*range));
        let covers = ranges.filter_map(|range| view.cover(range));
        covers.map(|cover| (cover.lo(), cover.hi())).collect()
    };
    let threads = Threads::up_to(plan.threads());
    let (seed, key_bits) = (plan.seed(), view.key_bits());
    let order = BodyOrder { seed, secret: None, key_bits, sample_ranges: &ranges, threads };
    let max_bytes = plan.budget().payload_bytes(keys.len()) - choice.section_bytes();
    let mut payload = write_body(spec, &places, max_bytes, &order)?;
    choice.push_sections(&mut payload, keys, plan.seed());
    let ends = (places.first().copied().unwrap_or(0), places.last().copied().unwrap_or(0));
    Ok(Sealed::assemble(&envelope::<[u8]>(S::KIND, S::VERSION, plan, keys.len(), ends), &payload))
}

fn write_body<S: IntegerSpec>(
    spec: &S,
    keys: &[u64],
    max_bytes: usize,
    order: &BodyOrder<'_>,
) -> Result<Vec<u8>, TooSmall> {
    if keys.len() <= KEYS_WITHOUT_BODY { Ok(Vec::new()) } else { spec.write_body(keys, max_bytes, order) }
}

pub(crate) fn budget_too_small<S: IntegerSpec>(payload_bytes: usize, distinct_keys: usize) -> Error {
    Error::budget_too_small(S::KIND.name(), Budget::smallest_for(payload_bytes, distinct_keys))
}

/// The envelope of a new filter.
pub(crate) fn envelope<K: KeySpace + ?Sized>(
    kind: Kind,
    payload_version: u16,
    plan: &BuildPlan<K>,
    key_count: usize,
    (smallest, largest): (u64, u64),
) -> Envelope {
    let key_space: KeySpaceId = K::ID;
    let key_count = key_count as u64;
    Envelope {
        kind: kind.id(),
        payload_version,
        key_space,
        codec: plan.codec(),
        key_type: plan.key_type(),
        key_count,
        smallest,
        largest,
    }
}

/// Makes a spec buildable over both key spaces.
macro_rules! integer_family {
    ($spec:ty) => {
        impl lacuna_base::BuildFromKeys<u64> for $spec {
            fn spec_name(&self) -> String {
                $crate::integer_build::IntegerSpec::text(self)
            }
            fn secret_use(&self) -> lacuna_base::SecretUse {
                $crate::integer_build::secret_use(self)
            }
            fn build_from(
                &self,
                keys: lacuna_base::SortedKeys<'_, u64>,
                plan: &lacuna_base::BuildPlan<u64>,
            ) -> lacuna_base::Result<lacuna_base::Sealed> {
                $crate::integer_build::build_u64(self, keys, plan)
            }
        }

        impl lacuna_base::BuildFromKeys<[u8]> for $spec {
            fn spec_name(&self) -> String {
                $crate::integer_build::IntegerSpec::text(self)
            }
            fn secret_use(&self) -> lacuna_base::SecretUse {
                $crate::integer_build::secret_use(self)
            }
            fn build_from(
                &self,
                keys: lacuna_base::SortedKeys<'_, [u8]>,
                plan: &lacuna_base::BuildPlan<[u8]>,
            ) -> lacuna_base::Result<lacuna_base::Sealed> {
                $crate::integer_build::build_bytes(self, keys, plan)
            }
        }
    };
}
pub(crate) use integer_family;
