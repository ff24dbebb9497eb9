//! What etcd wants to see before it leases ranges: certificates, and a user with a password.

use std::path::{Path, PathBuf};

use clap::Args;
use lacuna_cache::etcd::EtcdOptions;
use lacuna_cache_protocol::{Error, Result};

/// Where the password is looked for if no file is named.
const PASSWORD: &str = "LACUNA_COORDINATOR_PASSWORD";

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct EtcdArgs {
    /// For an encrypted etcd: a file with the certificate of the authority that signs those of etcd, as PEM
    #[arg(long, value_name = "FILE")]
    coordinator_authority: Option<PathBuf>,
    /// For an etcd that asks for one: a file with a certificate of this dendrite, as PEM
    #[arg(long, value_name = "FILE", requires = "coordinator_key")]
    coordinator_certificate: Option<PathBuf>,
    /// The key of that certificate, as PEM
    #[arg(long, value_name = "FILE", requires = "coordinator_certificate")]
    coordinator_key: Option<PathBuf>,
    /// A user of etcd, whose password is in --coordinator-password-file, or else in `LACUNA_COORDINATOR_PASSWORD`
    #[arg(long, value_name = "NAME")]
    coordinator_user: Option<String>,
    /// A file with the password of that user
    #[arg(long, value_name = "FILE", requires = "coordinator_user")]
    coordinator_password_file: Option<PathBuf>,
}

impl EtcdArgs {
    /// Whether anything was said that is for etcd alone.
    pub(crate) fn is_needed(&self) -> bool {
        self.coordinator_authority.is_some()
            || self.coordinator_certificate.is_some()
            || self.coordinator_user.is_some()
    }

    pub(crate) fn added_to(&self, mut options: EtcdOptions) -> Result<EtcdOptions> {
        if let Some(path) = &self.coordinator_authority {
            options = options.authority(read(path)?);
        }
        if let (Some(certificate), Some(key)) = (&self.coordinator_certificate, &self.coordinator_key) {
            options = options.client_certificate(read(certificate)?, read(key)?);
        }
        match &self.coordinator_user {
            Some(user) => Ok(options.user(user, self.password()?)),
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
            .map_err(|_| Error::invalid_input(format!("{} is no text", path.display())))?;
        Ok(text.trim_end_matches(['\r', '\n']).to_owned())
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path)
        .map_err(|why| Error::invalid_input(format!("{} cannot be read: {why}", path.display())))
}
