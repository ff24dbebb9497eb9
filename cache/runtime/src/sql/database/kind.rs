//! How a column changes the values that are written to it.

use lacuna_cache_protocol::DomainType;

use super::Dialect;
use crate::sql::decimal::MAX_DIGITS;
use crate::sql::domain_key;
use crate::sql::sql_value::SqlValue;

/// The kind of a column: which values it keeps unchanged. Others it may round, pad, cut or generate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    Integer,
    /// Whole numbers that the database does not store as such: bits, years.
    Bits,
    /// True or false.
    Bool,
    /// Whole numbers; the database generates one if NULL is inserted, or 0 if it replaces that, too.
    Counter {
        replaces_zero: bool,
    },
    Float,
    /// Floats of 32 bits.
    Single,
    Text,
    /// One text of a list, in the spelling of the list, or as it was written if that is the only one accepted.
    Label {
        is_verbatim: bool,
    },
    Blob,
    /// Byte strings of one length, which is padded to.
    Padded {
        length: u8,
    },
    /// UUIDs; some databases do not order them by their bytes.
    Uuid {
        is_ordered: bool,
    },
    /// Documents; some databases do not keep their spelling.
    Json {
        is_verbatim: bool,
    },
    /// Shapes, in the database's own bytes.
    Geometry,
    /// Exact numbers of any number of digits.
    Number,
    /// Exact numbers with a fixed number of digits, a fixed number of them after the point.
    Decimal {
        precision: u8,
        scale: u8,
    },
    Date,
    /// Moments to a fixed number of digits of a second; some databases generate one if NULL is inserted.
    Moment {
        digits: u8,
        is_stamp: bool,
    },
    /// Any other type, as text in the database's own form.
    Other,
}

/// How the database compares texts of a column, and so what a range of it is written as in SQL.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum TextOrder {
    /// By the bytes of UTF-8.
    Bytes,
    /// Otherwise, but an index of the column has operators that compare bytes (`text_pattern_ops`).
    Pattern,
    /// By code points, as if spaces without end followed (`utf8mb4_bin`).
    Padded,
    /// By one weight for each letter (`utf8mb4_general_ci`), so that texts with one beginning are side by side.
    Prefixed,
    /// In another order.
    #[default]
    Collated,
    /// The server's character set has another order than UTF-8.
    Foreign,
}

/// A column as its database describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) kind: ColumnKind,
    /// Whether it does not keep the written value, whatever that is.
    pub(crate) is_changed: bool,
    /// Whether MariaDB puts the next number in place of NULL and zero, although it is one of floats (`DOUBLE AUTO_INCREMENT`).
    pub(crate) is_counted: bool,
    /// Whether the database alone sets it.
    pub(crate) is_generated: bool,
    /// Whether `SELECT *` leaves it out.
    pub(crate) is_hidden: bool,
    /// What its value depends on beside its row, if each read computes it.
    pub(crate) doubt: Option<String>,
    /// Its declared type, in the words of the database.
    pub(crate) declared: String,
    /// The type that texts are cast to for it, where the database does not do so.
    pub(crate) cast: Option<String>,
    pub(crate) order: TextOrder,
    /// Whether two texts are equal for the database only if their bytes are.
    pub(crate) is_equal_by_bytes: bool,
    /// Whether an index serves ranges of it, compared as they are here.
    pub(crate) is_indexed: bool,
}

impl Column {
    /// Whether the database compares its texts without the spaces at their end, as they are read: `CHAR(n)` of PostgreSQL.
    pub(crate) fn is_blank_padded(&self, dialect: Dialect) -> bool {
        let (name, _) = parts(&self.declared);
        let is_padded = matches!(name, "character" | "bpchar") && !self.declared.contains("varying");
        dialect == Dialect::Postgres && self.kind == ColumnKind::Text && is_padded
    }

    /// Whether a new row may have the next number in place of `value`. The database looks at the whole number of a float.
    pub(crate) fn counts_on_from(&self, value: &SqlValue) -> bool {
        let is_zero = match value {
            SqlValue::Float(number) => number.abs() < 1.0,
            other => *other == SqlValue::Null,
        };
        self.is_counted && is_zero
    }

