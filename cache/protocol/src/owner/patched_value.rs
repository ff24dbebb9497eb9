//! What the owner knows of a value that it has patched: where in it each row was last spoken of.
//!
//! The next patch about the same part of the same row takes that place ([`About`]), so a value whose rows are updated again and
//! again does not grow. Example: `rows | 7:red | 8:blue`, then row 7 becomes green: `rows | 7:green` has another length, so it
//! is added to the end, and its place from then on is there; `7:tan` takes the place of `7:red`.
//!
//! Places hold for the value as this owner has left it. So an edit names the session of the last change that it expects, and
//! the server adds to the end what was to be replaced if that was another one.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::call::{Edited, Piece};
use crate::config::{About, Addition};
use crate::message::Session;

/// Rows of a value whose places are kept. Patches of others are added to the end.
const MAX_ROWS: usize = 256;

/// A patched value.
#[derive(Debug, Clone, Default)]
pub(super) struct PatchedValue {
    /// The session of its last change; `None` if that is not known.
    last: Option<Session>,
    /// Its bytes, as the server counts them.
    len: usize,
    /// Bytes that were added to it since it was installed or compacted.
    added: usize,
    /// Whether it waits to be compacted once no write waits.
    pub(super) is_queued: bool,
    /// The last addition about each row.
    rows: BTreeMap<Arc<[u8]>, LastAddition>,
    /// Bytes that name these rows and their parts.
    row_bytes: usize,
}

/// How many rows are remembered, and the bytes that name them and their parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct PlacedRows {
    pub(super) count: usize,
    pub(super) bytes: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    place: usize,
    len: usize,
}

#[derive(Debug, Clone)]
pub(super) struct LastAddition {
    part: Arc<[u8]>,
    span: Span,
}

/// The pieces of an edit, and what each speaks of.
#[derive(Debug, Clone, Default)]
pub(super) struct PlannedEdit {
    pieces: Vec<(Piece, Option<About>)>,
}

impl PatchedValue {
    pub(super) const fn last(&self) -> Option<Session> {
        self.last
    }

    /// The rows whose places it remembers.
    pub(super) fn rows(&self) -> PlacedRows {
        PlacedRows { count: self.rows.len(), bytes: self.row_bytes }
    }

    /// Forgets all places: what is added next comes after the end.
    pub(super) fn forget_rows(&mut self) {
        self.rows.clear();
        self.row_bytes = 0;
    }

    /// Whether what was added to the value is longer than `room` and than `percent` of what it was added to.
    pub(super) fn is_longer_than(&self, room: usize, percent: usize) -> bool {
        self.added > room && 100 * self.added > percent * self.len.saturating_sub(self.added)
    }

    /// The value is as the server says after an edit of this session. Under a flaw, the first place of a row is kept.
    pub(super) fn was_edited(
        &mut self,
        session: Session,
        plan: PlannedEdit,
        edited: Edited,
        keeps_first: bool,
    ) {
        self.last = Some(session);
        if !edited.is_as_expected {
            self.forget_rows();
        }
        let Some(len) = edited.len else { return };
        let is_at_end = |piece: &Piece| !edited.is_as_expected || piece.place.is_none();
        let appended: usize = plan
            .pieces
            .iter()
            .filter(|(piece, _)| is_at_end(piece))
            .map(|(piece, _)| piece.bytes.len())
            .sum();
        (self.len, self.added) = (len, self.added + appended);
        let mut place = len.saturating_sub(appended);
        for (piece, about) in plan.pieces.into_iter().filter(|(piece, _)| is_at_end(piece)) {
            let span = Span { place, len: piece.bytes.len() };
            place += span.len;
            match about {
                Some(about) if keeps_first && self.rows.contains_key(&about.row) => {}
                Some(about) => self.note(about, span),
                None => self.forget_rows(),
            }
        }
    }

    fn note(&mut self, about: About, span: Span) {
        if self.rows.len() < MAX_ROWS || self.rows.contains_key(&about.row) {
            let (row_bytes, part_bytes) = (about.row.len(), about.part.len());
            self.row_bytes += row_bytes + part_bytes;
            let before = self.rows.insert(about.row, LastAddition { part: about.part, span });
            self.row_bytes -= before.map_or(0, |before| row_bytes + before.part.len());
        }
    }
}

impl PlannedEdit {
    /// Plans the next addition to a value of which `known` is known.
    pub(super) fn add(&mut self, addition: &Addition, known: Option<&PatchedValue>) {
        let Addition { bytes, about } = addition;
        let piece = |place| Piece { bytes: bytes.clone(), place };
        let Some(about) = about else {
            return self.pieces.push((piece(None), None));
        };
        let is_of_row = |other: &Option<About>| other.as_ref().is_none_or(|other| other.row == about.row);
        if let Some((before, of)) = self.pieces.iter_mut().rev().find(|(_, of)| is_of_row(of)) {
            let fits = before.place.is_none() || before.bytes.len() == bytes.len();
            if fits && of.as_ref() == Some(about) {
                before.bytes = bytes.clone();
            } else {
                self.pieces.push((piece(None), Some(about.clone())));
            }
            return;
        }
        let last = known.and_then(|known| known.rows.get(&about.row));
        let place = last
            .filter(|last| last.part == about.part && last.span.len == bytes.len())
            .map(|last| last.span.place);
        self.pieces.push((piece(place), Some(about.clone())));
    }

