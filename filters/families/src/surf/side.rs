//! The two directions of a walk, as far as they differ in which slot comes next.

use std::cmp::Ordering;

use lacuna_base::Candidate;
use lacuna_succinct::arch::Isa;
use lacuna_succinct::trie::Layout;

use super::seek::CERTAIN;
use super::sink::Sink;

/// The side on which a walk looks for keys.
pub(crate) trait Side {
    /// How the key of a leaf that is not wanted compares with the key asked from.
    const UNWANTED: Ordering;
    /// Whether a node's mark is met before its labels.
    const MARK_FIRST: bool;
    /// The slot of `node` that is `label` or the next beyond it.
    fn slot_from<I: Isa>(trie: &Layout, isa: I, bytes: &[u8], node: u64, label: u8) -> Option<u64>;
    /// The slot beyond `slot` in its node.
    fn slot_beyond(trie: &Layout, bytes: &[u8], slot: u64) -> Option<u64>;
    /// The slot of `node` that is met first.
    fn first_slot<I: Isa>(trie: &Layout, isa: I, bytes: &[u8], node: u64) -> Option<u64>;
    /// Ends a candidate whose leaf knows these bits.
    fn end(out: &mut impl Sink, bits: u64, count: u32) -> Candidate;
}

/// Upwards, to the smallest key at or above the one asked from.
#[derive(Debug)]
pub(crate) struct Above;

/// Downwards, to the largest key at or below the one asked from.
#[derive(Debug)]
pub(crate) struct Below;

impl Side for Above {
    const UNWANTED: Ordering = Ordering::Less;
    const MARK_FIRST: bool = true;
    #[inline(always)]
    fn slot_from<I: Isa>(trie: &Layout, isa: I, bytes: &[u8], node: u64, label: u8) -> Option<u64> {
        trie.first_at_or_after(isa, bytes, node, u32::from(label))
    }
    #[inline(always)]
    fn slot_beyond(trie: &Layout, bytes: &[u8], slot: u64) -> Option<u64> {
        trie.next_slot(bytes, slot)
    }
    #[inline(always)]
    fn first_slot<I: Isa>(trie: &Layout, isa: I, bytes: &[u8], node: u64) -> Option<u64> {
        trie.first_at_or_after(isa, bytes, node, 0)
    }
    #[inline(always)]
    fn end(out: &mut impl Sink, bits: u64, count: u32) -> Candidate {
        out.end_low(bits, count);
        CERTAIN
    }
}

impl Side for Below {
    const UNWANTED: Ordering = Ordering::Greater;
    const MARK_FIRST: bool = false;
    #[inline(always)]
    fn slot_from<I: Isa>(trie: &Layout, isa: I, bytes: &[u8], node: u64, label: u8) -> Option<u64> {
        trie.last_before(isa, bytes, node, u32::from(label) + 1)
    }
    #[inline(always)]
    fn slot_beyond(trie: &Layout, bytes: &[u8], slot: u64) -> Option<u64> {
        trie.previous_slot(bytes, slot)
    }
    #[inline(always)]
    fn first_slot<I: Isa>(trie: &Layout, isa: I, bytes: &[u8], node: u64) -> Option<u64> {
        trie.last_before(isa, bytes, node, 256)
    }
    #[inline(always)]
    fn end(out: &mut impl Sink, bits: u64, count: u32) -> Candidate {
        Candidate { is_excluded: out.end_high(bits, count), ..CERTAIN }
    }
}