    /// Whether it is a time of day of MariaDB, which a comparison with a day, or a value made of both, puts on the day of the clock.
    pub(crate) fn is_time(&self) -> bool {
        self.declared == "time" || self.declared.starts_with("time(")
    }

    /// Whether SQLite leaves texts in it as they are; otherwise it makes numbers of those that look like numbers.
    pub(crate) fn keeps_texts(&self) -> bool {
        matches!(self.kind, ColumnKind::Text | ColumnKind::Blob) || self.declared.is_empty()
    }
}

impl ColumnKind {
    /// How SQLite converts the values of a column with this declared type.
    pub(crate) fn affinity(declared: &str) -> Self {
        let declared = declared.to_ascii_uppercase();
        let kinds = [
            (&["INT"][..], Self::Integer),
            (&["CHAR", "CLOB", "TEXT"], Self::Text),
            (&["BLOB"], Self::Blob),
            (&["REAL", "FLOA", "DOUB"], Self::Float),
        ];
        let found = kinds.into_iter().find(|(words, _)| words.iter().any(|word| declared.contains(word)));
        found.map_or(Self::Other, |(_, kind)| kind)
    }

    /// The kind of a column of PostgreSQL: `numeric(10,2)`, `timestamp(3) with time zone`. An array has none.
    pub(crate) fn of_postgres(words: &str, is_enum: bool) -> Self {
        let (name, numbers) = parts(words);
        match (name, &numbers[..]) {
            _ if is_enum => Self::Label { is_verbatim: true },
            _ if words.ends_with("[]") => Self::Other,
            ("smallint" | "integer" | "bigint", _) => Self::Integer,
            ("boolean", _) => Self::Bool,
            ("real", _) => Self::Single,
            ("double", _) => Self::Float,
            // `character` pads what it keeps, and is read here without the spaces.
            ("text" | "character" | "bpchar", _) => Self::Text,
            ("bytea", _) => Self::Blob,
            ("uuid", _) => Self::Uuid { is_ordered: true },
            ("json" | "jsonb", _) => Self::Json { is_verbatim: name == "json" },
            ("numeric", [Some(precision), Some(scale)]) => {
                Self::Decimal { precision: *precision, scale: *scale }
            }
            ("numeric", _) => Self::Number,
            ("date", _) => Self::Date,
            ("timestamp", [digits, ..]) => Self::Moment { digits: digits.unwrap_or(6), is_stamp: false },
            _ => Self::Other,
        }
    }

    /// The kind of a column of MariaDB: `int(10) unsigned`, `datetime(6)`.
    pub(crate) fn of_mariadb(words: &str) -> Self {
        let (name, numbers) = parts(words);
        match (name, &numbers[..]) {
            ("tinyint" | "smallint" | "mediumint" | "int" | "bigint", _) => Self::Integer,
            ("bit" | "year", _) => Self::Bits,
            ("float", _) => Self::Single,
            ("double", _) => Self::Float,
            ("char" | "varchar" | "tinytext" | "text" | "mediumtext" | "longtext", _) => Self::Text,
            ("enum", _) => Self::Label { is_verbatim: false },
            ("varbinary" | "tinyblob" | "blob" | "mediumblob" | "longblob", _) => Self::Blob,
            ("binary", [Some(length), ..]) => Self::Padded { length: *length },
            ("uuid", _) => Self::Uuid { is_ordered: false },
            ("json", _) => Self::Json { is_verbatim: true },
            (
                "geometry" | "point" | "linestring" | "polygon" | "multipoint" | "multilinestring"
                | "multipolygon" | "geometrycollection",
                _,
            ) => Self::Geometry,
            ("decimal", [Some(precision), Some(scale)]) => {
                Self::Decimal { precision: *precision, scale: *scale }
            }
            ("date", _) => Self::Date,
            ("timestamp" | "datetime", [digits, ..]) => {
                Self::Moment { digits: digits.unwrap_or(0), is_stamp: name == "timestamp" }
            }
            _ => Self::Other,
        }
    }

