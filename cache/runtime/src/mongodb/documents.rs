//! Results as they are cached: a version byte, then the documents in sequence, each of which starts with its
//! length. What writes have added follows: four zero bytes, where a length would be, and the write.

use lacuna_cache_protocol::Value;
use lacuna_cache_protocol::{Error, Result};
use mongodb::bson::Document;

const VERSION: u8 = 1;

pub(crate) fn bytes_of(document: &Document) -> Result<Vec<u8>> {
    document.to_vec().map_err(|error| Error::invalid_input(error.to_string()))
}

/// The first document of `bytes`; afterwards `bytes` begins after it.
pub(crate) fn take(bytes: &mut &[u8]) -> Result<Document> {
    Document::from_reader(bytes).map_err(|error| Error::corrupt(error.to_string()))
}

pub(crate) fn encode(documents: &[Document]) -> Result<Value> {
    let mut bytes = vec![VERSION];
    for document in documents {
        bytes.extend_from_slice(&bytes_of(document)?);
    }
    Ok(bytes.into())
}

/// Where a length would be, before each write that was added to a result.
pub(crate) const ADDED: [u8; 4] = [0; 4];

/// The documents of a result, and what writes have added.
pub(crate) fn split(value: &Value) -> Result<(Vec<Document>, &[u8])> {
    let Some((&VERSION, mut rest)) = value.as_bytes().split_first() else {
        return Err(Error::unsupported("a cached result has an unknown version"));
    };
    let mut documents = Vec::new();
    while !rest.is_empty() && !rest.starts_with(&ADDED) {
        documents.push(take(&mut rest)?);
    }
    Ok((documents, rest))
}

/// The documents of a result to which nothing was added.
pub(crate) fn decode(value: &Value) -> Result<Vec<Document>> {
    match split(value)? {
        (documents, []) => Ok(documents),
        _ => Err(Error::corrupt("a cached result goes on after its documents")),
    }
}

#[cfg(test)]
mod tests {
    use mongodb::bson::doc;

    use super::*;

    #[test]
    fn results_come_back_from_their_bytes() {
        let documents = [doc! { "_id": 1, "name": "Anna", "list": [1, 2] }, doc! {}];
        let value = encode(&documents).unwrap();
        assert_eq!(decode(&value).unwrap(), documents);
        assert_eq!(decode(&encode(&[]).unwrap()).unwrap(), []);
        let bytes = value.as_bytes();
        assert!(decode(&Value::new(&bytes[..bytes.len() - 1])).is_err());
        assert!(decode(&Value::new(&[2])).is_err() && decode(&Value::new(&[])).is_err());
    }
}
