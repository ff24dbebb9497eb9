//! Certificates: what the proxy shows to clients, and whom it trusts as the database.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use lacuna_base::{Error, Result};
use sha2::{Digest as _, Sha256, Sha384, Sha512};
use tokio_rustls::rustls::client::WebPkiServerVerifier;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::crypto::{verify_tls12_signature, verify_tls13_signature};
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use tokio_rustls::rustls::{
    self, ClientConfig, DigitallySignedStruct, RootCertStore, ServerConfig, SignatureScheme,
};
use x509_cert::Certificate;
use x509_cert::der::Decode as _;

/// The protocol's name in TLS, which PostgreSQL 17 asks for.
pub(crate) const PROTOCOL: &[u8] = b"postgresql";

/// A certificate and its key, shown to clients that ask for TLS.
#[derive(Clone)]
pub(crate) struct Identity {
    pub(crate) config: Arc<ServerConfig>,
    /// The certificate itself, without those of its authorities.
    pub(crate) certificate: CertificateDer<'static>,
}

impl fmt::Debug for Identity {
    /// Without the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identity")
    }
}

impl Identity {
    /// # Errors
    /// `Unavailable` if a file cannot be read, `InvalidInput` if it is not PEM or the two do not belong together.
    pub(crate) fn read(certificate: &Path, key: &Path) -> Result<Self> {
        let chain = certificates(certificate)?;
        let own = chain.first().expect("an empty file is an error").clone();
        let pem = read(key)?;
        let read_key = PrivateKeyDer::from_pem_slice(&pem).map_err(|why| unusable(key, &why))?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|why| Error::unsupported(why.to_string()))?
            .with_no_client_auth()
            .with_single_cert(chain, read_key)
            .map_err(|why| unusable(key, &why))?;
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        Ok(Self { config: Arc::new(config), certificate: own })
    }
}

/// How a server's certificate is checked: against an authority and its name, or not at all.
pub(crate) fn client_config(authority: Option<&Path>) -> Result<Arc<ClientConfig>> {
    let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|why| Error::unsupported(why.to_string()))?;
    let config = match authority {
        Some(path) => builder.with_webpki_verifier(verifier(path)?).with_no_client_auth(),
        None => builder.dangerous().with_custom_certificate_verifier(Arc::new(Anyone)).with_no_client_auth(),
    };
    Ok(Arc::new(config))
}

fn verifier(path: &Path) -> Result<Arc<WebPkiServerVerifier>> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path)? {
        roots.add(certificate).map_err(|why| unusable(path, &why))?;
    }
    let verifier =
        WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::new(default_provider())).build();
    verifier.map_err(|why| unusable(path, &why))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let pem = read(path)?;
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    let all = all.map_err(|why| unusable(path, &why))?;
    if all.is_empty() { Err(unusable(path, &"it holds no certificate")) } else { Ok(all) }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|why| {
        Error::unavailable(format!("{} cannot be read: {why}", path.display())).with_source(why)
    })
}

fn unusable(path: &Path, why: &dyn fmt::Display) -> Error {
    Error::invalid_input(format!("{} cannot be used: {why}", path.display()))
}

/// What a login binds to that is bound to a certificate: its hash, by the function of its own signature, and by SHA-256 for
/// the old ones (`tls-server-end-point` of RFC 5929, section 4.1). `None` for a signature without such a function.
pub(crate) fn endpoint(certificate: &CertificateDer<'_>) -> Option<Vec<u8>> {
    let signature = Certificate::from_der(certificate).ok()?.signature_algorithm().oid;
    match signature.to_string().as_str() {
        // RSA with MD5, SHA-1 and SHA-256; ECDSA with SHA-1 and SHA-256.
        "1.2.840.113549.1.1.4"
        | "1.2.840.113549.1.1.5"
        | "1.2.840.113549.1.1.11"
        | "1.2.840.10045.4.1"
        | "1.2.840.10045.4.3.2" => Some(Sha256::digest(certificate).to_vec()),
        // Both with SHA-384.
        "1.2.840.113549.1.1.12" | "1.2.840.10045.4.3.3" => Some(Sha384::digest(certificate).to_vec()),
        // Both with SHA-512.
        "1.2.840.113549.1.1.13" | "1.2.840.10045.4.3.4" => Some(Sha512::digest(certificate).to_vec()),
        _ => None,
    }
}

/// Takes any certificate, as libpq does with `sslmode=require`: encryption without knowing by whom.
#[derive(Debug)]
struct Anyone;

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = default_provider().signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, &algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = default_provider().signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, &algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        default_provider().signature_verification_algorithms.supported_schemes()
    }
}