    /// Whether PostgreSQL may read this text, given as a value of the column, as a moment of its clock.
    pub(crate) fn may_mean_now(self, text: &str) -> bool {
        const WORDS: [&str; 4] = ["now", "today", "tomorrow", "yesterday"];
        let is_of_time = matches!(self, Self::Date | Self::Moment { .. } | Self::Other);
        is_of_time
            && text
                .split(|letter: char| !letter.is_ascii_alphabetic())
                .any(|part| WORDS.iter().any(|word| part.eq_ignore_ascii_case(word)))
    }

    /// Whether values are texts in the database's own form, which are cast to the type of the column.
    pub(crate) const fn is_cast(self) -> bool {
        matches!(self, Self::Other | Self::Label { .. } | Self::Json { .. })
    }

    /// Whether the value that is read later is `value`, bit for bit.
    pub(crate) fn keeps(self, value: &SqlValue) -> bool {
        match (self, value) {
            (Self::Counter { replaces_zero }, SqlValue::Integer(value)) => *value != 0 || !replaces_zero,
            (Self::Counter { .. }, SqlValue::Unsigned(_)) => true,
            (Self::Counter { .. } | Self::Other | Self::Bits | Self::Number | Self::Geometry, _) => false,
            (Self::Moment { is_stamp: true, .. }, SqlValue::Null) => false,
            (_, SqlValue::Null)
            | (Self::Date, SqlValue::Date(_))
            | (Self::Integer, SqlValue::Integer(_) | SqlValue::Unsigned(_))
            | (Self::Bool, SqlValue::Bool(_))
            | (Self::Uuid { .. }, SqlValue::Uuid(_))
            | (Self::Label { is_verbatim: true }, SqlValue::Text(_))
            | (Self::Blob, SqlValue::Blob(_)) => true,
            (Self::Padded { length }, SqlValue::Blob(bytes)) => bytes.len() == usize::from(length),
            (Self::Json { is_verbatim: true }, SqlValue::Json(text)) => !text.ends_with(' '),
            (Self::Decimal { scale: kept, .. }, SqlValue::Decimal { scale, .. }) => kept == *scale,
            (Self::Moment { digits, .. }, SqlValue::Timestamp(micros)) => {
                micros % 10i64.pow(6 - u32::from(digits).min(6)) == 0
            }
            // SQLite turns NaN into NULL, and has one zero.
            (Self::Float, SqlValue::Float(value)) => is_plain(*value),
            (Self::Single, SqlValue::Float(value)) => {
                #[expect(clippy::cast_possible_truncation, reason = "that is what is asked")]
                let single = *value as f32;
                is_plain(*value) && f64::from(single).to_bits() == value.to_bits()
            }
            // Spaces beyond the length of a column are truncated without an error.
            (Self::Text, SqlValue::Text(value)) => !value.ends_with(' '),
            _ => false,
        }
    }

    /// Whether a row that `Sql::holds` finds by `value` shows it bit for bit.
    pub(crate) fn is_as_read(self, value: &SqlValue, dialect: Dialect) -> bool {
        let is_sqlite = dialect == Dialect::Sqlite;
        match (self, value) {
            // A row that is there may have number 0.
            (Self::Counter { .. }, SqlValue::Integer(_)) => true,
            (Self::Other, SqlValue::Integer(_)) => is_sqlite,
            (_, SqlValue::Unsigned(number)) if i64::try_from(*number).is_ok() => false,
            // Their bytes are compared, in the form that the database gives them.
            (kind, SqlValue::Text(_) | SqlValue::Json(_)) if kind.is_cast() && !is_sqlite => true,
            _ => self.keeps(value),
        }
    }

    /// Whether values of the column, as they are read, have the order that the database gives them.
    pub(crate) fn has_order_of(self, domain: DomainType) -> bool {
        match (self, domain) {
            (
                Self::Integer | Self::Counter { .. },
                DomainType::Integer | DomainType::Unsigned | DomainType::Timestamp,
            )
            | (Self::Float | Self::Single, DomainType::Float)
            | (Self::Text, DomainType::Text)
            | (Self::Date, DomainType::Date)
            | (Self::Bool, DomainType::Bool)
            | (Self::Uuid { is_ordered: true }, DomainType::Uuid)
            | (Self::Blob | Self::Padded { .. }, DomainType::Bytes)
            | (Self::Moment { .. }, DomainType::Timestamp) => true,
            (Self::Decimal { precision, scale }, DomainType::Decimal { scale: registered }) => {
                scale == registered && precision <= MAX_DIGITS
            }
            _ => false,
        }
    }

