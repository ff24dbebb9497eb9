//! A filter on disk: read whole, every byte checked, before it answers anything.

use std::fs;
use std::io;
use std::path::Path;

use lacuna_base::{AlignedBytes, Envelope, Error, KeySpaceId, Result};
use lacuna_families::AnyFilter;
use lacuna_workload::KeyType;

/// Reads and opens the filter at `path`, checksums included.
///
/// # Errors
/// `InvalidInput` if there is no such file; otherwise as [`AnyFilter::open_verified`], with the path before the message.
pub(crate) fn open_filter(path: &Path) -> Result<(Envelope, AnyFilter)> {
    let bytes = read(path)?;
    AnyFilter::open_verified(bytes).map_err(|error| error.with_context(path.display().to_string()))
}

/// Reads the filter at `path`, checksums included, for callers that open it themselves.
///
/// # Errors
/// As [`open_filter`], as far as the envelope goes.
pub(crate) fn read_filter(path: &Path) -> Result<(Envelope, AlignedBytes)> {
    let bytes = read(path)?;
    match Envelope::open_verified(&bytes) {
        Ok((envelope, _)) => Ok((envelope, bytes)),
        Err(error) => Err(error.with_context(path.display().to_string())),
    }
}

fn read(path: &Path) -> Result<AlignedBytes> {
    let bytes = fs::read(path).map_err(|error| {
        let reason = match error.kind() {
            io::ErrorKind::NotFound => "there is no such file".to_owned(),
            io::ErrorKind::PermissionDenied => "it may not be read; change its permissions".to_owned(),
            io::ErrorKind::IsADirectory => "it is a directory; give a file".to_owned(),
            _ => error.to_string(),
        };
        Error::invalid_input(format!("cannot open {}: {reason}", path.display())).with_source(error)
    })?;
    Ok(AlignedBytes::copy_of(&bytes))
}

/// How a key space is called in a sentence.
pub(crate) fn key_space_name(key_space: KeySpaceId) -> &'static str {
    match key_space {
        KeySpaceId::U64 => "integers",
        KeySpaceId::Bytes => "byte strings",
    }
}

/// The type in which keys of a filter are written: what was asked for, else `u64` or `text`. The file itself only
/// knows integers from byte strings.
///
/// # Errors
/// `InvalidInput` if keys of the type asked for cannot be in the filter.
pub(crate) fn key_type_for(key_space: KeySpaceId, asked: Option<KeyType>) -> Result<KeyType> {
    let (usual, others) = match key_space {
        KeySpaceId::U64 => (KeyType::U64, "u64, f64 or date"),
        KeySpaceId::Bytes => (KeyType::Text, "text or hex"),
    };
    match asked {
        Some(asked) if asked.is_bytes() != usual.is_bytes() => Err(Error::invalid_input(format!(
            "the filter's keys are {}, which `--key-type {}` does not name; give {others}",
            key_space_name(key_space),
            asked.name()
        ))),
        _ => Ok(asked.unwrap_or(usual)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_types_of_the_key_space_are_taken() {
        for key_type in KeyType::ALL {
            for key_space in [KeySpaceId::U64, KeySpaceId::Bytes] {
                let fits = key_type.is_bytes() == (key_space == KeySpaceId::Bytes);
                assert_eq!(key_type_for(key_space, Some(key_type)).is_ok(), fits, "{}", key_type.name());
            }
        }
        assert_eq!(key_type_for(KeySpaceId::U64, None).unwrap(), KeyType::U64);
        assert_eq!(key_type_for(KeySpaceId::Bytes, None).unwrap(), KeyType::Text);
    }
}
