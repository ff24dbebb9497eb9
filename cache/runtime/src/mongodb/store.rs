//! The port to a collection: a write checks the fence of its range, and changes only documents that no newer owner
//! has written.
//!
//! There are no transactions here, so the check and the write are two steps, and a new owner waits for writes that
//! may be between them: it serves nothing until an operation of the old one, which gives up after
//! [`FencedCollection::max_operation`], is over. A write that is delayed for longer is refused only if the
//! document has been written since: its `_lacuna` is the epoch of its last writer, and an update or deletion
//! requires that it is not newer.

use std::sync::Arc;
use std::time::Duration;

use lacuna_cache_protocol::ports::{Answer, DataStore, Reply};
use lacuna_cache_protocol::{Command, Epoch, Form, Query, RangeId, Rows, StoreCall, StoreReply, StoreState};
use lacuna_cache_protocol::{Error, ErrorKind, Result};
use mongodb::Collection;
use mongodb::bson::{Document, doc};

use crate::mongodb::documents::encode;
use crate::mongodb::domain_key::{key, within};
use crate::mongodb::failure::{error_of, refused};
use crate::mongodb::fence::Fences;
use crate::mongodb::schema::{EPOCH, Schema};
use crate::mongodb::write::DocumentWrite;

/// A collection with its fence.
#[derive(Debug)]
pub(crate) struct FencedCollection {
    pub(crate) documents: Collection<Document>,
    pub(crate) fences: Fences,
    pub(crate) schema: Arc<Schema>,
    /// How long a check of the fence and the write after it may take together.
    pub(crate) max_operation: Duration,
}

impl FencedCollection {
    async fn run(&self, range: RangeId, epoch: Epoch, call: StoreCall) -> Result<Answer> {
        match call {
            StoreCall::Query(query) => self.query(&query).await,
            StoreCall::Fence => self.raise_fence(range, epoch).await,
            StoreCall::Check | StoreCall::Recovered | StoreCall::Drained => {
                let is_ours = self.fences.epoch(range).await? == Some(epoch);
                Ok(if is_ours { StoreReply::Done } else { StoreReply::Fenced }.into())
            }
            StoreCall::Write(command) => self.write_in_time(&[(range, epoch)], &command).await,
            StoreCall::WriteAcross(command, others) => {
                let fences: Vec<(RangeId, Epoch)> = [(range, epoch)].into_iter().chain(others).collect();
                self.write_in_time(&fences, &command).await
            }
            StoreCall::Apply(_) => Err(Error::unsupported("buffered writes need transactions")),
        }
    }

    /// Raises the fence, then waits for writes that the old owner may have in flight.
    async fn raise_fence(&self, range: RangeId, epoch: Epoch) -> Result<Answer> {
        if !self.fences.raise(range, epoch).await? {
            return Ok(StoreReply::Fenced.into());
        }
        tokio::time::sleep(self.max_operation).await;
        let state = StoreState { applied_lsn: 0, recovered: epoch, is_buffered: false };
        Ok(StoreReply::State(state).into())
    }

    async fn query(&self, query: &Query) -> Result<Answer> {
        let missing = || Error::invalid_input(format!("there is no domain {}", query.domain));
        let (field, domain) = self.schema.domains.get(query.domain).ok_or_else(missing)?;
        let order = if matches!(query.form, Form::Last(_)) { -1 } else { 1 };
        let limit = match query.form {
            Form::All => None,
            Form::First(limit) | Form::Last(limit) => Some(limit),
        };
        let filter = within(field, *domain, &query.interval)?;
        let found = self.documents.find(filter).sort(doc! { field: order, "_id": order });
        let mut found = match limit {
            Some(limit) => found.limit(limit.into()).await,
            None => found.await,
        }
        .map_err(error_of)?;
        let (mut documents, mut last) = (Vec::new(), None);
        while found.advance().await.map_err(error_of)? {
            let mut document: Document = found.deserialize_current().map_err(error_of)?;
            document.remove(EPOCH);
            // A value without a key (a list, a float among whole numbers) may match ranges that are not known here.
            last = key(*domain, document.get(field))?;
            documents.push(document);
        }
        let is_full = limit.is_some_and(|limit| documents.len() == limit as usize);
        if order < 0 {
            documents.reverse();
        }
        let rows = Rows {
            value: encode(&documents)?,
            is_empty: documents.is_empty(),
            last: last.filter(|_| is_full),
        };
        Ok(StoreReply::Rows(rows).into())
    }

    async fn write_in_time(&self, fences: &[(RangeId, Epoch)], command: &Command) -> Result<Answer> {
        let done = tokio::time::timeout(self.max_operation, self.write(fences, command)).await;
        done.unwrap_or_else(|_| Err(Error::unavailable("the database took too long for a write")))
    }

    async fn write(&self, fences: &[(RangeId, Epoch)], command: &Command) -> Result<Answer> {
        let write = DocumentWrite::read(command)?;
        if !self.are_ours(fences).await? {
            return Ok(StoreReply::Fenced.into());
        }
        let epoch = fences.iter().map(|(_, epoch)| epoch.0.cast_signed()).max().unwrap_or(0);
        let done = match write {
            DocumentWrite::Insert(mut document) => {
                document.insert(EPOCH, epoch);
                self.documents.insert_one(document).await.map(|_| 1)
            }
            DocumentWrite::Set { seen, mut values } => {
                values.insert(EPOCH, epoch);
                let done =
                    self.documents.update_one(written_before(seen, epoch), doc! { "$set": values }).await;
                done.map(|done| done.matched_count)
            }
            DocumentWrite::Delete(seen) => {
                let done = self.documents.delete_one(written_before(seen, epoch)).await;
                done.map(|done| done.deleted_count)
            }
        };
        match done {
            Err(error) => refused(error),
            Ok(0) if !self.are_ours(fences).await? => Ok(StoreReply::Fenced.into()),
            Ok(0) => {
                let why = Error::new(ErrorKind::Conflict, "the document has changed, or is gone");
                Ok(Answer { reply: StoreReply::Refused { lsn: None, retry: false }, why: Some(why) })
            }
            Ok(_) => Ok(StoreReply::Done.into()),
        }
    }

    async fn are_ours(&self, fences: &[(RangeId, Epoch)]) -> Result<bool> {
        for (range, epoch) in fences {
            if self.fences.epoch(*range).await? != Some(*epoch) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The filter for the document with the fields of `seen`, unless an owner of a later epoch has written it.
fn written_before(mut seen: Document, epoch: i64) -> Document {
    seen.insert("$or", [doc! { EPOCH: { "$exists": false } }, doc! { EPOCH: { "$lte": epoch } }].to_vec());
    seen
}

impl DataStore for FencedCollection {
    fn call(&self, range: RangeId, epoch: Epoch, call: StoreCall) -> Reply<'_, Answer> {
        Box::pin(self.run(range, epoch, call))
    }

    fn largest_epoch(&self) -> Reply<'_, Epoch> {
        Box::pin(self.fences.largest())
    }
}
