//! A read as Java writes it into a buffer.
//!
//! ```text
//! table (2 words)   consistency   number of keys
//! for each key:     hash (2 words)   has a slice?   first place   last place   enough   number of replicas   replicas (2 words each)
//! ```
//!
//! `enough` is how many of the replicas could answer the read without the others, or 0 if all must be known to be empty.

use lacuna_node_filters::{
    Asked, Consistency, Decision, KeyId, Node, NodeId, Plan, Question, Quorum, Reason, Side, TableId,
    WaterMark,
};

/// Two words of a UUID.
pub(crate) fn wide(high: u64, low: u64) -> u128 {
    (u128::from(high) << 64) | u128::from(low)
}

struct Words<'a> {
    rest: &'a [u64],
}

impl Words<'_> {
    fn next(&mut self) -> Option<u64> {
        let (word, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*word)
    }

    fn wide(&mut self) -> Option<u128> {
        Some(wide(self.next()?, self.next()?))
    }
}

struct Key {
    partition: KeyId,
    slice: Option<(u64, u64)>,
    enough: usize,
    replicas: Vec<NodeId>,
}

impl Key {
    fn quorum(&self) -> Quorum<'_> {
        let needed = if self.enough == 0 { self.replicas.len() } else { self.enough };
        Quorum { replicas: &self.replicas, needed }
    }
}

/// What a node decides about the read in `words`; "unknown" for what is no question.
pub(crate) fn decide(node: &Node, now: u64, words: &[u64]) -> Decision {
    let mut words = Words { rest: words };
    let unknown = Decision::Forward(Reason::Unknown);
    let Some((table, consistency, keys)) = read(&mut words) else { return unknown };
    let asked: Vec<_> = keys
        .iter()
        .map(|key| Asked { partition: key.partition, slice: key.slice, replicas: &key.replicas })
        .collect();
    let question = Question {
        table,
        plan: Plan::Partitions,
        consistency,
        is_first_page: true,
        is_available: true,
        keys: &asked,
    };
    if keys.iter().all(|key| key.enough == 0) {
        return node.decide(now, &question);
    }
    if let [key] = keys.as_slice() {
        return node.decide_by_quorum(now, &question, &[&[key.quorum()]]);
    }
    let quorums: Vec<[Quorum<'_>; 1]> = keys.iter().map(|key| [key.quorum()]).collect();
    let quorums: Vec<&[Quorum<'_>]> = quorums.iter().map(<[Quorum<'_>; 1]>::as_slice).collect();
    node.decide_by_quorum(now, &question, &quorums)
}

/// How far the partition of a question of one is known to hold no live row, from one end on.
pub(crate) fn water_mark(node: &Node, now: u64, words: &[u64], side: Side) -> Option<WaterMark> {
    let (table, _, keys) = read(&mut Words { rest: words })?;
    let [key] = keys.as_slice() else { return None };
    let asked = Asked { partition: key.partition, slice: key.slice, replicas: &key.replicas };
    node.water_mark(now, table, &asked, side)
}

/// 0 for the first rows of a partition, else the last.
pub(crate) const fn side(number: i64) -> Side {
    if number == 0 { Side::Start } else { Side::End }
}

/// A place of a mark without its lowest bit, which its side tells: at least 0.
pub(crate) const fn to_pair(place: u64) -> i64 {
    (place >> 1).cast_signed()
}

/// Such a place again, with its side.
pub(crate) const fn mark(number: i64, pair: i64) -> (Side, u64) {
    let (side, pair) = (side(number), pair.cast_unsigned());
    match side {
        Side::Start => (side, pair << 1 | 1),
        Side::End => (side, pair << 1),
    }
}

fn read(words: &mut Words<'_>) -> Option<(TableId, Consistency, Vec<Key>)> {
    let table = TableId(words.wide()?);
    let consistency = match words.next()? {
        0 => Consistency::One,
        1 => Consistency::Two,
        2 => Consistency::Three,
        3 => Consistency::Quorum,
        4 => Consistency::All,
        _ => return None,
    };
    let keys = (0..words.next()?).map(|_| key(words)).collect::<Option<_>>()?;
    Some((table, consistency, keys))
}

fn key(words: &mut Words<'_>) -> Option<Key> {
    let partition = KeyId::of_hash(words.next()?, words.next()?);
    let has_slice = words.next()? != 0;
    let slice = (words.next()?, words.next()?);
    let enough = usize::try_from(words.next()?).ok()?;
    let replicas = (0..words.next()?).map(|_| words.wide().map(NodeId)).collect::<Option<_>>()?;
    Some(Key { partition, slice: has_slice.then_some(slice), enough, replicas })
}

const REASONS: [Reason; 12] = [
    Reason::Shadow,
    Reason::Off,
    Reason::Plan,
    Reason::Consistency,
    Reason::Page,
    Reason::Availability,
    Reason::NoKey,
    Reason::MayBeLive,
    Reason::Unknown,
    Reason::Stale,
    Reason::TooWide,
    Reason::Ingest,
];

/// 0 for "empty", else the number of the reason.
pub(crate) fn to_code(decision: Decision) -> i64 {
    match decision {
        Decision::Empty => 0,
        Decision::Forward(reason) => {
            let position = REASONS.iter().position(|other| *other == reason);
            1 + i64::try_from(position.expect("all reasons are listed")).expect("twelve reasons")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_keep_their_numbers() {
        let numbered = [
            (Decision::Empty, 0),
            (Decision::Forward(Reason::Shadow), 1),
            (Decision::Forward(Reason::MayBeLive), 8),
            (Decision::Forward(Reason::TooWide), 11),
            (Decision::Forward(Reason::Ingest), 12),
        ];
        for (decision, code) in numbered {
            assert_eq!(to_code(decision), code);
        }
    }

    #[test]
    fn what_is_no_question_is_unknown() {
        let node =
            Node::new(NodeId(1), lacuna_node_filters::Config::new(lacuna_node_filters::Mode::Safe), 1, 0);
        for words in [&[][..], &[1, 2, 9, 1], &[1, 2, 0, 1, 3], &[1, 2, 0, 1, 3, 4, 0, 0, 0, 0, u64::MAX]] {
            assert_eq!(decide(&node, 0, words), Decision::Forward(Reason::Unknown));
        }
    }
}
