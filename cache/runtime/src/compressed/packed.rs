//! The bytes of a compressed value.

use lacuna_cache_protocol::Value;

const PLAIN: u8 = 0xC0;
const LZ4: u8 = 0xC1;
const ZLIB: u8 = 0xC2;
/// Bytes before a block.
const HEADER: usize = 9;
/// Maximum length of a value: the limit of the servers.
const LONGEST: usize = 512 << 20;
/// Upper bound of the LZ4 expansion ratio.
const MAX_TIMES_LZ4: usize = 256;
/// Upper bound of that of deflate: 258 bytes for a match of two bits.
#[cfg(feature = "zlib")]
const MAX_TIMES_ZLIB: usize = 1_032;

/// How values are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    /// A block of LZ4.
    Lz4,
    /// A stream of zlib, at this level.
    #[cfg(feature = "zlib")]
    Zlib(u8),
}

impl Method {
    /// `None` if the value is longer than `max` bytes afterwards.
    pub(super) fn pack(self, plain: &[u8], max: usize) -> Option<Vec<u8>> {
        let mut packed = vec![0; HEADER];
        packed[0] = self.head();
        packed[1..5].copy_from_slice(&u32::try_from(plain.len()).ok()?.to_le_bytes());
        self.append_block(plain, &mut packed, max)?;
        let block_len = u32::try_from(packed.len() - HEADER).ok()?;
        packed[5..HEADER].copy_from_slice(&block_len.to_le_bytes());
        (packed.len() <= max).then_some(packed)
    }

    const fn head(self) -> u8 {
        match self {
            Self::Lz4 => LZ4,
            #[cfg(feature = "zlib")]
            Self::Zlib(_) => ZLIB,
        }
    }

    #[cfg_attr(not(feature = "zlib"), allow(unused_variables, reason = "LZ4 needs room for the worst case"))]
    fn append_block(self, plain: &[u8], packed: &mut Vec<u8>, max: usize) -> Option<()> {
        match self {
            Self::Lz4 => {
                packed.resize(HEADER + lz4_flex::block::get_maximum_output_size(plain.len()), 0);
                let len = lz4_flex::block::compress_into(plain, &mut packed[HEADER..]).ok()?;
                packed.truncate(HEADER + len);
            }
            #[cfg(feature = "zlib")]
            Self::Zlib(level) => {
                let mut stream = flate2::Compress::new(flate2::Compression::new(level.into()), true);
                packed.reserve_exact(max.saturating_sub(HEADER));
                let status = stream.compress_vec(plain, packed, flate2::FlushCompress::Finish);
                if status.ok()? != flate2::Status::StreamEnd {
                    return None;
                }
            }
        }
        Some(())
    }
}

/// A value that is kept as it is.
pub(super) fn plain(bytes: &[u8]) -> Vec<u8> {
    [&[PLAIN][..], bytes].concat()
}

/// `None` for bytes that were not packed here.
pub(super) fn unpack(value: &Value) -> Option<Value> {
    let (head, rest) = value.as_bytes().split_first()?;
    let unblock = match *head {
        PLAIN => return Some(Value::new(rest)),
        LZ4 => unblock_lz4,
        ZLIB => unblock_zlib,
        _ => return None,
    };
    let (len, rest) = rest.split_first_chunk()?;
    let (block_len, rest) = rest.split_first_chunk()?;
    let [len, block_len] = [len, block_len].map(|len| u32::from_le_bytes(*len) as usize);
    let (block, added) = rest.split_at_checked(block_len)?;
    let mut plain = unblock(block, len).filter(|plain| plain.len() == len)?;
    plain.extend_from_slice(added);
    Some(plain.into())
}

/// Whether a block can be that long, so that room for it may be taken.
fn is_possible(len: usize, block: &[u8], max_times: usize) -> bool {
    len <= LONGEST.min(max_times.saturating_mul(block.len()))
}

fn unblock_lz4(block: &[u8], len: usize) -> Option<Vec<u8>> {
    is_possible(len, block, MAX_TIMES_LZ4).then(|| lz4_flex::block::decompress(block, len).ok()).flatten()
}

/// The whole block is one stream whose checksum is right; it never gets more room than for `len` bytes.
#[cfg(feature = "zlib")]
fn unblock_zlib(block: &[u8], len: usize) -> Option<Vec<u8>> {
    if !is_possible(len, block, MAX_TIMES_ZLIB) {
        return None;
    }
    let mut plain = Vec::new();
    plain.try_reserve_exact(len).ok()?;
    let mut stream = flate2::Decompress::new(true);
    let status = stream.decompress_vec(block, &mut plain, flate2::FlushDecompress::Finish).ok()?;
    let is_whole = status == flate2::Status::StreamEnd && stream.total_in() == block.len() as u64;
    is_whole.then_some(plain)
}

