//! Which statement a name stands for at the server, as far as that is certain.
//!
//! A `Parse` counts once the server has answered it; until then it counts for messages of the same flight only: if it fails,
//! the server skips them. A name that may stand for either of two statements stands for none.

use std::collections::{HashMap, VecDeque};

use crate::cache::{AsOf, Prepared};
use crate::follow::Failed;

/// Most names that are remembered.
const MAX_NAMES: usize = 10_000;
/// Most messages whose answers are waited for; after more, nothing is known for the rest of the session.
const MAX_ASKED: usize = 100_000;

type Name = Box<[u8]>;

/// A message that the server need not see if it takes another.
type Owed = Option<Vec<u8>>;

/// A message whose answer tells what a name stands for.
#[derive(Debug)]
enum Sent {
    Parse(Name, Option<Prepared>, Owed),
    Close(Owed),
    /// One of the proxy's own, whose answer is not for the client; with its bytes if the server must see it in any case.
    Own(Owed),
    Query(Owed),
    /// `Sync`, or a function call: all up to it is answered with `ReadyForQuery`.
    Ready,
}

#[derive(Debug, Default)]
pub(super) struct Names {
    known: HashMap<Name, Prepared>,
    /// What stood for a name before SQL may have changed that.
    unconfirmed: HashMap<Name, Prepared>,
    asked: VecDeque<Sent>,
    /// What the message that is sent now replaces.
    replaced: Owed,
    /// Whether the server skips all up to the next `Sync`.
    is_skipping: bool,
    is_over: bool,
    /// Whether answers have come that were not expected, since the session was last at rest.
    is_out_of_step: bool,
}

/// An answer that was not expected.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OutOfStep;

impl Names {
    fn ask(&mut self, asked: Sent) {
        self.is_over |= self.asked.len() >= MAX_ASKED;
        if !self.is_over {
            self.asked.push_back(asked);
        }
    }

    /// Whether names are not followed any more, since too many messages were without an answer.
    pub(super) const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Whether it is not certain which answer is for a message of the proxy's own.
    pub(super) const fn is_out_of_step(&self) -> bool {
        self.is_over || self.is_out_of_step
    }

    /// The message that is sent now makes another of the proxy's own needless, unless the server skips it.
    pub(super) fn replaces(&mut self, owed: Owed) {
        self.replaced = owed;
    }

    /// A `Parse` was sent; without a plan if its text is not known.
    pub(super) fn parse(&mut self, name: &[u8], plan: Option<Prepared>) {
        if name.is_empty() || plan.is_none() {
            // The server forgets the one without a name at once.
            self.known.remove(name);
        }
        self.unconfirmed.remove(name);
        let owed = self.replaced.take();
        self.ask(Sent::Parse(name.into(), plan, owed));
    }

    pub(super) fn close(&mut self, name: Option<&[u8]>) {
        if let Some(name) = name {
            self.known.remove(name);
            self.unconfirmed.remove(name);
            for asked in &mut self.asked {
                if let Sent::Parse(parsed, plan, _) = asked
                    && **parsed == *name
                {
                    *plan = None;
                }
            }
        }
        let owed = self.replaced.take();
        self.ask(Sent::Close(owed));
    }

    /// A `Query` was sent, which takes the place of the statement without a name.
    pub(super) fn query(&mut self) {
        self.known.remove(&b""[..]);
        let owed = self.replaced.take();
        self.ask(Sent::Query(owed));
    }

    pub(super) fn ready(&mut self) {
        self.ask(Sent::Ready);
    }

    /// A message of the proxy's own is sent; with its bytes if it must be sent again where the server skips it.
    pub(super) fn own(&mut self, owed: Owed) {
        self.ask(Sent::Own(owed));
    }

    /// The server is known to have this one.
    pub(super) fn set(&mut self, name: &[u8], plan: Option<Prepared>) {
        match plan {
            Some(plan) => drop(self.known.insert(name.into(), plan)),
            None => drop(self.known.remove(name)),
        }
    }

