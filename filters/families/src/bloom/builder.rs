//! Writes both Bloom filters from the hashes of keys.

use lacuna_base::hash::{IntegerHasher, hash_bytes, reduce};
use lacuna_base::{Budget, BuildPlan, Position, Sealed, SortedKeys};
use lacuna_succinct::arch::prefetch;

use super::BlockedBloomSpec;
use super::blocked::{self, line_start, mask};
use super::codec::{BLOCKED_HEADER_BYTES, HEADER_BYTES, Header, LINE_BYTES, VERSION};
use super::setting::set_bits;
use super::spec::BloomSpec;
use crate::family::FilterFamily as _;
use crate::frame::{push_window_section, window_for, window_section_bytes};
use crate::integer_build::envelope;
use crate::kind::Kind;

/// Which of the two filters to write.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Layout {
    /// Bits anywhere.
    Standard(BloomSpec),
    /// All bits of a key in one line.
    Blocked,
}

impl Layout {
    fn kind(self) -> Kind {
        match self {
            Self::Standard(_) => BloomSpec::KIND,
            Self::Blocked => BlockedBloomSpec::KIND,
        }
    }

    /// The layout for a body of at most `max_bytes`: a standard filter without room for two lines lies in one line
    /// anyway.
    fn within(self, max_bytes: usize) -> Self {
        match self {
            Self::Blocked if max_bytes < BLOCKED_HEADER_BYTES + 2 * LINE_BYTES => {
                Self::Standard(BloomSpec::new())
            }
            as_asked => as_asked,
        }
    }

    /// A body of at most `max_bytes` over `key_count` hashes.
    fn write(
        self,
        hashes: impl Iterator<Item = u64>,
        key_count: usize,
        seed: u64,
        max_bytes: usize,
    ) -> Vec<u8> {
        match self {
            _ if key_count == 0 => Vec::new(),
            Self::Standard(spec) => write_standard(spec, hashes, key_count, seed, max_bytes),
            Self::Blocked => write_blocked(hashes, key_count, seed, max_bytes),
        }
    }
}

/// Builds over integers.
pub(crate) fn build_u64(layout: Layout, keys: SortedKeys<'_, u64>, plan: &BuildPlan<u64>) -> Sealed {
    let hasher = IntegerHasher::new(plan.seed());
    let hashes = keys.column().iter().map(|&key| hasher.hash(key));
    let max_bytes = plan.budget().payload_bytes(keys.len());
    let layout = layout.within(max_bytes);
    let body = layout.write(hashes, keys.len(), plan.seed(), max_bytes);
    let ends = (keys.first().unwrap_or(0), keys.last().unwrap_or(0));
    Sealed::assemble(&envelope::<u64>(layout.kind(), VERSION, plan, keys.len(), ends), &body)
}

/// Builds over byte strings, hashed whole; the window serves their smallest and largest key only.
pub(crate) fn build_bytes(layout: Layout, keys: SortedKeys<'_, [u8]>, plan: &BuildPlan<[u8]>) -> Sealed {
    let seed = plan.seed();
    let max_bytes = plan.budget().payload_bytes(keys.len());
    let window = window_for(keys, (max_bytes - Budget::FIXED_BYTES) / 4);
    let body_bytes = max_bytes - window_section_bytes(window);
    let layout = layout.within(body_bytes);
    let hashes = keys.iter().map(|key| hash_bytes(key, seed));
    let mut payload = layout.write(hashes, keys.len(), seed, body_bytes);
    push_window_section(&mut payload, window);
    let place = |key: Option<&[u8]>| match key.map(|key| window.position(key)) {
        Some(Position::At(place)) => place,
        _ => 0,
    };
    let ends = (place(keys.first()), place(keys.last()));
    Sealed::assemble(&envelope::<[u8]>(layout.kind(), VERSION, plan, keys.len(), ends), &payload)
}

/// A standard body of `max_bytes` over `key_count` hashes.
pub(crate) fn write_standard(
    spec: BloomSpec,
    hashes: impl Iterator<Item = u64>,
    key_count: usize,
    seed: u64,
    max_bytes: usize,
) -> Vec<u8> {
    let mut body = vec![0; max_bytes];
    let bit_count = (max_bytes - HEADER_BYTES) as u64 * 8;
    let hash_count = spec.hash_count(bit_count as f64 / key_count as f64);
    Header { seed, hash_count }.write(&mut body);
    set_bits(&mut body[HEADER_BYTES..], hashes, hash_count);
    body
}

/// Keys whose lines are on their way together: more than one at a time waits for memory, more than these leave the first
/// cache before they are written.
const KEYS_AHEAD: usize = 32;

fn write_blocked(
    mut hashes: impl Iterator<Item = u64>,
    key_count: usize,
    seed: u64,
    max_bytes: usize,
) -> Vec<u8> {
    let line_count = ((max_bytes - BLOCKED_HEADER_BYTES) / LINE_BYTES) as u64;
    let mut body = vec![0; line_start(line_count)];
    let hash_count = blocked::hash_count(line_count as f64 * LINE_BYTES as f64 * 8.0 / key_count as f64);
    Header { seed, hash_count }.write(&mut body);
    let mut group = [0; KEYS_AHEAD];
    loop {
        let mut len = 0;
        for (slot, hash) in group.iter_mut().zip(&mut hashes) {
            *slot = hash;
            len += 1;
            prefetch(&body, line_start(reduce(hash, line_count)));
        }
        for &hash in &group[..len] {
            let start = line_start(reduce(hash, line_count));
            let line = &mut body[start..start + LINE_BYTES];
            for (word, bits) in line.as_chunks_mut::<8>().0.iter_mut().zip(mask(hash, hash_count)) {
                *word = (u64::from_le_bytes(*word) | bits).to_le_bytes();
            }
        }
        if len < KEYS_AHEAD {
            return body;
        }
    }
}