#[cfg(not(feature = "zlib"))]
fn unblock_zlib(_: &[u8], _: usize) -> Option<Vec<u8>> {
    None
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed test panics")]
mod tests {
    use super::*;

    fn methods() -> Vec<Method> {
        vec![
            Method::Lz4,
            #[cfg(feature = "zlib")]
            Method::Zlib(1),
            #[cfg(feature = "zlib")]
            Method::Zlib(9),
        ]
    }

    fn value(head: u8, len: u32, block: &[u8]) -> Value {
        let block_len = u32::try_from(block.len()).unwrap();
        Value::new(&[&[head][..], &len.to_le_bytes(), &block_len.to_le_bytes(), block].concat())
    }

    #[test]
    fn each_method_brings_values_back_and_what_was_added() {
        let text = b"a row of text, and ".repeat(100);
        for method in methods() {
            let mut packed = method.pack(&text, text.len()).unwrap();
            assert!(packed.len() * 4 < text.len(), "{method:?}");
            assert_eq!(unpack(&Value::new(&packed)).unwrap().as_bytes(), text);
            packed.extend_from_slice(b"added");
            assert_eq!(unpack(&Value::new(&packed)).unwrap().as_bytes(), [&text[..], b"added"].concat());
            assert_eq!(method.pack(&text, 20), None, "it does not fit");
        }
    }

    #[test]
    fn values_of_another_form_are_no_results() {
        for method in methods() {
            let packed = method.pack(&[7; 1_000], 1_000).unwrap();
            let cut = &packed[..packed.len() - 1];
            let head = packed[0];
            let wrong_length = [&[head, 0xE9, 3, 0, 0], &packed[5..]].concat();
            let shorter = [&[head, 0xE7, 3, 0, 0], &packed[5..]].concat();
            for bytes in [
                &[][..],
                &[1, 2, 3],
                &[head],
                &[head, 0xFF, 0xFF, 0xFF, 0xFF, 0],
                cut,
                &wrong_length,
                &shorter,
            ] {
                assert!(unpack(&Value::new(bytes)).is_none(), "{bytes:?}");
            }
            let max = u32::try_from(LONGEST).unwrap();
            assert!(unpack(&value(head, max, &[0xFF; 9])).is_none(), "too long for its block");
        }
        assert!(unpack(&value(0xC3, 3, &[1, 2, 3])).is_none());
    }

    /// Planted: the checksum left out (`Decompress::new(false)` over the stream within). Values with other bytes came back.
    #[cfg(feature = "zlib")]
    #[test]
    fn a_damaged_stream_of_zlib_is_no_result() {
        let mut rng = lacuna_testkit::effort::rng(1);
        let text: Vec<u8> = (0..600_u64).flat_map(|row| (row * row % 97).to_le_bytes()).collect();
        let packed = Method::Zlib(6).pack(&text, text.len()).unwrap();
        for place in HEADER..packed.len() {
            let mut damaged = packed.clone();
            damaged[place] ^= 1 << rng.below(8);
            let read = unpack(&Value::new(&damaged));
            assert!(read.is_none(), "seed {}: byte {place}", lacuna_testkit::effort::seed());
        }
    }

    /// Megabytes of zeros in a few kilobytes are read as far as their head says, or not at all.
    #[cfg(feature = "zlib")]
    #[test]
    fn a_bomb_of_zlib_gets_no_more_room_than_its_head_may_ask_for() {
        let zeros = vec![0; 4 << 20];
        let bomb = &Method::Zlib(9).pack(&zeros, zeros.len()).unwrap()[HEADER..];
        assert!(bomb.len() * 1_000 < zeros.len(), "{} bytes", bomb.len());
        assert!(unpack(&value(ZLIB, u32::try_from(zeros.len()).unwrap(), bomb)).is_some());
        assert!(unpack(&value(ZLIB, u32::MAX, bomb)).is_none(), "longer than any value");
        assert!(unpack(&value(ZLIB, 1_000, bomb)).is_none(), "it goes on after what its head says");
        assert!(unpack(&value(ZLIB, 1_033 * 100, &bomb[..100])).is_none(), "longer than zlib can make of it");
        assert!(
            !is_possible(LONGEST + 1, &zeros, MAX_TIMES_ZLIB) && is_possible(LONGEST, &zeros, MAX_TIMES_ZLIB)
        );
        let mut room = Vec::with_capacity(1_000);
        let granted = room.capacity();
        let mut stream = flate2::Decompress::new(true);
        let status = stream.decompress_vec(bomb, &mut room, flate2::FlushDecompress::Finish).unwrap();
        assert!(status != flate2::Status::StreamEnd && room.capacity() == granted, "the room does not grow");
    }
}
