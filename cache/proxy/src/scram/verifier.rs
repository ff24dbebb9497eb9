//! What a server keeps of a password.

use std::fmt;
use std::str::FromStr;

use super::{Key, attributes};

/// The keys of a role as PostgreSQL keeps them in `pg_authid.rolpassword`:
/// `SCRAM-SHA-256$<iterations>:<salt>$<StoredKey>:<ServerKey>`.
///
/// They check a client's proof and prove a server to a client. They are no password and make no proof of a client.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Verifier {
    pub(super) iterations: u32,
    pub(super) salt: Vec<u8>,
    pub(super) stored_key: Key,
    pub(super) server_key: Key,
}

impl fmt::Debug for Verifier {
    /// Without the keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Verifier")
    }
}

impl FromStr for Verifier {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (work, keys) =
            text.strip_prefix("SCRAM-SHA-256$").and_then(|rest| rest.split_once('$')).ok_or(())?;
        let (iterations, salt) = work.split_once(':').ok_or(())?;
        let (stored, server) = keys.split_once(':').ok_or(())?;
        let key = |text| Key::try_from(attributes::decode(text).map_err(drop)?).map_err(drop);
        let iterations = iterations.parse().ok().filter(|&count| count > 0).ok_or(())?;
        let salt = attributes::decode(salt).ok().filter(|salt| !salt.is_empty()).ok_or(())?;
        Ok(Self { iterations, salt, stored_key: key(stored)?, server_key: key(server)? })
    }
}
