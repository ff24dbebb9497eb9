//! The store and the log servers: what they keep, and what they refuse.

use std::collections::BTreeMap;

use lacuna_cache_protocol::{
    Command, Epoch, Flaw, LogCall, LogReply, RangeId, Rows as RowsReply, StoreCall, StoreReply, StoreState,
    Write,
};

use super::table::{Change, Row, Rows, WriteId, decode, encode, last_key, select};

/// What a slot (the place of a key) was after a write.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SlotState {
    /// Number among all writes of the store.
    pub(crate) sequence: u64,
    pub(crate) write: WriteId,
    pub(crate) row: Option<Row>,
}

/// What a store knows of a range beside rows.
#[derive(Debug, Clone, Copy)]
struct Fence {
    epoch: Epoch,
    state: StoreState,
}

#[derive(Debug, Clone)]
pub(crate) struct Store {
    pub(crate) rows: Rows,
    /// Every state of every slot, in order.
    pub(crate) slots: BTreeMap<u64, Vec<SlotState>>,
    fences: BTreeMap<RangeId, Fence>,
    sequence: u64,
    flaw: Option<Flaw>,
    pub(crate) fenced: u64,
    pub(crate) fenced_across: u64,
    pub(crate) is_buffering: bool,
    /// Writes that are refused for good whenever they come.
    pub(crate) forbidden: Vec<WriteId>,
    /// Stamps that were given.
    pub(crate) stamps: u64,
}

impl Store {
    pub(crate) fn new(flaw: Option<Flaw>, is_buffering: bool) -> Self {
        let (rows, slots, fences) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self {
            rows,
            slots,
            fences,
            sequence: 0,
            flaw,
            fenced: 0,
            fenced_across: 0,
            is_buffering,
            forbidden: Vec::new(),
            stamps: 0,
        }
    }

    fn fence(&mut self, range: RangeId) -> &mut Fence {
        let state = StoreState { applied_lsn: 0, recovered: Epoch(0), is_buffered: false };
        self.fences.entry(range).or_insert(Fence { epoch: Epoch(0), state })
    }

    /// `hiccup`: a deadlock or a serialization failure.
    pub(crate) fn call(
        &mut self,
        range: RangeId,
        epoch: Epoch,
        call: &StoreCall,
        hiccup: bool,
    ) -> StoreReply {
        if let StoreCall::Query(query) = call {
            if query.question.is_some() {
                return self.asked(query);
            }
            let (rows, is_full) = select(query, &self.rows);
            let last = last_key(query, &rows, is_full);
            return StoreReply::Rows(RowsReply { value: encode(&rows), is_empty: rows.is_empty(), last });
        }
        let checks = self.flaw != Some(Flaw::UnfencedStore);
        let fence = self.fence(range);
        if fence.epoch > epoch && checks {
            self.fenced += 1;
            return StoreReply::Fenced;
        }
        match call {
            StoreCall::Query(_) => unreachable!("answered above"),
            StoreCall::Fence => {
                fence.epoch = epoch;
                StoreReply::State(fence.state)
            }
            StoreCall::Check => StoreReply::Done,
            StoreCall::Recovered => {
                fence.state.recovered = epoch;
                self.fence(range).state.is_buffered = self.is_buffering;
                StoreReply::Done
            }
            StoreCall::Drained => {
                fence.state.is_buffered = false;
                StoreReply::Done
            }
            StoreCall::WriteAcross(_, others)
                if checks
                    && others.iter().any(|(range, epoch)| {
                        self.fences.get(range).is_none_or(|fence| fence.epoch != *epoch)
                    }) =>
            {
                self.fenced_across += 1;
                StoreReply::Fenced
            }
            StoreCall::Write(_) | StoreCall::WriteAcross(..) if hiccup => {
                StoreReply::Refused { lsn: None, retry: true }
            }
            StoreCall::Write(command) | StoreCall::WriteAcross(command, _) if self.refuses(command) => {
                StoreReply::Refused { lsn: None, retry: false }
            }
            StoreCall::Write(command) | StoreCall::WriteAcross(command, _) => {
                self.write(command);
                StoreReply::Done
            }
            StoreCall::Apply(commands) if hiccup => {
                StoreReply::Refused { lsn: Some(commands[0].0), retry: true }
            }
            StoreCall::Apply(commands) => self.apply(range, commands),
        }
    }

