//! Results that are patched, beside results that are made anew from all rows.

use std::collections::BTreeMap;

use lacuna_cache_protocol::{Addition, Application as _, Cut, DomainType, Form, Interval, Patch, RangeKey};
use lacuna_testkit::effort;
use lacuna_workload::Rng;

use super::*;
use crate::sql::database::{Column, ColumnKind, Constraints, Described, Dialect, TableName, TextOrder};
use crate::sql::rows::encode;
use crate::sql::schema::Schema;
use crate::sql::statement::{Effect, SqlWrite};

/// The key has its columns in another order than the table.
const COLUMNS: [&str; 5] = ["name", "id", "age", "team", "pay"];
const NAME: usize = 0;
const AGE: usize = 2;
const PAY: usize = 4;

fn column(kind: ColumnKind) -> Column {
    Column {
        kind,
        is_changed: false,
        is_counted: false,
        is_generated: false,
        is_hidden: false,
        doubt: None,
        declared: String::new(),
        cast: None,
        order: TextOrder::Bytes,
        is_equal_by_bytes: true,
        is_indexed: true,
    }
}

fn table(keys: &[&str]) -> TableRows {
    let kind = |name: &str| if name == "name" { ColumnKind::Text } else { ColumnKind::Integer };
    let described = Described {
        name: TableName { schema: None, table: "people".to_owned() },
        is_searched: true,
        columns: COLUMNS.map(|name| (name.to_owned(), column(kind(name)))).to_vec(),
        primary_key: keys.iter().map(|&name| name.to_owned()).collect(),
        dialect: Dialect::Sqlite,
        changes_itself: false,
        cascades: Vec::new(),
        constraints: Constraints::default(),
    };
    let schema = Schema::with_keys("people", keys.iter().copied())
        .with_domain("age", DomainType::Integer)
        .with_domain("pay", DomainType::Integer);
    TableRows::new(schema.with_columns(described).unwrap().into())
}

fn some_query(table: &TableRows, rng: &mut Rng) -> Query {
    let bound = |value: i64| RangeKey::from(value.cast_unsigned() ^ (1 << 63));
    let low = rng.below(30).cast_signed() - 5;
    let interval = Interval::closed(bound(low), bound(low + rng.below(12).cast_signed())).unwrap();
    Query { fingerprint: table.fingerprint, ..Query::all(rng.index(2), interval) }
}

fn some_value(rng: &mut Rng) -> SqlValue {
    if rng.below(12) == 0 { SqlValue::Null } else { (rng.below(25).cast_signed() - 3).into() }
}

fn some_name(rng: &mut Rng) -> SqlValue {
    "n".repeat(rng.index(9)).into()
}

/// A result with what writes have added to it, in the places that they may take.
struct Kept {
    result: Value,
    added: Vec<Addition>,
}

impl Kept {
    fn new(result: Value) -> Self {
        Self { result, added: Vec::new() }
    }

    /// Whether the addition takes the place of an earlier one.
    fn take(&mut self, addition: Addition) -> bool {
        let row = |addition: &Addition| addition.about.as_ref().map(|about| about.row.clone());
        let last = self.added.iter_mut().rev().find(|last| row(last) == row(&addition));
        match last.filter(|last| last.about == addition.about) {
            Some(last) => {
                *last = addition;
                true
            }
            None => {
                self.added.push(addition);
                false
            }
        }
    }

    fn value(&self) -> Value {
        let added: Vec<&[u8]> = self.added.iter().map(|addition| &*addition.bytes).collect();
        Value::new(&[self.result.as_bytes(), &added.concat()].concat())
    }
}

/// A table, and results of it that are kept by patches.
struct World {
    table: TableRows,
    rows: BTreeMap<Vec<RangeKey>, Row>,
    kept: BTreeMap<Query, Kept>,
    /// Additions that took the place of earlier ones.
    replaced: usize,
}

impl World {
    const fn new(table: TableRows) -> Self {
        Self { table, rows: BTreeMap::new(), kept: BTreeMap::new(), replaced: 0 }
    }

    fn result(&self, query: &Query) -> Value {
        let mut rows: Vec<Row> = self.rows.values().cloned().collect();
        rows.retain(|row| self.table.is_selected(query, row).unwrap());
        rows.sort_by_cached_key(|row| self.table.place(query, row).unwrap());
        encode(COLUMNS.len(), &rows)
    }

