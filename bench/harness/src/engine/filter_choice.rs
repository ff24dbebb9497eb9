//! Filters by the words of a command line.

use lacuna_base::{Budget, Result};
use lacuna_guard::{GuardCodec, GuardSpec};

/// The filter of every file of a database.
#[derive(Debug, Clone, PartialEq)]
pub enum FilterChoice {
    /// None.
    None,
    /// The engine's own Bloom filter.
    Engine {
        /// Its bits per key.
        bits_per_key: f64,
    },
    /// A family of ours, or `auto`.
    Lacuna {
        /// The family with its parameters.
        family: String,
        /// Its bits per key.
        bits_per_key: f64,
    },
}

impl FilterChoice {
    /// A family of ours.
    pub fn lacuna(family: impl Into<String>, bits_per_key: f64) -> Self {
        Self::Lacuna { family: family.into(), bits_per_key }
    }

    /// The filter that `word` names: `none`, `engine`, `auto` or a family with its parameters.
    ///
    /// # Errors
    /// `InvalidInput` if the budget is none, or there is no such family over keys of `codec`.
    pub fn parse(word: &str, bits_per_key: f64, codec: &GuardCodec) -> Result<Self> {
        Budget::bits_per_key(bits_per_key)?;
        let choice = match word {
            "none" => Self::None,
            "engine" => Self::Engine { bits_per_key },
            family => Self::lacuna(family, bits_per_key),
        };
        choice.guard_spec(codec, 0)?;
        Ok(choice)
    }

    /// The word that [`parse`](Self::parse) takes.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::None => "none",
            Self::Engine { .. } => "engine",
            Self::Lacuna { family, .. } => family,
        }
    }

    /// The bits per key asked for; `None` without a filter.
    pub(crate) fn bits_per_key(&self) -> Option<f64> {
        match self {
            Self::None => None,
            Self::Engine { bits_per_key } | Self::Lacuna { bits_per_key, .. } => Some(*bits_per_key),
        }
    }

    /// What an adapter builds; `None` where the filter is not an adapter's.
    ///
    /// # Errors
    /// `InvalidInput` if there is no such family over keys of `codec`.
    pub fn guard_spec(&self, codec: &GuardCodec, seed: u64) -> Result<Option<GuardSpec>> {
        let Self::Lacuna { family, bits_per_key } = self else { return Ok(None) };
        // A family that does not fit grows, up to the largest budget there is, so that its size shows what it needs.
        let max = Budget::MAX_BITS_PER_KEY;
        GuardSpec::parse(&format!(
            "{family}@{bits_per_key} codec={codec} seed={seed} cap={max} fallback=none"
        ))
        .map(Some)
    }
}
