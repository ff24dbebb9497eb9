//! Random tables, rows and statements.

use lacuna_cache::sql::{DomainType, Schema, SqlValue};
use lacuna_workload::Rng;

use crate::sql::world::Dialect;

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
    pub(super) plain: String,
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
        let mut writer = Writing { drawn: self, rng, done: Statement::default() };
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

struct Writing<'a> {
    drawn: &'a Drawn,
    rng: &'a mut Rng,
    done: Statement,
}

impl Writing<'_> {
    fn text(&mut self, text: &str) -> &mut Self {
        self.done.sql += text;
        self.done.plain += text;
        self
    }

    fn coin(&mut self, of: usize) -> bool {
        self.rng.index(of) == 0
    }

    /// A value, as a parameter or written out.
    fn value(&mut self, of: Type) -> &mut Self {
        let value = value(self.rng, of);
        let literal = self.literal(&value);
        let may_be_written =
            matches!(of, Type::Integer | Type::Decimal | Type::Text | Type::Flag | Type::Label);
        if may_be_written && self.coin(3) {
            return self.text(&literal);
        }
        self.done.params.push(value);
        self.done.sql += &match self.drawn.dialect {
            Dialect::Postgres => format!("${}", self.done.params.len()),
            _ => "?".to_owned(),
        };
        self.done.plain += &literal;
        self
    }

    fn literal(&self, value: &SqlValue) -> String {
        let is_postgres = self.drawn.dialect == Dialect::Postgres;
        match value {
            SqlValue::Integer(number) => number.to_string(),
            SqlValue::Decimal { digits, scale } => decimal(*digits, *scale),
            SqlValue::Float(float) if is_postgres => format!("'{float}'::float8"),
            SqlValue::Float(float) => format!("{float:e}"),
            SqlValue::Text(text) => format!("'{text}'"),
            SqlValue::Bool(flag) => flag.to_string().to_uppercase(),
            SqlValue::Date(_) => format!("DATE '{}'", days(value)),
            SqlValue::Timestamp(micros) => {
                let name = if is_postgres { "TIMESTAMPTZ" } else { "TIMESTAMP" };
                format!("{name} '{}'", moment(*micros))
            }
            other => panic!("no literal of {other:?}"),
        }
    }

    fn column(&mut self, of: Type) -> &'static str {
        let columns = self.drawn.of(of);
        columns[self.rng.index(columns.len())].name
    }

    fn some_type(&mut self) -> Type {
        let all =
            [Type::Integer, Type::Decimal, Type::Float, Type::Text, Type::Text, Type::Day, Type::Moment];
        one(self.rng, &[&all[..], &[Type::Flag, Type::Label]].concat())
    }

    fn sign(&mut self) -> &'static str {
        one(self.rng, &["=", "<>", "<", "<=", ">", ">="])
    }

    /// Something to be selected or ordered by.
    fn expression(&mut self) {
        let of = self.some_type();
        let column = self.column(of);
        match (of, self.rng.index(6)) {
            (Type::Text, 0) => {
                self.text(&format!("upper({column})"));
            }
            (Type::Text, 1) => {
                self.text(&format!("length(lower({column}))"));
            }
            (_, 0) if of != Type::Moment && of != Type::Day => {
                self.text(&format!("coalesce({column}, ")).value(of).text(")");
            }
            (_, 1) => {
                self.text(&format!("nullif({column}, ")).value(of).text(")");
            }
            (Type::Integer, 2) => {
                self.text(&format!("{column} + ")).value(of);
            }
            (Type::Integer, 3) => {
                self.text(&format!("abs({column}) * 2"));
            }
            (Type::Decimal, 2) => {
                self.text(&format!("round({column}, 1)"));
            }
            (Type::Decimal, 3) => {
                self.text(&format!("{column} * ")).value(of);
            }
            (Type::Decimal, 4) => {
                self.text(&format!("round({column}, ")).value(Type::Integer).text(")");
            }
            _ => {
                self.text(column);
            }
        }
    }

    /// The condition on a registered column, and perhaps others.
    fn conditions(&mut self) {
        let of =
            one(self.rng, &[Type::Integer, Type::Decimal, Type::Text, Type::Float, Type::Day, Type::Moment]);
        let column = match of {
            Type::Integer => one(self.rng, &["id", "age"]),
            Type::Decimal => "price",
            Type::Text => "city",
            Type::Float => "ratio",
            Type::Day => "born",
            _ => "seen",
        };
        self.text(" WHERE ");
        match self.rng.index(4) {
            0 => {
                self.text(&format!("{column} BETWEEN ")).value(of).text(" AND ").value(of);
            }
            1 => {
                self.value(of).text(&format!(" <= {column} AND {column} < ")).value(of);
            }
            2 => {
                let sign = one(self.rng, &["<", "<=", ">", ">="]);
                self.text(&format!("{column} {sign} ")).value(of);
            }
            _ => {
                self.text(&format!("{column} = ")).value(of);
            }
        }
        while self.coin(2) {
            self.text(" AND ");
            self.condition();
        }
    }

    fn condition(&mut self) {
        let of = self.some_type();
        let (column, sign) = (self.column(of), self.sign());
        match self.rng.index(9) {
            0 => {
                self.text(&format!("{column} BETWEEN ")).value(of).text(" AND ").value(of);
            }
            1 => {
                self.text(&format!("{column} IN (")).value(of).text(", ").value(of).text(")");
            }
            2 => {
                self.text("NOT (");
                self.condition();
                self.text(")");
            }
            3 => {
                self.text("(");
                self.condition();
                self.text(" OR ");
                self.condition();
                self.text(")");
            }
            4 => {
                self.text(&format!("{column} IS NOT NULL"));
            }
            5 if of == Type::Text => {
                let pattern = one(self.rng, &["a%", "%b", "a_", "% "]);
                self.text(&format!("{column} LIKE '{pattern}'"));
            }
            6 if of == Type::Text => {
                self.text(&format!("coalesce({column}, ")).value(of).text(&format!(") {sign} ")).value(of);
            }
            7 if of == Type::Text => {
                self.text(&format!("upper({column}) {sign} ")).value(of);
            }
            8 if of == Type::Text || of == Type::Decimal => {
                let other = self.column(of);
                self.text(&format!("{column} {sign} {other}"));
            }
            _ => {
                self.text(&format!("{column} {sign} ")).value(of);
            }
        }
    }

    fn rows(&mut self) {
        self.text("SELECT id");
        if self.coin(12) {
            self.done = Statement::default();
            self.text("SELECT *");
        }
        let has_alias = self.coin(3);
        if has_alias {
            self.text(", mood AS m");
        }
        while self.rng.index(3) > 0 {
            self.text(", ");
            self.expression();
        }
        self.text(" FROM things");
        self.conditions();
        self.text(" ORDER BY ");
        if has_alias {
            let order = one(self.rng, &["m, ", "m DESC, "]);
            self.text(order);
        } else if self.coin(2) {
            let of = self.some_type();
            let column = self.column(of);
            self.text(&format!("{column}{}, ", if of == Type::Day { " DESC" } else { "" }));
        }
        self.text("things.id");
        if self.coin(3) {
            let limit = 1 + self.rng.index(5);
            self.text(&format!(" LIMIT {limit}"));
        }
    }

    /// A column whose values the database tells apart as they are shown.
    fn exact(&mut self) -> (&'static str, Type) {
        loop {
            let column = &self.drawn.columns[self.rng.index(self.drawn.columns.len())];
            if column.is_exact(self.drawn.dialect) {
                return (column.name, column.of);
            }
        }
    }

    fn aggregates(&mut self) {
        self.text("SELECT COUNT(*), SUM(age), AVG(price), MAX(born), MIN(seen), COUNT(DISTINCT mood)");
        let (column, of) = self.exact();
        if of != Type::Flag {
            self.text(&format!(", MAX({column})"));
        }
        self.text(" FROM things");
        self.conditions();
    }

    fn groups(&mut self) {
        let (column, _) = self.exact();
        self.text(&format!("SELECT {column}, COUNT(*), SUM(price), MIN(age) FROM things"));
        self.conditions();
        self.text(&format!(" GROUP BY {column}"));
        let (other, of) = self.exact();
        if self.coin(2) && !matches!(of, Type::Flag | Type::Label) {
            let sign = self.sign();
            self.text(&format!(" HAVING MAX({other}) {sign} ")).value(of);
        }
        self.text(&format!(" ORDER BY {column}"));
    }

    fn distinct(&mut self) {
        let (column, _) = self.exact();
        self.text(&format!("SELECT DISTINCT {column} FROM things"));
        self.conditions();
        self.text(&format!(" ORDER BY {column}"));
    }
}

