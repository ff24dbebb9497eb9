//! A write of one document, and its bytes. See [`docs/format/range-cache-mongodb.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/range-cache-mongodb.md).

use lacuna_cache_protocol::Command;
use lacuna_cache_protocol::{Error, Result};
use mongodb::bson::Document;

use crate::mongodb::documents::{bytes_of, take};

const VERSION: u8 = 1;

/// The action of a write.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum DocumentWrite {
    /// The document is added.
    Insert(Document),
    /// The document with the fields of `seen` (its `_id` and registered fields) gets new values.
    Set {
        /// The precondition.
        seen: Document,
        /// The new values.
        values: Document,
    },
    /// The document with these fields is removed.
    Delete(Document),
}

impl DocumentWrite {
    pub(crate) fn command(&self) -> Result<Command> {
        let nothing = Document::new();
        let (kind, first, second) = match self {
            Self::Insert(document) => (1, document, &nothing),
            Self::Set { seen, values } => (2, seen, values),
            Self::Delete(seen) => (3, seen, &nothing),
        };
        let mut bytes = vec![VERSION, kind];
        bytes.extend_from_slice(&bytes_of(first)?);
        bytes.extend_from_slice(&bytes_of(second)?);
        Ok(Command::new(&bytes))
    }

    pub(crate) fn read(command: &Command) -> Result<Self> {
        Self::take(&mut command.as_bytes())
    }

    /// The first write of `bytes`; afterwards `bytes` begins after it.
    pub(crate) fn take(bytes: &mut &[u8]) -> Result<Self> {
        let [VERSION, kind, rest @ ..] = *bytes else {
            return Err(Error::unsupported("a write of the MongoDB store has an unknown version"));
        };
        let mut rest = rest;
        let (first, second) = (take(&mut rest)?, take(&mut rest)?);
        *bytes = rest;
        match kind {
            1 => Ok(Self::Insert(first)),
            2 => Ok(Self::Set { seen: first, values: second }),
            3 => Ok(Self::Delete(first)),
            _ => Err(Error::unsupported("a write of the MongoDB store is of an unknown kind")),
        }
    }
}

#[cfg(test)]
mod tests {
    use mongodb::bson::doc;

    use super::*;

    #[test]
    fn writes_come_back_from_their_commands_and_cut_ones_are_refused() {
        let seen = doc! { "_id": 1, "age": 20 };
        let writes = [
            DocumentWrite::Insert(doc! { "_id": 1, "age": 20, "name": "Anna" }),
            DocumentWrite::Set { seen: seen.clone(), values: doc! { "age": 21 } },
            DocumentWrite::Delete(seen),
        ];
        for write in writes {
            let command = write.command().unwrap();
            assert_eq!(DocumentWrite::read(&command).unwrap(), write);
            for len in 0..command.as_bytes().len() {
                assert!(
                    DocumentWrite::read(&Command::new(&command.as_bytes()[..len])).is_err(),
                    "cut to {len}"
                );
            }
        }
        assert_eq!(
            DocumentWrite::Delete(doc! {}).command().unwrap().as_bytes(),
            b"\x01\x03\x05\0\0\0\0\x05\0\0\0\0",
            "as the format page has it"
        );
    }
}
