//! Fences of collections: one document for each, with the epoch of its owner.

use lacuna_cache_protocol::{Epoch, RangeId};
use lacuna_cache_protocol::{Error, Result};
use mongodb::bson::{Document, doc};
use mongodb::options::ReturnDocument;
use mongodb::{Collection, Database};

use crate::mongodb::domain_key::integer;
use crate::mongodb::failure::error_of;

/// The collection of all fences of a database.
#[derive(Debug, Clone)]
pub(crate) struct Fences(Collection<Document>);

/// The document that counts ranges.
const COUNTER: &str = "";

impl Fences {
    pub(crate) fn new(database: &Database) -> Self {
        Self(database.collection("lacuna_fence"))
    }

    /// The range of a collection; the same in every process.
    pub(crate) async fn range_of(&self, collection: &str) -> Result<RangeId> {
        for _ in 0..10 {
            if let Some(found) = self.0.find_one(doc! { "_id": collection }).await.map_err(error_of)? {
                let range = number(&found, "range").and_then(|range| u32::try_from(range).ok());
                return range
                    .map(RangeId)
                    .ok_or_else(|| Error::corrupt(format!("{collection} has no range")));
            }
            let next =
                self.0.find_one_and_update(doc! { "_id": COUNTER }, doc! { "$inc": { "range": 1i64 } });
            let next = next.upsert(true).return_document(ReturnDocument::After).await.map_err(error_of)?;
            let range = next.as_ref().and_then(|counter| number(counter, "range")).unwrap_or(1);
            // Another process may win the race: the next round finds its document.
            drop(self.0.insert_one(doc! { "_id": collection, "range": range, "epoch": 0i64 }).await);
        }
        Err(Error::unavailable(format!(
            "no range number for {collection}: other processes keep taking the next"
        )))
    }

    pub(crate) async fn epoch(&self, range: RangeId) -> Result<Option<Epoch>> {
        let found = self.0.find_one(doc! { "range": i64::from(range.0), "epoch": { "$gte": 0i64 } }).await;
        Ok(found.map_err(error_of)?.and_then(|fence| number(&fence, "epoch")).map(epoch))
    }

    /// Raises the fence; `false` if it is higher.
    pub(crate) async fn raise(&self, range: RangeId, epoch: Epoch) -> Result<bool> {
        let (range, epoch) = (i64::from(range.0), epoch.0.cast_signed());
        let below = doc! { "range": range, "epoch": { "$lte": epoch } };
        let raised = self.0.update_one(below, doc! { "$set": { "epoch": epoch } }).await.map_err(error_of)?;
        Ok(raised.matched_count == 1)
    }

    /// The largest epoch of any range.
    pub(crate) async fn largest(&self) -> Result<Epoch> {
        let found = self.0.find_one(doc! { "epoch": { "$gte": 0i64 } }).sort(doc! { "epoch": -1 }).await;
        Ok(found.map_err(error_of)?.and_then(|fence| number(&fence, "epoch")).map_or(Epoch(0), epoch))
    }
}

fn epoch(number: i64) -> Epoch {
    Epoch(number.cast_unsigned())
}

/// A whole number of a document.
pub(crate) fn number(document: &Document, field: &str) -> Option<i64> {
    document.get(field).and_then(integer)
}
