//! Redis over TLS.
//!
//! The connection is made here and handed to the driver: its own support would bring the authorities that the machine
//! trusts, which are not asked for a server of one's own.

use std::sync::Arc;

use lacuna_cache_protocol::{Error, Result};
use redis::ConnectionAddr;
use tokio_rustls::rustls::ClientConfig;

use crate::tls::{Certificates, Stream, connect};

/// Whom to trust as a Redis server, and what to show it.
///
/// ```no_run
/// use lacuna_cache::redis::{RedisCache, RedisTls};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tls = RedisTls::new(std::fs::read("authority.pem")?)?
///     .with_client_certificate(std::fs::read("own.pem")?, std::fs::read("own.key")?)?;
/// let server = RedisCache::new("rediss://redis.internal:6380", "orders")?.with_tls(tls)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct RedisTls {
    certificates: Certificates,
    config: Arc<ClientConfig>,
}

impl RedisTls {
    /// The certificate of the authority that signs those of the servers, as PEM; several may follow one another. The
    /// authorities that the machine trusts are not used.
    ///
    /// # Errors
    /// `InvalidInput` if it is not PEM.
    pub fn new(authority: impl Into<Vec<u8>>) -> Result<Self> {
        Self::with(Certificates { authority: authority.into(), own: None })
    }

    /// A certificate of this process, and its key, both as PEM, for servers that ask for one (`tls-auth-clients`).
    ///
    /// # Errors
    /// `InvalidInput` if they are not PEM, or do not belong together.
    pub fn with_client_certificate(
        self,
        certificate: impl Into<Vec<u8>>,
        key: impl Into<Vec<u8>>,
    ) -> Result<Self> {
        Self::with(Certificates { own: Some((certificate.into(), key.into())), ..self.certificates })
    }

    fn with(certificates: Certificates) -> Result<Self> {
        let config = certificates.config()?;
        Ok(Self { certificates, config })
    }

    pub(crate) async fn connect(&self, address: &ConnectionAddr) -> Result<Box<dyn Stream>> {
        let ConnectionAddr::Tcp(host, port) = address else {
            return Err(Error::invalid_input("TLS is for servers at HOST:PORT"));
        };
        let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
        connect("Redis", &format!("{host}:{port}"), Some(&self.config)).await
    }
}
