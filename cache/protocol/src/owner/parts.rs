//! Puts a result together from cached ones: the purpose of a β below 100 %.
//!
//! Where cached results overlap the query, their values are read in one script and the store is asked only for the
//! intervals that none of them contains. With `[18, 22]` and `[25, 30]` cached, `[20, 28]` needs the store for
//! `(22, 25)` alone. If the whole result shares at most β of its rows with each of them it becomes an entry too;
//! otherwise only the gaps do, so that at β = 0 no row is cached twice.
//!
//! Guarantee: the lease of the query keeps every write out of its interval, so that values and gaps, read one after the
//! other, show the same moment there. Cached values show buffered writes; the store must have those of the gaps.
//!
//! Cost: one more script than a miss, and a store query for each gap; a query that would need many is sent whole.
//!
//! Report, sections 2 and 8 ("fusing multiple cache entries").

use super::calls::{Call, Purpose};
use super::{Owner, TaskId};
use crate::call::{CacheCall, CacheReply, Rows, StoreCall};
use crate::config::Application;
use crate::interval::Interval;
use crate::known_entries::MAX_PARTS;
use crate::message::{ReadOutcome, Session, Value};
use crate::query::{Query, Touched};
use crate::range_key::RangeKey;

/// Maximum of gaps for one query.
const MAX_GAPS: usize = 4;

/// The parts of a read.
#[derive(Debug, Clone)]
pub(super) struct Parts {
    parts: Vec<(Query, Option<Value>)>,
    /// Index of the first gap; the parts before it are cached.
    first_gap: usize,
    /// For each gap, whether the store was asked for it.
    asked: Vec<bool>,
    /// Installations without a reply.
    installing: usize,
}

impl<A: Application> Owner<A> {
    /// Begins to read the cached parts of a query; `false` if the store must be asked for all of it.
    pub(super) fn gather_parts(&mut self, task: TaskId) -> bool {
        let Some(read) = self.reads.get(&task) else { return false };
        let is_plain = read.query.is_all_rows() && !read.verifies() && read.parts.is_none();
        if self.beta() == 100 || !is_plain || !self.application.can_fuse() {
            return false;
        }
        let (query, session) = (read.query.clone(), read.session);
        let planned = self.index.read().cover(&query, MAX_PARTS, MAX_GAPS);
        let Some((cached, gaps)) = planned else { return false };
        let Some(session) = session else { return false };
        let part = |query: &Query| (query.clone(), None);
        let parts = Parts {
            parts: cached.iter().chain(&gaps).map(part).collect(),
            first_gap: cached.len(),
            asked: vec![false; gaps.len()],
            installing: 0,
        };
        self.reads.get_mut(&task).expect("it was there").parts = Some(parts);
        self.call(Purpose::Read(task), Call::Cache(CacheCall::Gather(session, cached, gaps)));
        true
    }

    pub(super) fn parts_gathered(&mut self, task: TaskId, found: Vec<(Query, Value)>) {
        let Some(parts) = self.reads.get_mut(&task).and_then(|read| read.parts.as_mut()) else { return };
        if found.len() < parts.first_gap {
            // One was evicted, or a write outside the query's interval hides it.
            return self.query_whole(task);
        }
        for (query, value) in found {
            let part = parts.parts.iter_mut().find(|(known, _)| *known == query);
            part.expect("it was asked for").1 = Some(value);
        }
        let gaps = parts.parts[parts.first_gap..].iter().map(|(gap, _)| (gap.domain, gap.interval.clone()));
        let gaps: Vec<_> = gaps.collect();
        self.flush(task, &gaps);
    }

    /// Gathered values and values under verification may show writes that are now set aside: they become no entry,
    /// and are not taken as proof of a foreign write.
    pub(super) fn doubt_reads(&mut self, touched: &[Touched]) {
        for read in self.reads.values_mut().filter(|read| read.parts.is_some() || read.shown.is_some()) {
            let shows = |(domain, interval): &Touched| {
                *domain == read.query.domain && interval.overlaps(&read.query.interval)
            };
            if touched.iter().any(shows) {
                (read.may_install, read.shown) = (false, None);
            }
        }
    }

