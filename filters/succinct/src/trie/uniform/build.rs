//! Takes ascending prefixes and writes the trie.

use super::super::builder::{Levels, OutOfOrder};
use super::super::shape::{Branch, Divide};
use super::layout::{ENTRY_BYTES, HEADER_BYTES};
use super::path::{Path, label_count};

/// Writes a trie of uniform depth from ascending prefixes.
///
/// Memory: the trie itself and two prefixes.
///
/// ```
/// use lacuna_succinct::trie::uniform::{IntegerPath, UniformBuilder, UniformTrie};
///
/// let mut builder = UniformBuilder::new(16);
/// for prefix in [0x00F1, 0x0200, 0x0200, 0x0201] {
///     builder.add(&IntegerPath::new(prefix, 16))?;
/// }
/// let mut bytes = Vec::new();
/// builder.finish().encode(&mut bytes);
/// let trie = UniformTrie::open(&bytes)?;
/// assert_eq!(trie.len(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct UniformBuilder {
    bits: u32,
    levels: Levels,
    /// For each level but the last, its leaves and the bytes after them.
    tails: Vec<(u64, Vec<u8>)>,
    /// Labels of the prefix that was added last, not placed yet; none before the first.
    waiting: Vec<u8>,
    next: Vec<u8>,
    shared_before: Option<usize>,
}

impl UniformBuilder {
    /// A trie without prefixes; each will have `bits` bits, at least 1.
    ///
    /// # Panics
    /// If `bits` is 0.
    pub fn new(bits: u32) -> Self {
        assert!(bits > 0, "a prefix has at least one bit");
        let (waiting, next) = (Vec::new(), vec![0; label_count(bits)]);
        Self { bits, levels: Levels::new(0), tails: Vec::new(), waiting, next, shared_before: None }
    }

    /// Adds the next prefix; one equal to its predecessor is taken once.
    ///
    /// # Errors
    /// If the prefix is below the one before it; the trie is as it was.
    #[inline]
    pub fn add(&mut self, path: &impl Path) -> Result<(), OutOfOrder> {
        for (place, label) in self.next.iter_mut().enumerate() {
            *label = path.label(place);
        }
        if self.waiting.is_empty() {
            self.waiting.clone_from(&self.next);
            return Ok(());
        }
        let shared = self.waiting.iter().zip(&self.next).take_while(|(left, right)| left == right).count();
        if shared == self.next.len() {
            return Ok(());
        }
        if self.next[shared] < self.waiting[shared] {
            return Err(OutOfOrder);
        }
        self.place(Some(shared));
        std::mem::swap(&mut self.waiting, &mut self.next);
        self.shared_before = Some(shared);
        Ok(())
    }

    /// Places the waiting prefix, which shares `shared_after` labels with the next one.
    fn place(&mut self, shared_after: Option<usize>) {
        let branch = Branch::unique(self.waiting.len(), self.shared_before, shared_after);
        self.levels.add(&self.waiting, branch, 0);
        if branch.depth < self.waiting.len() {
            if self.tails.len() < branch.depth {
                self.tails.resize_with(branch.depth, Default::default);
            }
            let (leaves, tail) = &mut self.tails[branch.depth - 1];
            *leaves += 1;
            tail.extend_from_slice(&self.waiting[branch.depth..]);
        }
    }

    /// No more prefixes will come.
    pub fn finish(mut self) -> UniformParts {
        if !self.waiting.is_empty() {
            self.place(None);
        }
        UniformParts { bits: self.bits, levels: self.levels, tails: self.tails }
    }
}

/// A trie of uniform depth whose size is known and whose bytes are not written yet.
#[derive(Debug, Clone)]
pub struct UniformParts {
    bits: u32,
    levels: Levels,
    tails: Vec<(u64, Vec<u8>)>,
}

impl UniformParts {
    /// Number of distinct prefixes.
    pub fn len(&self) -> u64 {
        self.levels.shape().leaves()
    }

    /// Whether there is no prefix.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes that [`encode`](Self::encode) will write.
    pub fn byte_len(&self) -> usize {
        let tails: usize = self.tails.iter().map(|(_, tail)| ENTRY_BYTES + tail.len()).sum();
        HEADER_BYTES + tails + self.levels.shape().byte_len(Divide::LeastSize, 0)
    }

    /// Appends the trie to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let tail_bytes: usize = self.tails.iter().map(|(_, tail)| tail.len()).sum();
        let entries = u32::try_from(self.tails.len()).expect("fewer than 2^29 labels");
        out.reserve(self.byte_len());
        out.extend_from_slice(&self.bits.to_le_bytes());
        out.extend_from_slice(&entries.to_le_bytes());
        out.extend_from_slice(&(tail_bytes as u64).to_le_bytes());
        let (mut first_leaf, mut first_byte) = (0_u64, 0_u64);
        for (leaves, tail) in &self.tails {
            out.extend_from_slice(&first_leaf.to_le_bytes());
            out.extend_from_slice(&first_byte.to_le_bytes());
            first_leaf += leaves;
            first_byte += tail.len() as u64;
        }
        self.levels.encode(Divide::LeastSize, out);
        self.tails.iter().for_each(|(_, tail)| out.extend_from_slice(tail));
    }
}
