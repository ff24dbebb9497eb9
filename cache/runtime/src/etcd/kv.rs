//! Reads and transactions of etcd's version 3 interface, in the form of its JSON gateway.
//!
//! Bytes are base64, 64-bit numbers are decimal texts, and fields that are 0, empty or false are left out.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lacuna_cache_protocol::{Error, Result};
use serde_json::{Value, json};

use crate::etcd::cluster::Cluster;
use crate::etcd::http::Failed;

/// The value of a key at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) value: Vec<u8>,
    /// The revision that wrote it; none is used twice.
    pub(crate) revision: i64,
    /// The lease that it is attached to; 0 for none.
    pub(crate) lease: i64,
}

/// All keys below a prefix, and the revision of this state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Snapshot {
    pub(crate) revision: i64,
    /// By the part of the key after the prefix.
    pub(crate) keys: BTreeMap<String, Kept>,
}

impl Snapshot {
    /// The revision of a key; 0 if it does not exist.
    pub(crate) fn revision_of(&self, key: &str) -> i64 {
        self.keys.get(key).map_or(0, |kept| kept.revision)
    }
}

/// A transaction: changes that happen together, if its conditions hold.
#[derive(Debug)]
pub(crate) struct Change<'a> {
    prefix: &'a str,
    conditions: Vec<Value>,
    operations: Vec<Value>,
}

impl<'a> Change<'a> {
    pub(crate) const fn below(prefix: &'a str) -> Self {
        Self { prefix, conditions: Vec::new(), operations: Vec::new() }
    }

    /// Only if `key` is as it was in `seen`, absent or present.
    pub(crate) fn if_same(mut self, key: &str, seen: &Snapshot) -> Self {
        self.conditions.push(json!({
            "key": self.encoded(key), "target": "MOD", "result": "EQUAL",
            "mod_revision": seen.revision_of(key).to_string(),
        }));
        self
    }

    /// Sets `key` to a value without a lease.
    pub(crate) fn put(self, key: &str, value: &[u8]) -> Self {
        self.put_with(key, value, 0)
    }

    /// Sets `key` to a value attached to the lease; 0 for none.
    pub(crate) fn put_with(mut self, key: &str, value: &[u8], lease: i64) -> Self {
        let value = STANDARD.encode(value);
        let put = json!({ "key": self.encoded(key), "value": value, "lease": lease.to_string() });
        self.operations.push(json!({ "request_put": put }));
        self
    }

    pub(crate) fn delete(mut self, key: &str) -> Self {
        self.operations.push(json!({ "request_delete_range": { "key": self.encoded(key) } }));
        self
    }

    fn encoded(&self, key: &str) -> String {
        STANDARD.encode(format!("{}{key}", self.prefix))
    }

    /// Commits; returns whether the conditions held. After an error the outcome is unknown.
    pub(crate) async fn commit(self, cluster: &Cluster) -> Result<bool, Failed> {
        let body = json!({ "compare": self.conditions, "success": self.operations });
        Ok(cluster.tell("/v3/kv/txn", &body).await?["succeeded"].as_bool().unwrap_or(false))
    }
}

/// All keys below `prefix`, as the majority has them.
pub(crate) async fn read_all(cluster: &Cluster, prefix: &str) -> Result<Snapshot> {
    let answer = cluster.ask("/v3/kv/range", &all_below(prefix)).await.map_err(Failed::into_error)?;
    let mut keys = BTreeMap::new();
    for kept in answer["kvs"].as_array().into_iter().flatten() {
        let key = String::from_utf8(bytes(&kept["key"])?).map_err(|_| unexpected_answer())?;
        let key = key.strip_prefix(prefix).ok_or_else(unexpected_answer)?.to_owned();
        let (revision, lease) = (number(&kept["mod_revision"])?, number(&kept["lease"])?);
        keys.insert(key, Kept { value: bytes(&kept["value"])?, revision, lease });
    }
    Ok(Snapshot { revision: number(&answer["header"]["revision"])?, keys })
}

/// The keys that begin with `prefix`, which ends in a slash.
pub(crate) fn all_below(prefix: &str) -> Value {
    // The byte after a slash is a zero.
    let end = format!("{}0", prefix.trim_end_matches('/'));
    json!({ "key": STANDARD.encode(prefix), "range_end": STANDARD.encode(end) })
}

/// A lease of at least this many seconds: its number and its seconds.
pub(crate) async fn grant(cluster: &Cluster, seconds: u64) -> Result<(i64, u64)> {
    let body = json!({ "TTL": seconds.to_string() });
    // If it is granted twice, one of them runs out.
    let answer = cluster.ask("/v3/lease/grant", &body).await.map_err(Failed::into_error)?;
    Ok((number(&answer["ID"])?, number(&answer["TTL"])?.cast_unsigned()))
}

/// Renews a lease for another term; `false` if it has ended.
pub(crate) async fn keep_alive(cluster: &Cluster, lease: i64) -> Result<bool> {
    let body = json!({ "ID": lease.to_string() });
    let answer = cluster.ask("/v3/lease/keepalive", &body).await.map_err(Failed::into_error)?;
    if !answer["result"].is_object() {
        return Err(Error::unavailable("etcd did not say whether a lease was renewed"));
    }
    Ok(number(&answer["result"]["TTL"])? > 0)
}

/// Ends a lease and deletes all keys attached to it.
pub(crate) async fn revoke(cluster: &Cluster, lease: i64) -> Result<()> {
    match cluster.ask("/v3/lease/revoke", &json!({ "ID": lease.to_string() })).await {
        Ok(_) | Err(Failed::Refused(..)) => Ok(()),
        Err(failed) => Err(failed.into_error()),
    }
}

fn bytes(value: &Value) -> Result<Vec<u8>> {
    STANDARD.decode(value.as_str().unwrap_or_default()).map_err(|_| unexpected_answer())
}

fn number(value: &Value) -> Result<i64> {
    match value {
        Value::Null => Ok(0),
        Value::String(text) => text.parse().map_err(|_| unexpected_answer()),
        Value::Number(number) => number.as_i64().ok_or_else(unexpected_answer),
        _ => Err(unexpected_answer()),
    }
}

fn unexpected_answer() -> Error {
    Error::corrupt("etcd gave an answer that does not fit its interface")
}
