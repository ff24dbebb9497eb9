//! What a file is known by.

use std::fmt;

/// Sixteen bytes that no two files share. The adapter draws them at random when a file is written and keeps them in
/// the file; equal filters are no sign of equal files.
///
/// ```
/// use lacuna_guard::FileTag;
///
/// assert_eq!(FileTag([0xAB; 16]).to_string(), "abababababababababababababababab");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileTag(pub [u8; 16]);

impl fmt::Display for FileTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