    /// Whether it is refused for good, as it is forbidden or its condition does not hold.
    fn refuses(&self, command: &Command) -> bool {
        let (id, change) = Change::read(command);
        let holds = change.keys().iter().all(|key| change.holds(self.rows.get(key)));
        self.forbidden.contains(&id) || !holds
    }

    /// All or nothing, as a transaction.
    fn apply(&mut self, range: RangeId, commands: &[(u64, Option<Command>)]) -> StoreReply {
        let before = (self.rows.clone(), self.slots.clone(), self.sequence, *self.fence(range));
        for (lsn, command) in commands {
            if *lsn <= self.fence(range).state.applied_lsn {
                continue;
            }
            self.fence(range).state.applied_lsn = *lsn;
            if command.as_ref().is_some_and(|command| self.refuses(command)) {
                let (rows, slots, sequence, fence) = before;
                (self.rows, self.slots, self.sequence) = (rows, slots, sequence);
                *self.fence(range) = fence;
                return StoreReply::Refused { lsn: Some(*lsn), retry: false };
            }
            command.iter().for_each(|command| self.write(command));
        }
        StoreReply::Done
    }

    pub(crate) fn write(&mut self, command: &Command) {
        let (id, change) = Change::read(command);
        self.sequence += 1;
        change.apply(id, &mut self.rows);
        for key in change.keys() {
            let state = SlotState { sequence: self.sequence, write: id, row: self.rows.get(&key).copied() };
            self.slots.entry(key).or_default().push(state);
        }
    }

    /// The rows a fresh query returns.
    pub(crate) fn fresh(&self, query: &lacuna_cache_protocol::Query) -> Vec<Row> {
        decode(&encode(&select(query, &self.rows).0))
    }
}

/// Writes of a range, by epoch and number.
type KeptWrites = BTreeMap<(Epoch, u64), Write>;

/// What a log server has of a range.
#[derive(Debug, Clone)]
struct Kept {
    fence: Epoch,
    writes: KeptWrites,
    /// Whether an owner that serves has used it: only then does it have all there is.
    is_whole: bool,
}

/// A log server: keeps what it acknowledged over restarts.
#[derive(Debug, Clone, Default)]
pub(crate) struct LogServer {
    ranges: BTreeMap<RangeId, Kept>,
    pub(crate) is_full: bool,
    /// Whether it answers nobody; for stories by hand.
    pub(crate) is_silent: bool,
}

impl LogServer {
    pub(crate) fn call(&mut self, range: RangeId, epoch: Epoch, call: &LogCall) -> LogReply {
        if self.ranges.get(&range).is_some_and(|kept| kept.fence > epoch) {
            return LogReply::Fenced;
        }
        if let LogCall::Fence = call {
            let new = Kept { fence: epoch, writes: BTreeMap::new(), is_whole: false };
            let kept = self.ranges.entry(range).or_insert(new);
            kept.fence = epoch;
            let writes =
                kept.writes.iter().map(|((epoch, lsn), write)| (*epoch, *lsn, write.clone())).collect();
            return LogReply::Kept { writes, is_whole: kept.is_whole };
        }
        let Some(kept) = self.ranges.get_mut(&range) else { return LogReply::Fenced };
        match call {
            LogCall::Append(..) if self.is_full => return LogReply::Full,
            LogCall::Append(writes) => {
                kept.writes.extend(writes.iter().map(|(lsn, write)| ((epoch, *lsn), write.clone())));
            }
            LogCall::Trim(applied) => {
                kept.writes.retain(|(written, lsn), _| *written >= epoch && lsn > applied);
            }
            LogCall::Fence => unreachable!("answered above"),
        }
        (kept.fence, kept.is_whole) = (epoch, true);
        LogReply::Done
    }

    /// What P13 is about.
    pub(crate) fn forget(&mut self) {
        self.ranges.values_mut().for_each(|kept| kept.writes.clear());
    }

    /// The disk is gone.
    pub(crate) fn lose_disk(&mut self) {
        self.ranges.clear();
    }
}
