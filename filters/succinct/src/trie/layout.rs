//! The header: opening, and where everything stands after it.

use super::geometry::{BLOCK_SLOTS, Geometry, HEADER_BYTES, Parts};
use crate::bytes::{address, bits_at, load_u32, load_u64};
use crate::error::{OpenError, require};

/// Where the parts of a trie stand in its bytes. Every query takes the same bytes that were opened.
///
/// Places inside are *addresses*: slots are numbered through all dense nodes, 256 each, and then through the sparse
/// ones, so that the children of ascending slots have ascending addresses. A node is named by its first slot.
///
/// ```
/// use lacuna_succinct::arch::Scalar;
/// use lacuna_succinct::trie::{Builder, Layout, Plan};
///
/// let mut builder = Builder::new(Plan::default());
/// for key in ["ant", "bee"] {
///     builder.add(key.as_bytes(), 0)?;
/// }
/// let bytes = builder.finish();
/// let layout = Layout::open(&bytes)?;
/// assert_eq!((layout.leaves(), layout.byte_len()), (2, bytes.len()));
/// let slot = layout.find(Scalar, &bytes, layout.root(), b'b').expect("one key starts with b");
/// assert!(layout.has_child(&bytes, slot));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Addresses below this one are dense.
    pub(super) dense_slots: u64,
    /// One past the last address.
    pub(super) end: u64,
    pub(super) leaves: u64,
    pub(super) levels: u32,
    pub(super) value_bits: u32,
    /// The last sparse block, and the words of its bitmaps.
    pub(super) last_block: u64,
    pub(super) last_words: usize,
    pub(super) parts: Parts,
}

impl Layout {
    /// Reads and checks the header at the start of `bytes` without looking further; more bytes may follow.
    ///
    /// # Errors
    /// If the bytes end too early or the header's fields do not hold together.
    pub fn open(bytes: &[u8]) -> Result<Self, OpenError> {
        require(bytes, HEADER_BYTES)?;
        let geometry = Geometry {
            dense_nodes: load_u64(bytes, 0),
            sparse_slots: load_u64(bytes, 8),
            leaves: load_u64(bytes, 16),
            value_bits: load_u32(bytes, 28),
        };
        if geometry.value_bits > 64 {
            return Err(OpenError::Invalid("values of more than 64 bits"));
        }
        let parts = geometry.parts();
        require(bytes, parts.end)?;
        // From here on the slots fit into memory, so that sums of addresses do not overflow.
        let dense_slots = geometry.dense_nodes * BLOCK_SLOTS;
        let end = dense_slots + geometry.sparse_slots;
        let levels = load_u32(bytes, 24);
        if u64::from(levels) > end || geometry.leaves > end + geometry.dense_nodes {
            return Err(OpenError::Invalid("a trie with more levels or leaves than slots"));
        }
        Ok(Self {
            dense_slots,
            end,
            leaves: geometry.leaves,
            levels,
            value_bits: geometry.value_bits,
            last_block: geometry.blocks().saturating_sub(1),
            last_words: address(geometry.last_block_words()),
            parts,
        })
    }

    /// Number of leaves: keys, or groups of keys that share a path.
    pub fn leaves(&self) -> u64 {
        self.leaves
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.leaves == 0
    }

    /// Number of levels: the length of the longest path, and one more if a prefix key's mark lies below.
    pub fn levels(&self) -> usize {
        self.levels as usize
    }

    /// Number of dense nodes.
    pub fn dense_nodes(&self) -> u64 {
        self.dense_slots / BLOCK_SLOTS
    }

    /// Number of sparse slots.
    pub fn sparse_slots(&self) -> u64 {
        self.end - self.dense_slots
    }

    /// Bits of a value.
    pub fn value_bits(&self) -> u32 {
        self.value_bits
    }

    /// Bytes of the whole trie.
    pub fn byte_len(&self) -> usize {
        self.parts.end
    }

    /// The node that all paths start from.
    #[inline(always)]
    pub fn root(&self) -> u64 {
        0
    }

    /// Whether `node` is inside the trie; only damaged bytes and a trie without keys lead outside.
    #[inline(always)]
    pub fn is_node(&self, node: u64) -> bool {
        node < self.end
    }

    /// The value of leaf `leaf`; 0 past the end and in a trie without values.
    #[inline(always)]
    pub fn value(&self, bytes: &[u8], leaf: u64) -> u64 {
        if leaf >= self.leaves {
            return 0;
        }
        let first_bit = self.parts.values as u64 * 8;
        bits_at(bytes, first_bit + leaf * u64::from(self.value_bits), self.value_bits)
    }
}
