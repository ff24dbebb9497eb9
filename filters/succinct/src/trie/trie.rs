//! The trie together with its bytes, choosing the instructions to use.

use super::count::KeyBorder;
use super::cursor::Cursor;
use super::layout::Layout;
use super::step::Step;
use crate::arch::{Isa, Kernel, dispatch};
use crate::error::OpenError;

/// A set of byte strings with values, over bytes that are owned, borrowed or mapped.
///
/// ```
/// use lacuna_succinct::trie::{Builder, Plan, Trie};
///
/// let mut builder = Builder::new(Plan { value_bits: 5, ..Plan::default() });
/// for (key, value) in [("", 7), ("far", 9), ("farm", 30)] {
///     builder.add(key.as_bytes(), value)?;
/// }
/// let trie = Trie::open(builder.finish())?;
/// assert_eq!((trie.get(b""), trie.get(b"fa"), trie.get(b"farm")), (Some(7), None, Some(30)));
/// assert_eq!(trie.count(b"a", Some(b"farm")), 1);
/// assert_eq!(trie.count(b"a", None), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Trie<B> {
    layout: Layout,
    bytes: B,
}

impl<B: AsRef<[u8]>> Trie<B> {
    /// Opens the trie at the start of `bytes` in place.
    ///
    /// # Errors
    /// As [`Layout::open`].
    pub fn open(bytes: B) -> Result<Self, OpenError> {
        let layout = Layout::open(bytes.as_ref())?;
        Ok(Self { layout, bytes })
    }

    /// The bytes of the trie.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes.as_ref()[..self.layout.byte_len()]
    }

    /// Where its parts stand.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Number of keys.
    pub fn len(&self) -> u64 {
        self.layout.leaves()
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.layout.is_empty()
    }

    /// The value of `key`, if it is there; 0 in a trie without values.
    #[inline]
    pub fn get(&self, key: &[u8]) -> Option<u64> {
        dispatch(Get { layout: &self.layout, bytes: self.bytes.as_ref(), key })
    }

    /// Number of keys at or above `lo`, and below `hi` or up to the end.
    pub fn count(&self, lo: &[u8], hi: Option<&[u8]>) -> u64 {
        dispatch(Count { layout: &self.layout, bytes: self.bytes.as_ref(), lo, hi })
    }

    /// A cursor that stands on no key yet. It allocates as it moves; nothing else here does.
    pub fn cursor(&self) -> Cursor<'_, B> {
        Cursor::new(self)
    }
}

struct Get<'a> {
    layout: &'a Layout,
    bytes: &'a [u8],
    key: &'a [u8],
}

impl Kernel for Get<'_> {
    type Output = Option<u64>;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Option<u64> {
        let Self { layout, bytes, key } = self;
        let found = layout.leaf_on(isa, bytes, key)?;
        if found.depth == key.len() {
            Some(layout.value(bytes, found.leaf(isa, bytes, layout)))
        } else {
            None
        }
    }
}

struct Count<'a> {
    layout: &'a Layout,
    bytes: &'a [u8],
    lo: &'a [u8],
    hi: Option<&'a [u8]>,
}

impl Kernel for Count<'_> {
    type Output = u64;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> u64 {
        let lo = KeyBorder { key: self.lo, is_behind: false };
        let hi = self.hi.map(|key| KeyBorder { key, is_behind: false });
        if self.hi.is_some_and(|hi| hi <= self.lo) {
            return 0;
        }
        self.layout.count(isa, self.bytes, &lo, hi.as_ref())
    }
}

/// The leaf that a key's path meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Met {
    /// Bytes of the leaf's path, which are the first of the key.
    pub depth: usize,
    /// Whether the leaf is a mark, whose key ends right there.
    pub is_mark: bool,
    /// The leaf's slot, or the node of the mark.
    place: u64,
}

impl Met {
    /// The place of the leaf among all values.
    #[inline(always)]
    pub fn leaf<I: Isa>(&self, isa: I, bytes: &[u8], layout: &Layout) -> u64 {
        if self.is_mark {
            layout.mark_leaf(isa, bytes, self.place)
        } else {
            layout.leaf(isa, bytes, self.place)
        }
    }
}

impl Layout {
    /// The leaf whose path is `key` or a prefix of it; a mark only if its path is `key`.
    #[inline(always)]
    pub fn leaf_on<I: Isa>(&self, isa: I, bytes: &[u8], key: &[u8]) -> Option<Met> {
        let mut node = self.root();
        for (depth, &label) in key.iter().enumerate() {
            match self.step(isa, bytes, node, label) {
                Step::Absent => return None,
                Step::Leaf(slot) => return Some(Met { depth: depth + 1, is_mark: false, place: slot }),
                Step::Node { child, .. } => node = child,
            }
        }
        if self.mark(bytes, node) { Some(Met { depth: key.len(), is_mark: true, place: node }) } else { None }
    }
}
