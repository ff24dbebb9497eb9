//! The SQL of a range, and of the writes that the table generates.

use lacuna_cache_protocol::{Cut, DomainId, DomainType, Form, Interval, Query, RangeKey};
use lacuna_cache_protocol::{Error, Result};

use crate::sql::database::Dialect;
use crate::sql::domain_key;
use crate::sql::schema::Schema;
use crate::sql::sql_value::SqlValue;
use crate::sql::statement::{Shape, Statement};

/// A statement under construction: text and parameters.
#[derive(Debug)]
pub(crate) struct Sql {
    dialect: Dialect,
    text: String,
    params: Vec<SqlValue>,
}

impl Sql {
    pub(crate) const fn new(dialect: Dialect) -> Self {
        Self { dialect, text: String::new(), params: Vec::new() }
    }

    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        self.text.push_str(text);
        self
    }

    pub(crate) fn name(&mut self, name: &str) -> &mut Self {
        let quoted = self.dialect.quoted(name);
        self.text(&quoted)
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

    /// A column in a comparison: text by its bytes.
    fn compared(&mut self, column: &str, domain: DomainType) -> &mut Self {
        let quoted = self.dialect.quoted(column);
        let compared = if domain == DomainType::Text { self.dialect.binary(&quoted) } else { quoted };
        self.text(&compared)
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
        self.name(column).text(" IS NOT NULL");
        for (cut, included, excluded) in [(interval.lo(), " >= ", " > "), (interval.hi(), " <= ", " < ")] {
            let is_lo = included == " >= ";
            let (key, sign) = match cut {
                Cut::Least | Cut::Greatest => continue,
                Cut::Before(key) => (key, if is_lo { included } else { excluded }),
                Cut::After(key) => (key, if is_lo { excluded } else { included }),
            };
            let bound = schema.fitted(place, domain_key::value(domain, key)?);
            self.dialect.can_say(&bound)?;
            self.text(" AND ").compared(column, domain).text(sign).value(&bound);
        }
        Ok(())
    }

    /// The condition that `column` holds `value`, NULL included. A collation may consider other texts equal; so
    /// their bytes are compared, too.
    pub(crate) fn holds(&mut self, column: &str, value: &SqlValue) -> &mut Self {
        if *value == SqlValue::Null {
            return self.name(column).text(" IS NULL");
        }
        self.name(column).text(" = ").value(value);
        if matches!(value, SqlValue::Text(_)) {
            self.text(" AND ").compared(column, DomainType::Text).text(" = ").value(value);
        }
        self
    }
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
        sql.text(if place > 0 { ", " } else { "" }).name(name);
    }
    sql.text(" FROM ").name(&schema.table).text(" WHERE ");
    sql.within(schema, query.domain, &query.interval)?;
    let direction = if matches!(query.form, Form::Last(_)) { " DESC" } else { "" };
    sql.text(" ORDER BY ").compared(column, domain).text(direction);
    for key in &schema.keys {
        sql.text(", ").name(key).text(direction);
    }
    if let Form::First(limit) | Form::Last(limit) = query.form {
        sql.text(&format!(" LIMIT {limit}"));
    }
    Ok(sql.into_statement(Shape::Own))
}
