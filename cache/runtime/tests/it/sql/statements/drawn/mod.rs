//! Random tables, rows and statements.

mod literals;
mod writing;

use lacuna_cache::sql::{DomainType, Schema, SqlValue};
use lacuna_workload::Rng;

use self::literals::literal;
use self::writing::Writing;
use crate::sql::world::Dialect;

pub(super) use self::literals::is_value;

/// The types of the columns that are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Integer,
    Decimal,
    Float,
    Text,
    Day,
    Moment,
    Flag,
    Label,
}

#[derive(Debug)]
struct Column {
    name: &'static str,
    of: Type,
    declared: &'static str,
}

impl Column {
    /// Whether texts that the database takes for one are the same: otherwise it may show any of them.
    fn is_exact(&self, dialect: Dialect) -> bool {
        self.of != Type::Text || dialect == Dialect::Postgres || self.declared.contains("nopad_bin")
    }
}

/// A table.
#[derive(Debug)]
pub(super) struct Drawn {
    pub(super) dialect: Dialect,
    columns: Vec<Column>,
}

/// A statement, its values, and the same with literals for the database alone.
#[derive(Debug, Default, Clone)]
pub(super) struct Statement {
    pub(super) sql: String,
    pub(super) params: Vec<SqlValue>,
    of: Vec<Type>,
    /// What stands before each parameter, and after the last.
    between: Vec<String>,
}

impl Statement {
    /// The statement without parameters.
    pub(super) fn plain(&self, dialect: Dialect) -> String {
        let literals = self.params.iter().map(|value| literal(dialect, value)).chain([String::new()]);
        self.between.iter().zip(literals).flat_map(|(text, value)| [text.clone(), value]).collect()
    }

    /// The same with other values.
    pub(super) fn draw_values(&mut self, rng: &mut Rng) {
        self.params = self.of.iter().map(|of| value(rng, *of)).collect();
    }
}

const TEXTS: [&str; 11] = ["", "a", "ab", "Ab", "ab ", "ab  ", "b", "ä", "z ", "a b", "so so"];
const LABELS: [&str; 3] = ["so so", "b", "a"];
const POSTGRES_TEXTS: [&str; 6] = [
    "TEXT",
    "VARCHAR(10)",
    "TEXT COLLATE \"C\"",
    "CHARACTER(5)",
    "CHARACTER(5) COLLATE \"C\"",
    "VARCHAR(10) COLLATE \"C\"",
];
const MARIADB_TEXTS: [&str; 6] = [
    "VARCHAR(10) COLLATE utf8mb4_general_ci",
    "VARCHAR(10) COLLATE utf8mb4_bin",
    "VARCHAR(10) COLLATE utf8mb4_nopad_bin",
    "CHAR(5) COLLATE utf8mb4_nopad_bin",
    "CHAR(5) COLLATE utf8mb4_general_ci",
    "VARCHAR(10) CHARACTER SET latin1",
];

fn one<T: Copy>(rng: &mut Rng, of: &[T]) -> T {
    of[rng.index(of.len())]
}

impl Drawn {
    pub(super) fn new(dialect: Dialect, rng: &mut Rng) -> Self {
        let is_postgres = dialect == Dialect::Postgres;
        let mut columns = Vec::new();
        let mut add = |name, of, postgres: &[&'static str], mariadb: &[&'static str]| {
            columns.push(Column {
                name,
                of,
                declared: one(rng, if is_postgres { postgres } else { mariadb }),
            });
        };
        add("age", Type::Integer, &["INTEGER", "SMALLINT", "BIGINT"], &["INT", "SMALLINT", "BIGINT"]);
        add("price", Type::Decimal, &["NUMERIC(8,2)", "NUMERIC(20,2)"], &["DECIMAL(8,2)", "DECIMAL(20,2)"]);
        add("city", Type::Text, &POSTGRES_TEXTS, &MARIADB_TEXTS);
        add("name", Type::Text, &POSTGRES_TEXTS, &MARIADB_TEXTS);
        add("pay", Type::Integer, &["INTEGER", "BIGINT"], &["INT", "TINYINT"]);
        add("cost", Type::Decimal, &["NUMERIC(8,3)", "NUMERIC"], &["DECIMAL(8,3)", "DECIMAL(30,1)"]);
        add("ratio", Type::Float, &["DOUBLE PRECISION"], &["DOUBLE"]);
        add("born", Type::Day, &["DATE"], &["DATE"]);
        add("seen", Type::Moment, &["TIMESTAMP", "TIMESTAMPTZ"], &["DATETIME(6)", "DATETIME(3)"]);
        add("flag", Type::Flag, &["BOOLEAN"], &["BOOLEAN"]);
        let labels = ["ENUM('so so', 'b', 'a')", "ENUM('so so', 'b', 'a') COLLATE utf8mb4_bin"];
        add("mood", Type::Label, &["mood"], &labels);
        Self { dialect, columns }
    }

