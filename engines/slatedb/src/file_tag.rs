//! The tag after a filter: it identifies an SST to code that has only the filter.
//!
//! SlateDB hands a policy the bytes of a filter and never the name of the file. So the builder draws sixteen random
//! bytes and stores them after the filter; a reader of the filter block of a named SST finds them there. See
//! [`docs/format/file_tag.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/file_tag.md).

use lacuna_base::Envelope;
use lacuna_guard::FileTag;

/// The mark before a tag.
const MARK: [u8; 8] = *b"LCNATAG\x01";
/// Bytes of mark and tag.
pub(crate) const TRAILER_BYTES: usize = 24;

/// A new tag; `None` if the system has no randomness to give, and then the file learns no gaps.
pub(crate) fn draw() -> Option<FileTag> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).ok().map(|()| FileTag(bytes))
}

/// The bytes after a filter.
pub(crate) fn trailer(tag: FileTag) -> [u8; TRAILER_BYTES] {
    let mut bytes = [0; TRAILER_BYTES];
    bytes[..8].copy_from_slice(&MARK);
    bytes[8..].copy_from_slice(&tag.0);
    bytes
}

/// The sealed filter, and the tag if there is one.
pub(crate) fn split(stored: &[u8]) -> (&[u8], Option<FileTag>) {
    let Some((sealed, trailer)) = stored.split_last_chunk::<TRAILER_BYTES>() else { return (stored, None) };
    match trailer.split_first_chunk::<8>() {
        // A filter opens only at its exact length, so one without a tag is never taken for a shorter one with a tag.
        Some((&MARK, tag)) if Envelope::open(sealed).is_ok() => {
            (sealed, Some(FileTag(*tag.first_chunk().expect("sixteen bytes after the mark"))))
        }
        _ => (stored, None),
    }
}

#[cfg(test)]
mod tests {
    use lacuna_guard::{Counters, GuardBuilder, GuardSpec, QueryLog};
    use std::sync::Arc;

    use super::*;

    fn sealed() -> Vec<u8> {
        let spec = Arc::new(GuardSpec::parse("bloom@10 codec=fixed_be:1").expect("a spec"));
        let log = Arc::new(QueryLog::new(spec.codec()));
        let mut builder = GuardBuilder::new(spec, log, Arc::new(Counters::new()));
        (0..200u8).for_each(|key| builder.add(&[key]));
        builder.finish().expect("fits").as_bytes().to_vec()
    }

    #[test]
    fn a_tag_is_found_behind_its_filter() {
        let (sealed, tag) = (sealed(), FileTag([7; 16]));
        assert_eq!(split(&sealed), (&sealed[..], None));
        let stored = [&sealed[..], &trailer(tag)].concat();
        assert_eq!(split(&stored), (&sealed[..], Some(tag)));
        assert_eq!(split(&stored[1..]), (&stored[1..], None), "no filter before it");
        assert_eq!(split(&trailer(tag)), (&trailer(tag)[..], None));
        assert_eq!(split(b""), (&b""[..], None));
    }

    /// The tags of existing files must be found for ever.
    #[test]
    fn trailers_stay_as_they_are() {
        let tag = FileTag(*b"0123456789abcdef");
        assert_eq!(&trailer(tag), b"LCNATAG\x010123456789abcdef");
    }

    #[test]
    fn tags_differ() {
        assert_ne!(draw().expect("there is randomness"), draw().expect("there is randomness"));
    }
}