    pub(super) fn pieces(&self) -> Vec<Piece> {
        self.pieces.iter().map(|(piece, _)| piece.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(row: u8, part: u8) -> Option<About> {
        Some(About { row: [row][..].into(), part: [part][..].into() })
    }

    fn addition(bytes: &[u8], about: Option<About>) -> Addition {
        Addition { bytes: bytes.into(), about }
    }

    /// A value of ten bytes, and the sessions of its changes.
    struct World {
        value: PatchedValue,
        session: Session,
        len: usize,
    }

    impl World {
        fn new() -> Self {
            Self { value: PatchedValue::default(), session: Session(0), len: 10 }
        }

        /// Makes one edit of these additions, as a server does; returns where its pieces went.
        fn edit(&mut self, additions: &[Addition], is_as_expected: bool) -> Vec<Option<usize>> {
            let mut plan = PlannedEdit::default();
            additions.iter().for_each(|addition| plan.add(addition, Some(&self.value)));
            let pieces = plan.pieces();
            let at_end = pieces.iter().filter(|piece| !is_as_expected || piece.place.is_none());
            let grown: usize = at_end.map(|piece| piece.bytes.len()).sum();
            self.len += grown;
            self.session.0 += 1;
            let edited = Edited { is_as_expected, len: (grown > 0).then_some(self.len) };
            self.value.was_edited(self.session, plan, edited, false);
            assert_eq!(self.value.last(), Some(self.session));
            pieces.iter().map(|piece| piece.place).collect()
        }
    }

    #[test]
    fn a_patch_takes_the_place_of_the_last_one_about_its_part_of_its_row() {
        let mut world = World::new();
        assert_eq!(
            world.edit(&[addition(b"7red", about(7, 1)), addition(b"8blue", about(8, 1))], true),
            [None; 2]
        );
        assert_eq!(world.edit(&[addition(b"8pink", about(8, 1))], true), [Some(14)]);
        assert_eq!(world.edit(&[addition(b"7tan", about(7, 1))], true), [Some(10)]);
        assert_eq!(world.len, 19);
    }

    #[test]
    fn a_patch_of_another_length_comes_after_the_end_and_is_found_there() {
        let mut world = World::new();
        world.edit(&[addition(b"7red", about(7, 1))], true);
        assert_eq!(world.edit(&[addition(b"7green", about(7, 1))], true), [None]);
        assert_eq!(world.edit(&[addition(b"7brown", about(7, 1))], true), [Some(14)]);
        assert_eq!(world.edit(&[addition(b"7tan", about(7, 1))], true), [None], "the first is not the last");
    }

    #[test]
    fn what_came_between_is_not_passed_over() {
        let mut world = World::new();
        world.edit(&[addition(b"7red", about(7, 1))], true);
        world.edit(&[addition(b"7big", about(7, 2))], true);
        assert_eq!(world.edit(&[addition(b"7tan", about(7, 1))], true), [None], "another part of the row");
        world.edit(&[addition(b"all", None)], true);
        assert_eq!(world.edit(&[addition(b"7sky", about(7, 1))], true), [None], "anything");
        let both = [addition(b"all", None), addition(b"7jet", about(7, 1))];
        assert_eq!(world.edit(&both, true), [None; 2], "anything, in the same edit");
    }

    #[test]
    fn of_two_patches_in_one_edit_the_later_stands_for_both() {
        let mut world = World::new();
        let both = [addition(b"7red", about(7, 1)), addition(b"7green", about(7, 1))];
        assert_eq!(world.edit(&both, true), [None]);
        assert_eq!(world.len, 16);
        let both = [addition(b"7brown", about(7, 1)), addition(b"7tan", about(7, 1))];
        assert_eq!(world.edit(&both, true), [Some(10), None], "the place has another length");
        let parts =
            [addition(b"7sky", about(7, 1)), addition(b"7big", about(7, 2)), addition(b"7jet", about(7, 1))];
        assert_eq!(world.edit(&parts, true), [Some(16), None, None]);
    }

    #[test]
    fn places_in_a_value_that_was_not_the_expected_one_are_forgotten() {
        let mut world = World::new();
        world.edit(&[addition(b"7red", about(7, 1)), addition(b"8tan", about(8, 1))], true);
        assert_eq!(world.edit(&[addition(b"7jet", about(7, 1))], false), [Some(10)]);
        assert_eq!(world.edit(&[addition(b"8sky", about(8, 1))], true), [None], "it is another value");
        assert_eq!(
            world.edit(&[addition(b"7sky", about(7, 1))], true),
            [Some(18)],
            "where the server has put it"
        );
    }

    #[test]
    fn rows_beyond_the_limit_are_added_to_the_end() {
        let mut world = World::new();
        let wide = |row: u64| {
            let row: Arc<[u8]> = row.to_le_bytes()[..].into();
            addition(b"row", Some(About { row, part: [1][..].into() }))
        };
        for row in 0..=MAX_ROWS as u64 {
            world.edit(&[wide(row)], true);
        }
        assert_eq!(world.edit(&[wide(0)], true), [Some(10)]);
        assert_eq!(world.edit(&[wide(MAX_ROWS as u64)], true), [None]);
    }
}