    pub(super) fn definition(&self) -> String {
        let mut sql = "DROP TABLE IF EXISTS things; ".to_owned();
        if self.dialect == Dialect::Postgres {
            sql += "DROP TYPE IF EXISTS mood; CREATE TYPE mood AS ENUM ('so so', 'b', 'a'); ";
        }
        sql += "CREATE TABLE things (id BIGINT PRIMARY KEY";
        for Column { name, declared, .. } in &self.columns {
            sql += &format!(", {name} {declared} NULL");
        }
        sql + ")"
    }

    pub(super) fn schema(&self) -> Schema {
        let schema = Schema::new("things", "id").with_domain("id", DomainType::Integer);
        let schema = schema.with_domain("age", DomainType::Integer);
        let schema = schema.with_domain("price", DomainType::Decimal { scale: 2 });
        let schema = schema.with_domain("city", DomainType::Text).with_domain("ratio", DomainType::Float);
        schema.with_domain("born", DomainType::Date).with_domain("seen", DomainType::Timestamp)
    }

    fn of(&self, of: Type) -> Vec<&Column> {
        self.columns.iter().filter(|column| column.of == of).collect()
    }

    /// A value that a column may have.
    fn stored(&self, rng: &mut Rng, of: Type) -> SqlValue {
        if rng.index(8) == 0 {
            return SqlValue::Null;
        }
        match value(rng, of) {
            SqlValue::Decimal { digits, scale: 3 } => SqlValue::Decimal { digits: digits / 10, scale: 2 },
            SqlValue::Bool(flag) if self.dialect == Dialect::MariaDb => SqlValue::Integer(flag.into()),
            value => value,
        }
    }

    pub(super) fn row(&self, rng: &mut Rng, id: i64) -> Vec<(&'static str, SqlValue)> {
        let values = self.columns.iter().map(|column| (column.name, self.stored(rng, column.of)));
        std::iter::once(("id", id.into())).chain(values).collect()
    }

    pub(super) fn change(&self, rng: &mut Rng) -> (&'static str, SqlValue) {
        let column = &self.columns[rng.index(self.columns.len())];
        (column.name, self.stored(rng, column.of))
    }

    pub(super) fn statement(&self, rng: &mut Rng) -> Statement {
        let mut writer = Writing::new(self, rng);
        match writer.rng.index(8) {
            0..=3 => writer.rows(),
            4 => writer.aggregates(),
            5..=6 => writer.groups(),
            _ => writer.distinct(),
        }
        writer.done
    }
}

/// A value of a type, not NULL.
fn value(rng: &mut Rng, of: Type) -> SqlValue {
    let number = i64::try_from(rng.index(9)).unwrap() - 2;
    match of {
        Type::Integer => number.into(),
        // With digits that no price has.
        Type::Decimal if rng.index(4) == 0 => {
            SqlValue::Decimal { digits: i128::from(number) * 500 + 5, scale: 3 }
        }
        Type::Decimal => SqlValue::Decimal { digits: i128::from(number) * 50, scale: 2 },
        Type::Float => [-1.5, 0.0, 0.1, 0.5, 2.0, 1e10][rng.index(6)].into(),
        Type::Text => one(rng, &TEXTS).into(),
        Type::Day => SqlValue::date(2024, 2, one(rng, &[1, 2, 28, 29])).unwrap(),
        Type::Moment => SqlValue::Timestamp(1_700_000_000_000_000 + number * 500_000),
        Type::Flag => (number % 2 == 0).into(),
        Type::Label => one(rng, &LABELS).into(),
    }
}