    /// Asks the store for the gaps. It has every buffered write of them.
    pub(super) fn read_gaps(&mut self, task: TaskId) {
        let Some(parts) = self.reads.get(&task).and_then(|read| read.parts.as_ref()) else { return };
        let gaps: Vec<(usize, Query)> =
            (parts.first_gap..parts.parts.len()).map(|at| (at, parts.parts[at].0.clone())).collect();
        for (at, gap) in gaps {
            self.read_gap(task, at, gap);
        }
        self.fuse_if_complete(task);
    }

    fn read_gap(&mut self, task: TaskId, at: usize, gap: Query) {
        let is_empty = self.gaps.is_known_empty(&gap);
        let empty = is_empty.then(|| self.application.empty(&gap));
        let Some(parts) = self.reads.get_mut(&task).and_then(|read| read.parts.as_mut()) else { return };
        if is_empty {
            parts.parts[at].1 = empty;
        } else {
            parts.asked[at - parts.first_gap] = true;
            self.call(Purpose::Part(task, at), Call::Store(StoreCall::Query(gap)));
        }
    }

    pub(super) fn part_rows(&mut self, task: TaskId, at: usize, rows: Rows) {
        let Some(parts) = self.reads.get_mut(&task).and_then(|read| read.parts.as_mut()) else { return };
        parts.parts[at].1 = Some(rows.value);
        let gap = parts.parts[at].0.clone();
        if rows.is_empty {
            self.gaps.learn(gap.domain, gap.interval, gap.fingerprint);
        }
        self.fuse_if_complete(task);
    }

    fn fuse_if_complete(&mut self, task: TaskId) {
        let Some(read) = self.reads.get(&task) else { return };
        let Some(parts) = &read.parts else { return };
        let complete: Option<Vec<(Query, Value)>> =
            parts.parts.iter().map(|(query, value)| Some((query.clone(), value.clone()?))).collect();
        let Some(complete) = complete else { return };
        let (query, first_gap) = (read.query.clone(), parts.first_gap);
        let Some(whole) = self.application.fuse(&query, &complete) else { return self.query_whole(task) };
        let requests = std::mem::take(&mut self.reads.get_mut(&task).expect("it was there").requests);
        for request in requests {
            self.answer_read(request, ReadOutcome::Value(whole.clone()));
        }
        self.auto_beta.was_read(false);
        let cached = complete[..first_gap].iter();
        let shared = cached.map(|(other, _)| self.application.shared_percent(&query, &whole, other)).max();
        if shared.unwrap_or(0) <= self.beta() {
            self.install_parts(task, vec![(usize::MAX, query, whole)]);
        } else {
            let asked = self.reads[&task].parts.as_ref().map(|parts| parts.asked.clone()).unwrap_or_default();
            let gaps = complete.into_iter().enumerate().skip(first_gap).zip(asked);
            let gaps = gaps.filter(|(_, asked)| *asked).map(|((at, (gap, value)), _)| (at, gap, value));
            self.install_parts(task, gaps.collect());
        }
    }

    fn install_parts(&mut self, task: TaskId, entries: Vec<(usize, Query, Value)>) {
        let read = &self.reads[&task];
        let session = read.session.filter(|_| read.may_install && self.now >= self.full_until);
        let mut installing = 0;
        for (at, query, value) in entries {
            if let Some(session) = session.filter(|_| self.is_small_enough(&value)) {
                installing += 1;
                self.install_part(task, at, query, session, value);
            }
        }
        match self.reads.get_mut(&task).and_then(|read| read.parts.as_mut()) {
            Some(parts) if installing > 0 => parts.installing = installing,
            _ => self.end_read(task, None),
        }
    }

    fn install_part(&mut self, task: TaskId, at: usize, query: Query, session: Session, value: Value) {
        let covered: Interval<RangeKey> = query.interval.clone();
        self.know_entry(&query, covered.clone());
        let record = self.insert_record(&query, covered);
        let install = CacheCall::Install(query, session, value, record);
        self.call(Purpose::Part(task, at), Call::Cache(install));
    }

    pub(super) fn part_installed(&mut self, task: TaskId, reply: &CacheReply) {
        let Some(parts) = self.reads.get_mut(&task).and_then(|read| read.parts.as_mut()) else { return };
        parts.installing = parts.installing.saturating_sub(1);
        let is_last = parts.installing == 0;
        if *reply == CacheReply::Full {
            self.cache_is_full();
        }
        if is_last {
            self.end_read(task, None);
        }
    }
}
