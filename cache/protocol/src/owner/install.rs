//! Decides whether a result becomes an entry and what the entry answers for, and installs it.

use super::calls::{Call, Purpose};
use super::{Owner, TaskId};
use crate::call::CacheCall;
use crate::config::{Application, Flaw};
use crate::interval::Interval;
use crate::message::{Session, Value};
use crate::query::{Form, Query};
use crate::range_key::RangeKey;

impl<A: Application> Owner<A> {
    /// Installs nothing for a while. The entry stays known (P5): another reader may have installed it meanwhile,
    /// and a server without room refuses before it checks the lease.
    pub(super) fn cache_is_full(&mut self) {
        self.full_until = self.now + self.config.write_through_for;
        self.auto_beta.was_full();
    }

    pub(super) fn read_installed(&mut self, task: TaskId) {
        if let Some((query, covered)) =
            self.reads.get_mut(&task).and_then(|read| Some((read.query.clone(), read.covered_later.take()?)))
        {
            self.know_entry(&query, covered);
        }
        self.end_read(task, None);
    }

    pub(super) fn covered(&self, query: &Query, last: Option<&RangeKey>) -> Interval<RangeKey> {
        if self.is_flawed(Flaw::CoverLastRowOnly) && query.form != Form::All && last.is_none() {
            // The flaw: as if the result ended where the query begins.
            let (lo, hi) = query.interval.clone().into_cuts();
            let near = if matches!(query.form, Form::First(_)) { lo } else { hi };
            return near
                .value()
                .map_or_else(|| query.interval.clone(), |value| Interval::point(value.clone()));
        }
        query.covered(last)
    }

    pub(super) fn is_small_enough(&self, value: &Value) -> bool {
        value.as_bytes().len() <= self.config.largest_value.min(self.largest_worth)
    }

    pub(super) fn is_worth_caching(
        &self,
        query: &Query,
        covered: &Interval<RangeKey>,
        value: &Value,
    ) -> bool {
        if self.now < self.full_until || !self.is_small_enough(value) {
            return false;
        }
        let others = if self.beta() < 100 {
            self.index.read().touched(&[(query.domain, covered.clone())])
        } else {
            Vec::new()
        };
        let shared = others
            .iter()
            .filter(|other| *other != query)
            .map(|other| self.application.shared_percent(query, value, other));
        shared.max().unwrap_or(0) <= self.beta()
    }

    /// The entry is known before it can be there (P5).
    pub(super) fn install(
        &mut self,
        task: TaskId,
        query: Query,
        session: Session,
        covered: Interval<RangeKey>,
        value: Value,
    ) {
        if self.is_flawed(Flaw::KnowAfterInstall) {
            self.reads.get_mut(&task).expect("the caller has it").covered_later = Some(covered.clone());
        } else {
            self.know_entry(&query, covered.clone());
        }
        // Its number is larger than that of the delete record of the entry that it replaces.
        let record = self.insert_record(&query, covered);
        self.call(Purpose::Read(task), Call::Cache(CacheCall::Install(query, session, value, record)));
    }
}
