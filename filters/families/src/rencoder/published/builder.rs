//! Building the published layout: algorithm 5 of the paper, rounds of levels until half of the bits are ones.

use lacuna_succinct::arch::prefetch;

use super::codec::{HEADER_BYTES, Header, smallest_bytes, window_bytes};
use super::query::PublishedRencoder;
use super::spec::PublishedRencoderSpec;
use crate::integer_build::{BodyOrder, TooSmall};
use crate::rencoder::RencoderSpec;
use crate::rencoder::design::Designer;
use crate::rencoder::levels::{NodeCounts, Room, THRESHOLD};
use crate::rencoder::lines::Lines;
use crate::rencoder::made::AllKeys;

/// Keys whose windows are asked for before the first of them is written.
const KEYS_AHEAD: usize = 16;

/// Most hash functions that are chosen: few keys in a large array could have more, which the paper advises against
/// (theorem 2), and each is a window for every round.
const MAX_CHOSEN_HASHES: u32 = 8;

/// Writes the body for at least two ascending `keys`.
pub(super) fn write_body(
    spec: PublishedRencoderSpec,
    keys: &[u64],
    max_bytes: usize,
    order: &BodyOrder<'_>,
) -> Result<Vec<u8>, TooSmall> {
    let smallest_bytes = smallest_bytes(spec.tree_levels());
    if max_bytes < smallest_bytes {
        return Err(TooSmall { smallest_bytes });
    }
    let mut header = Header {
        seed: order.seed,
        max_probes: spec.max_probes(),
        hash_count: spec.hash_count().unwrap_or_else(|| own_hash_count(spec, keys, max_bytes)),
        tree_levels: spec.tree_levels(),
        stored_levels: 0,
    };
    let mut body = vec![0; max_bytes];
    let filter = PublishedRencoder::new(header, body.len());
    while header.stored_levels < u64::BITS && share_of_ones(&body[HEADER_BYTES..]) < 0.5 - THRESHOLD {
        let end = (header.stored_levels + spec.round()).min(u64::BITS);
        insert_round(&filter, keys, header.stored_levels..end, &mut body);
        header.stored_levels = end;
    }
    header.write(&mut body);
    Ok(body)
}

/// The number of hash functions of the family's own layout.
fn own_hash_count(spec: PublishedRencoderSpec, keys: &[u64], max_bytes: usize) -> u32 {
    let Some(lines) = Lines::within(max_bytes) else { return 1 };
    let room = Room { lines, tree_levels: spec.tree_levels() };
    let (counts, made) = (NodeCounts::of(keys), AllKeys(keys));
    let spec = RencoderSpec::new().with_tree_levels(spec.tree_levels());
    let designer = Designer { spec, key_count: keys.len() as f64, counts: &counts, room, made: &made };
    designer.design(&Vec::new).hash_count.min(MAX_CHOSEN_HASHES)
}

/// The share that algorithm 5 counts after each round.
fn share_of_ones(array: &[u8]) -> f64 {
    let ones: u64 = array.iter().map(|byte| u64::from(byte.count_ones())).sum();
    ones as f64 / (array.len() as f64 * 8.0)
}

/// Inserts the nodes of the heights `round` for every key.
fn insert_round(filter: &PublishedRencoder, keys: &[u64], round: std::ops::Range<u32>, body: &mut [u8]) {
    let mut before = None;
    let mut fresh: Vec<u64> = Vec::with_capacity(KEYS_AHEAD);
    for &key in keys {
        // Only within this round: with the nodes of another one, whole sets of keys would be lost.
        if before.replace(key >> round.start) == Some(key >> round.start) {
            continue;
        }
        fetch_ahead(filter, key, round.start, body);
        fresh.push(key);
        if fresh.len() == KEYS_AHEAD {
            fresh.drain(..).for_each(|key| insert(filter, key, round.clone(), body));
        }
    }
    fresh.into_iter().for_each(|key| insert(filter, key, round.clone(), body));
}

fn fetch_ahead(filter: &PublishedRencoder, key: u64, height: u32, body: &[u8]) {
    for function in 0..filter.header.hash_count {
        let start = filter.window(filter.prefix(key, height), function);
        prefetch(body, start);
        prefetch(body, start + window_bytes(filter.header.tree_levels) - 1);
    }
}

/// Sets the nodes of the heights `round` over `key`, and the roots of their mini-trees.
fn insert(filter: &PublishedRencoder, key: u64, round: std::ops::Range<u32>, body: &mut [u8]) {
    let levels = filter.header.tree_levels;
    let mut from = round.start;
    while from < round.end {
        let to = (from / levels * levels + levels).min(round.end);
        let prefix = filter.prefix(key, from);
        for function in 0..filter.header.hash_count {
            let start = filter.window(prefix, function);
            set(body, start, 1);
            (from..to).for_each(|height| set(body, start, filter.node_number(key, height)));
        }
        from = to;
    }
}

/// Sets the bit of node `number` in the window at `start`.
fn set(body: &mut [u8], start: usize, number: u64) {
    let bit = number - 1;
    body[start + (bit / 8) as usize] |= 1 << (bit % 8);
}
