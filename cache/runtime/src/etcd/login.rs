//! A user of etcd, and the token that replaces its password.
//!
//! etcd issues a token for name and password. It expires after some minutes, when a member restarts, or when users
//! change. A member that does not know the token any more executes nothing; a new one is requested, and the call
//! is repeated once.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use hyper::StatusCode;
use lacuna_cache_protocol::Error;
use serde_json::json;

use crate::etcd::http::{Failed, Member};

/// A name and its password.
#[derive(Clone)]
pub(crate) struct User {
    pub(crate) name: String,
    pub(crate) password: String,
}

impl fmt::Debug for User {
    /// Without the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("User").field("name", &self.name).finish_non_exhaustive()
    }
}

pub(crate) struct Login {
    user: User,
    token: Mutex<Option<String>>,
}

impl fmt::Debug for Login {
    /// Without the token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").field("user", &self.user).finish_non_exhaustive()
    }
}

impl Login {
    pub(crate) const fn new(user: User) -> Self {
        Self { user, token: Mutex::new(None) }
    }

    /// The token, requested from this member if there is none yet.
    pub(crate) async fn token(&self, member: &Member) -> Result<String, Failed> {
        match self.known() {
            Some(token) => Ok(token),
            None => self.renew(member).await,
        }
    }

    /// The last token.
    pub(crate) fn known(&self) -> Option<String> {
        self.token.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A new token.
    pub(crate) async fn renew(&self, member: &Member) -> Result<String, Failed> {
        let body = json!({ "name": self.user.name, "password": self.user.password });
        let answer = match member.call("/v3/auth/authenticate", &body, None).await {
            // The call itself was not sent yet.
            Err(Failed::Refused(status, message)) if !status.is_server_error() => {
                let why = format!("etcd refuses the login of the user {}: {message}", self.user.name);
                return Err(Failed::NotSent(Error::invalid_input(why)));
            }
            Err(failed) => return Err(Failed::NotSent(failed.into_error())),
            Ok(answer) => answer,
        };
        let token = answer["token"].as_str().unwrap_or_default().to_owned();
        *self.token.lock().unwrap_or_else(PoisonError::into_inner) = Some(token.clone());
        Ok(token)
    }
}

/// Whether a member has refused a request because it does not know the token any more, or users have changed
/// since.
pub(crate) fn is_outdated(failed: &Failed) -> bool {
    match failed {
        Failed::Refused(status, message) => {
            *status == StatusCode::UNAUTHORIZED || message.contains("revision of auth store is old")
        }
        _ => false,
    }
}
