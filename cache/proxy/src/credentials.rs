//! What a proxy shows and knows to log clients in: files that it reads at its start, and anew when it is asked to.

use std::path::PathBuf;

use lacuna_base::{Error, Result};

use crate::logins::Logins;
use crate::tls::Identity;

/// Where the files are.
#[derive(Debug, Clone, Default)]
pub(crate) struct Files {
    /// A certificate and its key.
    pub(crate) identity: Option<(PathBuf, PathBuf)>,
    pub(crate) logins: Option<PathBuf>,
}

/// What they hold.
#[derive(Debug, Default)]
pub(crate) struct Credentials {
    pub(crate) identity: Option<Identity>,
    pub(crate) logins: Logins,
}

impl Files {
    /// # Errors
    /// `InvalidInput` if they do not go together or hold something else, `Unavailable` if one cannot be read.
    pub(crate) fn read(&self) -> Result<Credentials> {
        let identity = match &self.identity {
            Some((certificate, key)) => Some(Identity::read(certificate, key)?),
            None => None,
        };
        let logins = match &self.logins {
            Some(_) if identity.is_none() => {
                return Err(Error::invalid_input(
                    "a file of logins serves clients that connect by TLS: it needs a certificate and its key",
                ));
            }
            Some(file) => Logins::read(file)?,
            None => Logins::default(),
        };
        Ok(Credentials { identity, logins })
    }
}
