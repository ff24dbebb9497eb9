//! What the server has not seen of statements that were answered here, and before which messages it must see it.

use crate::wire::Fields;

const CLOSE_STATEMENT: &[u8] = b"C\0\0\0\x06S\0";
const CLOSE_PORTAL: &[u8] = b"C\0\0\0\x06P\0";

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Unseen {
    /// The message that makes the statement without a name what the client takes it for. It is sent only before a message that
    /// names this statement: the server looks at a text with all that belongs to it, locks and a snapshot too.
    statement: Option<Vec<u8>>,
    /// Whether the portal without a name is not what the client takes it for: it is none.
    closes_portal: bool,
}

impl Unseen {
    /// A `Query` was answered, which ends the statement without a name.
    pub(super) fn closes_statement(&mut self) {
        self.statement = Some(CLOSE_STATEMENT.to_vec());
    }

    /// A `Parse` of the statement without a name was answered.
    pub(super) fn parses(&mut self, parse: &[u8]) {
        self.statement = Some(parse.to_vec());
    }

    pub(super) const fn closes_portal(&mut self) {
        self.closes_portal = true;
    }

    /// What the server must see before this message, and what it need not see any more; without bytes if it is a long one.
    pub(super) fn before(&mut self, tag: u8, message: &[u8]) -> Before {
        let portal = std::mem::take(&mut self.closes_portal) && !matches!(tag, b'Q' | b'X');
        let mut before = Before { portal: portal.then_some(CLOSE_PORTAL), ..Before::default() };
        match effect(tag, message) {
            OnStatement::None => {}
            OnStatement::Replaces => before.replaced = self.statement.take(),
            OnStatement::Names => before.statement = self.statement.take(),
        }
        before
    }

    /// The server has skipped the message that should have made the statement what the client takes it for.
    pub(super) fn is_owed_again(&mut self, message: Vec<u8>) {
        self.statement = Some(message);
    }

    /// Whether a message names a statement that the server has not seen.
    pub(super) fn is_owed_for(&self, tag: u8, message: &[u8]) -> bool {
        self.statement.is_some() && matches!(effect(tag, message), OnStatement::Names)
    }
}

/// What the server must see before a message of the client. Each of them has an answer.
#[derive(Debug, Default)]
pub(super) struct Before {
    /// What makes the statement without a name what the client takes it for. After an error in the same flight the server skips
    /// it: then it is [owed again](Unseen::is_owed_again).
    pub(super) statement: Option<Vec<u8>>,
    /// What closes the portal without a name. It comes first in its flight, so that the server does not skip it.
    pub(super) portal: Option<&'static [u8]>,
    /// What the server need not see if it takes the client's message, which replaces the statement.
    pub(super) replaced: Option<Vec<u8>>,
}

/// What a message has to do with the statement without a name.
enum OnStatement {
    None,
    Names,
    Replaces,
}

fn effect(tag: u8, message: &[u8]) -> OnStatement {
    let body = message.get(5..).filter(|body| !body.is_empty());
    match (tag, body) {
        (b'Q' | b'X', _) => OnStatement::Replaces,
        (b'P', Some([0, ..])) | (b'C', Some([b'S', 0, ..])) => OnStatement::Replaces,
        // A long one may name it, and a long `Parse` take its place.
        (b'P' | b'B', None) | (b'D', Some([b'S', 0, ..])) => OnStatement::Names,
        (b'B', Some(body)) => {
            let mut fields = Fields::new(body);
            let statement = fields.text().and_then(|_| fields.text());
            if statement.is_none_or(<[u8]>::is_empty) { OnStatement::Names } else { OnStatement::None }
        }
        _ => OnStatement::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::message;

    fn before(unseen: &mut Unseen, tag: u8, body: &[u8]) -> Vec<u8> {
        let Before { statement, portal, .. } = unseen.before(tag, &message(tag, body));
        [statement.unwrap_or_default(), portal.unwrap_or_default().to_vec()].concat()
    }

    #[test]
    fn a_statement_is_sent_before_what_names_it() {
        let parse = message(b'P', b"\0SELECT 1\0\0\0");
        for (tag, body) in [(b'B', &b"\0\0\0\0\0\0\0\0"[..]), (b'B', b"p\0\0\0\0\0\0\0\0"), (b'D', b"S\0")] {
            let mut unseen = Unseen::default();
            unseen.parses(&parse);
            for (tag, body) in [
                (b'B', &b"\0s\0\0\0\0\0\0\0"[..]),
                (b'P', b"s\0SELECT 2\0\0\0"),
                (b'D', b"Ss\0"),
                (b'D', b"P\0"),
                (b'C', b"Ss\0"),
                (b'E', b"\0\0\0\0\0"),
                (b'S', b""),
            ] {
                assert_eq!(before(&mut unseen, tag, body), b"", "{tag}");
            }
            assert_eq!(before(&mut unseen, tag, body), parse);
            assert_eq!(before(&mut unseen, tag, body), b"", "once");
        }
        let mut unseen = Unseen::default();
        unseen.closes_statement();
        assert_eq!(unseen.before(b'B', &[]).statement.unwrap(), CLOSE_STATEMENT, "a long one");
    }

    #[test]
    fn what_takes_its_place_makes_it_needless() {
        for (tag, body) in [(b'Q', &b"SELECT 1\0"[..]), (b'P', b"\0SELECT 2\0\0\0"), (b'C', b"S\0")] {
            let (mut unseen, parse) = (Unseen::default(), message(b'P', b"\0SELECT 1\0\0\0"));
            unseen.parses(&parse);
            let replaced = unseen.before(tag, &message(tag, body));
            assert!(replaced.statement.is_none() && replaced.portal.is_none());
            assert_eq!(before(&mut unseen, b'B', b"\0\0\0\0\0\0\0\0"), b"");
            unseen.is_owed_again(replaced.replaced.unwrap());
            assert!(unseen.is_owed_for(b'B', &message(b'B', b"\0\0\0\0\0\0\0\0")));
            assert_eq!(before(&mut unseen, b'B', b"\0\0\0\0\0\0\0\0"), parse);
        }
    }

    #[test]
    fn a_portal_is_closed_before_any_message_that_does_not_end_it() {
        let mut unseen = Unseen::default();
        unseen.closes_portal();
        assert_eq!(before(&mut unseen, b'P', b"\0SELECT 2\0\0\0"), CLOSE_PORTAL);
        assert_eq!(before(&mut unseen, b'E', b"\0\0\0\0\0"), b"");
        unseen.closes_portal();
        assert_eq!(before(&mut unseen, b'Q', b"SELECT 1\0"), b"");
        assert_eq!(before(&mut unseen, b'E', b"\0\0\0\0\0"), b"");
    }
}
