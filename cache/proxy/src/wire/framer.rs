//! Messages in a stream of bytes that comes in pieces.

use super::HEADER;

/// What a length counts besides the body.
const LENGTH: usize = 4;

/// A message, or its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Message<'a> {
    pub(crate) tag: u8,
    /// The bytes of the body that were asked for, or all if they are fewer.
    pub(crate) body: &'a [u8],
    /// How long the body is.
    pub(crate) body_len: usize,
}

impl Message<'_> {
    pub(crate) const fn is_whole(&self) -> bool {
        self.body.len() == self.body_len
    }
}

/// A length that no message may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BadLength(pub(crate) i32);

/// Finds messages in a stream.
///
/// Of each body it keeps at most what [`wanted`](Framer::new) says for its type, and copies only bodies that come in
/// several pieces. So a hostile length costs nothing: no buffer has the size that a length says.
#[derive(Debug)]
pub(crate) struct Framer {
    wanted: fn(u8) -> usize,
    max_body: usize,
    /// The header or the kept beginning of a body that has not come as a whole.
    kept: Vec<u8>,
    /// The message whose body is coming.
    coming: Option<Coming>,
}

#[derive(Debug, Clone, Copy)]
struct Coming {
    tag: u8,
    body_len: usize,
    /// Bytes of the body that have not come.
    missing: usize,
    /// Bytes of the body that are to be kept.
    wanted: usize,
}

impl Framer {
    /// `wanted` says how much of a body is looked at, by the type of its message; a longer body than `max_body` is an
    /// error.
    pub(crate) const fn new(wanted: fn(u8) -> usize, max_body: usize) -> Self {
        Self { wanted, max_body, kept: Vec::new(), coming: None }
    }

    /// Bytes that are kept of a message that has not come as a whole.
    #[cfg(test)]
    pub(super) const fn kept_len(&self) -> usize {
        self.kept.len()
    }

    /// Whether the stream may end here.
    pub(crate) const fn is_between_messages(&self) -> bool {
        self.coming.is_none() && self.kept.is_empty()
    }

    /// Calls `each` with every message that ends in `piece`.
    ///
    /// # Errors
    /// [`BadLength`]; the stream cannot be followed from there on.
    pub(crate) fn feed(&mut self, piece: &[u8], mut each: impl FnMut(Message<'_>)) -> Result<(), BadLength> {
        let mut left = piece;
        while !left.is_empty() {
            left = match self.coming {
                Some(coming) => self.body(coming, left, &mut each),
                None => self.header(left, &mut each)?,
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
        let (header, left) = left.split_at(left.len().min(HEADER - self.kept.len()));
        self.kept.extend_from_slice(header);
        let Ok(header) = <[u8; HEADER]>::try_from(&self.kept[..]) else { return Ok(left) };
        self.kept.clear();
        let [tag, length @ ..] = header;
        let length = i32::from_be_bytes(length);
        let body_len = self.body_len(length);
        let body_len = body_len.ok_or(BadLength(length))?;
        let coming = Coming { tag, body_len, missing: body_len, wanted: (self.wanted)(tag).min(body_len) };
        if let Some((body, left)) = left.split_at_checked(body_len) {
            each(Message { tag, body: &body[..coming.wanted], body_len });
            return Ok(left);
        }
        self.coming = Some(coming);
        Ok(left)
    }

    fn body_len(&self, length: i32) -> Option<usize> {
        usize::try_from(length).ok()?.checked_sub(LENGTH).filter(|&body| body <= self.max_body)
    }

    /// Takes a piece of a body; gives the bytes after it.
    fn body<'p>(&mut self, coming: Coming, left: &'p [u8], each: &mut impl FnMut(Message<'_>)) -> &'p [u8] {
        let Coming { tag, body_len, missing, wanted } = coming;
        let (piece, left) = left.split_at(missing.min(left.len()));
        let keep = piece.len().min(wanted - self.kept.len());
        self.kept.extend_from_slice(&piece[..keep]);
        self.coming = Some(Coming { missing: missing - piece.len(), ..coming });
        if missing == piece.len() {
            self.coming = None;
            each(Message { tag, body: &self.kept, body_len });
            self.kept.clear();
            // A session that once had a large statement need not keep room for it.
            self.kept.shrink_to(HEADER.max(256));
        }
        left
    }
}
