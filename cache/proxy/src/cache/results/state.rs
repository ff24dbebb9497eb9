//! What the lock guards, and the steps that several calls take.

use std::collections::HashMap;
use std::mem;
use std::time::Instant;

use super::Hold;
use crate::cache::entries::Entries;
use crate::cache::span::{ColumnId, Spans, Touched};

/// What a write touches that is under way.
#[derive(Debug)]
pub(super) struct HeldWrite {
    pub(super) touched: Touched,
    /// The server process that writes, if it is known.
    pub(super) process: Option<i32>,
    pub(super) since: Instant,
}

/// A statement without an answer.
#[derive(Debug)]
pub(super) struct View {
    /// The reading of the catalogue by which it was understood.
    pub(super) generation: u64,
    pub(super) process: Option<i32>,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) entries: Entries,
    /// Entries that were dropped under this lock.
    pub(super) freed: Vec<Entries>,
    pub(super) holds: HashMap<u64, HeldWrite>,
    /// Those that are doubted are among the holds, too.
    pub(super) views: HashMap<u64, View>,
    /// Whether definitions are those of the last reading.
    pub(super) is_certain: bool,
    /// Whether a doubted view has ended since the last check began.
    pub(super) has_doubted: bool,
    /// The reading by which results were opened last.
    pub(super) opened: u64,
    pub(super) tickets: HashMap<u64, (ColumnId, Spans)>,
    /// Entries that are compared, until a write touches their intervals.
    pub(super) watched: HashMap<u64, (ColumnId, Spans)>,
    pub(super) next: u64,
    /// Why nothing is shown.
    pub(super) closed: Option<String>,
    /// Until when the lease lasts.
    pub(super) serves_until_ms: u64,
    /// How often a check of the catalogue was asked for, and how much of that was done.
    pub(super) checks_wanted: u64,
    pub(super) checks_done: u64,
    /// The reading of the catalogue by which intervals are understood.
    pub(super) generation: u64,
    /// Holds without an answer, with the server process that may still commit.
    pub(super) doubts: Vec<(i32, Hold)>,
}

impl State {
    pub(super) fn new(column_count: usize, max_bytes: usize) -> Self {
        Self {
            entries: Entries::new(column_count, max_bytes),
            freed: Vec::new(),
            holds: HashMap::new(),
            views: HashMap::new(),
            is_certain: false,
            has_doubted: false,
            opened: 1,
            tickets: HashMap::new(),
            watched: HashMap::new(),
            next: 0,
            closed: Some("the catalogue was not checked yet".to_owned()),
            serves_until_ms: 0,
            checks_wanted: 0,
            checks_done: 0,
            generation: 1,
            doubts: Vec::new(),
        }
    }

    pub(super) const fn is_open(&self, now_ms: u64) -> bool {
        self.closed.is_none() && self.checks_done == self.checks_wanted && now_ms <= self.serves_until_ms
    }

    pub(super) const fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    pub(super) fn release(&mut self, hold: Hold) -> bool {
        let held = self.holds.remove(&hold.0);
        let must_check = match (self.views.remove(&hold.0), &held) {
            (None, Some(held)) => held.touched.may_define,
            (Some(view), Some(_)) => {
                self.has_doubted = true;
                view.generation != self.generation
            }
            (_, None) => false,
        };
        if must_check {
            self.distrust();
        }
        must_check
    }

    pub(super) fn distrust(&mut self) {
        self.checks_wanted += 1;
        self.doubt_views();
        self.clear();
    }

    /// Definitions may change from now on.
    pub(super) fn doubt_views(&mut self) {
        self.is_certain = false;
        let views: Vec<_> = self.views.iter().map(|(number, view)| (*number, view.process)).collect();
        views.into_iter().for_each(|(number, process)| self.doubt_view(number, process));
    }

    pub(super) fn doubt_view(&mut self, number: u64, process: Option<i32>) {
        let touched = Touched { is_all: true, ..Touched::default() };
        self.holds.entry(number).or_insert_with(|| HeldWrite { touched, process, since: Instant::now() });
        self.clear();
    }

    /// A check has ended. If definitions are what they were, what statements were taken for was right. If they are not,
    /// one that was on its way may have changed them as well, unseen: then there must be another check.
    pub(super) fn settle_views(&mut self, check: u64) -> bool {
        let has_changed = mem::replace(&mut self.opened, self.generation) != self.generation;
        let defines = |(number, held): (&u64, &HeldWrite)| {
            held.touched.may_define
                || self.views.get(number).is_some_and(|view| view.generation != self.generation)
        };
        if check != self.checks_wanted || self.holds.iter().any(defines) {
            return false;
        }
        let is_overlapped =
            self.has_doubted || self.views.keys().any(|number| self.holds.contains_key(number));
        if has_changed && is_overlapped {
            self.distrust();
            return true;
        }
        self.is_certain = true;
        self.holds.retain(|number, _| !self.views.contains_key(number));
        false
    }

    /// Drops all entries, and returns how many there were.
    pub(super) fn clear_entries(&mut self) -> usize {
        let cleared = self.entries.clear();
        let count = cleared.len();
        self.freed.push(cleared);
        count
    }

    pub(super) fn clear(&mut self) {
        self.clear_entries();
        self.tickets.clear();
        self.watched.clear();
    }
}