    /// A value as it is returned to users, from what the driver read.
    pub(crate) fn received(self, value: SqlValue) -> SqlValue {
        match (self, value) {
            (Self::Uuid { .. }, SqlValue::Text(text)) => {
                SqlValue::uuid(&text).unwrap_or(SqlValue::Text(text))
            }
            (Self::Json { .. }, SqlValue::Text(text)) => SqlValue::Json(text),
            (_, value) => value,
        }
    }

    /// `value` in the form in which it is read from the column, if an equal value has another form.
    pub(crate) fn fitted(self, value: SqlValue) -> SqlValue {
        match (self, &value) {
            (_, SqlValue::Unsigned(number)) if i64::try_from(*number).is_ok() => {
                self.fitted(SqlValue::Integer(number.cast_signed()))
            }
            (Self::Decimal { scale, .. }, SqlValue::Integer(_) | SqlValue::Decimal { .. }) => {
                let domain = DomainType::Decimal { scale };
                let key = domain_key::key(domain, &value).ok().flatten();
                key.and_then(|key| domain_key::value(domain, &key).ok()).unwrap_or(value)
            }
            (Self::Integer | Self::Counter { .. }, SqlValue::Timestamp(micros)) => SqlValue::Integer(*micros),
            (Self::Moment { .. }, SqlValue::Integer(micros)) => SqlValue::Timestamp(*micros),
            (Self::Bool, SqlValue::Integer(number @ 0..=1)) => SqlValue::Bool(*number == 1),
            (Self::Integer | Self::Counter { .. } | Self::Bits, SqlValue::Bool(is_true)) => {
                SqlValue::Integer((*is_true).into())
            }
            (Self::Uuid { .. }, SqlValue::Text(text)) => SqlValue::uuid(text).unwrap_or(value),
            (Self::Blob | Self::Padded { .. }, SqlValue::Uuid(bytes)) => SqlValue::Blob(bytes.to_vec()),
            (Self::Text | Self::Label { .. }, SqlValue::Uuid(_) | SqlValue::Json(_)) => {
                SqlValue::Text(value.as_text())
            }
            (Self::Json { .. }, SqlValue::Text(text)) => SqlValue::Json(text.clone()),
            _ => value,
        }
    }
}

/// The first word of a declared type, and the numbers in its first brackets.
fn parts(words: &str) -> (&str, Vec<Option<u8>>) {
    let (name, rest) = words.split_at(words.find(['(', ' ']).unwrap_or(words.len()));
    let inside =
        rest.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map_or("", |(inside, _)| inside);
    (name, inside.split(',').map(|number| number.trim().parse().ok()).collect())
}

