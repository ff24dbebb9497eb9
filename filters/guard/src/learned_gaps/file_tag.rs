//! The identity of a file.

use std::fmt;

/// Sixteen bytes that no two files share: drawn at random when a file is written and kept in it, or made of what the
/// engine itself knows its files by. Equal filters do not imply equal files.
///
/// ```
/// use lacuna_guard::FileTag;
///
/// assert_eq!(FileTag([0xAB; 16]).to_string(), "abababababababababababababababab");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileTag(pub [u8; 16]);

impl FileTag {
    /// The tag with these halves.
    pub fn from_halves([low, high]: [u64; 2]) -> Self {
        Self((u128::from(high) << 64 | u128::from(low)).to_le_bytes())
    }

    /// The two halves as numbers; either serves as a hash.
    pub fn halves(self) -> [u64; 2] {
        let number = u128::from_le_bytes(self.0);
        #[expect(clippy::cast_possible_truncation, reason = "the two halves of 128 bits")]
        let halves = [number as u64, (number >> 64) as u64];
        halves
    }
}

impl fmt::Display for FileTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
