//! The replies of scripts, as the owner receives them.

use lacuna_cache_protocol::{CacheReply, Edited, Epoch, Query};
use lacuna_cache_protocol::{Error, Result};
use redis::Value;

use crate::redis::connection::{Answer, ServerId};

/// Bytes before a value: generation, epoch and session of the last change, and whether it is hidden.
pub(crate) const HEAD: usize = 25;

/// The values that a script found for these queries. A server without memory returns none.
pub(crate) fn values(answer: Answer, queries: Vec<Query>) -> Result<CacheReply> {
    let found = match answer {
        Answer::Full => return Ok(CacheReply::Gathered(Vec::new())),
        Answer::Value(Value::Array(found)) => found,
        Answer::Value(_) => return Err(foreign_data()),
    };
    if found.first() == Some(&Value::Int(0)) {
        return Ok(CacheReply::Fenced);
    }
    let found = queries.into_iter().zip(found.into_iter().skip(1));
    let visible = found.filter_map(|(query, value)| Some((query, value_of(value)?)));
    Ok(CacheReply::Gathered(visible.collect()))
}

/// The values that were read in one command with the fence, for the holder of this epoch.
pub(crate) fn gathered(
    answer: Answer,
    (epoch, server): (Epoch, ServerId),
    queries: Vec<Query>,
) -> Result<CacheReply> {
    let found = match answer {
        Answer::Full => return Ok(CacheReply::Gathered(Vec::new())),
        Answer::Value(Value::Array(found)) => found,
        Answer::Value(_) => return Err(foreign_data()),
    };
    let mut found = found.into_iter();
    let fence = fence_of(&found.next().ok_or_else(foreign_data)?, server)?;
    let Some((_, generation)) = fence.filter(|(fence, _)| *fence == epoch) else {
        return Ok(CacheReply::Fenced);
    };
    let visible = queries
        .into_iter()
        .zip(found)
        .filter_map(|(query, value)| Some((query, visible_of_generation(value, generation)?)));
    Ok(CacheReply::Gathered(visible.collect()))
}

/// The values that a script has edited.
pub(crate) fn patched(answer: Answer, queries: Vec<Query>) -> Result<CacheReply> {
    let found = match answer {
        Answer::Full => return Ok(CacheReply::Full),
        Answer::Value(Value::Array(found)) => found,
        Answer::Value(_) => return Err(foreign_data()),
    };
    if found.first() == Some(&Value::Int(0)) {
        return Ok(CacheReply::Fenced);
    }
    let results = queries.into_iter().zip(found.into_iter().skip(1));
    let edited = |(query, result)| {
        let Value::Int(result) = result else { return None };
        let result = usize::try_from(result).ok()?;
        let len = Some(result / 2).filter(|len| *len > 0);
        Some((query, Edited { is_as_expected: result % 2 == 0, len }))
    };
    Ok(CacheReply::Patched(results.filter_map(edited).collect()))
}

pub(crate) fn simple(answer: Answer) -> Result<CacheReply> {
    match answer {
        Answer::Full => Ok(CacheReply::Full),
        Answer::Value(Value::Int(0)) => Ok(CacheReply::Fenced),
        Answer::Value(Value::Int(1)) => Ok(CacheReply::Done),
        Answer::Value(Value::Int(2)) => Ok(CacheReply::NotHeld),
        Answer::Value(_) => Err(foreign_data()),
    }
}

/// A server that has no memory for a lease runs no script, and returns no value either.
pub(crate) fn looked_up(answer: Answer) -> Result<CacheReply> {
    let mut found = match answer {
        Answer::Full => return Ok(CacheReply::Full),
        Answer::Value(Value::Array(found)) => found,
        Answer::Value(_) => return Err(foreign_data()),
    };
    match &mut found[..] {
        [Value::Int(0)] => Ok(CacheReply::Fenced),
        [Value::Int(1), value] => {
            let value = value_of(std::mem::replace(value, Value::Nil));
            Ok(value.map_or(CacheReply::Busy, CacheReply::Found))
        }
        [Value::Int(2)] => Ok(CacheReply::Leased),
        [Value::Int(3)] => Ok(CacheReply::Busy),
        _ => Err(foreign_data()),
    }
}

