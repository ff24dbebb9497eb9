//! Rows, queries and a policy whose stored filters are damaged.

use std::ops::Bound;
use std::sync::Arc;

use bytes::{BufMut, Bytes};
use slatedb::{Filter, FilterBuilder, FilterPolicy, FilterQuery, RowEntry, ValueDeletable};

pub(crate) fn row(key: &[u8], value: ValueDeletable) -> RowEntry {
    RowEntry { key: Bytes::copy_from_slice(key), value, seq: 1, create_ts: None, expire_ts: None }
}

pub(crate) fn entry(key: &[u8]) -> RowEntry {
    row(key, ValueDeletable::Value(Bytes::from_static(b"v")))
}

pub(crate) fn tombstone(key: &[u8]) -> RowEntry {
    row(key, ValueDeletable::Tombstone)
}

pub(crate) fn point(key: &[u8]) -> FilterQuery {
    FilterQuery::point(Bytes::copy_from_slice(key))
}

pub(crate) fn range(lo: Bound<&[u8]>, hi: Bound<&[u8]>) -> FilterQuery {
    FilterQuery::range(lo.map(Bytes::copy_from_slice), hi.map(Bytes::copy_from_slice))
}

/// Another policy whose filters are stored without their last byte.
pub(crate) struct Damaged(pub(crate) Arc<dyn FilterPolicy>);

struct DamagedBuilder(Box<dyn FilterBuilder>);

struct DamagedFilter(Arc<dyn Filter>);

impl FilterPolicy for Damaged {
    fn name(&self) -> &str {
        self.0.name()
    }
    fn builder(&self) -> Box<dyn FilterBuilder> {
        Box::new(DamagedBuilder(self.0.builder()))
    }
    fn decode(&self, data: &[u8]) -> Arc<dyn Filter> {
        self.0.decode(data)
    }
    fn estimate_size(&self, num_keys: usize) -> usize {
        self.0.estimate_size(num_keys)
    }
}

impl FilterBuilder for DamagedBuilder {
    fn add_entry(&mut self, entry: &RowEntry) {
        self.0.add_entry(entry);
    }
    fn build(&mut self) -> Arc<dyn Filter> {
        Arc::new(DamagedFilter(self.0.build()))
    }
}

impl Filter for DamagedFilter {
    fn might_match(&self, _query: &FilterQuery) -> bool {
        true
    }
    fn encode(&self, writer: &mut dyn BufMut) {
        let mut bytes = Vec::new();
        self.0.encode(&mut bytes);
        writer.put_slice(&bytes[..bytes.len() - 1]);
    }
    fn size(&self) -> usize {
        self.0.size() - 1
    }
    fn clamp_allocated_size(&self) -> Arc<dyn Filter> {
        Arc::new(Self(Arc::clone(&self.0)))
    }
}
