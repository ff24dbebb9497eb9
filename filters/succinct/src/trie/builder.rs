//! Takes ascending keys in one pass and keeps nothing of them but the levels they add to.

use std::fmt;

use super::encode::encode;
use super::level::{Level, MARK};
use super::shape::{Branch, Divide, Shape};

/// How much of each key the trie keeps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Keep {
    /// All of it: the trie is the set.
    #[default]
    Whole,
    /// As many bytes as distinguish it from its neighbours.
    Unique,
}

/// How to build a trie.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Plan {
    /// How much of each key is kept.
    pub keep: Keep,
    /// Where dense ends and sparse begins.
    pub divide: Divide,
    /// Bits of the value of each key, 0 to 64.
    pub value_bits: u32,
}

/// A key came that was not above the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutOfOrder;

impl fmt::Display for OutOfOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key is not above the one before it; sort the keys and remove repeats first")
    }
}

impl std::error::Error for OutOfOrder {}

/// Writes a trie from ascending keys.
///
/// Memory: the trie itself and one key. A key is placed when the next one comes, which decides how much of it is kept.
///
/// ```
/// use lacuna_succinct::trie::{Builder, Plan, Trie};
///
/// let mut builder = Builder::new(Plan { value_bits: 8, ..Plan::default() });
/// for (key, value) in [("f", 1), ("far", 2), ("fat", 3)] {
///     builder.add(key.as_bytes(), value)?;
/// }
/// assert!(builder.add(b"fas", 4).is_err());
/// let trie = Trie::open(builder.finish())?;
/// assert_eq!(trie.get(b"far"), Some(2));
/// assert_eq!(trie.get(b"fa"), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Builder {
    plan: Plan,
    levels: Levels,
    /// The key that was added last, not placed yet.
    waiting: Option<Waiting>,
}

#[derive(Debug, Clone)]
struct Waiting {
    key: Vec<u8>,
    value: u64,
    shared_before: Option<usize>,
}

impl Builder {
    /// A trie without keys.
    pub fn new(plan: Plan) -> Self {
        Self { plan, levels: Levels::new(plan.value_bits), waiting: None }
    }

    /// Adds the next key with the low `value_bits` bits of its value.
    ///
    /// # Errors
    /// If the key is not above the one before it; the trie is as it was.
    pub fn add(&mut self, key: &[u8], value: u64) -> Result<(), OutOfOrder> {
        let Some(waiting) = &mut self.waiting else {
            self.waiting = Some(Waiting { key: key.to_vec(), value, shared_before: None });
            return Ok(());
        };
        if key <= waiting.key.as_slice() {
            return Err(OutOfOrder);
        }
        let shared = shared_len(&waiting.key, key);
        place(&mut self.levels, self.plan.keep, waiting, Some(shared));
        waiting.key.truncate(shared);
        waiting.key.extend_from_slice(&key[shared..]);
        (waiting.value, waiting.shared_before) = (value, Some(shared));
        Ok(())
    }

    /// The bytes of the trie.
    pub fn finish(mut self) -> Vec<u8> {
        if let Some(waiting) = &self.waiting {
            place(&mut self.levels, self.plan.keep, waiting, None);
        }
        let mut bytes = Vec::new();
        self.levels.encode(self.plan.divide, &mut bytes);
        bytes
    }
}

fn place(levels: &mut Levels, keep: Keep, waiting: &Waiting, shared_after: Option<usize>) {
    let branch = match keep {
        Keep::Whole => Branch::whole,
        Keep::Unique => Branch::unique,
    }(waiting.key.len(), waiting.shared_before, shared_after);
    levels.add(&waiting.key, branch, waiting.value);
}

/// Leading bytes that two keys share.
#[inline]
pub fn shared_len(left: &[u8], right: &[u8]) -> usize {
    let whole =
        left.as_chunks::<8>().0.iter().zip(right.as_chunks::<8>().0).take_while(|(a, b)| a == b).count() * 8;
    let rest = left[whole..].iter().zip(&right[whole..]).take_while(|(a, b)| a == b).count();
    whole + rest
}

/// The levels of a growing trie, for callers that know the [`Branch`] of each key.
#[derive(Debug, Clone)]
pub struct Levels {
    pub(super) levels: Vec<Level>,
    pub(super) shape: Shape,
    pub(super) value_bits: u32,
}

impl Levels {
    /// No path yet; values have `value_bits` bits, 0 to 64.
    ///
    /// # Panics
    /// If `value_bits` is above 64.
    pub fn new(value_bits: u32) -> Self {
        assert!(value_bits <= 64, "a value has at most 64 bits");
        Self { levels: Vec::new(), shape: Shape::new(), value_bits }
    }

    /// Adds the path of the next key: its first `branch.depth` bytes.
    ///
    /// # Panics
    /// If the key is shorter than its path, or shares all of it with the path before.
    #[inline]
    pub fn add(&mut self, key: &[u8], branch: Branch, value: u64) {
        let Branch { shared, depth, is_prefix } = branch;
        let deepest = depth + usize::from(is_prefix);
        if self.levels.len() < deepest {
            self.levels.resize_with(deepest, Level::default);
        }
        let starts_trie = self.shape.leaves() == 0;
        self.shape.add(branch);
        for (place, &label) in key[shared..depth].iter().enumerate() {
            let has_child = shared + place + 1 < deepest;
            self.levels[shared + place].push(label, has_child, place > 0 || starts_trie);
        }
        let last = &mut self.levels[deepest - 1];
        if is_prefix {
            last.push(MARK, false, true);
        }
        last.values.push_bits(value, self.value_bits);
    }

    /// The counts of every level.
    pub(crate) fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Appends the trie to `out`.
    pub fn encode(&self, divide: Divide, out: &mut Vec<u8>) {
        encode(self, divide, out);
    }
}
