//! Builds within a budget: the longest fingerprints for which all keys find a place.

use lacuna_base::hash::{IntegerHasher, hash_bytes};
use lacuna_base::testing::cross;
use lacuna_base::{Budget, BuildPlan, Error, Position, Result, Sealed, SortedKeys, Window};

use super::codec::{HEADER_BYTES, Header, STASHED_BYTES, VERSION, padding};
use super::insert::TOGETHER;
use super::shape::Shape;
use super::spec::CuckooSpec;
use super::table::{CuckooTable, STASH, buckets_for};
use crate::family::FilterFamily as _;
use crate::frame::{push_window_section, window_for, window_section_bytes};
use crate::integer_build::envelope;

/// Builds over integers.
pub(crate) fn build_u64(
    spec: CuckooSpec,
    keys: SortedKeys<'_, u64>,
    plan: &BuildPlan<u64>,
) -> Result<Sealed> {
    let hasher = IntegerHasher::new(plan.seed());
    let hashes: Vec<u64> = keys.column().iter().map(|&key| hasher.hash(key)).collect();
    let body = write_body(spec, &hashes, plan.seed(), plan.budget().payload_bytes(keys.len()), 0)?;
    let ends = (keys.first().unwrap_or(0), keys.last().unwrap_or(0));
    Ok(Sealed::assemble(&envelope::<u64>(CuckooSpec::KIND, VERSION, plan, keys.len(), ends), &body))
}

/// Builds over byte strings, hashed whole; the window serves their smallest and largest key only, and gives up its prefix
/// where the buckets need the room.
pub(crate) fn build_bytes(
    spec: CuckooSpec,
    keys: SortedKeys<'_, [u8]>,
    plan: &BuildPlan<[u8]>,
) -> Result<Sealed> {
    let max_prefix = (plan.budget().payload_bytes(keys.len()) - Budget::FIXED_BYTES) / 4;
    build_behind(window_for(keys, max_prefix), spec, keys, plan)
        .or_else(|_| build_behind(window_for(keys, 0), spec, keys, plan))
}

fn build_behind(
    window: Window<'_>,
    spec: CuckooSpec,
    keys: SortedKeys<'_, [u8]>,
    plan: &BuildPlan<[u8]>,
) -> Result<Sealed> {
    let beside = window_section_bytes(window);
    let hashes: Vec<u64> = keys.iter().map(|key| hash_bytes(key, plan.seed())).collect();
    let max_bytes = plan.budget().payload_bytes(keys.len()) - beside;
    let mut payload = write_body(spec, &hashes, plan.seed(), max_bytes, beside)?;
    push_window_section(&mut payload, window);
    let place = |key: Option<&[u8]>| match key.map(|key| window.position(key)) {
        Some(Position::At(place)) => place,
        _ => 0,
    };
    let ends = (place(keys.first()), place(keys.last()));
    Ok(Sealed::assemble(&envelope::<[u8]>(CuckooSpec::KIND, VERSION, plan, keys.len(), ends), &payload))
}

/// The widest table for `key_count` keys in a body of `max_bytes`, with room for some of the stash.
pub(crate) fn shape_within(spec: CuckooSpec, key_count: usize, max_bytes: usize) -> Option<Shape> {
    let min = buckets_for(key_count as u64);
    let fitting = |bits: &u32| {
        let shape = Shape::new(*bits, min);
        HEADER_BYTES as u64 + shape.bytes_of(min) + padding(shape) as u64 <= max_bytes as u64
    };
    let bits = (Shape::MIN_BITS..=spec.max_bits()).rev().find(fitting)?;
    let shape = Shape::new(bits, min);
    let room = (max_bytes - HEADER_BYTES - padding(shape)) as u64;
    // The remaining space goes into more buckets, at most twice as many: emptier buckets have a lower rate.
    let base = (room * 8 / shape.bucket_bits()).min(2 * min).max(min);
    Some(Shape { base, ..shape })
}

fn write_body(
    spec: CuckooSpec,
    hashes: &[u64],
    seed: u64,
    max_bytes: usize,
    beside: usize,
) -> Result<Vec<u8>> {
    if hashes.is_empty() {
        return Ok(Vec::new());
    }
    let max_bits = shape_within(spec, hashes.len(), max_bytes).map(|shape| shape.fingerprint_bits);
    for bits in (Shape::MIN_BITS..=max_bits.unwrap_or(0)).rev() {
        let spec = spec.with_fingerprint_bits(bits);
        let shape = shape_within(spec, hashes.len(), max_bytes).expect("fewer bits fit too");
        if let Some(body) = filled(shape, hashes, seed, max_bytes) {
            return Ok(body);
        }
        cross("cuckoo: fewer bits");
    }
    Err(too_small(hashes, seed, max_bytes, beside))
}

/// A body of at most `max_bytes`, if all keys find a place in it.
fn filled(shape: Shape, hashes: &[u64], seed: u64, max_bytes: usize) -> Option<Vec<u8>> {
    let mut table = CuckooTable::with_shape(shape, false);
    let spare = (max_bytes - Header::of(&table, seed).body_bytes()) / STASHED_BYTES;
    for some in hashes.chunks(TOGETHER) {
        table.insert_all_mut(some).ok()?;
        if *table.stash_len.get_mut() > spare.min(STASH) {
            return None;
        }
    }
    let mut body = Vec::with_capacity(max_bytes);
    table.write_to(seed, &mut body);
    Some(body)
}

/// The error that names a budget, above `max_bytes`, with which the keys were found to have room.
fn too_small(hashes: &[u64], seed: u64, max_bytes: usize, beside: usize) -> Error {
    let min = buckets_for(hashes.len() as u64);
    let named = (0..).find_map(|step| {
        let shape = Shape::new(Shape::MIN_BITS, min + min * step / 32);
        #[expect(
            clippy::cast_possible_truncation,
            reason = "about as many bytes as there are keys in memory"
        )]
        let bytes =
            HEADER_BYTES + shape.bytes_of(shape.base) as usize + padding(shape) + STASH * STASHED_BYTES;
        (bytes > max_bytes && filled(shape, hashes, seed, bytes).is_some()).then_some(bytes)
    });
    let bytes = named.expect("with enough buckets all keys have room") + beside;
    Error::budget_too_small(CuckooSpec::KIND.name(), Budget::smallest_for(bytes, hashes.len()))
}
