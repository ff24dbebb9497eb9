//! What the script of changes is given: a few bytes for each entry, and each addition once.

use std::collections::HashMap;

use lacuna_cache_protocol::{Change, Edit, Query, Value};
use redis::ScriptInvocation;

const DROP: u8 = 0;
const SHOW: u8 = 1;
const HIDE: u8 = 2;

/// The arguments after session and life.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PatchArguments<'a> {
    /// Of each entry its wish and, as a little-endian number, the index of what is added to it, from 1 on; 0 for nothing.
    wishes: Vec<u8>,
    additions: Vec<&'a [u8]>,
    /// Index of the entry, from 1 on; the session that the value replaces; the value.
    compacted: Vec<(usize, u64, &'a Value)>,
}

impl<'a> PatchArguments<'a> {
    /// One write adds the same bytes to all entries that show its row.
    pub(crate) fn of(changes: &'a [(Query, Change)]) -> Self {
        let mut arguments = Self::default();
        let mut known: HashMap<&[u8], u32> = HashMap::new();
        for (entry, (_, change)) in (1..).zip(changes) {
            let (wish, added) = match change {
                Change::Drop => (DROP, &[][..]),
                Change::Edit(Edit { compacted, patch, is_hidden }) => {
                    let compacted = compacted.as_ref().map(|(session, value)| (entry, session.0, value));
                    arguments.compacted.extend(compacted);
                    (if *is_hidden { HIDE } else { SHOW }, &patch[..])
                }
            };
            let index = if added.is_empty() { 0 } else { arguments.index_of(added, &mut known) };
            arguments.wishes.push(wish);
            arguments.wishes.extend(index.to_le_bytes());
        }
        arguments
    }

    fn index_of(&mut self, added: &'a [u8], known: &mut HashMap<&'a [u8], u32>) -> u32 {
        *known.entry(added).or_insert_with(|| {
            self.additions.push(added);
            u32::try_from(self.additions.len()).expect("a script has fewer entries than 2^32")
        })
    }

    pub(crate) fn give_to(&self, script: &mut ScriptInvocation<'_>) {
        script.arg(&self.wishes[..]).arg(self.additions.len());
        for added in &self.additions {
            script.arg(*added);
        }
        for (entry, session, value) in &self.compacted {
            script.arg(*entry).arg(*session).arg(value.as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use lacuna_cache_protocol::{Interval, Session};

    use super::*;

    fn edit(patch: &[u8], is_hidden: bool) -> Change {
        Change::Edit(Edit { patch: patch.to_vec(), is_hidden, ..Edit::default() })
    }

    #[test]
    fn what_a_write_adds_is_given_once() {
        let value = Value::from(vec![7]);
        let compacted = Edit { compacted: Some((Session(9), value.clone())), ..Edit::default() };
        let changes = [
            edit(b"row", false),
            Change::Drop,
            edit(b"row", true),
            Change::Edit(compacted),
            edit(b"other", false),
        ];
        let changes = changes.map(|change| (Query::all(0, Interval::all()), change));
        let arguments = PatchArguments::of(&changes);
        assert_eq!(arguments.additions, [&b"row"[..], b"other"]);
        assert_eq!(arguments.compacted, [(4, 9, &value)]);
        let wish = |wish, index| [wish, index, 0, 0, 0];
        let wishes = [wish(SHOW, 1), wish(DROP, 0), wish(HIDE, 1), wish(SHOW, 0), wish(SHOW, 2)];
        assert_eq!(arguments.wishes, wishes.concat());
    }
}