fn value_of(value: Value) -> Option<lacuna_cache_protocol::Value> {
    match value {
        Value::BulkString(bytes) => Some(bytes.into()),
        _ => None,
    }
}

/// A visible value of this generation, without its head.
pub(crate) fn visible_of_generation(value: Value, generation: u64) -> Option<lacuna_cache_protocol::Value> {
    let Value::BulkString(bytes) = value else { return None };
    let is_visible = bytes.starts_with(&generation.to_le_bytes()) && bytes.get(HEAD - 1) == Some(&0);
    lacuna_cache_protocol::Value::behind(HEAD, bytes).filter(|_| is_visible)
}

/// The epoch of a fence, and its generation; `None` if it was set on another server than this: what is here may be older
/// than what its owner has written.
pub(crate) fn fence_of(fence: &Value, server: ServerId) -> Result<Option<(Epoch, u64)>> {
    let Value::BulkString(bytes) = fence else { return Ok(None) };
    let text = str::from_utf8(bytes).map_err(|_| foreign_data())?;
    let (text, of) = text.split_once('@').unwrap_or((text, ""));
    if u64::from_str_radix(of, 16) != Ok(server.0) {
        return Ok(None);
    }
    let (epoch, generation) = text.split_once(':').unwrap_or((text, text));
    match (epoch.parse(), generation.parse()) {
        (Ok(epoch), Ok(generation)) => Ok(Some((Epoch(epoch), generation))),
        _ => Err(foreign_data()),
    }
}

/// The reply to a take-over: chunks of the log, none if the range begins cold.
pub(crate) fn taken_over(answer: Answer) -> Result<CacheReply> {
    let Answer::Value(Value::Array(found)) = answer else { return Err(foreign_data()) };
    match &found[..] {
        [Value::Int(0)] => Ok(CacheReply::Fenced),
        [Value::Int(1), Value::Array(chunks)] => {
            let chunk = |chunk: &Value| match chunk {
                Value::BulkString(bytes) => Ok(bytes.clone()),
                _ => Err(foreign_data()),
            };
            Ok(CacheReply::Warm(chunks.iter().map(chunk).collect::<Result<_>>()?))
        }
        _ => Err(foreign_data()),
    }
}

pub(crate) fn log_read(answer: Answer) -> Result<CacheReply> {
    let Answer::Value(Value::Array(found)) = answer else { return Err(foreign_data()) };
    match &found[..] {
        [Value::Int(0)] => Ok(CacheReply::Fenced),
        [Value::Int(1), Value::BulkString(bytes)] => Ok(CacheReply::Log(bytes.clone())),
        [Value::Int(1), ..] => Ok(CacheReply::Log(Vec::new())),
        _ => Err(foreign_data()),
    }
}

/// How full the memory is, in percent, from `INFO memory`.
pub(crate) fn memory_of(told: &Value) -> Option<u8> {
    let text = match told {
        Value::BulkString(bytes) => str::from_utf8(bytes).ok()?,
        Value::VerbatimString { text, .. } => text,
        _ => return None,
    };
    let number = |name: &str| -> Option<u64> {
        text.lines().find_map(|line| line.strip_prefix(name)?.trim_end().parse().ok())
    };
    let (used, max) = (number("used_memory:")?, number("maxmemory:")?);
    u8::try_from(used.saturating_mul(100).checked_div(max).unwrap_or(0).min(100)).ok()
}

/// The error for data of another program under our keys.
pub(crate) fn foreign_data() -> Error {
    Error::corrupt("the Redis server holds data that is not of a range cache: give it a namespace of its own")
}
