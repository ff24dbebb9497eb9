//! The SQL of a range, and of the writes that the table generates.

use lacuna_cache_protocol::{Cut, DomainId, DomainType, Form, Interval, Query, RangeKey};
use lacuna_cache_protocol::{Error, Result};

use crate::sql::database::{Column, ColumnKind, Dialect, TextOrder};
use crate::sql::domain_key;
use crate::sql::schema::Schema;
use crate::sql::sql_value::SqlValue;
use crate::sql::statement::{Shape, Statement};
use crate::sql::superset;

/// A statement under construction: text and parameters.
#[derive(Debug)]
pub(crate) struct Sql {
    dialect: Dialect,
    text: String,
    params: Vec<SqlValue>,
    /// What stands before columns: their table, where a statement reads several.
    prefix: String,
}

impl Sql {
    pub(crate) const fn new(dialect: Dialect) -> Self {
        Self { dialect, text: String::new(), params: Vec::new(), prefix: String::new() }
    }

    /// The same, whose conditions name the table of their columns.
    pub(crate) fn qualified(dialect: Dialect, schema: &Schema) -> Self {
        Self { prefix: schema.qualifier(dialect), ..Self::new(dialect) }
    }

    /// A column in a condition.
    fn column(&self, name: &str) -> String {
        format!("{}{}", self.prefix, self.dialect.quoted(name))
    }

    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        self.text.push_str(text);
        self
    }

    pub(crate) fn name(&mut self, name: &str) -> &mut Self {
        self.dialect.quote(&mut self.text, name);
        self
    }

    /// A parameter; NULL is written out, as a parameter without a type is an error in some databases.
    pub(crate) fn value(&mut self, value: &SqlValue) -> &mut Self {
        if *value == SqlValue::Null {
            return self.text("NULL");
        }
        self.params.push(value.clone());
        let placeholder = self.dialect.typed(self.params.len(), value);
        self.text(&placeholder)
    }

    /// A table in SQL.
    pub(crate) fn table(&mut self, schema: &Schema) -> &mut Self {
        let quoted = schema.quoted(self.dialect);
        self.text(&quoted)
    }

    /// A value for a column, whose type it is cast to if it is a text of another type.
    pub(crate) fn assigned(&mut self, column: &Column, value: &SqlValue) -> &mut Self {
        let is_cast = column.kind.is_cast() || matches!(value, SqlValue::Text(_));
        match &column.cast {
            Some(name) if is_cast && *value != SqlValue::Null => {
                self.text("CAST(").value(value).text(" AS ").text(name).text(")")
            }
            _ => self.value(value),
        }
    }

    /// A column in a comparison: text by its bytes.
    fn compared(&mut self, column: &str, described: &Column, domain: DomainType) -> &mut Self {
        let quoted = self.column(column);
        let text = match (self.dialect, domain) {
            (Dialect::Sqlite, DomainType::Text) => format!("{quoted} COLLATE BINARY"),
            // Its operators compare bytes, whatever the collation.
            _ if is_by_pattern(described, domain) => quoted,
            _ => self.dialect.by_bytes(&quoted, described),
        };
        self.text(&text)
    }

    /// Begins a condition on a column.
    fn condition_on(&mut self, column: &str) -> &mut Self {
        let column = self.column(column);
        self.text(&column)
    }

    pub(crate) fn into_statement(self, shape: Shape) -> Statement {
        Statement { params: self.params, shape, ..Statement::new(self.text) }
    }

    /// The condition that the column of a domain lies in `interval`.
    pub(crate) fn within(
        &mut self,
        schema: &Schema,
        domain: DomainId,
        interval: &Interval<RangeKey>,
    ) -> Result<()> {
        let (column, domain) = domain_of(schema, domain)?;
        let place = schema.column(column)?;
        let described = &schema.described[place];
        self.condition_on(column).text(" IS NOT NULL");
        let bound = |key: &RangeKey| Ok::<_, Error>(schema.fitted(place, domain_key::value(domain, key)?));
        if let (Cut::Before(lo), Cut::After(hi), DomainType::Text) = (interval.lo(), interval.hi(), domain)
            && lo == hi
            && described.kind == ColumnKind::Text
            && (lo.as_bytes().is_ascii() || !schema.constraints.narrow.contains(column))
        {
            // A letter that the character set of the column lacks cannot be compared by a collation.
            self.text(" AND ").holds(column, described, &bound(lo)?);
            return Ok(());
        }
        let signs = if is_by_pattern(described, domain) {
            [" ~>=~ ", " ~>~ ", " ~<=~ ", " ~<~ "]
        } else {
            [" >= ", " > ", " <= ", " < "]
        };
        for (cut, before, after) in [(interval.lo(), signs[0], signs[1]), (interval.hi(), signs[3], signs[2])]
        {
            let (key, sign) = match cut {
                Cut::Least | Cut::Greatest => continue,
                Cut::Before(key) => (key, before),
                Cut::After(key) => (key, after),
            };
            let bound = bound(key)?;
            self.dialect.can_bound(&bound)?;
            self.dialect.can_say(&bound)?;
            self.text(" AND ").compared(column, described, domain).text(sign).value(&bound);
        }
        if self.dialect == Dialect::MariaDb && described.kind == ColumnKind::Text {
            self.within_collation(column, described.order, interval);
        }
        Ok(())
    }

    /// A condition that an index of the column serves, and that all texts of the interval meet.
    fn within_collation(&mut self, column: &str, order: TextOrder, interval: &Interval<RangeKey>) {
        let text = |cut: &Cut<RangeKey>| match cut {
            Cut::Before(key) | Cut::After(key) => str::from_utf8(key.as_bytes()).ok().map(ToOwned::to_owned),
            Cut::Least | Cut::Greatest => None,
        };
        let (lo, hi) = (text(interval.lo()), text(interval.hi()));
        match order {
            TextOrder::Padded => {
                if let Some(lo) = lo.as_deref().and_then(superset::padded_lo) {
                    self.text(" AND ").condition_on(column).text(" >= ").value(&lo);
                }
                if let Some(hi) = hi.as_deref().map(superset::padded_hi) {
                    self.text(" AND ").condition_on(column).text(" <= ").value(&hi);
                }
            }
            TextOrder::Prefixed => {
                let (Some(lo), Some(hi)) = (lo, hi) else { return };
                let patterns = superset::patterns(&lo, &hi, matches!(interval.hi(), Cut::After(_)));
                for (nth, pattern) in patterns.iter().enumerate() {
                    self.text(if nth > 0 { " OR " } else { " AND (" })
                        .condition_on(column)
                        .text(" LIKE ")
                        .value(pattern);
                    self.text(&format!(" ESCAPE '{}'", superset::ESCAPE));
                }
                self.text(if patterns.is_empty() { "" } else { ")" });
            }
            TextOrder::Bytes | TextOrder::Pattern | TextOrder::Collated | TextOrder::Foreign => {}
        }
    }

    /// The condition that a column holds `value`, NULL included. The database may consider other values equal (by a
    /// collation, or because they differ in their form only); so texts are compared by their bytes, too.
    pub(crate) fn holds(&mut self, column: &str, described: &Column, value: &SqlValue) -> &mut Self {
        if *value == SqlValue::Null {
            // MariaDB takes `IS NULL` for `= '0000-00-00'` in a column of days that is NOT NULL, and that is no NULL here.
            let is_null = if self.dialect == Dialect::MariaDb { " <=> NULL" } else { " IS NULL" };
            return self.condition_on(column).text(is_null);
        }
        self.condition_on(column).text(" = ").assigned(described, value);
        let is_sqlite = self.dialect == Dialect::Sqlite;
        if let SqlValue::Text(text) | SqlValue::Json(text) = value
            && (is_sqlite || described.kind == ColumnKind::Text || described.kind.is_cast())
        {
            let quoted = self.column(column);
            let bytes = if is_sqlite {
                format!("{quoted} COLLATE BINARY")
            } else {
                self.dialect.by_bytes(&quoted, described)
            };
            self.text(" AND ").text(&bytes).text(" = ").value(&SqlValue::Text(text.clone()));
        }
        self
    }
}

