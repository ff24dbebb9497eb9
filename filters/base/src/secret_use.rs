//! Whether a spec and a secret go together: known before there are keys.

use crate::error::{Error, Result};
use crate::key::{KeySpace, KeySpaceId};

/// What a spec does with the [`Secret`](crate::Secret) of a plan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SecretUse {
    /// It hashes under the seed, whatever else there is.
    #[default]
    Unused,
    /// It hashes under the secret if there is one.
    Optional,
    /// It is not built without one.
    Required,
}

impl SecretUse {
    /// Refuses to build `spec` without the secret that it needs, and over keys for which a secret promises nothing. `way` says how
    /// the secret is given, such as `with the plan`.
    ///
    /// ```
    /// use lacuna_base::SecretUse;
    ///
    /// let refused = SecretUse::Required.check::<u64>("ribbon:secret", false, "with the plan").unwrap_err();
    /// assert_eq!(refused.to_string(), "`ribbon:secret` hashes under a secret: give one with the plan");
    /// ```
    ///
    /// # Errors
    /// `InvalidInput` that says what to give.
    pub fn check<K: KeySpace + ?Sized>(self, spec: &str, has_secret: bool, way: &str) -> Result<()> {
        let is_keyed = self == Self::Required || (self == Self::Optional && has_secret);
        if is_keyed && K::ID == KeySpaceId::Bytes {
            return Err(Error::invalid_input(format!(
                "`{spec}` under a secret is for integers: over byte strings no rate is promised; use a codec such as fixed_be"
            )));
        }
        if self == Self::Required && !has_secret {
            return Err(Error::invalid_input(format!("`{spec}` hashes under a secret: give one {way}")));
        }
        Ok(())
    }

    /// Refuses a secret that `spec` would leave aside: who gives one relies on it.
    ///
    /// # Errors
    /// `InvalidInput` that says what to name instead.
    pub fn check_used(self, spec: &str, has_secret: bool) -> Result<()> {
        match self {
            Self::Unused if has_secret => Err(unused(spec)),
            _ => Ok(()),
        }
    }
}

fn unused(spec: &str) -> Error {
    Error::invalid_input(format!(
        "`{spec}` leaves the secret aside: name ribbon:secret, grafite:secret or auto:robust, or give no secret"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_asked_for_where_it_is_needed() {
        let way = "with the plan";
        for (secret_use, without, with, over_strings) in [
            (SecretUse::Unused, true, true, true),
            (SecretUse::Optional, true, true, false),
            (SecretUse::Required, false, true, false),
        ] {
            assert_eq!(secret_use.check::<u64>("x", false, way).is_ok(), without, "{secret_use:?}");
            assert_eq!(secret_use.check::<u64>("x", true, way).is_ok(), with, "{secret_use:?}");
            assert_eq!(secret_use.check::<[u8]>("x", true, way).is_ok(), over_strings, "{secret_use:?}");
        }
        assert!(SecretUse::Optional.check::<[u8]>("x", false, way).is_ok(), "hashes under the seed");
        assert!(SecretUse::Required.check::<[u8]>("x", false, way).is_err());
    }

    #[test]
    fn a_secret_for_nothing_is_refused() {
        for secret_use in [SecretUse::Unused, SecretUse::Optional, SecretUse::Required] {
            assert!(secret_use.check_used("x", false).is_ok());
            assert_eq!(secret_use.check_used("x", true).is_ok(), secret_use != SecretUse::Unused);
        }
    }
}
