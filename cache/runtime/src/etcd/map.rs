//! The state of the coordinator at one moment.

use std::collections::BTreeMap;
use std::sync::Arc;

use lacuna_cache_protocol::Result;
use lacuna_cache_protocol::{LoadSurvey, RangeId, RangeLoad, RangeTable, Recut};

use crate::etcd::kv::Snapshot;
use crate::etcd::record::{
    Holder, Owned, RangeRecord, TABLE, WISH, read_address, read_holder, read_load, read_wish,
};

/// Ranges, their owners, and their load. It may be old: tenures and fences alone decide which owner serves.
#[derive(Debug, Clone, Default)]
pub struct Map {
    pub(crate) seen: Snapshot,
    pub(crate) table: Option<Arc<RangeTable>>,
    pub(crate) records: BTreeMap<RangeId, RangeRecord>,
    pub(crate) owners: BTreeMap<RangeId, Owned>,
    members: BTreeMap<Holder, String>,
    loads: BTreeMap<RangeId, RangeLoad>,
    wish: Option<Recut>,
}

impl Map {
    pub(crate) fn of(seen: Snapshot) -> Result<Self> {
        let mut map = Self::default();
        for (key, kept) in &seen.keys {
            let value = &kept.value[..];
            match key.split_once('/') {
                None if key == TABLE => map.table = Some(Arc::new(RangeTable::from_bytes(value)?)),
                None if key == WISH => map.wish = Some(read_wish(value)?),
                Some(("member", holder)) => {
                    drop(map.members.insert(read_holder(holder)?, read_address(value)?));
                }
                Some((kind, number)) => {
                    let Ok(range) = number.parse().map(RangeId) else { continue };
                    map.take(kind, range, value)?;
                }
                None => {}
            }
        }
        Ok(Self { seen, ..map })
    }

    fn take(&mut self, kind: &str, range: RangeId, value: &[u8]) -> Result<()> {
        match kind {
            "range" => drop(self.records.insert(range, RangeRecord::read(value)?)),
            "owner" => drop(self.owners.insert(range, Owned::read(value)?)),
            "load" => drop(self.loads.insert(range, read_load(value)?)),
            _ => {}
        }
        Ok(())
    }

    /// A number that grows with every change.
    pub(crate) const fn revision(&self) -> i64 {
        self.seen.revision
    }

    /// The range table, if ranges are cut here.
    pub const fn table(&self) -> Option<&Arc<RangeTable>> {
        self.table.as_ref()
    }

    /// The owner of a range.
    pub fn owner(&self, range: RangeId) -> Option<Owned> {
        self.owners.get(&range).copied()
    }

    /// The address of the process that has a range, or should claim it.
    pub fn address(&self, range: RangeId) -> Option<&str> {
        let holder = self.owner(range).map(|owned| owned.holder).or_else(|| self.heir(range))?;
        self.members.get(&holder).map(String::as_str)
    }

    /// The processes that are alive, and their addresses.
    pub const fn members(&self) -> &BTreeMap<Holder, String> {
        &self.members
    }

    /// The measured load of a range.
    pub(crate) fn load(&self, range: RangeId) -> RangeLoad {
        self.loads.get(&range).cloned().unwrap_or_default()
    }

    /// The wished change of the table.
    pub(crate) const fn wish(&self) -> Option<&Recut> {
        self.wish.as_ref()
    }

    /// The ranges of the wish.
    pub(crate) fn wished(&self) -> Vec<RangeId> {
        match &self.wish {
            Some(Recut::Split(range, ..)) => vec![*range],
            Some(Recut::Merge(lower, upper)) => vec![*lower, *upper],
            None => Vec::new(),
        }
    }

    /// Whether a range has no owner, nothing left to apply, and is about to be cut: no process may claim it
    /// meanwhile.
    pub(crate) fn is_kept_free(&self, range: RangeId) -> bool {
        self.wished().contains(&range) && self.is_free(range)
    }

    /// Whether a range has no owner, and the last one left nothing to apply.
    pub(crate) fn is_free(&self, range: RangeId) -> bool {
        let is_drained = self.records.get(&range).is_none_or(|record| record.is_free);
        is_drained && !self.owners.contains_key(&range)
    }

    /// The ranges whose owners in this process must stop and release them.
    pub fn to_stop(&self, holder: Holder) -> Vec<RangeId> {
        let mut wished = self.wished();
        wished.retain(|range| self.owner(*range).is_some_and(|owned| owned.holder == holder));
        wished
    }

    /// Ranges, owners and loads, with processes by their index in [`Map::members`].
    pub(crate) fn survey(&self) -> LoadSurvey {
        let place = |holder: Holder| self.members.keys().position(|member| *member == holder);
        let mut survey = LoadSurvey::new(self.members.len());
        for (range, load) in self.all_loads().into_iter().filter(|(range, _)| !self.is_kept_free(*range)) {
            // A process that is not a member any more keeps its ranges until they are seen to be free.
            let owner = self.owner(range).map(|owned| place(owned.holder).unwrap_or(usize::MAX));
            survey.add(range, load.requests, owner);
        }
        survey
    }

    fn member(&self, place: usize) -> Option<Holder> {
        self.members.keys().nth(place).copied()
    }

    /// The process that should claim each range without an owner, by measured load. Every process computes the
    /// same.
    pub fn heirs(&self) -> BTreeMap<RangeId, Holder> {
        let heirs = self.survey().heirs().into_iter();
        heirs.filter_map(|(range, place)| Some((range, self.member(place)?))).collect()
    }

    fn heir(&self, range: RangeId) -> Option<Holder> {
        self.heirs().get(&range).copied()
    }

    /// The ranges without an owner that a process should claim.
    pub(crate) fn heritage(&self, holder: Holder) -> Vec<RangeId> {
        let heirs = self.heirs().into_iter().filter(|(_, heir)| *heir == holder);
        heirs.map(|(range, _)| range).filter(|range| self.records.contains_key(range)).collect()
    }

    /// A range that a process should leave to a less busy one, if it is the busiest by far.
    pub(crate) fn to_leave(&self, holder: Holder) -> Option<RangeId> {
        let (range, busiest) = self.survey().relief().filter(|_| self.wish.is_none())?;
        (self.member(busiest) == Some(holder)).then_some(range)
    }

    /// All ranges of the table and their measured load.
    pub(crate) fn all_loads(&self) -> Vec<(RangeId, RangeLoad)> {
        let ranges = self.table.as_ref().map(|table| table.ranges()).unwrap_or_default();
        ranges.into_iter().map(|range| (range, self.load(range))).collect()
    }
}
