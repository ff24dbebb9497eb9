//! Prefixes as labels: a first one of up to eight bits, then whole bytes.

/// The labels of a prefix.
pub trait Path {
    /// The label at `place`, counted from 0; places past the end are never asked.
    fn label(&self, place: usize) -> u8;
}

/// Number of labels of a prefix of `bits` bits.
#[inline(always)]
pub(super) fn label_count(bits: u32) -> usize {
    bits.div_ceil(8) as usize
}

/// Bits of the first `labels` labels of a prefix of `bits` bits.
#[inline(always)]
pub(super) fn bits_through(bits: u32, labels: usize) -> u32 {
    let behind = label_count(bits).saturating_sub(labels);
    bits - u32::try_from(behind * 8).expect("fewer bits than the prefix has")
}

/// A prefix of up to 64 bits.
///
/// ```
/// use lacuna_succinct::trie::uniform::{IntegerPath, Path};
///
/// let path = IntegerPath::new(0x1_2345, 17);
/// assert_eq!([0, 1, 2].map(|place| path.label(place)), [1, 0x23, 0x45]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IntegerPath {
    /// The labels from the highest byte down.
    aligned: u64,
}

impl IntegerPath {
    /// The lowest `bits` bits (1 to 64) of `prefix`; the bits above must be zero.
    #[inline(always)]
    pub fn new(prefix: u64, bits: u32) -> Self {
        Self { aligned: prefix << (64 - bits.next_multiple_of(8).clamp(8, 64)) }
    }
}

impl Path for IntegerPath {
    #[inline(always)]
    fn label(&self, place: usize) -> u8 {
        self.aligned.to_be_bytes()[place & 7]
    }
}

/// The first bits of a byte string, zeros where it ends.
///
/// ```
/// use lacuna_succinct::trie::uniform::{Path, StringPath};
///
/// let path = StringPath::new(b"\x91\xA2", 17);
/// assert_eq!([0, 1, 2].map(|place| path.label(place)), [1, 0x23, 0x44]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StringPath<'a> {
    key: &'a [u8],
    shift: u32,
}

impl<'a> StringPath<'a> {
    /// The first `bits` bits of `key`.
    #[inline(always)]
    pub fn new(key: &'a [u8], bits: u32) -> Self {
        Self { key, shift: bits.wrapping_neg() % 8 }
    }
}

impl Path for StringPath<'_> {
    #[inline(always)]
    fn label(&self, place: usize) -> u8 {
        let byte = |place: usize| self.key.get(place).copied().unwrap_or(0);
        let before = if place > 0 { byte(place - 1) } else { 0 };
        let [low, _] = (u16::from_be_bytes([before, byte(place)]) >> self.shift).to_le_bytes();
        low
    }
}
