//! Connections to servers, plain or encrypted with TLS: members of etcd, and Redis.

use std::fmt;
use std::sync::Arc;

use lacuna_cache_protocol::{Error, Result};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// Bytes both ways.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// Trusted authorities and the own certificate, as PEM.
#[derive(Clone, Default)]
pub(crate) struct Certificates {
    /// Of the authorities that sign the certificates of servers.
    pub(crate) authority: Vec<u8>,
    /// A certificate of this process, and its key.
    pub(crate) own: Option<(Vec<u8>, Vec<u8>)>,
}

impl fmt::Debug for Certificates {
    /// Without the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Certificates").field("shows_own", &self.own.is_some()).finish_non_exhaustive()
    }
}

fn unreadable(what: &str, why: &dyn fmt::Display) -> Error {
    Error::invalid_input(format!("{what} cannot be read as PEM: {why}"))
}

fn certificates(what: &str, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>> {
    let all: Vec<_> = CertificateDer::pem_slice_iter(pem)
        .collect::<Result<_, _>>()
        .map_err(|why| unreadable(what, &why))?;
    if all.is_empty() { Err(unreadable(what, &"it holds no certificate")) } else { Ok(all) }
}

impl Certificates {
    /// The settings of encrypted connections.
    ///
    /// # Errors
    /// `InvalidInput` if something is not PEM, or key and certificate do not belong together.
    pub(crate) fn config(&self) -> Result<Arc<ClientConfig>> {
        let what = "the certificate of the authority";
        let mut roots = RootCertStore::empty();
        for certificate in certificates(what, &self.authority)? {
            roots.add(certificate).map_err(|why| unreadable(what, &why))?;
        }
        let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|why| Error::unsupported(why.to_string()))?
            .with_root_certificates(roots);
        let config = match &self.own {
            None => builder.with_no_client_auth(),
            Some((certificate, key)) => {
                let chain = certificates("the client certificate", certificate)?;
                let what = "the key of the client certificate";
                let key = PrivateKeyDer::from_pem_slice(key).map_err(|why| unreadable(what, &why))?;
                builder.with_client_auth_cert(chain, key).map_err(|why| unreadable(what, &why))?
            }
        };
        Ok(Arc::new(config))
    }
}

/// A connection to `authority`, which is HOST:PORT of a server that errors call `name`.
///
/// # Errors
/// `Unavailable` if there is no answer, `InvalidInput` if the peer is not trusted.
pub(crate) async fn connect(
    name: &str,
    authority: &str,
    tls: Option<&Arc<ClientConfig>>,
) -> Result<Box<dyn Stream>> {
    let about = |why: std::io::Error| format!("{name} at {authority} is not reached: {why}");
    let stream = TcpStream::connect(authority).await.map_err(|why| Error::unavailable(about(why)))?;
    drop(stream.set_nodelay(true));
    let Some(tls) = tls else { return Ok(Box::new(stream)) };
    let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let host = ServerName::try_from(host).map_err(|why| Error::invalid_input(why.to_string()))?;
    match TlsConnector::from(tls.clone()).connect(host, stream).await {
        Ok(stream) => Ok(Box::new(stream)),
        // Waiting does not help: certificates do not match, or the peer does not speak TLS.
        Err(why) if why.kind() == std::io::ErrorKind::InvalidData => Err(Error::invalid_input(about(why))),
        Err(why) => Err(Error::unavailable(about(why))),
    }
}
