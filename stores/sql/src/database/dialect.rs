//! Words of SQL that databases write differently.

/// Whose SQL it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    not(all(feature = "postgres", feature = "mariadb")),
    allow(dead_code, reason = "its driver is not built")
)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
    MariaDb,
}

impl Dialect {
    pub(crate) fn quoted(self, name: &str) -> String {
        let mark = if self == Self::MariaDb { '`' } else { '"' };
        let doubled = name.replace(mark, &format!("{mark}{mark}"));
        format!("{mark}{doubled}{mark}")
    }

    /// The parameter with this number, from 1 on; parameters are used in order.
    pub(crate) fn placeholder(self, number: usize) -> String {
        match self {
            Self::Sqlite => format!("?{number}"),
            Self::Postgres => format!("${number}"),
            Self::MariaDb => "?".to_owned(),
        }
    }

    /// A text compared by its bytes.
    pub(crate) fn binary(self, quoted: &str) -> String {
        match self {
            Self::Sqlite => format!("{quoted} COLLATE BINARY"),
            Self::Postgres => format!("{quoted} COLLATE \"C\""),
            Self::MariaDb => format!("BINARY {quoted}"),
        }
    }

    /// Behind a query: nobody may change the rows until the transaction ends. SQLite has one writer anyway.
    pub(crate) const fn shared_lock(self) -> &'static str {
        match self {
            Self::Sqlite => "",
            Self::Postgres => " FOR SHARE",
            Self::MariaDb => " LOCK IN SHARE MODE",
        }
    }

    /// Behind a query whose row is changed afterwards.
    pub(crate) const fn exclusive_lock(self) -> &'static str {
        match self {
            Self::Sqlite => "",
            Self::Postgres | Self::MariaDb => " FOR UPDATE",
        }
    }

    /// The type of names, which must be comparable as a key.
    pub(crate) const fn name_type(self) -> &'static str {
        match self {
            Self::Sqlite | Self::Postgres => "TEXT",
            Self::MariaDb => "VARCHAR(190) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
        }
    }
}