/// Whether ranges of the column are written with the operators of `text_pattern_ops`.
fn is_by_pattern(column: &Column, domain: DomainType) -> bool {
    domain == DomainType::Text && column.order == TextOrder::Pattern
}

fn domain_of(schema: &Schema, domain: DomainId) -> Result<(&str, DomainType)> {
    let found = schema.domains.get(domain).map(|(column, domain_type)| (column.as_str(), *domain_type));
    found.ok_or_else(|| Error::invalid_input(format!("{} has no domain {domain}", schema.table)))
}

/// Rows of a query, in the order of domain and key; in descending order for [`Form::Last`].
pub(crate) fn select(dialect: Dialect, schema: &Schema, query: &Query) -> Result<Statement> {
    let (column, domain) = domain_of(schema, query.domain)?;
    let mut sql = Sql::new(dialect);
    sql.text("SELECT ");
    for (place, name) in schema.columns.iter().enumerate() {
        let read = dialect.read(&dialect.quoted(name), schema.described[place].kind);
        sql.text(if place > 0 { ", " } else { "" }).text(&read);
    }
    sql.text(" FROM ").table(schema).text(" WHERE ");
    sql.within(schema, query.domain, &query.interval)?;
    let is_last = matches!(query.form, Form::Last(_));
    let direction = if is_last { " DESC" } else { "" };
    let ordered = |column: &str| -> Result<String> {
        // Alone, the name of a column might mean its text in the result.
        let described = &schema.described[schema.column(column)?];
        Ok(dialect.by_bytes(&schema.quoted_column(dialect, column), described))
    };
    let described = &schema.described[schema.column(column)?];
    let by_domain = match domain {
        DomainType::Text if is_by_pattern(described, domain) => {
            let sign = if is_last { "~>~" } else { "~<~" };
            format!("{} USING {sign}", schema.quoted_column(dialect, column))
        }
        DomainType::Text if dialect == Dialect::Sqlite => {
            format!("{} COLLATE BINARY{direction}", schema.quoted_column(dialect, column))
        }
        _ => format!("{}{direction}", ordered(column)?),
    };
    sql.text(" ORDER BY ").text(&by_domain);
    for key in &schema.keys {
        sql.text(", ").text(&ordered(key)?).text(direction);
    }
    if let Form::First(limit) | Form::Last(limit) = query.form {
        sql.text(&format!(" LIMIT {limit}"));
    }
    Ok(sql.into_statement(Shape::Own))
}
