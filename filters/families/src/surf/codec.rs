//! Bytes of a body: [`docs/format/surf.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/surf.md).

use lacuna_base::{Error, Result};
use lacuna_succinct::trie::Layout;

use super::suffix::Suffixes;

/// Newest version of the body, and the one written.
pub(crate) const VERSION: u16 = 1;
/// Bytes before the trie.
pub(crate) const HEADER_BYTES: usize = 16;
/// Flag: the trie is cut, so that a leaf may stand for many keys.
const CUT: u8 = 1;

/// A view of a body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Body {
    pub(crate) trie: Layout,
    pub(crate) suffixes: Suffixes,
    pub(crate) is_cut: bool,
}

/// Appends the header to `out`.
pub(crate) fn write_header(suffixes: Suffixes, is_cut: bool, out: &mut Vec<u8>) {
    let width = |bits: u32| u8::try_from(bits).expect("at most 64");
    let flags = if is_cut { CUT } else { 0 };
    out.extend_from_slice(&[width(suffixes.hash_bits), width(suffixes.real_bits), flags, 0, 0, 0, 0, 0]);
    out.extend_from_slice(&suffixes.seed.to_le_bytes());
}

impl Body {
    /// Reads the header of `body` and of the trie after it.
    pub(crate) fn open(body: &[u8]) -> Result<Self> {
        let (header, trie) = body
            .split_first_chunk::<HEADER_BYTES>()
            .ok_or_else(|| Error::corrupt(format!("{} bytes are too few for a SuRF body", body.len())))?;
        let [hash_bits, real_bits, flags, ..] = *header;
        if flags & !CUT != 0 || header[3..8] != [0; 5] {
            return Err(Error::unsupported(
                "the SuRF body has flags that this version does not know; update it",
            ));
        }
        let seed = u64::from_le_bytes(*header.last_chunk().expect("16 bytes hold 8"));
        let suffixes = Suffixes { hash_bits: hash_bits.into(), real_bits: real_bits.into(), seed };
        let trie = Layout::open(trie).map_err(|error| Error::corrupt(format!("the trie: {error}")))?;
        if suffixes.bits() != trie.value_bits() {
            return Err(Error::corrupt(format!(
                "{hash_bits} hash bits and {real_bits} real bits do not make values of {} bits",
                trie.value_bits()
            )));
        }
        Ok(Self { trie, suffixes, is_cut: flags == CUT })
    }
}
