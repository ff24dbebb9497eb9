//! Names of keys. See [`docs/format/range-cache-redis.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/range-cache-redis.md).

use lacuna_cache_protocol::{Epoch, Form, LogRecord, Query, RangeId, write_chunk};

/// Bytes that a query usually adds to a name.
const QUERY_BYTES: usize = 48;

/// Names of the keys of one range.
#[derive(Debug)]
pub(crate) struct Keys {
    prefix: String,
}

impl Keys {
    pub(crate) fn of(namespace: &str, range: RangeId) -> Self {
        Self { prefix: format!("lacuna:{{{namespace}:{}}}:", range.0) }
    }

    /// The fence: an epoch, without a time to live.
    pub(crate) fn fence(&self) -> Vec<u8> {
        self.named("f")
    }

    /// The value of a query, after its head.
    pub(crate) fn value(&self, query: &Query) -> Vec<u8> {
        let mut key = self.named("v:");
        write_query(&mut key, query);
        key
    }

    /// The lease on a query: the session of the reader that holds it.
    pub(crate) fn lease(&self, epoch: Epoch, query: &Query) -> Vec<u8> {
        let mut key = self.named(&format!("l:{}:", epoch.0));
        write_query(&mut key, query);
        key
    }

    /// The lease on a query whose value has this key.
    pub(crate) fn lease_beside(&self, epoch: Epoch, value: &[u8]) -> Vec<u8> {
        let mut key = self.named(&format!("l:{}:", epoch.0));
        key.extend_from_slice(&value[self.prefix.len() + "v:".len()..]);
        key
    }

    /// The length of the log of entries in bytes.
    pub(crate) fn log_count(&self) -> Vec<u8> {
        self.named("pc")
    }

    /// A chunk of the log of entries.
    pub(crate) fn log_chunk(&self, chunk: u32) -> Vec<u8> {
        self.named(&format!("p:{chunk}"))
    }

    fn named(&self, name: &str) -> Vec<u8> {
        let mut key = Vec::with_capacity(self.prefix.len() + name.len() + QUERY_BYTES);
        key.extend_from_slice(self.prefix.as_bytes());
        key.extend_from_slice(name.as_bytes());
        key
    }

    /// Matches values and leases.
    pub(crate) fn pattern(&self) -> String {
        let mut escaped = String::new();
        for letter in self.prefix.chars() {
            if "*?[]\\".contains(letter) {
                escaped.push('\\');
            }
            escaped.push(letter);
        }
        format!("{escaped}[vl]:*")
    }

    /// The fence of a log.
    pub(crate) fn log_fence(&self) -> Vec<u8> {
        self.named("bf")
    }

    /// The mark of a log that was fenced and not used since.
    pub(crate) fn log_mark(&self) -> Vec<u8> {
        self.named("bn")
    }

    /// The common prefix of the names of the lists of buffered writes.
    pub(crate) fn log(&self) -> Vec<u8> {
        self.named("b")
    }

    /// Buffered writes, under the name that the owner of this epoch uses.
    pub(crate) fn log_of(&self, epoch: Epoch) -> Vec<u8> {
        self.named(&format!("b:{}", epoch.0))
    }
}

/// Appends what names a query.
fn write_query(key: &mut Vec<u8>, query: &Query) {
    let (form, limit) = match query.form {
        Form::All => (0u8, 0),
        Form::First(limit) => (1, limit),
        Form::Last(limit) => (2, limit),
    };
    let mut rest = vec![form];
    rest.extend_from_slice(&limit.to_le_bytes());
    rest.extend(query.question.iter().flat_map(|question| question.iter()));
    let interval = query.interval.clone();
    let record = LogRecord { lsn: query.fingerprint, domain: query.domain, interval, key: Some(rest) };
    write_chunk(key, [&record]);
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use lacuna_cache_protocol::Interval;

    use super::*;

    #[test]
    fn every_byte_of_a_question_is_in_its_key() {
        let keys = Keys::of("people", RangeId(1));
        let key = |question: &[u8]| {
            let query = Query { question: Some(Arc::from(question)), ..Query::all(1, Interval::all()) };
            let (value, lease) = (keys.value(&query), keys.lease(Epoch(1), &query));
            assert_eq!(keys.lease_beside(Epoch(1), &value), lease);
            [value, lease]
        };
        let question = [7; 1_000];
        let same = key(&question);
        assert_eq!(same, key(&question));
        for place in 0..question.len() {
            let mut other = question;
            other[place] = 8;
            let [value, lease] = key(&other);
            assert!(value != same[0] && lease != same[1], "byte {place}");
        }
        assert!(key(&question[1..])[0] != same[0] && key(&question[1..])[1] != same[1], "a byte less");
    }
}
