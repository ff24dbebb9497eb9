//! Messages in a stream of bytes that comes in pieces.

use super::{FULL, HEADER};

/// A message, or its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Message<'a> {
    /// The bytes of the body that were asked for, or all if they are fewer.
    pub(crate) body: &'a [u8],
    /// How long the body is, in all of its packets.
    pub(crate) body_len: usize,
    /// The number of its first packet: a client begins a command with 0.
    pub(crate) first: u8,
    /// The number of its last packet.
    pub(crate) last: u8,
}

impl Message<'_> {
    pub(crate) const fn is_whole(&self) -> bool {
        self.body.len() == self.body_len
    }
}

/// A message that is longer than it may be, and the number of the packet that made it so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BadLength {
    pub(crate) body_len: usize,
    pub(crate) number: u8,
}

/// Finds messages in a stream.
///
/// Of each body it keeps at most `wanted` bytes, and copies only those of bodies that come in several pieces. So a hostile length costs
/// nothing: no buffer has the size that a length says.
#[derive(Debug)]
pub(crate) struct Framer {
    wanted: usize,
    max_body: usize,
    /// The header that has not come as a whole.
    header: Vec<u8>,
    /// The kept beginning of a body that has not come as a whole.
    kept: Vec<u8>,
    coming: Option<Coming>,
}

/// The message whose body is coming.
#[derive(Debug, Clone, Copy)]
struct Coming {
    /// By the headers that have come.
    body_len: usize,
    /// Bytes of the packet that have not come. None are missing before the header of the next packet.
    missing: usize,
    first: u8,
    last: u8,
    /// Whether another packet follows.
    goes_on: bool,
}

impl Framer {
    /// `wanted` says how much of a body is looked at; a longer body than `max_body` is an error.
    pub(crate) const fn new(wanted: usize, max_body: usize) -> Self {
        Self { wanted, max_body, header: Vec::new(), kept: Vec::new(), coming: None }
    }

    /// Bytes that are kept of a message that has not come as a whole.
    #[cfg(test)]
    pub(super) const fn kept_len(&self) -> usize {
        self.kept.len() + self.header.len()
    }

    /// Whether the stream may end here.
    pub(crate) const fn is_between_messages(&self) -> bool {
        self.coming.is_none() && self.header.is_empty()
    }

    /// Calls `each` with every message that ends in `piece`.
    ///
    /// # Errors
    /// [`BadLength`]; the stream cannot be followed from there on.
    pub(crate) fn feed(&mut self, piece: &[u8], mut each: impl FnMut(Message<'_>)) -> Result<(), BadLength> {
        let mut left = piece;
        while !left.is_empty() {
            left = match self.coming {
                Some(coming) if coming.missing > 0 => self.body(coming, left, &mut each),
                _ => self.header(left, &mut each)?,
            };
        }
        Ok(())
    }

    /// Reads a header, and the body after it if it is there as a whole; gives the bytes after them.
    fn header<'p>(
        &mut self,
        left: &'p [u8],
        each: &mut impl FnMut(Message<'_>),
    ) -> Result<&'p [u8], BadLength> {
        let (header, left) = left.split_at(left.len().min(HEADER - self.header.len()));
        self.header.extend_from_slice(header);
        let Ok([low, middle, high, number]) = <[u8; HEADER]>::try_from(&self.header[..]) else {
            return Ok(left);
        };
        self.header.clear();
        let len = usize::from(low) | (usize::from(middle) << 8) | (usize::from(high) << 16);
        let before = self.coming.take();
        let body_len = before.map_or(0, |before| before.body_len).saturating_add(len);
        if body_len > self.max_body {
            return Err(BadLength { body_len, number });
        }
        let first = before.map_or(number, |before| before.first);
        let coming = Coming { body_len, missing: len, first, last: number, goes_on: len == FULL };
        if before.is_none()
            && !coming.goes_on
            && let Some((body, left)) = left.split_at_checked(len)
        {
            let body = &body[..len.min(self.wanted)];
            each(Message { body, body_len, first, last: number });
            return Ok(left);
        }
        self.coming = Some(coming);
        if len == 0 {
            self.packet_has_come(coming, each);
        }
        Ok(left)
    }

    /// Takes a piece of a body; gives the bytes after it.
    fn body<'p>(&mut self, coming: Coming, left: &'p [u8], each: &mut impl FnMut(Message<'_>)) -> &'p [u8] {
        let (piece, left) = left.split_at(coming.missing.min(left.len()));
        let keep = piece.len().min(self.wanted - self.kept.len());
        self.kept.extend_from_slice(&piece[..keep]);
        let coming = Coming { missing: coming.missing - piece.len(), ..coming };
        self.coming = Some(coming);
        if coming.missing == 0 {
            self.packet_has_come(coming, each);
        }
        left
    }

    fn packet_has_come(&mut self, coming: Coming, each: &mut impl FnMut(Message<'_>)) {
        let Coming { body_len, first, last, goes_on, .. } = coming;
        if goes_on {
            return;
        }
        self.coming = None;
        each(Message { body: &self.kept, body_len, first, last });
        self.kept.clear();
        // A session that once had a large statement need not keep room for it.
        self.kept.shrink_to(256);
    }
}
