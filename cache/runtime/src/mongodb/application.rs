//! The effect of a write on a cached result. The database keeps documents as they are given, with two exceptions: it puts
//! its own time in the place of an empty timestamp, and orders fields.

use std::sync::Arc;

use lacuna_cache_protocol::{Addition, Application, Command, Form, Patch, Query, RangeKey, Value};
use mongodb::bson::{Bson, Document, Timestamp};

use crate::mongodb::documents::{ADDED, encode, split};
use crate::mongodb::domain_key::{integer, key};
use crate::mongodb::schema::Schema;
use crate::mongodb::write::DocumentWrite;

/// The meaning of commands and results of a collection. If it is not certain of a result, the store is asked.
#[derive(Debug, Clone)]
pub(crate) struct Documents(pub(crate) Arc<Schema>);

impl Application for Documents {
    fn patch(&self, command: &Command, queries: &[Query]) -> Vec<Patch> {
        let write = DocumentWrite::read(command).ok();
        let patch = |query: &Query| {
            let write = write.as_ref().filter(|write| query.form == Form::All && !sets_a_time(write))?;
            let is_certain = match write {
                DocumentWrite::Insert(document) => {
                    id_order(document.get("_id")?)?;
                    self.may_be_inside(query, document).is_some()
                }
                DocumentWrite::Delete(seen) => {
                    id_order(seen.get("_id")?)?;
                    true
                }
                // It may come from outside the range, and only the database knows its other fields.
                DocumentWrite::Set { seen, values } => {
                    id_order(seen.get("_id")?)?;
                    !self.may_be_inside(query, values)? || self.may_be_inside(query, seen)?
                }
            };
            is_certain.then(|| Patch::Append(Addition::new([&ADDED, command.as_bytes()].concat())))
        };
        queries.iter().map(|query| patch(query).unwrap_or(Patch::Unknown)).collect()
    }

    fn settle(&self, query: &Query, value: &Value) -> Option<Value> {
        let (mut documents, mut added) = split(value).ok()?;
        if added.is_empty() {
            return Some(value.clone());
        }
        while !added.is_empty() {
            added = added.strip_prefix(&ADDED)?;
            documents = self.after(query, documents, DocumentWrite::take(&mut added).ok()?)?;
        }
        encode(&self.ordered(query, documents)?).ok()
    }

    fn empty(&self, _: &Query) -> Value {
        encode(&[]).expect("no document is too large")
    }
}

impl Documents {
    fn key(&self, query: &Query, document: &Document) -> Option<Option<RangeKey>> {
        let (field, domain) = self.0.domains.get(query.domain)?;
        key(*domain, document.get(field)).ok()
    }

    /// The documents after a write, those inside the range; `None` if only the database knows.
    fn after(
        &self,
        query: &Query,
        mut documents: Vec<Document>,
        write: DocumentWrite,
    ) -> Option<Vec<Document>> {
        match write {
            DocumentWrite::Insert(document) => documents.push(as_stored(document)),
            DocumentWrite::Delete(seen) => {
                if let Some(place) = place_of(&documents, &seen)? {
                    documents.remove(place);
                }
            }
            DocumentWrite::Set { seen, values } => match place_of(&documents, &seen)? {
                // Servers differ in the order of several new fields.
                Some(place)
                    if values.keys().filter(|name| !documents[place].contains_key(name)).count() > 1 =>
                {
                    return None;
                }
                Some(place) => documents[place].extend(values),
                None if self.may_be_inside(query, &values)? => return None,
                None => {}
            },
        }
        let mut inside = Vec::new();
        for document in documents {
            if self.may_be_inside(query, &document)? {
                inside.push(document);
            }
        }
        Some(inside)
    }

    fn may_be_inside(&self, query: &Query, values: &Document) -> Option<bool> {
        Some(self.key(query, values)?.is_some_and(|key| query.interval.contains(&key)))
    }

    /// The documents inside the range, in the order of the database; `None` if only the database knows the order.
    fn ordered(&self, query: &Query, documents: Vec<Document>) -> Option<Vec<Document>> {
        let mut placed = Vec::new();
        for document in documents {
            if let Some(key) = self.key(query, &document)?.filter(|key| query.interval.contains(key)) {
                placed.push(((key, id_order(document.get("_id")?)?), document));
            }
        }
        placed.sort_by(|(a, _), (b, _)| a.cmp(b));
        // Keys of different kinds are ordered by their kinds.
        let is_one_kind = placed.windows(2).all(|two| two[0].0.1.0 == two[1].0.1.0);
        is_one_kind.then(|| placed.into_iter().map(|(_, document)| document).collect())
    }
}

/// A new document as the database keeps it: its key comes first.
fn as_stored(mut document: Document) -> Document {
    let key = document.remove("_id").map(|key| ("_id".to_owned(), key));
    key.into_iter().chain(document).collect()
}

/// Whether the database puts a time of its own into the document.
fn sets_a_time(write: &DocumentWrite) -> bool {
    let (DocumentWrite::Insert(values) | DocumentWrite::Set { values, .. }) = write else { return false };
    let empty = Bson::Timestamp(Timestamp { time: 0, increment: 0 });
    values.values().any(|value| *value == empty)
}

/// Where the document is whose key the database takes for that of `seen`: 7 is one key whatever the type of the number is. `None` if only
/// the database knows.
fn place_of(documents: &[Document], seen: &Document) -> Option<Option<usize>> {
    let key_of = |document: &Document| id_order(document.get("_id")?);
    let wanted = key_of(seen)?;
    let keys: Vec<(u8, RangeKey)> = documents.iter().map(key_of).collect::<Option<_>>()?;
    Some(keys.iter().position(|key| *key == wanted))
}

