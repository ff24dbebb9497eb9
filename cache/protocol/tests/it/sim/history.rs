//! What clients saw, and whether a store without a cache could have shown it.
//!
//! The store knows, afterwards, the order in which writes changed each slot. A read of a slot shows one of its states; it
//! must be one at or behind every write acknowledged before the read began, and at or behind what any read finished by
//! then showed. Acknowledged writes must be in the store, refused ones must not.

use std::collections::{BTreeMap, BTreeSet};

use lacuna_cache_protocol::{Form, Query};

use super::joined::covers;
use super::store::{SlotState, Store};
use super::table::{Change, Row, WriteId, selects};

#[derive(Debug, Clone)]
pub(crate) enum Moment {
    ReadBegan(u64),
    ReadEnded(u64, Query, Vec<Row>, How),
    WriteBegan(WriteId),
    WriteDone(WriteId),
    /// Not carried out for sure.
    WriteNot(WriteId),
    /// The store said that it does not take it.
    WriteRefused(WriteId, Change),
}

/// Where a result came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    Hit,
    Miss,
    Direct,
}

pub(crate) struct Checker<'a> {
    slots: &'a BTreeMap<u64, Vec<SlotState>>,
    keys: Vec<u64>,
    /// Position of each write among the states of each slot it changed; positions count from 1, 0 is the beginning.
    places: BTreeMap<WriteId, Vec<(u64, usize)>>,
    began: BTreeSet<WriteId>,
    floors: BTreeMap<u64, usize>,
    at_beginning: BTreeMap<u64, BTreeMap<u64, usize>>,
    /// Whether all slots of one result must have held at one moment of the store.
    snapshots: bool,
    /// Acknowledged writes that were set aside, with notice, and the keys that showed them for a while.
    pub(crate) set_aside: BTreeSet<WriteId>,
    pub(crate) excused: BTreeSet<u64>,
    /// Floors when each write began.
    at_write: BTreeMap<WriteId, BTreeMap<u64, usize>>,
    /// Whether the store refuses for no other reason than a condition that does not hold.
    pub(crate) refusals_have_reasons: bool,
}

impl<'a> Checker<'a> {
    pub(crate) fn new(store: &'a Store, keys: u64, snapshots: bool) -> Self {
        let mut places: BTreeMap<WriteId, Vec<(u64, usize)>> = BTreeMap::new();
        for (key, states) in &store.slots {
            for (place, state) in (1..).zip(states) {
                places.entry(state.write).or_default().push((*key, place));
            }
        }
        let (began, floors, at_beginning) = (BTreeSet::new(), BTreeMap::new(), BTreeMap::new());
        let keys = (0..keys).collect();
        Self {
            slots: &store.slots,
            keys,
            places,
            began,
            floors,
            at_beginning,
            snapshots,
            set_aside: BTreeSet::new(),
            excused: BTreeSet::new(),
            at_write: BTreeMap::new(),
            refusals_have_reasons: false,
        }
    }

    /// The first anomaly, if there is one.
    pub(crate) fn check(&mut self, history: &[Moment]) -> Result<(), String> {
        history.iter().try_for_each(|moment| self.take(moment))
    }

    fn take(&mut self, moment: &Moment) -> Result<(), String> {
        match moment {
            Moment::WriteBegan(id) => {
                self.began.insert(*id);
                self.at_write.insert(*id, self.floors.clone());
            }
            Moment::WriteDone(id) if self.set_aside.contains(id) => {}
            Moment::WriteDone(id) => {
                let places = self.places.get(id).ok_or(format!("acknowledged write {id} is lost"))?;
                for (key, place) in places {
                    let floor = self.floors.entry(*key).or_default();
                    *floor = (*floor).max(*place);
                }
            }
            Moment::WriteRefused(id, change) => {
                self.take(&Moment::WriteNot(*id))?;
                self.may_be_refused(*id, *change)?;
            }
            Moment::WriteNot(id) if self.places.contains_key(id) => {
                return Err(format!("write {id} was said not to be carried out, and was"));
            }
            Moment::WriteNot(_) => {}
            Moment::ReadBegan(read) => drop(self.at_beginning.insert(*read, self.floors.clone())),
            Moment::ReadEnded(read, query, rows, how) => {
                self.read(*read, query, rows)
                    .map_err(|what| format!("read {read} ({how:?}) of {query:?}: {what}, saw {rows:?}"))?;
            }
        }
        Ok(())
    }

    /// Some state of its key, not older than what was acknowledged or seen when it began, breaks its condition.
    fn may_be_refused(&self, id: WriteId, change: Change) -> Result<(), String> {
        let floors = self.at_write.get(&id).ok_or(format!("write {id} never began"))?;
        let breaks = |key: &u64| {
            let floor = floors.get(key).copied().unwrap_or(0);
            let row = |place: usize| place.checked_sub(1).and_then(|place| self.states(*key)[place].row);
            (floor..=self.states(*key).len()).any(|place| !change.holds(row(place).as_ref()))
        };
        if !self.refusals_have_reasons || change.keys().iter().any(breaks) {
            return Ok(());
        }
        Err(format!("write {id} was refused, though nothing acknowledged spoke against {change:?}"))
    }

