//! Whose login reads the log.

use std::fmt;

use lacuna_base::{Error, Result};
use percent_encoding::percent_decode_str;

use crate::upstream::{Protocol, Upstream};

/// The parts of the account's URL.
#[derive(Clone)]
pub(super) struct Account {
    pub(super) upstream: Upstream,
    pub(super) user: String,
    pub(super) password: Option<String>,
    pub(super) database: String,
}

impl fmt::Debug for Account {
    /// Without the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.user, self.database)
    }
}

impl Account {
    /// Reads `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=…`; the database is the user's if none is named.
    ///
    /// # Errors
    /// `InvalidInput` if no user is named, a part is none of these, or it is an account of another kind of database.
    pub(super) fn read(url: &str) -> Result<Self> {
        let upstream: Upstream = url.parse()?;
        if upstream.protocol() != Protocol::Postgres {
            return Err(Error::invalid_input(
                "the account is not one of PostgreSQL: give postgres://USER@HOST:PORT/DATABASE",
            ));
        }
        let (_, rest) = url.split_once("://").unwrap_or_default();
        let (place, _) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, database) = place.split_once('/').unwrap_or((place, ""));
        let (login, _) = authority.rsplit_once('@').unwrap_or_default();
        let (user, password) =
            login.split_once(':').map_or((login, None), |(user, password)| (user, Some(password)));
        let decoded = |text: &str| {
            let decoded = percent_decode_str(text).decode_utf8();
            decoded
                .map(std::borrow::Cow::into_owned)
                .map_err(|_| Error::invalid_input("the account is not UTF-8"))
        };
        if user.is_empty() {
            return Err(Error::invalid_input(
                "the account names no user: postgres://USER@HOST:PORT/DATABASE",
            ));
        }
        Ok(Self {
            upstream,
            user: decoded(user)?,
            password: password.map(decoded).transpose()?,
            database: decoded(if database.is_empty() { user } else { database })?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_read() {
        let account = Account::read("postgres://me%40home:p%3Aw@db:7/shop?sslmode=disable").unwrap();
        assert_eq!((account.upstream.host(), account.upstream.port()), ("db", 7));
        assert_eq!((&account.user[..], &account.database[..]), ("me@home", "shop"));
        assert_eq!(account.password.as_deref(), Some("p:w"));
        assert!(!format!("{account:?}").contains("p:w"));
        let plain = Account::read("postgresql://me@[::1]").unwrap();
        assert_eq!((plain.password, &plain.database[..]), (None, "me"));
        for url in ["postgres://db/shop", "mysql://me@db", "postgres://%ff@db"] {
            assert!(Account::read(url).is_err(), "{url}");
        }
    }
}
