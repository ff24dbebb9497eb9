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

    pub(crate) fn byte(&mut self) -> Option<u8> {
        self.bytes(1).map(|bytes| bytes[0])
    }

    pub(crate) fn int16(&mut self) -> Option<i16> {
        self.bytes(2)?.try_into().ok().map(i16::from_be_bytes)
    }

    pub(crate) fn int32(&mut self) -> Option<i32> {
        self.bytes(4)?.try_into().ok().map(i32::from_be_bytes)
    }

    /// A number of things that follow; each takes at least `size` bytes, so that a count that is too large for the
    /// body is refused before anything is made for it.
    pub(crate) fn count(&mut self, size: usize) -> Option<usize> {
        let count = usize::try_from(self.int16()?).ok()?;
        (count * size <= self.left.len()).then_some(count)
    }

    /// The bytes up to a zero byte.
    pub(crate) fn text(&mut self) -> Option<&'a [u8]> {
        let end = self.left.iter().position(|&byte| byte == 0)?;
        let text = self.bytes(end)?;
        self.byte().map(|_| text)
    }

    /// A value with its length before it; `Some(None)` is `NULL`.
    pub(crate) fn value(&mut self) -> Option<Option<&'a [u8]>> {
        match self.int32()? {
            -1 => Some(None),
            len => self.bytes(usize::try_from(len).ok()?).map(Some),
        }
    }
}
