//! Statements, drawn part by part.

use lacuna_workload::Rng;

use super::literals::literal;
use super::{Drawn, Statement, Type, one, value};
use crate::sql::world::Dialect;

/// A statement that is being written.
pub(super) struct Writing<'a> {
    pub(super) drawn: &'a Drawn,
    pub(super) rng: &'a mut Rng,
    pub(super) done: Statement,
}

fn empty() -> Statement {
    Statement { between: vec![String::new()], ..Statement::default() }
}

impl<'a> Writing<'a> {
    pub(super) fn new(drawn: &'a Drawn, rng: &'a mut Rng) -> Self {
        Writing { drawn, rng, done: empty() }
    }

    fn text(&mut self, text: &str) -> &mut Self {
        self.done.sql += text;
        *self.done.between.last_mut().unwrap() += text;
        self
    }

    fn coin(&mut self, of: usize) -> bool {
        self.rng.index(of) == 0
    }

    /// A value, as a parameter or written out.
    fn value(&mut self, of: Type) -> &mut Self {
        let value = value(self.rng, of);
        let may_be_written =
            matches!(of, Type::Integer | Type::Decimal | Type::Text | Type::Flag | Type::Label);
        if may_be_written && self.coin(3) {
            let literal = literal(self.drawn.dialect, &value);
            return self.text(&literal);
        }
        self.done.params.push(value);
        self.done.of.push(of);
        self.done.between.push(String::new());
        self.done.sql += &match self.drawn.dialect {
            Dialect::Postgres => format!("${}", self.done.params.len()),
            _ => "?".to_owned(),
        };
        self
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

    pub(super) fn rows(&mut self) {
        self.text("SELECT id");
        if self.coin(12) {
            self.done = empty();
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

    pub(super) fn aggregates(&mut self) {
        self.text("SELECT COUNT(*), SUM(age), AVG(price), MAX(born), MIN(seen), COUNT(DISTINCT mood)");
        let (column, of) = self.exact();
        if of != Type::Flag {
            self.text(&format!(", MAX({column})"));
        }
        self.text(" FROM things");
        self.conditions();
    }

    pub(super) fn groups(&mut self) {
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

    pub(super) fn distinct(&mut self) {
        let (column, _) = self.exact();
        self.text(&format!("SELECT DISTINCT {column} FROM things"));
        self.conditions();
        self.text(&format!(" ORDER BY {column}"));
    }
}
