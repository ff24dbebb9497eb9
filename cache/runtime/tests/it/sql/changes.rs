//! Changes of the table in the words of its database.

use lacuna_cache::sql::Statement;

use crate::sim::table::{Change, WriteId};

/// Whose SQL a test speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
    MariaDb,
}

/// SQL with `{}` for each parameter.
fn statement(dialect: Dialect, sql: &str, values: &[i64]) -> Statement {
    let mut parts = sql.split("{}");
    let mut text = parts.next().unwrap().to_owned();
    for (number, part) in (1..).zip(parts) {
        text += &match dialect {
            Dialect::Sqlite => format!("?{number}"),
            Dialect::Postgres => format!("${number}"),
            Dialect::MariaDb => "?".to_owned(),
        };
        text += part;
    }
    values.iter().fold(Statement::new(text), |statement, value| statement.with(*value))
}

/// The change, and for the checker the states that it leaves. None of it can be refused, so that write-back buffers it.
pub(crate) fn statements(dialect: Dialect, change: Change, id: WriteId) -> Vec<Statement> {
    let id = i64::from(id);
    let delete = |key: u64| statement(dialect, "DELETE FROM slots WHERE place = {}", &[key.cast_signed()]);
    let put = |key: u64, other: u64| {
        let sql = "INSERT INTO slots (place, version, other) VALUES ({}, {}, {})";
        [delete(key), statement(dialect, sql, &[key.cast_signed(), id, other.cast_signed()])]
    };
    let mut statements = match change {
        Change::Put { key, other } => put(key, other).to_vec(),
        Change::Delete { key } => vec![delete(key)],
        Change::Move { from, to } => [&[delete(from)], &put(to, 0)[..]].concat(),
        Change::Touch { lo, hi } => {
            let sql = "UPDATE slots SET version = {} WHERE place BETWEEN {} AND {}";
            vec![statement(dialect, sql, &[id, lo.cast_signed(), hi.cast_signed()])]
        }
        Change::Edit { .. } | Change::Add { .. } => unreachable!("only the simulation has conditions"),
    };
    for key in change.keys() {
        let key = key.cast_signed();
        let sql = "INSERT INTO states (place, write_id, is_there, version, other) \
                   SELECT {}, {}, COUNT(*), MAX(version), MAX(other) FROM slots WHERE place = {}";
        statements.push(statement(dialect, sql, &[key, id, key]));
    }
    statements.into_iter().map(Statement::never_refused).collect()
}
