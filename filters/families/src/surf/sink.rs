//! Where a candidate is written: an integer or a byte string, from the bytes and bits that a leaf knows.

use lacuna_succinct::bytes::low_mask;

/// Takes the bytes of a candidate.
pub(crate) trait Sink {
    /// Appends one byte.
    fn push(&mut self, byte: u8);
    /// Appends several.
    fn extend(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.push(byte));
    }
    /// Ends with the smallest key that goes on with these bits, which are the low ones of `bits`.
    fn end_low(&mut self, bits: u64, count: u32);
    /// Ends with the largest key that goes on with these bits; true: with the key after all of them.
    fn end_high(&mut self, bits: u64, count: u32) -> bool;
}

/// Eight bytes of an integer.
#[derive(Debug)]
pub(crate) struct IntegerSink {
    pub(crate) value: u64,
    free_bits: u32,
}

impl IntegerSink {
    pub(crate) fn new() -> Self {
        Self { value: 0, free_bits: 64 }
    }

    fn put(&mut self, bits: u64, count: u32) {
        let taken = count.min(self.free_bits);
        self.free_bits -= taken;
        self.value |= (bits.checked_shr(count - taken).unwrap_or(0)).checked_shl(self.free_bits).unwrap_or(0);
    }
}

impl Sink for IntegerSink {
    #[inline(always)]
    fn push(&mut self, byte: u8) {
        self.put(u64::from(byte), 8);
    }
    #[inline(always)]
    fn end_low(&mut self, bits: u64, count: u32) {
        self.put(bits, count);
    }
    #[inline(always)]
    fn end_high(&mut self, bits: u64, count: u32) -> bool {
        self.put(bits, count);
        self.value |= low_mask(self.free_bits);
        false
    }
}

/// A byte string; starts with the common prefix.
impl Sink for Vec<u8> {
    #[inline(always)]
    fn push(&mut self, byte: u8) {
        Self::push(self, byte);
    }
    #[inline(always)]
    fn extend(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
    fn end_low(&mut self, bits: u64, count: u32) {
        let aligned = bits.checked_shl(64 - count).unwrap_or(0).to_be_bytes();
        // A key that ended before its suffix did reads as zeros, so zeros at the end may not be there.
        let used = aligned.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        self.extend_from_slice(&aligned[..used]);
    }
    fn end_high(&mut self, bits: u64, count: u32) -> bool {
        let aligned = bits.checked_shl(64 - count).unwrap_or(0);
        let filled = aligned | low_mask(64 - count);
        self.extend_from_slice(&filled.to_be_bytes()[..count.div_ceil(8) as usize]);
        while self.pop_if(|last| *last == 0xFF).is_some() {}
        if let Some(last) = self.last_mut() {
            *last += 1;
        }
        true
    }
}
