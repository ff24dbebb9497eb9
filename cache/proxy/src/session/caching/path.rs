//! Which schemas a session searches, as a number: equal numbers mean the same schemas.
//!
//! The server gives the parameters of a statement their types when it is prepared, by the tables that its names mean then. What the
//! session searches is known only when it is asked, often after that; so a moment has a number at once, and gets its schemas later.

/// Most lists of schemas that are remembered for a session.
const MAX_KNOWN: usize = 16;

/// See the module.
#[derive(Debug)]
pub(super) struct Path {
    number: u64,
    next: u64,
    known: Vec<(Vec<String>, u64)>,
    /// Whether it was changed in the open transaction, whose rollback would change it back.
    is_open: bool,
}

impl Default for Path {
    fn default() -> Self {
        Self { number: 1, next: 2, known: Vec::new(), is_open: false }
    }
}

impl Path {
    /// A number that no path has.
    pub(super) const NONE: u64 = 0;

    pub(super) const fn number(&self) -> u64 {
        self.number
    }

    const fn take_number(&mut self) -> u64 {
        let number = self.next;
        self.next += 1;
        number
    }

    /// It may be another one from now on.
    pub(super) const fn changes(&mut self) {
        self.number = self.take_number();
        self.is_open = true;
    }

    /// The transaction is over.
    pub(super) const fn ends_transaction(&mut self) {
        if self.is_open {
            self.changes();
            self.is_open = false;
        }
    }

    /// The session has said what it searches. Returns the number that has another one from now on, and that one.
    pub(super) fn is_told(&mut self, searched: &[String]) -> Option<(u64, u64)> {
        let last = self.number;
        let was_known = self.known.iter().any(|(_, number)| *number == last);
        self.number = match self.known.iter().find(|(known, _)| known == searched) {
            Some((_, number)) => *number,
            None => {
                if self.known.len() >= MAX_KNOWN {
                    self.known.clear();
                }
                let number = if was_known { self.take_number() } else { last };
                self.known.push((searched.to_vec(), number));
                number
            }
        };
        if self.number == last {
            return None;
        }
        // It changed without being seen to: what was prepared meanwhile is of the one or of the other.
        let renamed = if was_known { self.take_number() } else { self.number };
        Some((last, renamed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(path: &mut Path, searched: &str) -> Option<(u64, u64)> {
        path.is_told(&[searched.to_owned()])
    }

    #[test]
    fn the_same_schemas_have_the_same_number() {
        let mut path = Path::default();
        assert_eq!(told(&mut path, "public"), None);
        let first = path.number();
        path.changes();
        let meanwhile = path.number();
        assert_ne!(meanwhile, first);
        assert_eq!(told(&mut path, "public"), Some((meanwhile, first)));
        path.changes();
        assert_eq!(told(&mut path, "other"), None);
        assert_ne!(path.number(), first);
    }

    #[test]
    fn a_change_that_is_rolled_back_is_another_one() {
        let mut path = Path::default();
        assert_eq!(told(&mut path, "public"), None);
        let first = path.number();
        path.changes();
        let inside = path.number();
        path.ends_transaction();
        assert_ne!(path.number(), inside);
        path.ends_transaction();
        let after = path.number();
        assert_eq!(told(&mut path, "public"), Some((after, first)));
    }

    #[test]
    fn what_was_prepared_before_an_unseen_change_is_of_neither() {
        let mut path = Path::default();
        assert_eq!(told(&mut path, "public"), None);
        let first = path.number();
        let (last, renamed) = told(&mut path, "other").unwrap();
        assert_eq!(last, first);
        assert!(renamed != first && renamed != path.number());
        let other = path.number();
        let (last, renamed) = told(&mut path, "public").unwrap();
        assert!(last == other && path.number() == first && renamed != first);
    }

    #[test]
    fn a_session_that_searches_ever_others_takes_no_more_memory() {
        let mut path = Path::default();
        for round in 0..100 {
            path.changes();
            told(&mut path, &round.to_string());
        }
        assert!(path.known.len() <= MAX_KNOWN);
    }
}