    fn read(&mut self, read: u64, query: &Query, rows: &[Row]) -> Result<(), String> {
        let floors = self.at_beginning.remove(&read).ok_or("it never began")?;
        let mut min = Vec::new();
        for key in self.scope(query, rows) {
            let shown = rows.iter().find(|row| row.key == key).copied();
            let floor = floors.get(&key).copied().unwrap_or(0);
            let place = (floor..=self.states(key).len()).find(|place| self.shows(key, *place, query, shown));
            let place = place
                .ok_or(format!("key {key} is older than state {floor}, which was acknowledged or seen"))?;
            let entry = self.floors.entry(key).or_default();
            *entry = (*entry).max(place);
            min.push((key, place, shown));
        }
        self.writes_are_whole(query, &min)?;
        if query.question.is_some() {
            self.causes_are_shown(query, &min)?;
        }
        if self.snapshots { self.is_snapshot(query, &min) } else { Ok(()) }
    }

    /// A write that is shown in one row is shown, or what came after it, in all rows of the result that it changed.
    fn writes_are_whole(&self, query: &Query, min: &[(u64, usize, Option<Row>)]) -> Result<(), String> {
        for (_, _, row) in min {
            let Some(version) = row.map(|row| row.version) else { continue };
            for (key, from) in &self.places[&version] {
                let Some((_, _, shown)) = min.iter().find(|(other, ..)| other == key) else { continue };
                if !(*from..=self.states(*key).len()).any(|place| self.shows(*key, place, query, *shown)) {
                    return Err(format!("write {version} is there in part: not in key {key}"));
                }
            }
        }
        Ok(())
    }

    /// A result that shows a write shows what was acknowledged or seen before that write began.
    fn causes_are_shown(&self, query: &Query, min: &[(u64, usize, Option<Row>)]) -> Result<(), String> {
        for version in min.iter().filter_map(|(_, _, row)| row.map(|row| row.version)) {
            let Some(floors) = self.at_write.get(&version) else { continue };
            for (key, place, shown) in min {
                let floor = floors.get(key).copied().unwrap_or(0).max(*place);
                if !(floor..=self.states(*key).len()).any(|place| self.shows(*key, place, query, *shown)) {
                    return Err(format!("write {version} is there, and key {key} as it was before {floor}"));
                }
            }
        }
        Ok(())
    }

    /// Slots that a result says something about.
    fn scope(&self, query: &Query, rows: &[Row]) -> Vec<u64> {
        let limit = match query.form {
            Form::All => usize::MAX,
            Form::First(limit) | Form::Last(limit) => limit as usize,
        };
        let is_full = rows.len() >= limit;
        let (first, last) = (rows.first().map(|row| row.key), rows.last().map(|row| row.key));
        let in_reach = |key: u64| match query.form {
            Form::First(_) if is_full => last.is_some_and(|last| key <= last),
            Form::Last(_) if is_full => first.is_some_and(|first| key >= first),
            _ => true,
        };
        let counts = |key: &u64| covers(query, *key) && in_reach(*key) && !self.excused.contains(key);
        self.keys.iter().copied().filter(counts).collect()
    }

    fn states(&self, key: u64) -> &'a [SlotState] {
        self.slots.get(&key).map_or(&[], Vec::as_slice)
    }

    /// Whether a slot at a state would be shown so.
    fn shows(&self, key: u64, place: usize, query: &Query, shown: Option<Row>) -> bool {
        let Some(state) = place.checked_sub(1).map(|place| &self.states(key)[place]) else {
            return shown.is_none();
        };
        self.began.contains(&state.write) && state.row.filter(|row| selects(query, row)) == shown
    }

    /// The rows held together at one moment: some moment from the latest of their first states on.
    fn is_snapshot(&self, query: &Query, min: &[(u64, usize, Option<Row>)]) -> Result<(), String> {
        let sequence =
            |key: u64, place: usize| place.checked_sub(1).map_or(0, |place| self.states(key)[place].sequence);
        let first = min.iter().map(|(key, place, _)| sequence(*key, *place)).max().unwrap_or(0);
        let mut moments = vec![first];
        moments.extend(
            min.iter()
                .flat_map(|(key, ..)| self.states(*key))
                .map(|state| state.sequence)
                .filter(|s| *s > first),
        );
        moments.sort_unstable();
        let holds = |moment: u64| {
            min.iter().all(|(key, _, shown)| {
                let place = self.states(*key).partition_point(|state| state.sequence <= moment);
                self.shows(*key, place, query, *shown)
            })
        };
        if moments.into_iter().any(holds) {
            Ok(())
        } else {
            Err("its rows never were there together".to_owned())
        }
    }
}