/// Documents of one value are ordered by their keys: whole numbers, texts by their bytes, or object ids.
fn id_order(id: &Bson) -> Option<(u8, RangeKey)> {
    match id {
        Bson::String(text) => Some((1, RangeKey::from_bytes(text.as_bytes()))),
        Bson::ObjectId(id) => Some((2, RangeKey::from_bytes(&id.bytes()))),
        number => Some((0, RangeKey::from((integer(number)? ^ i64::MIN).cast_unsigned()))),
    }
}

#[cfg(test)]
mod tests {
    use lacuna_cache_protocol::{DomainType, Interval};
    use mongodb::bson::doc;

    use super::*;
    use crate::mongodb::documents::decode;

    /// What a result stands for after a write, if its patch is known and it can be settled.
    fn after(write: &DocumentWrite, old: &[Document]) -> Option<Vec<Document>> {
        let schema = Schema::new("people").with_domain("age", DomainType::Integer);
        let bound = |age: i64| key(DomainType::Integer, Some(&age.into())).unwrap().unwrap();
        let query = Query::all(0, Interval::closed(bound(18), bound(22)).unwrap());
        let (rows, old) = (Documents(Arc::new(schema)), encode(old).unwrap());
        let patches = rows.patch(&write.command().unwrap(), std::slice::from_ref(&query));
        let [Patch::Append(patch)] = &patches[..] else { return None };
        let patched = Value::new(&[old.as_bytes(), &patch.bytes].concat());
        let settled = rows.settle(&query, &patched);
        settled.map(|value| decode(&value).unwrap())
    }

    #[test]
    fn cached_documents_follow_what_is_written() {
        let (anna, berta) = (doc! { "_id": 1, "age": 20, "name": "Anna" }, doc! { "_id": 2, "age": 19 });
        let old = [berta.clone(), anna.clone()];
        let seen = doc! { "_id": 1, "age": 20 };
        let set = |values| DocumentWrite::Set { seen: seen.clone(), values };
        let carla = doc! { "_id": -3, "age": 20 };
        let with_carla = vec![berta.clone(), carla.clone(), anna];
        assert_eq!(after(&DocumentWrite::Insert(carla), &old), Some(with_carla));
        assert_eq!(after(&DocumentWrite::Insert(doc! { "_id": 4 }), &old).unwrap().len(), 2, "it has no age");
        assert_eq!(after(&DocumentWrite::Delete(seen.clone()), &old), Some(vec![berta.clone()]));
        assert_eq!(after(&set(doc! { "age": 30 }), &old), Some(vec![berta.clone()]));
        let younger = doc! { "_id": 1, "age": 18, "name": "Anna" };
        assert_eq!(after(&set(doc! { "age": 18 }), &old), Some(vec![younger, berta.clone()]));
        assert_eq!(
            after(&set(doc! { "age": 21 }), std::slice::from_ref(&berta)),
            None,
            "it comes from elsewhere"
        );
        assert_eq!(
            after(&DocumentWrite::Insert(doc! { "_id": "x", "age": 20 }), &old),
            None,
            "keys of two kinds"
        );
    }

    #[test]
    fn what_the_server_changes_in_a_document_is_read_from_it() {
        let empty = Timestamp { time: 0, increment: 0 };
        let stamped = doc! { "_id": 1, "age": 20, "at": empty };
        assert_eq!(after(&DocumentWrite::Insert(stamped.clone()), &[]), None);
        let seen = doc! { "_id": 1, "age": 20 };
        let set = |values| DocumentWrite::Set { seen: seen.clone(), values };
        assert_eq!(after(&set(doc! { "at": empty }), &[stamped]), None);
        let nested = doc! { "_id": 1, "age": 20, "of": { "at": empty } };
        assert_eq!(after(&DocumentWrite::Insert(nested.clone()), &[]), Some(vec![nested]), "only at the top");
        let turned = doc! { "age": 20, "name": "Anna", "_id": 1 };
        let stored = after(&DocumentWrite::Insert(turned), &[]).unwrap();
        assert_eq!(stored[0].keys().collect::<Vec<_>>(), ["_id", "age", "name"]);
        let one_new = after(&set(doc! { "age": 21, "name": "Bea", "pay": 3 }), &stored).unwrap();
        assert_eq!(one_new[0].keys().collect::<Vec<_>>(), ["_id", "age", "name", "pay"]);
        assert_eq!(after(&set(doc! { "z": 1, "a": 2 }), &stored), None, "in an order of the server's");
    }

    /// A literal in a program is of 32 bits, and a counter of 64.
    #[test]
    fn a_number_is_one_key_whatever_its_type_is() {
        let old = [doc! { "_id": 7_i64, "age": 20, "name": "Anna" }, doc! { "_id": 8_i64, "age": 21 }];
        let seen = doc! { "_id": 7, "age": 20 };
        assert_eq!(after(&DocumentWrite::Delete(seen.clone()), &old), Some(vec![old[1].clone()]));
        let renamed = after(&DocumentWrite::Set { seen, values: doc! { "name": "Bea" } }, &old).unwrap();
        assert_eq!(renamed, [doc! { "_id": 7_i64, "age": 20, "name": "Bea" }, old[1].clone()]);
        for seen in [doc! { "_id": 7.0, "age": 20 }, doc! { "_id": { "of": 7 }, "age": 20 }] {
            assert_eq!(after(&DocumentWrite::Delete(seen.clone()), &old), None, "{seen}");
            assert_eq!(after(&DocumentWrite::Set { seen, values: doc! { "name": "Bea" } }, &old), None);
        }
        let real = [doc! { "_id": 7.0, "age": 20 }];
        assert_eq!(after(&DocumentWrite::Delete(doc! { "_id": 7, "age": 20 }), &real), None, "a float");
    }
}