    /// What a `Bind` that is sent now binds, if it is certain.
    pub(super) fn get(&self, name: &[u8]) -> Option<Prepared> {
        if self.is_over {
            return None;
        }
        let (mut is_of_this_flight, mut is_unanswered) = (true, false);
        for asked in self.asked.iter().rev() {
            match asked {
                Sent::Ready | Sent::Query(_) => is_of_this_flight = false,
                Sent::Parse(parsed, plan, _) if **parsed == *name => {
                    if is_of_this_flight {
                        return plan.clone();
                    }
                    is_unanswered = true;
                }
                Sent::Parse(..) | Sent::Close(_) | Sent::Own(_) => {}
            }
        }
        if is_unanswered { None } else { self.known.get(name).cloned() }
    }

    /// What was prepared under one number of [`super::path::Path`] was so under another.
    pub(super) fn renumber(&mut self, path: u64, renumbered: u64) {
        for prepared in self.known.values_mut().chain(self.unconfirmed.values_mut()) {
            if prepared.as_of.path == path {
                prepared.as_of.path = renumbered;
            }
        }
    }

    /// A statement means at this moment what it meant when it was prepared.
    pub(super) fn renew(&mut self, name: &[u8], as_of: AsOf) {
        if let Some(prepared) = self.known.get_mut(name) {
            prepared.as_of = as_of;
        }
    }

    /// The same, or what it was before SQL may have changed it.
    pub(super) fn get_or_unconfirmed(&self, name: &[u8]) -> Option<Prepared> {
        self.get(name).or_else(|| self.unconfirmed.get(name).cloned())
    }

    /// The server has said which statements that were prepared by messages it has, a line each: these are what they were,
    /// as SQL prepares under other marks. Only at rest.
    pub(super) fn confirm(&mut self, prepared: &str) {
        let mut unconfirmed = std::mem::take(&mut self.unconfirmed);
        for name in prepared.split('\n').map(str::as_bytes).filter(|name| !name.is_empty()) {
            if let Some((name, plan)) = unconfirmed.remove_entry(name) {
                self.known.insert(name, plan);
            }
        }
    }

    /// `ParseComplete` or `CloseComplete` has come; whether it is for the client.
    ///
    /// # Errors
    /// [`OutOfStep`]: what names stand for is not known any more.
    pub(super) fn answered(&mut self, tag: u8) -> Result<bool, OutOfStep> {
        match (self.asked.pop_front(), tag) {
            (Some(Sent::Parse(name, plan, _)), b'1') => {
                if self.known.len() >= MAX_NAMES {
                    self.known.clear();
                }
                if let Some(plan) = plan {
                    self.known.insert(name, plan);
                }
                Ok(true)
            }
            (Some(Sent::Close(_)), b'3') => Ok(true),
            (Some(Sent::Own(_)), _) => Ok(false),
            _ => {
                self.is_out_of_step = true;
                Err(OutOfStep)
            }
        }
    }

    /// An error has come.
    pub(super) fn failed(&mut self, failed: Failed) {
        self.is_skipping |= failed != Failed::Alone;
        if failed != Failed::Parse {
            return;
        }
        // The server has dropped the statement without a name before it looked at the text, as it would without a proxy.
        let parse = self.asked.iter_mut().find_map(|asked| match asked {
            Sent::Parse(_, _, owed) => Some(owed),
            _ => None,
        });
        parse.into_iter().for_each(|owed| *owed = None);
    }

    /// `ReadyForQuery` has come: what was not answered before it was skipped. Returns what the server must see still.
    pub(super) fn is_ready(&mut self) -> Owed {
        let (was_skipping, mut again) = (std::mem::take(&mut self.is_skipping), None);
        while let Some(asked) = self.asked.pop_front() {
            let owed = match asked {
                Sent::Ready => break,
                Sent::Query(_) if !was_skipping => break,
                Sent::Parse(_, _, owed) | Sent::Close(owed) | Sent::Own(owed) | Sent::Query(owed) => owed,
            };
            again = again.or(owed);
        }
        again
    }

