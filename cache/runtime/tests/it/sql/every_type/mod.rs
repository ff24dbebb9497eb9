//! Every type of a database: read through the cache, from the store and from the cache, and written through it, each
//! compared with plain SQL.

mod mariadb;
mod postgres;

use lacuna_cache::sql::{Cache, DomainType, Schema, SqlValue, Table};

use crate::sql::plain::Plain;

/// How a type is tested.
struct Case<'a> {
    /// The name of the table.
    table: &'a str,
    /// The type of the column.
    column: &'a str,
    /// Two values, as expressions of SQL.
    values: [&'a str; 2],
    /// The text of the column `value`, as an expression of SQL.
    text: &'a str,
}

impl Case<'_> {
    /// The table with its two values, made by another program.
    async fn make(&self, plain: &mut Plain) {
        let Self { table, column, values: [first, second], .. } = self;
        let sql = format!(
            "CREATE TABLE {table} (id BIGINT PRIMARY KEY, value {column} NULL); \
             INSERT INTO {table} VALUES (1, {first}); INSERT INTO {table} VALUES (2, {second})"
        );
        plain.run(&sql).await;
    }

    /// What is in each row, by plain SQL.
    async fn plain_texts(&self, plain: &mut Plain) -> Vec<Option<String>> {
        let sql = format!("SELECT {} FROM {} ORDER BY id", self.text, self.table);
        plain.rows(&sql).await.concat()
    }

    async fn values(&self, things: &Table) -> Vec<SqlValue> {
        let rows = things.get("id", 0..=9).await.unwrap_or_else(|error| panic!("{}: {error}", self.column));
        rows.iter().map(|row| row.get("value").unwrap().clone()).collect()
    }

    /// The same rows from the store, and then from the cache.
    async fn seen(&self, cache: &Cache, things: &Table) -> Vec<SqlValue> {
        let values = self.values(things).await;
        let asked = cache.counts().store_queries;
        assert_eq!(self.values(things).await, values, "{}: a hit is what a miss was", self.column);
        assert_eq!(cache.counts().store_queries, asked, "{}: it was a hit", self.column);
        values
    }

    async fn goes_through_the_cache(&self, cache: &Cache, plain: &mut Plain) {
        self.make(plain).await;
        let column = self.column;
        let schema = Schema::new(self.table, "id").with_domain("id", DomainType::Integer);
        let things = cache.table(schema).await.unwrap_or_else(|error| panic!("{column}: {error}"));
        let texts = self.plain_texts(plain).await;
        assert_ne!(texts[0], texts[1], "{column}: two values");
        let [first, second] = <[SqlValue; 2]>::try_from(self.seen(cache, &things).await).unwrap();
        for (value, text) in [(&first, &texts[0]), (&second, &texts[1])] {
            if let Some(shown) = shown(value) {
                assert_eq!(Some(&shown), text.as_ref(), "{column}: it is read as the database writes it");
            }
        }

        // Both change places, a third is added and a fourth is nothing.
        let rows = things.get("id", 1..=2).await.unwrap();
        for (row, value) in rows.iter().zip([&second, &first]) {
            let done = things.update(row, [("value", value.clone())]).await;
            done.unwrap_or_else(|error| panic!("{column}: {value:?}: {error}"));
        }
        for (id, value) in [(3, first.clone()), (4, SqlValue::Null)] {
            let done = things.insert([("id", id.into()), ("value", value.clone())]).await;
            done.unwrap_or_else(|error| panic!("{column}: {value:?}: {error}"));
        }
        let [first_text, second_text] = [texts[0].clone(), texts[1].clone()];
        let expected = [second_text.clone(), first_text.clone(), first_text.clone(), None];
        assert_eq!(self.plain_texts(plain).await, expected, "{column}: it is written as it was read");
        let expected = [second.clone(), first.clone(), first.clone(), SqlValue::Null];
        assert_eq!(self.seen(cache, &things).await, expected, "{column}");

        // NULL gets a value, a value becomes NULL, and a row goes.
        let rows = things.get("id", 3..=4).await.unwrap();
        things.update(&rows[0], [("value", SqlValue::Null)]).await.unwrap();
        things.update(&rows[1], [("value", second.clone())]).await.unwrap();
        let row = things.known_row([("id", 1.into())]).unwrap();
        things.delete(&row).await.unwrap();
        assert_eq!(self.seen(cache, &things).await, [first, SqlValue::Null, second], "{column}");
        assert_eq!(self.plain_texts(plain).await, [first_text, None, second_text], "{column}");
    }
}

/// A value as databases write it, if it is written in one way only.
fn shown(value: &SqlValue) -> Option<String> {
    match value {
        SqlValue::Integer(value) => Some(value.to_string()),
        SqlValue::Unsigned(value) => Some(value.to_string()),
        SqlValue::Bool(value) => Some(value.to_string()),
        SqlValue::Text(text) | SqlValue::Json(text) => Some(text.clone()),
        _ => None,
    }
}
