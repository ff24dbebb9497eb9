//! Clients that read several tables.
//!
//! A client reads the stamp of each joined table, which any write of the table deletes, then the result that was made under
//! these. Tables with buffered writes are asked for their stamps once more.

use lacuna_cache_protocol::{Flaw, Policy, Query, RangeId, Stamps, Value};

use super::client::Work;
use super::history::How;
use super::joined::{FIRST_JOINED, JOIN, STAMP, parted};
use super::table::{closed, encode};
use super::world::World;

/// How often a read begins again while joined tables change.
const MAX_TRIES: u32 = 8;

/// A read in progress, stage by stage.
#[derive(Debug)]
pub(crate) struct Join {
    asked: Query,
    before: Vec<u64>,
    after: Vec<u64>,
    result: Option<(Value, How)>,
    tries: u32,
}

impl World {
    fn stamp_query(&self, joined: usize) -> Query {
        let (first, last) = self.keys_of(RangeId(u32::try_from(joined + 1).unwrap()));
        Query { question: Some(STAMP.into()), ..Query::all(0, closed(first, last)) }
    }

    const fn joined(&self) -> usize {
        self.setup.ranges as usize - 1
    }

    /// A read of rows of range 0 and of all others, and the first query for it.
    pub(crate) fn some_join(&mut self) -> (Join, Query) {
        let lo = self.rng.below(FIRST_JOINED / 2);
        let interval = closed(lo, lo + [0, 3][self.rng.index(2)]);
        let asked = Query { question: Some(JOIN.into()), ..Query::all(0, interval) };
        let mut join = Join { asked, before: Vec::new(), after: Vec::new(), result: None, tries: 0 };
        self.begin_join(&mut join);
        let first = self.next_query(&join);
        (join, first)
    }

    fn begin_join(&self, join: &mut Join) {
        (join.before, join.after, join.result) = (Vec::new(), Vec::new(), None);
        if self.setup.flaw == Some(Flaw::KeepStamps) {
            join.before = vec![0; self.joined()];
        }
    }

    fn next_query(&self, join: &Join) -> Query {
        if join.before.len() < self.joined() {
            self.stamp_query(join.before.len())
        } else if join.result.is_none() {
            let bytes: Vec<u8> = join.before.iter().flat_map(|stamp| stamp.to_le_bytes()).collect();
            Query { stamps: Stamps::new(&bytes), ..join.asked.clone() }
        } else {
            self.stamp_query(join.after.len())
        }
    }

    const fn looks_again(&self) -> bool {
        matches!(self.setup.policy, Policy::WriteBack) && !matches!(self.setup.flaw, Some(Flaw::StampOnce))
    }

    /// The result that a read ends with: this one, or none yet.
    pub(crate) fn read_goes_on(&mut self, me: usize, value: Value, how: How) -> Option<(Value, How)> {
        let Some(mut join) = self.clients[me].operation.as_mut()?.join.take() else {
            return Some((value, how));
        };
        let (stamps, _) = parted(&value);
        if join.before.len() < self.joined() {
            join.before.extend(stamps);
        } else if join.result.is_some() {
            join.after.extend(stamps);
        } else if stamps == join.before {
            join.result = Some((value, how));
        } else {
            self.counts.joins_again += 1;
            join.tries += 1;
            self.begin_join(&mut join);
        }
        if join.result.is_some()
            && self.looks_again()
            && join.after.len() == self.joined()
            && join.after != join.before
        {
            self.counts.joins_again += 1;
            join.tries += 1;
            self.begin_join(&mut join);
        }
        let is_complete = !self.looks_again() || join.after.len() == self.joined();
        if let Some((value, how)) = join.result.take_if(|_| is_complete) {
            self.counts.joins += 1;
            self.set_work(me, join.asked);
            return Some((encode(&parted(&value).1), how));
        }
        if join.tries < MAX_TRIES {
            let next = self.next_query(&join);
            self.set_work(me, next);
            self.clients[me].operation.as_mut()?.join = Some(join);
            self.read_again(me);
        } else {
            self.give_up_read(me);
        }
        None
    }

    fn set_work(&mut self, me: usize, next: Query) {
        let operation = self.clients[me].operation.as_mut().expect("the caller has it");
        let Work::Read(_, query) = &mut operation.work else { return };
        *query = next;
    }
}
