//! The fields of a message's body, read from left to right.

/// What is left to read. Every method is `None` where the body ends too early; nothing is allocated.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields<'a> {
    left: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(crate) const fn new(body: &'a [u8]) -> Self {
        Self { left: body }
    }

    pub(crate) const fn rest(&self) -> &'a [u8] {
        self.left
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, left) = self.left.split_at_checked(count)?;
        self.left = left;
        Some(bytes)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    pub(crate) fn int16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn int32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn int64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// The bytes up to a zero byte.
    pub(crate) fn text(&mut self) -> Option<&'a [u8]> {
        let end = self.left.iter().position(|&byte| byte == 0)?;
        let text = self.bytes(end)?;
        self.byte().map(|_| text)
    }

    /// A number of one, three, four or nine bytes, as its first byte says.
    pub(crate) fn number(&mut self) -> Option<u64> {
        match self.byte()? {
            small @ 0..=0xfa => Some(small.into()),
            0xfc => self.int16().map(u64::from),
            0xfd => self
                .array()
                .map(|[low, middle, high]: [u8; 3]| u32::from_le_bytes([low, middle, high, 0]).into()),
            0xfe => self.int64(),
            // 0xfb is NULL in a row, and 0xff begins an error.
            _ => None,
        }
    }

    /// A value with its length before it.
    pub(crate) fn value(&mut self) -> Option<&'a [u8]> {
        let len = self.number()?;
        self.bytes(usize::try_from(len).ok()?)
    }
}
