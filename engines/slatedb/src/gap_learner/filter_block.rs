//! The tag in a filter block of SlateDB 0.18.
//!
//! All filters of an SST stand in one block: their number (two bytes, big-endian), then for each the length of its
//! policy's name (two bytes), the name, the length of its bytes (eight), the bytes; last a checksum of four bytes.
//! A block of another form has no tag. A damaged block can only show a tag that no other file has.

use lacuna_guard::FileTag;
use slatedb::manifest::SsTableInfo;

use crate::file_tag;

/// The tag that the filter of `policy` carries in this `block` of an SST.
pub(super) fn tag_of(info: &SsTableInfo, block: &[u8], policy: &str) -> Option<FileTag> {
    // A compressed block would have to be decompressed as SlateDB does it.
    if info.compression_codec.is_some() {
        return None;
    }
    let mut rest = block;
    for _ in 0..u16::from_be_bytes(*take(&mut rest)?) {
        let name_len = usize::from(u16::from_be_bytes(*take(&mut rest)?));
        let name = take_slice(&mut rest, name_len)?;
        let data_len = usize::try_from(u64::from_be_bytes(*take(&mut rest)?)).ok()?;
        let data = take_slice(&mut rest, data_len)?;
        if name == policy.as_bytes() {
            return file_tag::split(data).1;
        }
    }
    None
}

fn take<'a, const LEN: usize>(rest: &mut &'a [u8]) -> Option<&'a [u8; LEN]> {
    let (taken, left) = rest.split_first_chunk()?;
    *rest = left;
    Some(taken)
}

fn take_slice<'a>(rest: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(len)?;
    *rest = left;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_that_do_not_hold_together_have_no_tag() {
        let name = "lacuna.v1.bytes";
        let mut block = vec![0, 1, 0, 15];
        block.extend_from_slice(name.as_bytes());
        block.extend_from_slice(&30u64.to_be_bytes());
        block.extend_from_slice(&[0; 34]);
        for len in 0..=block.len() {
            assert_eq!(tag_of(&SsTableInfo::default(), &block[..len], name), None, "{len} bytes");
        }
        block[19..27].copy_from_slice(&u64::MAX.to_be_bytes());
        assert_eq!(tag_of(&SsTableInfo::default(), &block, name), None);
    }
}
