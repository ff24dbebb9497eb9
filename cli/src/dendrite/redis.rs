//! Redis servers, with TLS where their URL asks for it.

use lacuna_cache::redis::{RedisCache, RedisLog, RedisTls};
use lacuna_cache_protocol::{Error, ErrorKind, Result};

use crate::commands::cache::RedisArgs;
use crate::dendrite::etcd::read;

const ENCRYPTED: &str = "rediss://";

impl RedisArgs {
    /// Whether any argument was given.
    pub(crate) fn is_needed(&self) -> bool {
        self.redis_authority.is_some()
    }

    /// A cache server.
    ///
    /// # Errors
    /// `InvalidInput` if a file is missing, or the URL is wrong.
    pub(crate) fn cache(&self, url: &str, namespace: &str) -> Result<RedisCache> {
        let server = RedisCache::new(url, namespace)?;
        if is_encrypted(url) { server.with_tls(self.tls()?) } else { Ok(server) }
    }

    /// A log server.
    ///
    /// # Errors
    /// As [`RedisArgs::cache`].
    pub(crate) fn log(&self, url: &str, namespace: &str) -> Result<RedisLog> {
        let server = RedisLog::new(url, namespace)?;
        if is_encrypted(url) { server.with_tls(self.tls()?) } else { Ok(server) }
    }

    /// Connects to an encrypted server: a wrong certificate ends the start, and a server that is away is only
    /// reported, as requests go on without it.
    pub(super) async fn check(&self, url: &str) -> Result<()> {
        match self.cache(url, "")?.check().await {
            Err(why) if why.kind() == ErrorKind::InvalidInput => return Err(why),
            Err(why) => eprintln!("lacuna: {}: {why}", without_password(url)),
            Ok(()) => {}
        }
        Ok(())
    }

    fn tls(&self) -> Result<RedisTls> {
        let authority = self.redis_authority.as_ref().ok_or_else(|| {
            Error::invalid_input(
                "rediss:// needs --redis-authority: the certificate that signs those of the servers",
            )
        })?;
        let tls = RedisTls::new(read(authority)?)?;
        match (&self.redis_certificate, &self.redis_key) {
            (Some(certificate), Some(key)) => tls.with_client_certificate(read(certificate)?, read(key)?),
            _ => Ok(tls),
        }
    }
}

pub(crate) fn is_encrypted(url: &str) -> bool {
    url.starts_with(ENCRYPTED)
}

/// The URL as it may be printed.
fn without_password(url: &str) -> String {
    let place = url.rsplit_once('@').map_or_else(|| url.trim_start_matches(ENCRYPTED), |(_, place)| place);
    format!("{ENCRYPTED}{place}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_printed() {
        assert_eq!(without_password("rediss://app:p@ss@10.0.0.5:6380"), "rediss://10.0.0.5:6380");
        assert_eq!(without_password("rediss://10.0.0.5:6380"), "rediss://10.0.0.5:6380");
    }
}
