//! The size of a trie before it is built, from counts of prefixes alone.

use super::super::shape::{Divide, Shape};
use super::layout::{ENTRY_BYTES, HEADER_BYTES};
use super::path::{bits_through, label_count};

/// Bytes of a trie of `bits` bits, predicted from the number of prefixes of each length.
///
/// `distinct(b)` is the number of distinct prefixes of b bits of the keys, and `lone(b)` the number of those that
/// belong to one key alone. A prefix of `bits` bits that several keys share may be alone in its branch too; it is
/// counted as if it were not, which makes this a little more than the trie will take.
///
/// ```
/// use lacuna_succinct::trie::uniform::uniform_bytes;
///
/// // 2^16 keys spread evenly: 256 of them below each first byte, one below each of the first two.
/// let distinct = |bits: u32| 1u64 << bits.min(16);
/// let lone = |bits: u32| if bits < 16 { 0 } else { 1 << 16 };
/// assert!(uniform_bytes(24, distinct, lone) > uniform_bytes(16, distinct, lone) + (1 << 16));
/// ```
pub fn uniform_bytes(bits: u32, distinct: impl Fn(u32) -> u64, lone: impl Fn(u32) -> u64) -> usize {
    let labels = label_count(bits);
    let mut shape = Shape::new();
    let (mut tail_bytes, mut tail_levels) = (0, 0);
    let (mut above, mut lone_above) = (1, 0);
    for level in 1..=labels {
        if level > 1 && above == lone_above {
            break;
        }
        let here = bits_through(bits, level);
        let (distinct_here, lone_here) = (distinct(here), lone(here));
        shape.push_level(above - lone_above, distinct_here - lone_above);
        if level < labels {
            tail_bytes += lone_here;
            tail_levels = if lone_here > 0 { level } else { tail_levels };
        }
        (above, lone_above) = (distinct_here, lone_here);
    }
    // After the last level that has nodes, all prefixes are alone, and each takes a byte for each label.
    let levels = shape.depth();
    tail_bytes += (levels + 1..labels).map(|_| lone_above).sum::<u64>();
    let table = HEADER_BYTES + tail_levels * ENTRY_BYTES;
    table + usize::try_from(tail_bytes).unwrap_or(usize::MAX / 2) + shape.byte_len(Divide::LeastSize, 0)
}
