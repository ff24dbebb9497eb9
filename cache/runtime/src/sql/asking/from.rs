//! The tables that a statement reads: the one that is asked, and registered ones that are joined to it whole.
//!
//! Each row of the result belongs to one row of the asked table, if that table comes first or is joined by `JOIN`: so rows
//! beside the interval are in no row of the result, and decide about none. All rows of a joined table may be in it, or
//! decide by their absence about those of a `LEFT JOIN`.

use std::sync::Arc;

use lacuna_cache_protocol::Result;
use sqlparser::ast::{Expr, Join, JoinConstraint, JoinOperator, ObjectNamePart, TableFactor, TableWithJoins};

use super::expression::Writer;
use super::names::{Named, Names};
use super::refused;
use crate::sql::database::Dialect;
use crate::sql::registry::Registered;
use crate::sql::schema::Schema;

/// Most tables that are joined.
const MAX_JOINED: usize = 4;

/// What a statement reads.
pub(super) struct Tables<'a> {
    pub(super) names: Names<'a>,
    /// In the order of their columns after those of the asked table.
    pub(super) joined: Vec<Arc<Registered>>,
    conditions: Vec<(&'static str, &'a Expr)>,
}

/// A table as FROM names it.
struct Factor {
    path: Vec<String>,
    shown: String,
    alias: Option<String>,
}

/// # Errors
/// `InvalidInput` if it reads anything whose writes are not watched.
pub(super) fn tables<'a>(
    dialect: Dialect,
    schema: &'a Schema,
    registered: &'a [Arc<Registered>],
    from: &'a [TableWithJoins],
) -> Result<Tables<'a>> {
    let [TableWithJoins { relation, joins }] = from else {
        return Err(refused(format!(
            "it reads more than the table {}, whose writes alone are watched: join others by JOIN and ON",
            schema.table
        )));
    };
    if joins.len() > MAX_JOINED {
        return Err(refused(format!("it joins more than {MAX_JOINED} tables")));
    }
    let mut names = Names { dialect, tables: vec![Named::new(schema)], order: Vec::new() };
    let (mut joined, mut conditions) = (Vec::new(), Vec::new());
    let operators = std::iter::once(None).chain(joins.iter().map(Some));
    for (join, relation) in
        operators.zip(std::iter::once(relation).chain(joins.iter().map(|join| &join.relation)))
    {
        let factor = factor(&names, relation)?;
        let (sign, condition) = join.map(operator).transpose()?.unzip();
        if is_table(&names, schema, &factor) {
            if names.order.contains(&0) {
                return Err(refused(format!("it joins {} to itself", schema.table)));
            }
            if sign == Some(LEFT) {
                return Err(refused(format!(
                    "LEFT JOIN keeps rows of other tables here: begin FROM with {}",
                    schema.table
                )));
            }
            names.add(0, factor.alias)?;
        } else {
            let is_it = |table: &&Arc<Registered>| is_table(&names, &table.schema, &factor);
            let table = registered.iter().find(is_it).filter(|_| !joins.is_empty());
            let table = table.ok_or_else(|| unknown(schema, &factor, joins.is_empty()))?;
            let is_twice = |other: &Arc<Registered>| other.schema.table == table.schema.table;
            if joined.iter().any(is_twice) {
                return Err(refused(format!("it joins {} twice", table.schema.table)));
            }
            joined.push(table.clone());
            names.tables.push(Named::new(&table.schema));
            names.add(names.tables.len() - 1, factor.alias)?;
        }
        conditions.extend(sign.zip(condition));
    }
    if !names.order.contains(&0) {
        return Err(refused(format!("it does not read {}, which is asked", schema.table)));
    }
    names.are_told_apart()?;
    Ok(Tables { names, joined, conditions })
}

fn unknown(schema: &Schema, factor: &Factor, is_alone: bool) -> lacuna_cache_protocol::Error {
    let shown = &factor.shown;
    refused(if is_alone {
        format!("it reads {shown}, and this is the table {}", schema.table)
    } else {
        format!(
            "it joins {shown}, which is no table that is registered with this cache, so its writes are not watched"
        )
    })
}

const LEFT: &str = " LEFT JOIN ";

fn operator(join: &Join) -> Result<(&'static str, &Expr)> {
    let Join { relation: _, global: false, join_operator } = join else {
        return Err(refused("GLOBAL JOIN is not known here"));
    };
    let (sign, constraint) = match join_operator {
        JoinOperator::Join(constraint) | JoinOperator::Inner(constraint) => (" JOIN ", constraint),
        JoinOperator::Left(constraint) | JoinOperator::LeftOuter(constraint) => (LEFT, constraint),
        _ => return Err(refused("of joins, JOIN and LEFT JOIN with ON are known here")),
    };
    match constraint {
        JoinConstraint::On(condition) => Ok((sign, condition)),
        JoinConstraint::Using(_) | JoinConstraint::UsingAlias(..) | JoinConstraint::Natural => {
            Err(refused("USING and NATURAL merge columns: write the condition after ON"))
        }
        JoinConstraint::None => Err(refused("a join needs its condition after ON")),
    }
}

fn factor(names: &Names<'_>, relation: &TableFactor) -> Result<Factor> {
    let TableFactor::Table {
        name,
        alias,
        args: None,
        with_hints,
        version: None,
        with_ordinality: false,
        partitions,
        json_path: None,
        sample: None,
        index_directives,
        inheritance: None,
    } = relation
    else {
        return Err(refused("FROM names no plain table"));
    };
    if !(with_hints.is_empty() && partitions.is_empty() && index_directives.is_empty()) {
        return Err(refused("hints and partitions are not known here"));
    }
    let part = |part: &ObjectNamePart| match part {
        ObjectNamePart::Identifier(ident) => names.folded(ident),
        ObjectNamePart::Function(_) => Err(refused("FROM names no plain table")),
    };
    let path = name.0.iter().map(part).collect::<Result<Vec<String>>>()?;
    let alias = match alias {
        None => None,
        Some(alias) if alias.columns.is_empty() && alias.at.is_none() => Some(names.folded(&alias.name)?),
        Some(alias) => return Err(refused(format!("{alias} renames columns"))),
    };
    Ok(Factor { path, shown: name.to_string(), alias })
}

fn is_table(names: &Names<'_>, schema: &Schema, factor: &Factor) -> bool {
    let space = schema.name.as_ref().and_then(|name| name.schema.as_deref());
    match (&factor.path[..], space) {
        ([table], _) => schema.is_searched && names.is_same_table(table, schema.bare_name()),
        ([space, table], Some(known)) => space == known && names.is_same_table(table, schema.bare_name()),
        _ => false,
    }
}

impl Tables<'_> {
    /// Writes what stands after FROM.
    pub(super) fn write(&self, writer: &mut Writer<'_>) -> Result<()> {
        let table = |place: usize| self.names.tables[place].schema.quoted(self.names.dialect);
        writer.text(&table(self.names.order[0]));
        for (place, (sign, condition)) in self.names.order[1..].iter().zip(&self.conditions) {
            writer.text(sign).text(&table(*place)).text(" ON ").expression(condition)?;
        }
        Ok(())
    }
}
