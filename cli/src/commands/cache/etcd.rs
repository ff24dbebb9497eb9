//! Arguments of `cache dendrite` for an etcd that asks for certificates, or for a user with a password.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct EtcdArgs {
    /// For an encrypted etcd: a file with the certificate of the authority that signs those of etcd, as PEM
    #[arg(long, value_name = "FILE")]
    pub(crate) coordinator_authority: Option<PathBuf>,
    /// For an etcd that asks for one: a file with a certificate of this dendrite, as PEM
    #[arg(long, value_name = "FILE", requires = "coordinator_key")]
    pub(crate) coordinator_certificate: Option<PathBuf>,
    /// The key of that certificate, as PEM
    #[arg(long, value_name = "FILE", requires = "coordinator_certificate")]
    pub(crate) coordinator_key: Option<PathBuf>,
    /// A user of etcd, whose password is in --coordinator-password-file, or else in `LACUNA_COORDINATOR_PASSWORD`
    #[arg(long, value_name = "NAME")]
    pub(crate) coordinator_user: Option<String>,
    /// A file with the password of that user
    #[arg(long, value_name = "FILE", requires = "coordinator_user")]
    pub(crate) coordinator_password_file: Option<PathBuf>,
}
