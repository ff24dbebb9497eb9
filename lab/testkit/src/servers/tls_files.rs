//! Certificates of servers that are reached with TLS.

use std::path::PathBuf;

/// Files of PEM for a server that is reached with TLS.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// Its certificate.
    pub certificate: PathBuf,
    /// The key of that.
    pub key: PathBuf,
    /// The authority that signs certificates of clients, if they are asked for one.
    pub authority_of_clients: Option<PathBuf>,
}
