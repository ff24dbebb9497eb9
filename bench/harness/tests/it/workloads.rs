//! Keys and queries from texts.

use lacuna_workload::{KeySource, QuerySource, ReadOptions, Workload};

/// Keys and queries from texts.
pub(crate) fn workload(keys: &str, queries: &str, seed: u64) -> Workload {
    let keys =
        KeySource::parse(keys).and_then(|source| source.load(&ReadOptions::default(), seed, &mut |_| {}));
    let queries = QuerySource::parse(queries);
    queries.and_then(|queries| queries.workload(keys?, seed)).expect("texts name a workload")
}

/// As [`workload`], over the big-endian bytes of the same integers.
pub(crate) fn byte_workload(keys: &str, queries: &str, seed: u64) -> Workload {
    let keys =
        KeySource::parse(keys).and_then(|source| source.load(&ReadOptions::default(), seed, &mut |_| {}));
    let keys = lacuna_workload::Keys::Bytes(keys.expect("a generator").to_be_bytes());
    QuerySource::parse(queries)
        .and_then(|queries| queries.workload(keys, seed))
        .expect("texts name a workload")
}
