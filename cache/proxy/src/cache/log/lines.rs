//! The lines of `test_decoding`, which is part of the server.
//!
//! ```text
//! BEGIN 745
//! table public.orders: UPDATE: old-key: id[integer]:7 note[text]:'a' new-tuple: id[integer]:7 note[text]:'it''s'
//! table public.orders, public."My table": TRUNCATE: (no-flags)
//! message: transactional: 1 prefix: lacuna_log, sz: 10 content:definition
//! COMMIT 745
//! ```
//!
//! Whatever is not understood here is a line of its own kind, [`Line::Unknown`], which may mean anything.

use std::borrow::Cow;

/// What a line says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'l> {
    Begin,
    /// The transaction of this number, which is the low half of the server's, has committed all lines since its beginning.
    Commit(u32),
    Row(TableName<'l>, Row<'l>),
    /// All rows of these tables.
    Truncate(Vec<TableName<'l>>),
    /// A message in the log: its prefix, and what it says.
    Message(&'l str, &'l str),
    Unknown,
}

/// Schema and name.
pub(super) type TableName<'l> = (Cow<'l, str>, Cow<'l, str>);

/// A change of one row.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Row<'l> {
    Inserted(Values<'l>),
    /// Values before and after.
    Updated(Values<'l>, Values<'l>),
    Deleted(Values<'l>),
    /// Values before it are not in the log, or it is not understood.
    Unknown,
}

/// Values by the names of columns. Of a row before a change those that are null are missing.
pub(super) type Values<'l> = Vec<(Cow<'l, str>, Value<'l>)>;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Value<'l> {
    Null,
    /// It is what it was, and too long to be repeated.
    Unchanged,
    Text(Cow<'l, str>),
}

/// Reads a line.
pub(super) fn read(line: &str) -> Line<'_> {
    parse(line).unwrap_or(Line::Unknown)
}

fn parse(line: &str) -> Option<Line<'_>> {
    if line.starts_with("BEGIN ") {
        return Some(Line::Begin);
    }
    if let Some(number) = line.strip_prefix("COMMIT ") {
        return number.parse().ok().map(Line::Commit);
    }
    if let Some(message) = line.strip_prefix("message: transactional: 1 prefix: ") {
        let (prefix, rest) = message.split_once(", sz: ")?;
        let (_, content) = rest.split_once(" content:")?;
        return Some(Line::Message(prefix, content));
    }
    let mut text = Text(line.strip_prefix("table ")?);
    let mut tables = vec![text.table()?];
    while text.take(", ") {
        tables.push(text.table()?);
    }
    text.take(": ").then_some(())?;
    if text.0.starts_with("TRUNCATE:") {
        return Some(Line::Truncate(tables));
    }
    let [_] = tables[..] else { return None };
    let table = tables.pop()?;
    Some(Line::Row(table, text.row().unwrap_or(Row::Unknown)))
}

/// What is left of a line.
struct Text<'l>(&'l str);

impl<'l> Text<'l> {
    fn take(&mut self, prefix: &str) -> bool {
        let rest = self.0.strip_prefix(prefix);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn row(&mut self) -> Option<Row<'l>> {
        if self.take("INSERT:") {
            return self.values().map(Row::Inserted);
        }
        if self.take("DELETE:") {
            return self.values().map(Row::Deleted);
        }
        self.take("UPDATE: old-key:").then_some(())?;
        let before = self.values()?;
        self.take(" new-tuple:").then_some(())?;
        Some(Row::Updated(before, self.values()?))
    }