    fn some_effect(&mut self, rng: &mut Rng) -> Option<Effect> {
        let (id, team) = (rng.below(8).cast_signed(), rng.below(3).cast_signed());
        let mut row: Row = vec![some_name(rng), id.into(), some_value(rng), team.into(), some_value(rng)];
        let key = self.table.schema.key_of(&row);
        let place = self.table.key_place(&key).unwrap();
        let Some(before) = self.rows.get_mut(&place) else {
            self.rows.insert(place, row.clone());
            return Some(Effect::Insert(row));
        };
        let was = vec![before[AGE].clone(), before[PAY].clone()];
        if rng.below(3) == 0 {
            self.rows.remove(&place);
            return Some(Effect::Delete { key, was });
        }
        // Often the name alone: the next patch then takes the place of the last.
        let is_name_alone = rng.below(2) == 0;
        let columns: Vec<(usize, SqlValue)> = [NAME, AGE, PAY]
            .into_iter()
            .filter(|place| if is_name_alone { *place == NAME } else { rng.below(2) == 0 })
            .map(|place| (place, std::mem::replace(&mut row[place], SqlValue::Null)))
            .collect();
        columns.iter().for_each(|(place, value)| before[*place] = value.clone());
        (!columns.is_empty()).then_some(Effect::Set { key, was, columns })
    }

    /// Returns how many results were patched, and how many had to be made anew.
    fn write(&mut self, effect: Effect, step: &str) -> (usize, usize) {
        let command = SqlWrite { fingerprint: self.table.fingerprint, statements: Vec::new(), effect };
        let queries: Vec<Query> = self.kept.keys().cloned().collect();
        let patches = self.table.patch(&command.command(), &queries);
        let (mut patched, mut anew) = (0, 0);
        for (query, patch) in queries.into_iter().zip(patches) {
            let mut value = self.kept.remove(&query).unwrap();
            let value = match patch {
                Patch::Nothing => value,
                Patch::Append(addition) => {
                    patched += 1;
                    self.replaced += usize::from(value.take(addition));
                    value
                }
                Patch::Unknown => {
                    anew += 1;
                    Kept::new(self.result(&query))
                }
            };
            let settled = self.table.settle(&query, &value.value());
            assert_eq!(settled, Some(self.result(&query)), "{step}: {query:?} after {:?}", command.effect);
            self.kept.insert(query, value);
        }
        (patched, anew)
    }
}

#[test]
fn patched_results_are_those_of_the_table() {
    for keys in [&["id"][..], &["team", "id"]] {
        let mut rng = effort::rng(31);
        let (mut patched, mut replaced, mut anew) = (0, 0, 0);
        for round in 0..effort::short_or_long(40, 2_000) {
            let mut world = World::new(table(keys));
            for step in 0..120 {
                if rng.below(8) == 0 {
                    let query = some_query(&world.table, &mut rng);
                    let result = Kept::new(world.result(&query));
                    world.kept.insert(query, result);
                }
                let Some(effect) = world.some_effect(&mut rng) else { continue };
                let (more, others) =
                    world.write(effect, &format!("seed {}, {round}, {step}", effort::seed()));
                (patched, anew) = (patched + more, anew + others);
                if rng.below(20) == 0 {
                    let World { table, kept, .. } = &mut world;
                    for (query, value) in kept {
                        *value = Kept::new(table.settle(query, &value.value()).unwrap());
                    }
                }
            }
            replaced += world.replaced;
        }
        let counts = format!("{patched} patched, {replaced} in place, {anew} made anew");
        assert!(patched > 3 * anew && anew > 100 && replaced > 100, "{counts}");
    }
}

#[test]
fn a_write_of_other_columns_patches_nothing() {
    let table = table(&["id"]);
    let mut rng = effort::rng(32);
    let query = some_query(&table, &mut rng);
    let effect = Effect::Delete { key: vec![1.into()], was: vec![1.into(), 1.into()] };
    let patch = |fingerprint, query: &Query| {
        let write = SqlWrite { fingerprint, statements: Vec::new(), effect: effect.clone() };
        table.patch(&write.command(), std::slice::from_ref(query)).remove(0)
    };
    assert_ne!(patch(table.fingerprint, &query), Patch::Unknown);
    assert_eq!(patch(table.fingerprint + 1, &query), Patch::Unknown, "its places mean other columns");
    let other = Query { fingerprint: 7, ..query.clone() };
    assert_eq!(patch(table.fingerprint, &other), Patch::Unknown, "a result of other columns");
    let first = Query { form: Form::First(3), ..query };
    assert_eq!(patch(table.fingerprint, &first), Patch::Unknown, "the row that follows is not known");
}

