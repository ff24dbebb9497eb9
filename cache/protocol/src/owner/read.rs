//! Reads that missed in the cache.

use super::calls::{Call, Purpose};
use super::parts::Parts;
use super::patching::{What, Wish};
use super::{Owner, TaskId};
use crate::call::{CacheCall, CacheReply, Rows, StoreCall};
use crate::config::{Application, Flaw, Policy};
use crate::interval::Interval;
use crate::lease_table::{LeaseId, LeaseMode};
use crate::message::{ReadOutcome, RequestId, Session, Value};
use crate::query::{Query, Touched};
use crate::range_key::RangeKey;

/// A query in progress, shared by all requests that asked it meanwhile.
#[derive(Debug, Clone)]
pub(super) struct ReadTask {
    pub(super) requests: Vec<RequestId>,
    /// Requests that came after the lookup was sent: its value may be older than they are, if this owner was
    /// replaced meanwhile. They start over.
    pub(super) late: Vec<RequestId>,
    pub(super) query: Query,
    lease: LeaseId,
    /// Session of the lookup, once it was sent.
    pub(super) session: Option<Session>,
    /// False once another reader is known to hold the I lease.
    pub(super) may_install: bool,
    /// What to note once the entry is installed, only under a flaw.
    pub(super) covered_later: Option<Interval<RangeKey>>,
    /// Whether the cached result is to be compared with that of the store, and the cached one.
    verifies: bool,
    pub(super) shown: Option<Value>,
    /// The parts that it is put together from.
    pub(super) parts: Option<Parts>,
    /// Whether a lookup has shown that this owner was not replaced before the requests came.
    is_proven: bool,
    /// What the store has answered without that proof.
    unproven: Option<Rows>,
    /// The time of the request.
    time: u64,
}

impl ReadTask {
    pub(super) const fn verifies(&self) -> bool {
        self.verifies
    }

    pub(super) const fn step_name(&self) -> &'static str {
        match (&self.session, self.requests.is_empty()) {
            (None, _) => "waiting",
            (Some(_), false) => "asking",
            (Some(_), true) => "installing",
        }
    }
}

impl<A: Application> Owner<A> {
    pub(super) fn begin_read(&mut self, request: RequestId, query: Query) {
        let place = [(query.domain, query.interval.clone())];
        self.load.count(&place);
        match self.mine_and_others(&place) {
            Some((_, others)) if others.is_empty() => self.begin_read_here(request, query),
            Some((mine, others)) => self.begin_read_across(request, query, mine, others),
            None => self.redirect(request),
        }
    }

    fn begin_read_here(&mut self, request: RequestId, query: Query) {
        match self.flights.get(&query).and_then(|task| self.reads.get_mut(task)) {
            Some(read) if read.session.is_none() => read.requests.push(request),
            Some(read) => read.late.push(request),
            None => self.begin_flight(vec![request], query, false),
        }
    }

    /// A read that compares the cached value with the store's; no other request joins it.
    pub(super) fn begin_verification(&mut self, request: RequestId, query: Query) {
        match self.mine_and_others(&[(query.domain, query.interval.clone())]) {
            Some((_, others)) if others.is_empty() => self.begin_flight(vec![request], query, true),
            _ => self.begin_read(request, query),
        }
    }

    fn begin_flight(&mut self, requests: Vec<RequestId>, query: Query, verifies: bool) {
        let task = self.next_number();
        let claims = vec![(query.domain, query.interval.clone())];
        let (lease, is_granted) = self.leases.request(LeaseMode::Shared, claims);
        self.holders.insert(lease, task);
        if !verifies {
            self.flights.insert(query.clone(), task);
        }
        let read = ReadTask {
            requests,
            late: Vec::new(),
            query,
            lease,
            session: None,
            may_install: true,
            covered_later: None,
            verifies,
            shown: None,
            parts: None,
            is_proven: false,
            unproven: None,
            time: self.now,
        };
        self.reads.insert(task, read);
        if is_granted {
            self.read_granted(task);
        }
    }

