//! Building Grafite: as large a circle as the budget holds, then hash, sort, encode.

use lacuna_succinct::elias_fano::encoded_len;
use lacuna_succinct::threads::on_threads;

use super::codec::{HEADER_BYTES, Reduction};
use super::query::Circle;
use super::spec::GrafiteSpec;
use crate::geometry::body_of;
use crate::hashing::Hashing;
use crate::integer_build::TooSmall;
use crate::largest::largest_within;
use crate::sort::{sort_below, sorted_runs};
use crate::threads::{Threads, piece_of};

/// Largest `last` of a circle, so that its size fits 63 bits and so does any block.
pub(crate) const MAX_LAST: u64 = (1 << 63) - 1;

/// Writes the body for at least two ascending `keys`.
pub(crate) fn write_body(
    spec: GrafiteSpec,
    keys: &[u64],
    max_bytes: usize,
    hashing: Hashing,
    threads: Threads,
) -> Result<Vec<u8>, TooSmall> {
    let (smallest, largest) = (keys[0], keys[keys.len() - 1]);
    let span = largest - smallest;
    let geometry = spec.geometry();
    // A circle holds at most as many distinct values as it is long, however many keys there are.
    let max_values = |last: u64| (keys.len() as u64).min(last.saturating_add(1));
    let header_bytes = HEADER_BYTES + Hashing::further_bytes(hashing.is_keyed());
    let body_bytes = |last: u64| header_bytes + encoded_len(max_values(last), last, geometry);
    let last = largest_within(span, |last| body_bytes(last) <= max_bytes)
        .ok_or_else(|| TooSmall { smallest_bytes: body_bytes(0) })?;
    if last == span {
        let pieces = threads.pieces(keys.len());
        let runs = on_threads(pieces, |index| {
            keys[piece_of(keys.len(), pieces, index)].iter().map(|key| key - smallest).collect()
        });
        return Ok(body_of(&Reduction::Exact.encode(), runs, last, geometry, max_bytes));
    }
    let last = last.min(MAX_LAST);
    let block_log2 = (last + 1).ilog2().min(spec.max_block_log2());
    Ok(write_circle(spec, keys, last, block_log2, hashing, threads))
}

/// Writes the body for `keys` in blocks of `2^block_log2 <= last + 1` on a circle of `last + 1 <= 2^63` values.
pub(crate) fn write_circle(
    spec: GrafiteSpec,
    keys: &[u64],
    last: u64,
    block_log2: u32,
    hashing: Hashing,
    threads: Threads,
) -> Vec<u8> {
    let circle = Circle::new(hashing, block_log2, last);
    let runs = match threads.pieces(keys.len()) {
        1 => vec![values_on(circle, keys, last)],
        pieces => sorted_runs(keys, |key| circle.value(key), last, pieces),
    };
    let count = runs.iter().map(|run| run.len() as u64).sum();
    let max_bytes = HEADER_BYTES + encoded_len(count, last, spec.geometry());
    let reduction = Reduction::Hashed { hashing, block_log2 };
    let mut body = body_of(&reduction.encode(), runs, last, spec.geometry(), max_bytes);
    body.extend(reduction.tail().into_iter().flatten());
    body
}

/// The values of `keys`, ascending and without repeats.
fn values_on(circle: Circle, keys: &[u64], last: u64) -> Vec<u64> {
    let mut values: Vec<u64> = keys.iter().map(|&key| circle.value(key)).collect();
    sort_below(&mut values, last);
    values.dedup();
    values
}