fn decimal(digits: i128, scale: u8) -> String {
    let sign = if digits < 0 { "-" } else { "" };
    let unit = 10_u128.pow(scale.into());
    let (whole, rest) = (digits.unsigned_abs() / unit, digits.unsigned_abs() % unit);
    let behind = if scale == 0 { String::new() } else { format!(".{rest:0width$}", width = scale.into()) };
    format!("{sign}{whole}{behind}")
}

/// A day in February 2024.
fn days(value: &SqlValue) -> String {
    let found = (1..=29).find(|day| SqlValue::date(2024, 2, *day).unwrap() == *value);
    format!("2024-02-{:02}", found.expect("a day of that month"))
}

/// A moment of the minutes around 2023-11-14 22:13:20.
fn moment(micros: i64) -> String {
    let rest = micros - 1_700_000_000_000_000 + 20_000_000;
    format!("2023-11-14 22:13:{:02}.{:06}", rest / 1_000_000, rest % 1_000_000)
}

/// Whether the database wrote `value` as `text`.
pub(super) fn is_value(value: &SqlValue, text: &str, drawn: &Drawn) -> bool {
    match value {
        SqlValue::Null | SqlValue::Blob(_) => false,
        SqlValue::Integer(number) => text.parse() == Ok(*number),
        SqlValue::Unsigned(number) => text.parse() == Ok(*number),
        SqlValue::Bool(flag) => text == if *flag { "t" } else { "f" },
        SqlValue::Decimal { digits, scale } => text == decimal(*digits, *scale),
        SqlValue::Float(float) => text.parse() == Ok(*float),
        // `CHAR(n)` of PostgreSQL is read without its padding.
        SqlValue::Text(shown) => {
            let is_padded = drawn.columns.iter().any(|column| column.declared.starts_with("CHARACTER("));
            shown == text || (is_padded && shown == text.trim_end_matches(' '))
        }
        SqlValue::Date(_) => text == days(value),
        SqlValue::Timestamp(micros) => {
            let text = text.trim_end_matches("+00");
            let (seconds, behind) = text.split_once('.').unwrap_or((text, ""));
            format!("{seconds}.{behind:0<6}") == moment(*micros)
        }
        other => panic!("no text of {other:?}"),
    }
}
