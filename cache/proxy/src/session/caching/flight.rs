//! A statement that came alone: all that its client waits for, in one piece.

use crate::wire::Fields;

/// What a client has sent, if it is one statement of a form that can be answered from the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flight<'b> {
    /// The text of a `Query`.
    Simple(&'b [u8]),
    /// `Parse`?, `Bind`, `Describe`? of the portal, `Execute` of all rows, `Sync`, all without names but for the statement.
    Extended(Extended<'b>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extended<'b> {
    /// The whole message, if the statement is prepared as well.
    pub(super) parse: Option<&'b [u8]>,
    /// The statement's name.
    pub(super) name: &'b [u8],
    /// Formats and values, and formats of the result.
    pub(super) values: &'b [u8],
    pub(super) is_described: bool,
}

/// The flight that `bytes` are, from the first to the last.
pub(super) fn flight(bytes: &[u8]) -> Option<Flight<'_>> {
    let mut left = bytes;
    let (tag, body) = message(&mut left)?;
    if tag == b'Q' {
        return Some(Flight::Simple(text(body)?)).filter(|_| left.is_empty());
    }
    extended(bytes).map(Flight::Extended)
}

fn extended(bytes: &[u8]) -> Option<Extended<'_>> {
    let mut left = bytes;
    let (mut tag, mut body) = message(&mut left)?;
    let mut parse = None;
    if tag == b'P' {
        // One with a name is for later, too: it is for the server to keep.
        parse = Some(&bytes[..bytes.len() - left.len()]).filter(|_| body.first() == Some(&0));
        parse?;
        (tag, body) = message(&mut left)?;
    }
    let mut fields = Fields::new(body);
    let (portal, name) = (fields.text()?, fields.text()?);
    if tag != b'B' || !portal.is_empty() || (parse.is_some() && !name.is_empty()) {
        return None;
    }
    let values = fields.rest();
    (tag, body) = message(&mut left)?;
    let is_described = (tag, body) == (b'D', b"P\0");
    if is_described {
        (tag, body) = message(&mut left)?;
    }
    let executes_all = (tag, body) == (b'E', b"\0\0\0\0\0");
    let is_end = message(&mut left)? == (b'S', b"") && left.is_empty();
    (executes_all && is_end).then_some(Extended { parse, name, values, is_described })
}

/// The text of a `Query`, which has nothing after its end.
pub(super) fn text(body: &[u8]) -> Option<&[u8]> {
    let (end, text) = body.split_last()?;
    (*end == 0 && !text.contains(&0)).then_some(text)
}

fn message<'b>(left: &mut &'b [u8]) -> Option<(u8, &'b [u8])> {
    let mut fields = Fields::new(left);
    let tag = fields.byte()?;
    let len = usize::try_from(fields.int32()?).ok()?.checked_sub(4)?;
    let body = fields.bytes(len)?;
    *left = fields.rest();
    Some((tag, body))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(messages: &[(u8, &[u8])]) -> Vec<u8> {
        let one = |(tag, body): &(u8, &[u8])| {
            [&[*tag][..], &u32::try_from(body.len() + 4).unwrap().to_be_bytes(), body].concat()
        };
        messages.iter().flat_map(one).collect()
    }

    const PARSE: (u8, &[u8]) = (b'P', b"\0SELECT 1\0\0\0");
    const BIND: (u8, &[u8]) = (b'B', b"\0\0\0\0\0\0\0\0");
    const NAMED: (u8, &[u8]) = (b'B', b"\0s\0\0\0\0\0\0\0");
    const DESCRIBE: (u8, &[u8]) = (b'D', b"P\0");
    const EXECUTE: (u8, &[u8]) = (b'E', b"\0\0\0\0\0");
    const SYNC: (u8, &[u8]) = (b'S', b"");

    #[test]
    fn statements_that_come_alone_are_flights() {
        let query = bytes(&[(b'Q', b"SELECT 1\0")]);
        assert_eq!(flight(&query), Some(Flight::Simple(b"SELECT 1")));
        for (messages, is_parsed, is_described) in [
            (&[PARSE, BIND, DESCRIBE, EXECUTE, SYNC][..], true, true),
            (&[PARSE, BIND, EXECUTE, SYNC], true, false),
            (&[NAMED, DESCRIBE, EXECUTE, SYNC], false, true),
            (&[NAMED, EXECUTE, SYNC], false, false),
        ] {
            let all = bytes(messages);
            let Some(Flight::Extended(found)) = flight(&all) else { panic!("{messages:?}") };
            assert_eq!((found.parse.is_some(), found.is_described), (is_parsed, is_described));
            assert_eq!(found.values, [0; 6]);
            for end in 0..all.len() {
                assert_eq!(flight(&all[..end]), None, "it has not come as a whole");
            }
        }
    }

    #[test]
    fn others_are_none() {
        for messages in [
            &[(b'Q', &b"SELECT 1\0"[..]), (b'Q', b"SELECT 2\0")][..],
            &[(b'Q', b"SELECT 1\0x\0")],
            &[(b'Q', b"SELECT 1")],
            &[(b'P', b"s\0SELECT 1\0\0\0"), NAMED, EXECUTE, SYNC],
            &[PARSE, NAMED, EXECUTE, SYNC],
            &[(b'B', b"p\0\0\0\0\0\0\0\0"), (b'E', b"p\0\0\0\0\0"), SYNC],
            &[BIND, (b'E', b"\0\0\0\0\x05"), SYNC],
            &[BIND, EXECUTE, BIND, EXECUTE, SYNC],
            &[BIND, EXECUTE, (b'H', b"")],
            &[BIND, (b'D', b"S\0"), EXECUTE, SYNC],
            &[BIND, EXECUTE, (b'C', b"P\0"), SYNC],
            &[SYNC],
        ] {
            assert_eq!(flight(&bytes(messages)), None, "{messages:?}");
        }
    }
}