    /// The second lookup: another reader may have installed the value while this one waited. The lookup also
    /// proves that this owner was not replaced before it was sent; without that proof nothing that the owner knows
    /// may be an answer.
    pub(super) fn read_granted(&mut self, task: TaskId) {
        let session = self.new_session();
        let Some(read) = self.reads.get_mut(&task) else { return };
        read.session = Some(session);
        let lookup = CacheCall::Lookup(read.query.clone(), session);
        self.call(Purpose::Read(task), Call::Cache(lookup));
    }

    pub(super) fn read_cache_answered(&mut self, task: TaskId, reply: CacheReply) {
        let Some(read) = self.reads.get_mut(&task) else { return };
        read.is_proven |= self.config.lookups_prove
            && matches!(reply, CacheReply::Found(_) | CacheReply::Leased | CacheReply::Busy);
        match reply {
            CacheReply::Found(value) => self.read_found(task, &value),
            CacheReply::Leased => self.flush_and_query(task),
            CacheReply::Busy => {
                read.may_install = false;
                self.flush_and_query(task);
            }
            CacheReply::Full if !read.requests.is_empty() => {
                self.cache_is_full();
                self.lookup_was_not_made(task);
            }
            CacheReply::Full => {
                self.cache_is_full();
                self.end_read(task, None);
            }
            CacheReply::Gathered(found) => {
                let found = self.settled(found);
                self.parts_gathered(task, found);
            }
            // A value that no reader could use is gone: now for the lease.
            CacheReply::Done if !read.requests.is_empty() => self.read_granted(task),
            _ => self.read_installed(task),
        }
    }

    /// The cache server had no memory for the lookup, or did not answer. So the owner may have been replaced: what it
    /// knows is no answer, and no result becomes an entry.
    pub(super) fn lookup_was_not_made(&mut self, task: TaskId) {
        if let Some(read) = self.reads.get_mut(&task) {
            read.may_install = false;
            self.query_whole(task);
        }
    }

    /// A value that only the store can settle is deleted, so that the answer of the store takes its place.
    fn read_found(&mut self, task: TaskId, value: &Value) {
        let Some(read) = self.reads.get_mut(&task) else { return };
        match self.application.settle(&read.query, value) {
            Some(value) if !read.verifies => self.end_read(task, Some(ReadOutcome::Value(value))),
            None if !read.verifies => {
                let (gone, session) = (vec![read.query.clone()], self.new_session());
                self.call(Purpose::Read(task), Call::Cache(CacheCall::Invalidate(session, gone)));
            }
            settled => {
                if settled.is_none() {
                    let gone = Wish { query: read.query.clone(), what: What::Drop };
                    self.wish(None, vec![gone]);
                }
                let read = self.reads.get_mut(&task).expect("it was there");
                (read.shown, read.may_install) = (settled, false);
                self.flush_and_query(task);
            }
        }
    }

    /// A result that is known to be empty, or can be put together from cached ones, does not wait for buffered
    /// writes: cached results show them already.
    fn flush_and_query(&mut self, task: TaskId) {
        let Some(read) = self.reads.get(&task) else { return };
        let is_plain = read.query.is_all_rows() && !read.verifies;
        if is_plain && self.gaps.is_known_empty(&read.query) {
            let empty = self.application.empty(&read.query);
            return self.end_read(task, Some(ReadOutcome::Value(empty)));
        }
        if !self.gather_parts(task) {
            self.query_whole(task);
        }
    }

    /// Asks the store for the whole query.
    pub(super) fn query_whole(&mut self, task: TaskId) {
        let Some(read) = self.reads.get_mut(&task) else { return };
        read.parts = None;
        let place = (read.query.domain, read.query.interval.clone());
        self.flush(task, &[place]);
    }

    /// The store must have every buffered write of the queried intervals. No more can come while the lease is
    /// held.
    pub(super) fn flush(&mut self, task: TaskId, places: &[Touched]) {
        match self.buffered.last_overlapping(places).filter(|_| !self.is_flawed(Flaw::AskUnflushed)) {
            Some(lsn) => self.wait_for_apply(lsn, task),
            None => self.read_flushed(task),
        }
    }

