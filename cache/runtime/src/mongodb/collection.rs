//! A registered collection: reads by range, and writes with known touched values.

use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

use crate::owner::{Counts, RangeCache, WriteError};
use lacuna_cache_protocol::{Error, Result};
use lacuna_cache_protocol::{Form, Interval, Query, RangeKey, Stamps, Touched, Write};
use mongodb::bson::{Bson, Document};

use crate::mongodb::documents::decode;
use crate::mongodb::domain_key::key;
use crate::mongodb::schema::{EPOCH, Schema};
use crate::mongodb::write::DocumentWrite;

/// A collection with a cache in front of it. Clones are the same collection.
#[derive(Debug, Clone)]
pub struct Collection {
    cache: RangeCache,
    schema: Arc<Schema>,
}

impl Collection {
    pub(crate) const fn new(cache: RangeCache, schema: Arc<Schema>) -> Self {
        Self { cache, schema }
    }

    /// All documents whose `field` lies in `range`, in the order of that field, then of `_id`.
    ///
    /// # Errors
    /// `InvalidInput` for a field that is not registered or a bound of another type, `Unavailable` if there is no
    /// answer.
    pub async fn get<V: Into<Bson> + Clone>(
        &self,
        field: &str,
        range: impl RangeBounds<V>,
    ) -> Result<Vec<Document>> {
        self.ask(field, range, Form::All).await
    }

    /// The first `limit` of these documents.
    ///
    /// # Errors
    /// As [`Collection::get`].
    pub async fn first<V: Into<Bson> + Clone>(
        &self,
        field: &str,
        range: impl RangeBounds<V>,
        limit: u32,
    ) -> Result<Vec<Document>> {
        self.ask(field, range, Form::First(limit)).await
    }

    /// The last `limit` of these documents, in ascending order.
    ///
    /// # Errors
    /// As [`Collection::get`].
    pub async fn last<V: Into<Bson> + Clone>(
        &self,
        field: &str,
        range: impl RangeBounds<V>,
        limit: u32,
    ) -> Result<Vec<Document>> {
        self.ask(field, range, Form::Last(limit)).await
    }

    async fn ask<V: Into<Bson> + Clone>(
        &self,
        field: &str,
        range: impl RangeBounds<V>,
        form: Form,
    ) -> Result<Vec<Document>> {
        let domain = self.schema.domain_of(field)?;
        let bounds = (self.bound(domain, range.start_bound())?, self.bound(domain, range.end_bound())?);
        let (Some(lo), Some(hi)) = bounds else { return Ok(Vec::new()) };
        let is_nothing = matches!(form, Form::First(0) | Form::Last(0));
        let Some(interval) = Interval::new(lo, hi).filter(|_| !is_nothing) else { return Ok(Vec::new()) };
        let query = Query {
            domain,
            interval,
            form,
            fingerprint: self.schema.fingerprint(),
            question: None,
            stamps: Stamps::NONE,
        };
        decode(&self.cache.read(query).await?)
    }

    /// `None` if the bound is null.
    fn bound<V: Into<Bson> + Clone>(
        &self,
        domain: usize,
        bound: Bound<&V>,
    ) -> Result<Option<Bound<RangeKey>>> {
        let of = |value: &V| key(self.schema.domains[domain].1, Some(&value.clone().into()));
        Ok(match bound {
            Bound::Included(value) => of(value)?.map(Bound::Included),
            Bound::Excluded(value) => of(value)?.map(Bound::Excluded),
            Bound::Unbounded => Some(Bound::Unbounded),
        })
    }

    /// Adds a document, which has an `_id`.
    ///
    /// # Errors
    /// `Refused` if there is a document with this `_id`, or a registered field is of another type; see
    /// [`WriteError`].
    pub async fn insert(&self, document: Document) -> Result<(), WriteError> {
        check_fields(&document)?;
        if document.get("_id").is_none_or(|id| *id == Bson::Null) {
            return Err(Error::invalid_input("a document needs an `_id` that identifies it").into());
        }
        let touched = self.touched(&[&document], None)?;
        self.send(touched, &DocumentWrite::Insert(document)).await
    }

    /// Sets fields of a document. `document` was read, or has its `_id` and the values of its registered fields.
    ///
    /// # Errors
    /// `Refused`, of the kind `Conflict`, if a registered field differs from `document`, or the document is gone;
    /// see [`WriteError`].
    pub async fn update(&self, document: &Document, values: Document) -> Result<(), WriteError> {
        check_fields(&values)?;
        if values.contains_key("_id") {
            return Err(
                Error::invalid_input("the key of a document does not change: delete it and insert").into()
            );
        }
        let touched = self.touched(&[document], Some(&values))?;
        self.send(touched, &DocumentWrite::Set { seen: self.seen(document)?, values }).await
    }

    /// Removes a document.
    ///
    /// # Errors
    /// As [`Collection::update`].
    pub async fn delete(&self, document: &Document) -> Result<(), WriteError> {
        let touched = self.touched(&[document], None)?;
        self.send(touched, &DocumentWrite::Delete(self.seen(document)?)).await
    }

    /// The values of registered fields before and after a write; `values` counts only for the fields that it
    /// names.
    fn touched(&self, documents: &[&Document], values: Option<&Document>) -> Result<Vec<Touched>> {
        let mut touched = Vec::new();
        for (domain, (field, domain_type)) in self.schema.domains.iter().enumerate() {
            let after = values.filter(|values| values.contains_key(field));
            let all = documents.iter().copied().chain(after);
            let keys: Result<Vec<Option<RangeKey>>> =
                all.map(|all| key(*domain_type, all.get(field))).collect();
            let mut keys: Vec<RangeKey> = keys?.into_iter().flatten().collect();
            if keys.is_empty() {
                // In no range; but a domain that is not named would be touched whole (P9).
                keys.push(RangeKey::from_bytes(b""));
            }
            touched.extend(keys.into_iter().map(|key| (domain, Interval::point(key))));
        }
        Ok(touched)
    }

    /// The precondition of a write of the document: its key and registered fields. Like the database, it treats a
    /// missing field as null.
    fn seen(&self, document: &Document) -> Result<Document> {
        let missing = || Error::invalid_input("the document has no `_id`, so it cannot be found");
        let mut seen = Document::new();
        seen.insert("_id", document.get("_id").ok_or_else(missing)?.clone());
        for (field, _) in self.schema.domains.iter().filter(|(field, _)| field != "_id") {
            seen.insert(field, document.get(field).cloned().unwrap_or(Bson::Null));
        }
        Ok(seen)
    }

    async fn send(&self, touched: Vec<Touched>, write: &DocumentWrite) -> Result<(), WriteError> {
        self.cache.write(Write { touched, command: write.command()? }).await
    }

    /// Counters since it was registered.
    pub fn counts(&self) -> Counts {
        self.cache.counts()
    }
}

/// Top-level fields only: a path or an operator would change values that are not checked here.
fn check_fields(document: &Document) -> Result<()> {
    match document.keys().find(|field| field.starts_with('$') || field.contains('.') || *field == EPOCH) {
        Some(field) => Err(Error::invalid_input(format!("{field:?} is not a field that can be written"))),
        None => Ok(()),
    }
}
