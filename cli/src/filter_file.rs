//! A filter on disk: read whole, every byte checked, before it answers anything.

use std::fs;
use std::io;
use std::path::Path;

use lacuna_base::{AlignedBytes, Envelope, Error, KeySpaceId, Result};
use lacuna_families::{AnyFilter, Surf};
use lacuna_workload::KeyType;

use crate::asked_type::AskedType;

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

/// What is to be said of a trie of which only the first levels fit the budget.
pub(crate) fn cut_trie(key_space: KeySpaceId, bytes: AlignedBytes) -> Option<&'static str> {
    let is_cut = match key_space {
        KeySpaceId::U64 => Surf::<u64, _>::open(bytes).is_ok_and(|surf| surf.is_cut()),
        KeySpaceId::Bytes => Surf::<[u8], _>::open(bytes).is_ok_and(|surf| surf.is_cut()),
    };
    is_cut.then_some("cut to the levels that fit the budget: counts and next keys are wider")
}

/// How a key space is called in a sentence.
pub(crate) fn key_space_name(key_space: KeySpaceId) -> &'static str {
    match key_space {
        KeySpaceId::U64 => "integers",
        KeySpaceId::Bytes => "byte strings",
    }
}

/// The type in which keys of a filter are written: as the filter says, or, if it does not, as was asked for.
///
/// # Errors
/// `InvalidInput` if another type was asked for, whose keys would be denied although they are there, and if the type is
/// known to neither; `Unsupported` if a codec has changed the keys.
pub(crate) fn key_type_for(envelope: &Envelope, asked: Option<AskedType>) -> Result<KeyType> {
    envelope.check_asked_directly()?;
    match (envelope.key_type, asked) {
        (KeyType::Unknown, asked) => unnoted_type(envelope.key_space, asked),
        (KeyType::Tuple, Some(asked)) if asked.key_type == KeyType::Hex => Ok(KeyType::Hex),
        (KeyType::Tuple, _) => Err(Error::invalid_input(
            "the filter's keys are tuples, which have no text; give their bytes with --key-type hex",
        )),
        (noted, Some(asked)) if !asked.fits(noted) => Err(Error::invalid_input(format!(
            "the filter's keys are of type {}, not {}; leave out --key-type",
            if asked.unit().is_some() { noted.to_string() } else { noted.name().to_owned() },
            asked.name()
        ))),
        (noted, _) => Ok(noted),
    }
}

/// The type that was asked for, of a filter whose builder noted none.
fn unnoted_type(key_space: KeySpaceId, asked: Option<AskedType>) -> Result<KeyType> {
    let others = match key_space {
        KeySpaceId::U64 => "u64, i64, f64, date, timestamp-s, timestamp-ms or timestamp-us",
        KeySpaceId::Bytes => "text or hex",
    };
    match asked {
        None => Err(Error::invalid_input(format!(
            "the filter does not say what its {} stand for; say so with --key-type {others}",
            key_space_name(key_space)
        ))),
        Some(asked) if asked.key_type.key_space() != Some(key_space) => Err(Error::invalid_input(format!(
            "the filter's keys are {}, which `--key-type {}` does not name; give {others}",
            key_space_name(key_space),
            asked.name()
        ))),
        Some(asked) if asked.lacks_unit() => Err(unit_missing()),
        Some(asked) => Ok(asked.key_type),
    }
}

/// The error of moments whose unit neither the filter nor the caller says.
pub(crate) fn unit_missing() -> Error {
    Error::invalid_input(
        "the filter does not say in which unit it counts moments; give --key-type timestamp-s, timestamp-ms or timestamp-us",
    )
}

#[cfg(test)]
mod tests {
    use lacuna_base::{CodecId, KindId};
    use lacuna_workload::TimeUnit;

    use super::*;

    fn envelope(key_space: KeySpaceId, key_type: KeyType) -> Envelope {
        let (kind, codec) = (KindId(1), CodecId::IDENTITY);
        Envelope {
            kind,
            payload_version: 1,
            key_space,
            codec,
            key_type,
            key_count: 0,
            smallest: 0,
            largest: 0,
        }
    }

    #[test]
    fn only_the_type_of_the_filter_is_taken() {
        for noted in KeyType::WRITTEN {
            let filter = envelope(noted.key_space().expect("it is written"), noted);
            assert_eq!(key_type_for(&filter, None).unwrap(), noted);
            for asked in KeyType::WRITTEN {
                let found = key_type_for(&filter, asked.name().parse().ok());
                assert_eq!(found.is_ok(), asked == noted, "{asked} of {noted}");
            }
        }
        let seconds = envelope(KeySpaceId::U64, KeyType::Timestamp(TimeUnit::Seconds));
        for (asked, fits) in [("timestamp", true), ("timestamp-s", true), ("timestamp-ms", false)] {
            let found = key_type_for(&seconds, asked.parse().ok()).ok();
            assert_eq!(found, fits.then_some(seconds.key_type), "{asked}");
        }
    }

    #[test]
    fn a_filter_without_a_type_needs_one() {
        for key_space in [KeySpaceId::U64, KeySpaceId::Bytes] {
            let filter = envelope(key_space, KeyType::Unknown);
            assert!(key_type_for(&filter, None).is_err());
            for asked in KeyType::WRITTEN {
                let fits = asked.key_space() == Some(key_space) && asked.time_unit().is_none();
                assert_eq!(key_type_for(&filter, asked.name().parse().ok()).is_ok(), fits, "{asked}");
            }
        }
    }

    #[test]
    fn a_filter_without_a_type_needs_the_unit_of_moments() {
        let filter = envelope(KeySpaceId::U64, KeyType::Unknown);
        let refused = key_type_for(&filter, "timestamp".parse().ok()).unwrap_err().to_string();
        assert!(refused.contains("--key-type timestamp-s, timestamp-ms or timestamp-us"), "{refused}");
        for (asked, unit) in ["timestamp-s", "timestamp-ms", "timestamp-us"].into_iter().zip(TimeUnit::ALL) {
            let found = key_type_for(&filter, asked.parse().ok()).unwrap();
            assert_eq!(found, KeyType::Timestamp(unit));
        }
    }

    #[test]
    fn keys_that_a_codec_has_changed_are_not_asked_for() {
        let hashed = CodecId { number: 2, parameter: 4 };
        for key_space in [KeySpaceId::U64, KeySpaceId::Bytes] {
            let filter = Envelope { codec: hashed, ..envelope(key_space, KeyType::Unknown) };
            let refused = key_type_for(&filter, "u64".parse().ok()).unwrap_err();
            assert!(refused.to_string().contains("codec 2"), "{refused}");
        }
    }

    #[test]
    fn tuples_are_asked_for_by_their_bytes() {
        let tuples = envelope(KeySpaceId::Bytes, KeyType::Tuple);
        assert_eq!(key_type_for(&tuples, "hex".parse().ok()).unwrap(), KeyType::Hex);
        assert!(key_type_for(&tuples, None).is_err() && key_type_for(&tuples, "text".parse().ok()).is_err());
    }
}
