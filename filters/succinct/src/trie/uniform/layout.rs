//! The header: opening, and where everything stands after it.

use super::super::layout::Layout;
use super::path::label_count;
use crate::bytes::{address, load_u32, load_u64};
use crate::error::{OpenError, require};

/// Bytes before the table of tails.
pub(super) const HEADER_BYTES: usize = 16;
/// Bytes of an entry of that table: the first leaf of a level, and the first byte of its tails.
pub(super) const ENTRY_BYTES: usize = 16;

/// Where a trie of uniform depth stands in its bytes; every call takes the same bytes that were opened.
///
/// ```
/// use lacuna_succinct::arch::Scalar;
/// use lacuna_succinct::trie::uniform::{IntegerPath, UniformBuilder, UniformTrie};
///
/// let mut builder = UniformBuilder::new(12);
/// for prefix in [0x123, 0x7F0] {
///     builder.add(&IntegerPath::new(prefix, 12))?;
/// }
/// let mut bytes = Vec::new();
/// builder.finish().encode(&mut bytes);
/// let trie = UniformTrie::open(&bytes)?;
/// let path = |prefix| IntegerPath::new(prefix, 12);
/// assert!(trie.contains(Scalar, &bytes, &path(0x123)) && !trie.contains(Scalar, &bytes, &path(0x124)));
/// assert_eq!(trie.next_integer(Scalar, &bytes, 0x124), Some(0x7F0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UniformTrie {
    pub(super) bits: u32,
    pub(super) labels: usize,
    pub(super) branches: Layout,
    pub(super) branches_at: usize,
    /// Levels whose leaves have bytes after them.
    tail_levels: usize,
    tails_at: usize,
    end: usize,
}

impl UniformTrie {
    /// Reads and checks the headers at the start of `bytes` without looking further; more bytes may follow.
    ///
    /// # Errors
    /// If the bytes end too early or the fields do not hold together.
    pub fn open(bytes: &[u8]) -> Result<Self, OpenError> {
        require(bytes, HEADER_BYTES)?;
        let (bits, entries) = (load_u32(bytes, 0), load_u32(bytes, 4));
        let labels = label_count(bits);
        let tail_levels = entries as usize;
        if bits == 0 || tail_levels >= labels {
            return Err(OpenError::Invalid("prefixes without bits, or tails after the last level"));
        }
        let branches_at = HEADER_BYTES + tail_levels * ENTRY_BYTES;
        require(bytes, branches_at)?;
        let branches = Layout::open(&bytes[branches_at..])?;
        let tails_at = branches_at + branches.byte_len();
        let end = tails_at.saturating_add(address(load_u64(bytes, 8)));
        require(bytes, end)?;
        Ok(Self { bits, labels, branches, branches_at, tail_levels, tails_at, end })
    }

    /// Bits of each prefix.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Number of distinct prefixes.
    pub fn len(&self) -> u64 {
        self.branches.leaves()
    }

    /// Whether there is no prefix.
    pub fn is_empty(&self) -> bool {
        self.branches.is_empty()
    }

    /// Bytes of the whole trie.
    pub fn byte_len(&self) -> usize {
        self.end
    }

    /// The bytes after leaf `leaf`, whose path has `depth` labels: those of the labels that follow. Damaged bytes may
    /// give fewer.
    #[inline(always)]
    pub(super) fn tail<'b>(&self, bytes: &'b [u8], leaf: u64, depth: usize) -> &'b [u8] {
        let level = depth - 1;
        if level >= self.tail_levels {
            return &[];
        }
        let entry = HEADER_BYTES + level * ENTRY_BYTES;
        let index = leaf.wrapping_sub(load_u64(bytes, entry));
        let width = self.labels - depth;
        let from = load_u64(bytes, entry + 8).saturating_add(index.saturating_mul(width as u64));
        let start = self.tails_at.saturating_add(address(from));
        let end = start.saturating_add(width);
        if end <= self.end { bytes.get(start..end).unwrap_or_default() } else { &[] }
    }
}