fn is_plain(value: f64) -> bool {
    value.is_finite() && (value != 0.0 || value.is_sign_positive())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_a_column_changes_are_not_taken_as_kept() {
        let moment = |digits, is_stamp| ColumnKind::Moment { digits, is_stamp };
        let price = ColumnKind::Decimal { precision: 10, scale: 2 };
        let counter = ColumnKind::Counter { replaces_zero: true };
        let kept: [(ColumnKind, SqlValue); 10] = [
            (ColumnKind::Integer, 0.into()),
            (counter, 7.into()),
            (ColumnKind::Counter { replaces_zero: false }, 0.into()),
            (ColumnKind::Float, 0.1.into()),
            (ColumnKind::Single, 0.5.into()),
            (ColumnKind::Text, " a".into()),
            (ColumnKind::Text, SqlValue::Null),
            (price, SqlValue::decimal("0.50").unwrap()),
            (moment(3, true), SqlValue::Timestamp(-1_000)),
            (moment(6, false), SqlValue::Null),
        ];
        assert!(kept.iter().all(|(kind, value)| kind.keeps(value)));
        let changed: [(ColumnKind, SqlValue); 12] = [
            (counter, 0.into()),
            (counter, SqlValue::Null),
            (ColumnKind::Float, f64::NAN.into()),
            (ColumnKind::Float, (-0.0).into()),
            (ColumnKind::Single, 0.1.into()),
            (ColumnKind::Text, "a ".into()),
            (ColumnKind::Integer, 1.5.into()),
            (ColumnKind::Other, 1.into()),
            (ColumnKind::Other, SqlValue::Null),
            (price, SqlValue::decimal("0.5").unwrap()),
            (moment(3, false), SqlValue::Timestamp(1)),
            (moment(6, true), SqlValue::Null),
        ];
        assert!(changed.iter().all(|(kind, value)| !kind.keeps(value)));
        assert_eq!(price.fitted(SqlValue::decimal("0.5").unwrap()), SqlValue::decimal("0.50").unwrap());
        assert_eq!(price.fitted(7.into()), SqlValue::decimal("7.00").unwrap());
        assert_eq!(price.fitted(SqlValue::decimal("0.005").unwrap()), SqlValue::decimal("0.005").unwrap());
        assert_eq!(moment(6, false).fitted(7.into()), SqlValue::Timestamp(7));
    }

    #[test]
    fn the_words_of_databases_say_what_columns_keep() {
        let decimal = |precision, scale| ColumnKind::Decimal { precision, scale };
        let moment = |digits, is_stamp| ColumnKind::Moment { digits, is_stamp };
        let postgres = [
            ("numeric(10,2)", decimal(10, 2)),
            ("numeric(10,-2)", ColumnKind::Number),
            ("timestamp(3) with time zone", moment(3, false)),
            ("timestamp without time zone", moment(6, false)),
            ("double precision", ColumnKind::Float),
            ("character varying(3)", ColumnKind::Text),
            ("jsonb", ColumnKind::Json { is_verbatim: false }),
            ("numeric(10,2)[]", ColumnKind::Other),
            ("date[]", ColumnKind::Other),
            ("daterange", ColumnKind::Other),
            ("\"char\"", ColumnKind::Other),
            ("shop.\"date\"", ColumnKind::Other),
        ];
        for (words, kind) in postgres {
            assert_eq!(ColumnKind::of_postgres(words, false), kind, "{words}");
        }
        let mariadb = [
            ("decimal(5,0) unsigned", decimal(5, 0)),
            ("datetime", moment(0, false)),
            ("timestamp(6)", moment(6, true)),
            ("bigint(20) unsigned", ColumnKind::Integer),
            ("binary(16)", ColumnKind::Padded { length: 16 }),
            ("bit(8)", ColumnKind::Bits),
            ("enum('int(3)','b')", ColumnKind::Label { is_verbatim: false }),
            ("time(6)", ColumnKind::Other),
        ];
        for (words, kind) in mariadb {
            assert_eq!(ColumnKind::of_mariadb(words), kind, "{words}");
        }
    }

    #[test]
    fn other_forms_of_a_value_become_that_of_the_column() {
        let id = SqlValue::Uuid([1; 16]);
        let json = ColumnKind::Json { is_verbatim: false };
        let forms: [(ColumnKind, SqlValue, SqlValue); 7] = [
            (ColumnKind::Uuid { is_ordered: true }, id.as_text().into(), id.clone()),
            (ColumnKind::Padded { length: 16 }, id.clone(), vec![1; 16].into()),
            (ColumnKind::Text, id.clone(), id.as_text().into()),
            (ColumnKind::Bool, 1.into(), true.into()),
            (ColumnKind::Bool, 2.into(), 2.into()),
            (ColumnKind::Integer, true.into(), 1.into()),
            (json, "{}".into(), SqlValue::Json("{}".to_owned())),
        ];
        for (kind, given, fitted) in forms {
            assert_eq!(kind.fitted(given), fitted);
        }
        assert!(!json.keeps(&SqlValue::Json("{}".to_owned())));
        assert!(!ColumnKind::Padded { length: 4 }.keeps(&vec![1; 3].into()));
    }
}
