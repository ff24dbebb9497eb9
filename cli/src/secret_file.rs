//! The secret of filters, from a file: every process of the machine sees the arguments of the others.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use lacuna_base::{Error, Result, Secret, SecretUse};

use crate::arguments::spare_file;

/// The way of a command that takes a secret.
const WAY: &str = "with --secret-file";
/// The way of a command that takes none.
const OTHER_COMMANDS: &str = "to `lacuna build` or `lacuna bench filters`, this command takes none";

/// Where a secret comes from.
#[derive(Debug, Args)]
pub(crate) struct SecretArgs {
    /// For `ribbon:secret`, `grafite:secret` and `auto:robust`: a file of 32 hexadecimal digits, as `openssl rand -hex 16` prints
    #[arg(long, value_name = "F")]
    secret_file: Option<PathBuf>,
}

impl SecretArgs {
    /// The secret for filters of `specs`, which is to be asked for before the keys. No message repeats what the file holds.
    ///
    /// # Errors
    /// `InvalidInput` for a spec that needs a secret and gets none, for a secret that no spec needs, and for a file that holds none.
    pub(crate) fn load(&self, specs: &[&str]) -> Result<Option<Secret>> {
        for spec in specs {
            secret_use(spec)?.check::<u64>(spec, self.secret_file.is_some(), WAY)?;
        }
        let Some(path) = &self.secret_file else { return Ok(None) };
        let refused =
            |why: &dyn std::fmt::Display| Error::invalid_input(format!("{}: {why}", path.display()));
        let text = fs::read_to_string(path).map_err(|error| refused(&error))?;
        let secret = text.trim().parse().map_err(|error: Error| refused(&error))?;
        check_used(specs)?;
        Ok(Some(secret))
    }

    /// Makes sure that writing `out`, as `option` says, does not destroy the secret.
    ///
    /// # Errors
    /// `InvalidInput` if it is the file of the secret, by whatever name.
    pub(crate) fn spare(&self, out: &Path, option: &str) -> Result<()> {
        self.secret_file.as_deref().map_or(Ok(()), |secret| spare_file(secret, "secret", out, option))
    }

    /// The arguments as they can be typed again: the name of the file is no secret.
    pub(crate) fn as_arguments(&self) -> String {
        self.secret_file.as_ref().map_or(String::new(), |path| format!(" --secret-file {}", path.display()))
    }
}

/// Refuses a spec that needs a secret, for commands that take none.
///
/// # Errors
/// `InvalidInput` that names the commands which take one.
pub(crate) fn refuse_without_secret(spec: &str) -> Result<()> {
    secret_use(spec)?.check::<u64>(spec, false, OTHER_COMMANDS)
}

/// A text names the same families in both key spaces.
fn secret_use(spec: &str) -> Result<SecretUse> {
    Ok(lacuna_families::spec::<u64>(spec)?.secret_use())
}

/// Refuses a secret that every spec would leave aside.
fn check_used(specs: &[&str]) -> Result<()> {
    let checked = specs.iter().map(|spec| secret_use(spec)?.check_used(spec, true));
    checked.reduce(|one, other| one.or_else(|refused| other.map_err(|_| refused))).unwrap_or(Ok(()))
}