    pub(super) fn read_flushed(&mut self, task: TaskId) {
        let Some(read) = self.reads.get(&task) else { return };
        if read.parts.is_some() {
            return self.read_gaps(task);
        }
        let query = StoreCall::Query(read.query.clone());
        self.call(Purpose::Read(task), Call::Store(query));
    }

    pub(super) fn read_rows(&mut self, task: TaskId, rows: Rows) {
        self.auto_beta.was_read(false);
        let Some(read) = self.reads.get(&task) else { return };
        if !read.is_proven && self.config.policy == Policy::WriteBack {
            // Another owner may have acknowledged writes that the store does not have. It would have raised this fence.
            self.reads.get_mut(&task).expect("it was there").unproven = Some(rows);
            return self.call(Purpose::Proof(task), Call::Store(StoreCall::Check));
        }
        let (query, session) = (read.query.clone(), read.session.filter(|_| read.may_install));
        if read.shown.as_ref().is_some_and(|shown| *shown != rows.value) {
            self.suspect_foreign_write();
        }
        for request in std::mem::take(&mut self.reads.get_mut(&task).expect("it was there").requests) {
            self.answer_read(request, ReadOutcome::Value(rows.value.clone()));
        }
        self.know_rows(&query, &rows.value);
        if rows.is_empty && query.is_all_rows() {
            self.gaps.learn(query.domain, query.interval.clone(), query.fingerprint);
        }
        let covered = self.covered(&query, rows.last.as_ref());
        match session.filter(|_| self.is_worth_caching(&query, &covered, &rows.value)) {
            Some(session) => self.install(task, query, session, covered, rows.value),
            None => self.end_read(task, None),
        }
    }

    /// This owner was not replaced before the store answered.
    pub(super) fn read_is_proven(&mut self, task: TaskId) {
        let Some(read) = self.reads.get_mut(&task) else { return };
        read.is_proven = true;
        if let Some(rows) = read.unproven.take() {
            self.read_rows(task, rows);
        }
    }

    /// Remembers the rows of a result, under its lease.
    fn know_rows(&mut self, query: &Query, value: &Value) {
        if self.config.policy == Policy::WriteBack && self.config.max_known_rows > 0 {
            self.known.learn(self.application.facts_of(query, value));
        }
    }

    /// Ends reads that have waited too long for a lease.
    pub(super) fn send_late_reads_away(&mut self) {
        let (now, patience) = (self.now, self.config.request_timeout);
        let is_late = |read: &ReadTask| read.session.is_none() && now - read.time >= patience;
        let late: Vec<TaskId> =
            self.reads.iter().filter(|(_, read)| is_late(read)).map(|(task, _)| *task).collect();
        for task in late {
            // A read that ends admits others.
            if self.reads.get(&task).is_some_and(is_late) {
                self.end_read(task, Some(ReadOutcome::Retry));
            }
        }
    }

    /// Answers the requests that have no answer yet, and releases the lease.
    pub(super) fn end_read(&mut self, task: TaskId, outcome: Option<ReadOutcome>) {
        let Some(read) = self.reads.remove(&task) else { return };
        if self.flights.get(&read.query) == Some(&task) {
            self.flights.remove(&read.query);
        }
        let outcome = outcome.unwrap_or(ReadOutcome::Retry);
        read.requests.into_iter().for_each(|request| self.answer_read(request, outcome.clone()));
        if self.is_flawed(Flaw::ForgetUnapplied) && self.config.policy == Policy::WriteBack {
            let forgotten = self.buffered.overlapping(read.query.domain, &read.query.interval);
            forgotten.into_iter().for_each(|lsn| drop(self.buffered.remove(lsn)));
        }
        self.release(read.lease);
        if !read.late.is_empty() {
            match self.flights.get(&read.query).and_then(|task| self.reads.get_mut(task)) {
                Some(next) => next.late.extend(read.late),
                None => self.begin_flight(read.late, read.query, false),
            }
        }
    }
}