#[test]
fn a_damaged_result_is_nothing() {
    let table = table(&["id"]);
    let query = some_query(&table, &mut effort::rng(33));
    let row = |id: i64| vec!["Anna".into(), id.into(), 3.into(), 1.into(), 2.into()];
    let value = encode(COLUMNS.len(), &[row(1), row(2)]);
    let mut patch = Writer::default();
    RowPatch::Remove(vec![1.into()]).write(&mut patch);
    let patched = Value::new(&[value.as_bytes(), patch.as_bytes()].concat());
    assert!(table.settle(&query, &patched).is_some());
    for len in (0..patched.as_bytes().len()).filter(|len| *len != value.as_bytes().len()) {
        let cut = Value::new(&patched.as_bytes()[..len]);
        assert_eq!(table.settle(&query, &cut), None, "cut to {len}");
    }
    for (place, flip) in (0..patched.as_bytes().len()).flat_map(|place| [(place, 1), (place, 0x80)]) {
        let mut bytes = patched.as_bytes().to_vec();
        bytes[place] ^= flip;
        // Whatever it says: it does not panic.
        table.settle(&query, &Value::new(&bytes));
    }
}

/// Results that cover a query together, in any order: some overlap, and the outer ones may reach out of it.
fn some_cover(world: &World, query: &Query, rng: &mut Rng) -> Vec<(Query, Value)> {
    let cut = |rng: &mut Rng| {
        let at = rng.below(40).cast_signed() - 8;
        let key = RangeKey::from(at.cast_unsigned() ^ (1 << 63));
        if rng.below(2) == 0 { Cut::Before(key) } else { Cut::After(key) }
    };
    let mut ends = vec![query.interval.lo().clone(), query.interval.hi().clone()];
    ends.extend((0..rng.below(6)).map(|_| cut(rng)));
    ends.sort();
    let overlap = rng.index(3);
    let pairs = ends.iter().enumerate().filter_map(|(at, lo)| {
        let hi = ends.get(at + 1 + overlap.min(ends.len().saturating_sub(at + 2)))?;
        let interval = Interval::between(lo.clone(), hi.clone())?;
        interval.overlaps(&query.interval).then(|| Query { interval, ..query.clone() })
    });
    let mut parts: Vec<(Query, Value)> = pairs.map(|part| (part.clone(), world.result(&part))).collect();
    for at in (1..parts.len()).rev() {
        parts.swap(at, rng.index(at + 1));
    }
    parts
}

#[test]
fn results_put_together_are_those_of_the_table() {
    let (mut rng, mut count) = (effort::rng(34), 0);
    for round in 0..effort::short_or_long(2_000, 100_000) {
        let keys: &[&str] = if round % 2 == 0 { &["id"] } else { &["team", "id"] };
        let (mut world, table) = (World::new(table(keys)), table(keys));
        (0..rng.below(40)).for_each(|_| drop(world.some_effect(&mut rng)));
        let query = some_query(&table, &mut rng);
        let mut parts = some_cover(&world, &query, &mut rng);
        let step = format!("seed {}, round {round}: {query:?} of {parts:?}", effort::seed());
        assert_eq!(table.fuse(&query, &parts), Some(world.result(&query)), "{step}");
        count += parts.iter().filter(|(part, _)| *part != query).count();
        let (left, _) = parts.swap_remove(rng.index(parts.len()));
        let is_covered = table.fuse(&query, &parts);
        let others = parts.iter().any(|(part, _)| part.interval.overlaps(&left.interval));
        assert!(others || is_covered.is_none(), "without {left:?}, {step}");
    }
    assert!(count > 2_000, "{count} parts");
}

#[test]
fn a_patched_or_damaged_part_is_put_together_to_nothing() {
    let table = table(&["id"]);
    let all = Query { fingerprint: table.fingerprint, ..Query::all(0, Interval::all()) };
    let query = some_query(&table, &mut effort::rng(35));
    let row = |id: i64| vec!["Anna".into(), id.into(), 3.into(), 1.into(), 2.into()];
    let value = encode(COLUMNS.len(), &[row(1), row(2)]);
    let fuse = |bytes: &[u8]| table.fuse(&query, &[(all.clone(), Value::new(bytes))]);
    assert!(fuse(value.as_bytes()).is_some());
    assert_eq!(fuse(&[value.as_bytes(), &[1]].concat()), None, "a patch needs settling first");
    for len in 0..value.as_bytes().len() {
        assert_eq!(fuse(&value.as_bytes()[..len]), None, "cut to {len}");
    }
}