    /// Values up to the end of the line, or of the row before a change.
    fn values(&mut self) -> Option<Values<'l>> {
        let mut values = Values::new();
        while !self.0.is_empty() && !self.0.starts_with(" new-tuple:") {
            self.take(" ").then_some(())?;
            values.push((self.name("[")?, self.value()?));
        }
        Some(values)
    }

    fn table(&mut self) -> Option<TableName<'l>> {
        let schema = self.name(".")?;
        self.take(".").then_some(())?;
        // A name with other letters than these is in quotes.
        Some((schema, self.name(",: ")?))
    }

    /// A name up to one of `ends`, or in quotes.
    fn name(&mut self, ends: &str) -> Option<Cow<'l, str>> {
        if self.0.starts_with('"') {
            return self.quoted('"');
        }
        let end = self.0.find(|letter| ends.contains(letter)).unwrap_or(self.0.len());
        let (name, rest) = self.0.split_at(end);
        self.0 = rest;
        (!name.is_empty()).then_some(Cow::Borrowed(name))
    }

    /// `[integer]:7`
    fn value(&mut self) -> Option<Value<'l>> {
        self.skip_type()?;
        // Bits have a letter before the quotes.
        let is_bits = self.0.starts_with("B'");
        self.0 = &self.0[usize::from(is_bits)..];
        if self.0.starts_with('\'') {
            return self.quoted('\'').map(Value::Text);
        }
        let end = self.0.find(' ').unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at(end);
        self.0 = rest;
        Some(match word {
            "null" => Value::Null,
            "unchanged-toast-datum" => Value::Unchanged,
            "" => return None,
            word => Value::Text(Cow::Borrowed(word)),
        })
    }

    /// `[integer]:`, where a type may have brackets after it, and those of users quotes around them.
    fn skip_type(&mut self) -> Option<()> {
        let mut is_quoted = false;
        for (place, letter) in self.0.char_indices() {
            match letter {
                '"' => is_quoted = !is_quoted,
                ']' if !is_quoted && self.0[place + 1..].starts_with(':') => {
                    self.0 = &self.0[place + 2..];
                    return Some(());
                }
                _ => {}
            }
        }
        None
    }

    /// What stands between two of `quote`; two of them within are one.
    fn quoted(&mut self, quote: char) -> Option<Cow<'l, str>> {
        let inner = &self.0[1..];
        let mut search = 0;
        let mut has_double = false;
        loop {
            let end = search + inner[search..].find(quote)?;
            if !inner[end + 1..].starts_with(quote) {
                self.0 = &inner[end + 1..];
                let text = &inner[..end];
                let (one, two) = (quote.to_string(), quote.to_string().repeat(2));
                return Some(if has_double { text.replace(&two, &one).into() } else { text.into() });
            }
            has_double = true;
            search = end + 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name<'l>(schema: &'l str, table: &'l str) -> TableName<'l> {
        (schema.into(), table.into())
    }

    fn texts<'l>(values: &[(&'l str, &'l str)]) -> Values<'l> {
        values.iter().map(|(name, value)| ((*name).into(), Value::Text((*value).into()))).collect()
    }

    #[test]
    fn transactions_begin_and_end() {
        assert_eq!(read("BEGIN 745"), Line::Begin);
        assert_eq!(read("COMMIT 4294967295"), Line::Commit(u32::MAX));
        let message = "message: transactional: 1 prefix: lacuna_log, sz: 10 content:definition";
        assert_eq!(read(message), Line::Message("lacuna_log", "definition"));
    }

    #[test]
    fn rows_have_values_before_and_after() {
        let line = "table public.orders: UPDATE: old-key: id[integer]:7 note[text]:'a new-tuple: b' \
             new-tuple: id[integer]:-8 note[text]:'it''s'";
        let (before, after) = ([("id", "7"), ("note", "a new-tuple: b")], [("id", "-8"), ("note", "it's")]);
        let row = Row::Updated(texts(&before), texts(&after));
        assert_eq!(read(line), Line::Row(name("public", "orders"), row));
        let line = "table public.orders: DELETE: id[integer]:7 at[timestamp with time zone]:'2026-01-01 00:00:00+00'";
        let row = Row::Deleted(texts(&[("id", "7"), ("at", "2026-01-01 00:00:00+00")]));
        assert_eq!(read(line), Line::Row(name("public", "orders"), row));
    }

    #[test]
    fn names_types_and_values_may_have_any_letters() {
        let line = "table \"My: s\".\"a, \"\"b\"\"\": INSERT: \"x[y\"[integer[]]:'{1,2}' b[bit]:B'101' \
             u[\"t]:\"]:null l[text]:unchanged-toast-datum e[text]:''";
        let values = vec![
            ("x[y".into(), Value::Text("{1,2}".into())),
            ("b".into(), Value::Text("101".into())),
            ("u".into(), Value::Null),
            ("l".into(), Value::Unchanged),
            ("e".into(), Value::Text("".into())),
        ];
        assert_eq!(read(line), Line::Row(name("My: s", "a, \"b\""), Row::Inserted(values)));
        let line = "table public.a, public.\"b: TRUNCATE: c\": TRUNCATE: restart_seqs cascade";
        let tables = vec![name("public", "a"), name("public", "b: TRUNCATE: c")];
        assert_eq!(read(line), Line::Truncate(tables));
    }

    #[test]
    fn what_is_not_understood_is_not_guessed() {
        for line in [
            "",
            "table",
            "COMMIT x",
            "PREPARE TRANSACTION 'x'",
            "table public.orders",
            "table public: INSERT:",
        ] {
            assert_eq!(read(line), Line::Unknown, "{line}");
        }
        let whole = "table public.orders: UPDATE: old-key: id[integer]:7 new-tuple: note[text]:'it''s'";
        for end in "table public.orders: ".len()..whole.len() {
            if let Line::Row(_, row) = read(&whole[..end]) {
                // A number may be cut without a trace: the server sends no line in part.
                assert!(matches!(row, Row::Unknown | Row::Updated(..)), "{}: {row:?}", &whole[..end]);
            }
        }
        for line in [
            "table public.orders: DELETE: (no-tuple-data)",
            "table public.orders: UPDATE: id[integer]:7",
            "table public.orders: MERGE: id[integer]:7",
        ] {
            assert_eq!(read(line), Line::Row(name("public", "orders"), Row::Unknown), "{line}");
        }
    }
}
