//! What the script of changes is given: a few bytes for each entry, and each piece once.

use std::collections::HashMap;

use lacuna_cache_protocol::{Change, Edit, Piece, Query, Value};
use redis::Cmd;

const DROP: u8 = 0;
const SHOW: u8 = 1;
const HIDE: u8 = 2;

/// The arguments after session and life.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PatchArguments<'a> {
    /// Of each entry its wish in a byte, the expected session in eight and the number of its pieces in four; then of each
    /// piece its index in `pieces`, from 1 on, in four bytes, and where it goes in decimal digits, after a byte with
    /// their number: none for the end. Numbers are little-endian.
    entries: Vec<u8>,
    pieces: Vec<&'a [u8]>,
    /// Index of the entry, from 1 on; the session that the value replaces; the value.
    compacted: Vec<(usize, u64, &'a Value)>,
}

impl<'a> PatchArguments<'a> {
    /// One write adds the same bytes to all entries that show its row.
    pub(crate) fn of(changes: &'a [(Query, Change)], head_bytes: usize) -> Self {
        let mut arguments = Self::default();
        let mut known: HashMap<*const u8, u32> = HashMap::new();
        for (entry, (_, change)) in (1..).zip(changes) {
            let Change::Edit(Edit { compacted, expected, pieces, is_hidden }) = change else {
                arguments.begin_entry(DROP, 0, 0);
                continue;
            };
            let compacted = compacted.as_ref().map(|(session, value)| (entry, session.0, value));
            arguments.compacted.extend(compacted);
            let wish = if *is_hidden { HIDE } else { SHOW };
            arguments.begin_entry(wish, expected.map_or(0, |session| session.0), pieces.len());
            for Piece { bytes, place } in pieces {
                let index = arguments.index_of(bytes, &mut known);
                arguments.entries.extend(index.to_le_bytes());
                let place = place.map(|place| (place + head_bytes).to_string()).unwrap_or_default();
                arguments.entries.push(u8::try_from(place.len()).expect("a number has at most 20 digits"));
                arguments.entries.extend(place.as_bytes());
            }
        }
        arguments
    }

    fn begin_entry(&mut self, wish: u8, expected: u64, pieces: usize) {
        self.entries.push(wish);
        self.entries.extend(expected.to_le_bytes());
        self.entries
            .extend(u32::try_from(pieces).expect("a script has fewer pieces than 2^32").to_le_bytes());
    }

    /// The pieces of one write share their bytes, and are known by where these are.
    fn index_of(&mut self, piece: &'a [u8], known: &mut HashMap<*const u8, u32>) -> u32 {
        *known.entry(piece.as_ptr()).or_insert_with(|| {
            self.pieces.push(piece);
            u32::try_from(self.pieces.len()).expect("a script has fewer pieces than 2^32")
        })
    }

    /// The bytes of all of them.
    pub(crate) fn bytes(&self) -> usize {
        let pieces = self.pieces.iter().map(|piece| piece.len());
        let compacted = self.compacted.iter().map(|(_, _, value)| value.as_bytes().len());
        self.entries.len() + pieces.chain(compacted).sum::<usize>()
    }

    pub(crate) fn give_to(&self, call: &mut Cmd) {
        call.arg(&self.entries[..]).arg(self.pieces.len());
        for piece in &self.pieces {
            call.arg(*piece);
        }
        for (entry, session, value) in &self.compacted {
            call.arg(*entry).arg(*session).arg(value.as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use lacuna_cache_protocol::{Interval, Session};

    use super::*;

    #[test]
    fn what_a_write_adds_is_given_once() {
        let (row, other): (Arc<[u8]>, Arc<[u8]>) = (b"row"[..].into(), b"other"[..].into());
        let piece = |bytes: &Arc<[u8]>, place| Piece { bytes: bytes.clone(), place };
        let edit = |pieces: &[Piece], is_hidden| {
            Change::Edit(Edit { pieces: pieces.to_vec(), is_hidden, ..Edit::default() })
        };
        let value = Value::from(vec![7]);
        let compacted = Edit { compacted: Some((Session(9), value.clone())), ..Edit::default() };
        let replaces = Edit {
            expected: Some(Session(3)),
            pieces: vec![piece(&other, Some(100)), piece(&row, None)],
            ..Edit::default()
        };
        let changes = [
            edit(&[piece(&row, None)], false),
            Change::Drop,
            edit(&[piece(&row, None)], true),
            Change::Edit(compacted),
            Change::Edit(replaces),
        ];
        let changes = changes.map(|change| (Query::all(0, Interval::all()), change));
        let arguments = PatchArguments::of(&changes, 25);
        assert_eq!(arguments.pieces, [&b"row"[..], b"other"]);
        assert_eq!(arguments.compacted, [(4, 9, &value)]);
        let entry = |wish, expected: u64, pieces: u32| {
            [&[wish][..], &expected.to_le_bytes(), &pieces.to_le_bytes()].concat()
        };
        let at_end = [1, 0, 0, 0, 0];
        let expected = [
            [entry(SHOW, 0, 1), at_end.to_vec()].concat(),
            entry(DROP, 0, 0),
            [entry(HIDE, 0, 1), at_end.to_vec()].concat(),
            entry(SHOW, 0, 0),
            [&entry(SHOW, 3, 2)[..], &[2, 0, 0, 0, 3], b"125", &at_end].concat(),
        ];
        assert_eq!(arguments.entries, expected.concat());
    }
}
