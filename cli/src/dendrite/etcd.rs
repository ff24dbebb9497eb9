//! Certificates and passwords for etcd, read from the files and variables that the arguments name.

use std::path::Path;

use lacuna_cache::etcd::EtcdOptions;
use lacuna_cache_protocol::{Error, Result};

use crate::commands::cache::EtcdArgs;

/// The variable with the password if no file is named.
const PASSWORD: &str = "LACUNA_COORDINATOR_PASSWORD";

impl EtcdArgs {
    /// Whether any argument for etcd alone was given.
    pub(crate) fn is_needed(&self) -> bool {
        self.coordinator_authority.is_some()
            || self.coordinator_certificate.is_some()
            || self.coordinator_user.is_some()
    }

    pub(crate) fn added_to(&self, mut options: EtcdOptions) -> Result<EtcdOptions> {
        if let Some(path) = &self.coordinator_authority {
            options = options.with_authority(read(path)?);
        }
        if let (Some(certificate), Some(key)) = (&self.coordinator_certificate, &self.coordinator_key) {
            options = options.with_client_certificate(read(certificate)?, read(key)?);
        }
        match &self.coordinator_user {
            Some(user) => Ok(options.with_user(user, self.password()?)),
            None => Ok(options),
        }
    }

    fn password(&self) -> Result<String> {
        let Some(path) = &self.coordinator_password_file else {
            let message = format!(
                "the password of the user of etcd is missing: name a --coordinator-password-file, or set {PASSWORD}"
            );
            return std::env::var(PASSWORD).map_err(|_| Error::invalid_input(message));
        };
        let text = String::from_utf8(read(path)?)
            .map_err(|_| Error::invalid_input(format!("{} is not text", path.display())))?;
        Ok(text.trim_end_matches(['\r', '\n']).to_owned())
    }
}

/// A file that an argument names.
pub(super) fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path)
        .map_err(|why| Error::invalid_input(format!("{} cannot be read: {why}", path.display())))
}
