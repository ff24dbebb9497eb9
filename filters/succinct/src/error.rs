//! Why bytes do not open as a structure.

use std::fmt;

/// The bytes are not the structure they should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenError {
    /// The bytes end too early.
    Truncated {
        /// Bytes the structure needs, as far as its header gives them.
        needed: usize,
        /// Bytes there are.
        available: usize,
    },
    /// A header field holds a value that no builder writes.
    Invalid(&'static str),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { needed, available } => {
                write!(f, "the structure needs {needed} bytes and {available} are there")
            }
            Self::Invalid(what) => write!(f, "the header does not hold together: {what}"),
        }
    }
}

impl std::error::Error for OpenError {}

/// `bytes` must hold `needed` bytes.
pub(crate) fn require(bytes: &[u8], needed: usize) -> Result<(), OpenError> {
    let available = bytes.len();
    if needed <= available { Ok(()) } else { Err(OpenError::Truncated { needed, available }) }
}
