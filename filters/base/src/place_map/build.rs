//! Building a map: the trie first, then the rows for what it leaves.

use super::rows::Counts;
use super::trie::Trie;
use super::{BYTE_SET, HEADER_BYTES, MAX_BYTES, PlaceMap};
use crate::columns::SortedKeys;
use crate::window::Window;

/// Keys that the rows are counted from.
const MAX_SAMPLED: usize = 20_000;
/// Bytes counted beyond those that tell a key from its neighbours.
const BYTES_BEYOND: usize = 2;

impl PlaceMap<'_> {
    /// The bytes of a map of 64 bits for `keys`, at most `max_bytes` of them; `None` if that is too little, or if there
    /// is nothing to map.
    pub fn build(keys: SortedKeys<'_, [u8]>, max_bytes: usize) -> Option<Vec<u8>> {
        let alphabet = alphabet_of(keys);
        let max_bytes = max_bytes.min(MAX_BYTES);
        let row_bytes = 2 * alphabet.len();
        // Half for the rows, and the empty root for certain.
        let rows = (max_bytes / 2).checked_sub(HEADER_BYTES)?.checked_div(row_bytes)?.min(alphabet.len() + 1);
        let rows = rows.min(usize::from(u8::MAX));
        if rows == 0 {
            return None;
        }
        let nodes = Trie::of(keys, max_bytes - HEADER_BYTES - rows * row_bytes).encode();
        let counts = count(keys, &alphabet, &nodes);
        let contexts = counts.frequent(rows - 1);
        let mut bytes = vec![64, u8::try_from(contexts.len() + 1).expect("at most 255 rows")];
        bytes.extend_from_slice(&set_of(&alphabet));
        bytes.extend_from_slice(&set_of(&contexts));
        bytes.extend(counts.rest(&contexts));
        contexts.iter().for_each(|&before| bytes.extend(counts.row(before)));
        bytes.extend_from_slice(&nodes);
        Some(bytes)
    }

    /// Makes the places of a built map `bits` bits long, 1 to 64.
    pub fn set_bits(bytes: &mut [u8], bits: u32) {
        bytes[0] = u8::try_from(bits.clamp(1, 64)).expect("at most 64");
    }
}

/// The bytes that occur in the keys, ascending.
fn alphabet_of(keys: SortedKeys<'_, [u8]>) -> Vec<u8> {
    let mut occurs = [false; 256];
    keys.iter().flatten().for_each(|&byte| occurs[usize::from(byte)] = true);
    (0..=u8::MAX).filter(|&byte| occurs[usize::from(byte)]).collect()
}

fn set_of(bytes: &[u8]) -> [u8; BYTE_SET] {
    let mut set = [0; BYTE_SET];
    bytes.iter().for_each(|byte| set[usize::from(byte / 8)] |= 1 << (byte % 8));
    set
}

/// Counts what follows below `nodes`, as far as it tells a key from its neighbours.
fn count(keys: SortedKeys<'_, [u8]>, alphabet: &[u8], nodes: &[u8]) -> Counts {
    let mut counts = Counts::new(alphabet);
    // Without rows, a walk ends where the trie does.
    let trie = [&[64, 1][..], &[0; 2 * BYTE_SET], nodes].concat();
    let trie = PlaceMap::new(&trie).expect("a header and nodes");
    for index in (0..keys.len()).step_by(keys.len().div_ceil(MAX_SAMPLED).max(1)) {
        let key = keys.get(index);
        let neighbours = [index.checked_sub(1), Some(index + 1).filter(|&next| next < keys.len())];
        let shared =
            neighbours.into_iter().flatten().map(|next| Window::common_prefix_len(key, keys.get(next)));
        let end = shared.max().unwrap_or(0) + 1 + BYTES_BEYOND;
        let (start, mut before) = trie.left_at(key);
        for at in start..end.min(key.len() + 1) {
            let byte = key.get(at).copied();
            counts.note(before, byte);
            before = byte.unwrap_or_default();
        }
    }
    counts
}