    /// Everything is answered.
    pub(super) fn rest(&mut self) {
        self.asked.clear();
        (self.is_skipping, self.is_out_of_step) = (false, false);
    }

    /// A statement was prepared whose name is not known.
    pub(super) fn parse_of_unknown(&mut self) {
        self.forget();
        self.unconfirmed.clear();
        self.ask(Sent::Parse(Name::default(), None, None));
    }

    /// Statements may have been prepared or dropped by SQL.
    pub(super) fn forget(&mut self) {
        if self.unconfirmed.len() + self.known.len() > MAX_NAMES {
            self.unconfirmed.clear();
        }
        self.unconfirmed.extend(self.known.drain());
        for asked in &mut self.asked {
            if let Sent::Parse(_, plan, _) = asked {
                *plan = None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::cache::Plan;

    fn plan(number: u64) -> Option<Prepared> {
        let plan = Arc::new(Plan { number, ..Plan::default() });
        Some(Prepared { plan, as_of: AsOf { path: 1, ..AsOf::default() } })
    }

    fn number(names: &Names, name: &[u8]) -> Option<u64> {
        names.get(name).map(|prepared| prepared.plan.number)
    }

    #[test]
    fn a_name_counts_once_it_is_answered() {
        let mut names = Names::default();
        names.parse(b"s", plan(1));
        assert_eq!(number(&names, b"s"), Some(1), "in the same flight");
        names.ready();
        assert_eq!(number(&names, b"s"), None, "it may have failed");
        assert_eq!(names.answered(b'1'), Ok(true));
        names.is_ready();
        assert_eq!(number(&names, b"s"), Some(1));
    }

    #[test]
    fn a_parse_that_failed_changes_nothing() {
        let mut names = Names::default();
        names.set(b"s", plan(1));
        names.set(b"", plan(1));
        for name in [&b"s"[..], b""] {
            names.parse(name, plan(2));
        }
        names.ready();
        names.is_ready();
        assert_eq!((number(&names, b"s"), number(&names, b"")), (Some(1), None));
        assert_eq!(names.answered(b'1'), Err(OutOfStep));
    }

    #[test]
    fn what_sql_may_have_dropped_is_unknown() {
        let mut names = Names::default();
        names.set(b"s", plan(1));
        names.parse(b"t", plan(2));
        names.forget();
        assert_eq!(names.answered(b'1'), Ok(true));
        assert_eq!((number(&names, b"s"), number(&names, b"t")), (None, None));
        names.rest();
        assert_eq!(names.get_or_unconfirmed(b"s").map(|prepared| prepared.plan.number), Some(1));
        names.confirm("x\ns");
        assert_eq!((number(&names, b"s"), number(&names, b"t")), (Some(1), None));
        names.forget();
        names.confirm("");
        assert!(names.get_or_unconfirmed(b"s").is_none());
        names.set(b"s", plan(1));
        names.close(Some(b"s"));
        assert_eq!(names.answered(b'3'), Ok(true));
        assert_eq!(number(&names, b"s"), None);
        names.set(b"", plan(1));
        names.query();
        assert_eq!(number(&names, b""), None);
    }

    #[test]
    fn a_client_that_waits_for_no_answer_takes_no_more_memory() {
        let mut names = Names::default();
        names.set(b"s", plan(1));
        (0..=MAX_ASKED).for_each(|_| names.parse(b"", plan(2)));
        assert!(names.is_over() && names.asked.len() == MAX_ASKED);
        assert_eq!((number(&names, b"s"), number(&names, b"")), (None, None));
        let mut names = Names::default();
        for round in 0..3 * MAX_NAMES {
            names.set(round.to_string().as_bytes(), plan(1));
            names.forget();
        }
        assert!(names.unconfirmed.len() <= MAX_NAMES);
    }

    #[test]
    fn answers_to_the_proxys_own_messages_are_kept_back() {
        let mut names = Names::default();
        names.own(None);
        names.parse(b"s", plan(1));
        assert_eq!(names.answered(b'1'), Ok(false));
        assert_eq!(names.answered(b'1'), Ok(true));
        assert_eq!(number(&names, b"s"), Some(1));
    }

    /// What is owed after a flight of which the server has answered the first messages and refused the next.
    fn owed_after(flight: impl Fn(&mut Names), answers: &[u8], failed: Failed) -> Owed {
        let mut names = Names::default();
        flight(&mut names);
        names.ready();
        for tag in answers {
            names.answered(*tag).unwrap();
        }
        names.failed(failed);
        names.is_ready()
    }

    #[test]
    fn what_the_server_has_skipped_is_owed_again() {
        let owed = || Some(b"a statement".to_vec());
        let own = |names: &mut Names| names.own(owed());
        assert_eq!(owed_after(own, b"", Failed::Extended), owed());
        assert_eq!(owed_after(own, b"1", Failed::Extended), None, "it was seen");
        let after_a_parse = |names: &mut Names| {
            names.parse(b"s", plan(1));
            names.own(owed());
        };
        assert_eq!(owed_after(after_a_parse, b"1", Failed::Extended), owed());
        assert_eq!(owed_after(after_a_parse, b"", Failed::Parse), owed());
        let replaced: [fn(&mut Names); 3] =
            [|names| names.parse(b"", None), |names| names.close(Some(b"")), Names::query];
        for replaces in replaced {
            let flight = |names: &mut Names| {
                names.replaces(owed());
                replaces(names);
            };
            assert_eq!(owed_after(flight, b"", Failed::Extended), owed(), "it was skipped");
        }
        let refused = |names: &mut Names| {
            names.replaces(owed());
            names.parse(b"", None);
        };
        assert_eq!(owed_after(refused, b"", Failed::Parse), None, "the server has none any more");
    }

    #[test]
    fn a_query_that_was_skipped_has_no_answer() {
        let mut names = Names::default();
        names.query();
        names.ready();
        names.parse(b"s", plan(1));
        names.ready();
        names.failed(Failed::Extended);
        assert_eq!(names.is_ready(), None);
        assert_eq!(names.answered(b'1'), Ok(true));
        let mut names = Names::default();
        names.query();
        names.query();
        names.parse(b"s", plan(1));
        names.failed(Failed::Alone);
        names.is_ready();
        assert_eq!(names.answered(b'1'), Err(OutOfStep), "the second was not");
        assert!(names.is_out_of_step());
        names.rest();
        assert!(!names.is_out_of_step());
    }

    #[test]
    fn a_statement_that_is_too_long_to_be_read_may_be_any() {
        let mut names = Names::default();
        names.set(b"s", plan(1));
        names.set(b"t", plan(2));
        names.forget();
        names.parse_of_unknown();
        names.ready();
        assert_eq!(names.answered(b'1'), Ok(true));
        names.is_ready();
        names.confirm("s\nt");
        assert_eq!((number(&names, b"s"), number(&names, b"t")), (None, None));
    }

    #[test]
    fn a_number_of_a_path_is_exchanged() {
        let mut names = Names::default();
        names.set(b"s", plan(1));
        names.set(b"t", plan(2));
        names.renew(b"t", AsOf { path: 3, ..AsOf::default() });
        names.renumber(1, 2);
        let as_of = |name: &[u8]| names.get(name).unwrap().as_of;
        assert_eq!(as_of(b"s"), AsOf { path: 2, ..AsOf::default() });
        assert_eq!(as_of(b"t"), AsOf { path: 3, ..AsOf::default() });
    }
}
