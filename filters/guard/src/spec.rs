//! The filter that an adapter builds, as one line of configuration.

use std::fmt;
use std::str::FromStr;

use lacuna_base::{Budget, DynSpec, ENVELOPE_BYTES, Error, KeySpace, Result, Secret};

use crate::codec::GuardCodec;
use crate::guard_key::GuardKey;

/// Bits per key if the text names none.
const DEFAULT_BITS_PER_KEY: f64 = 14.0;
/// How far above its budget a filter may grow before another family is tried, if the text names no cap.
const DEFAULT_CAP_FACTOR: f64 = 2.0;
/// The family tried when the asked one fits neither budget nor cap: it fits nearly any.
const DEFAULT_FALLBACK: &str = "bucketing";

/// A family, its budget, the codec and the seed; or nothing at all.
///
/// The text is `off`, or `FAMILY[@BITS[+BYTES]]`, with bytes on top of the bits per key, followed by any of `codec=`, `seed=`, `cap=` (bits per key a filter may grow
/// to when its family needs more than asked) and `fallback=` (the family tried after that, or `none`). `auto@BITS`, or
/// `auto:price=NS@BITS` with what a needless read costs, chooses a family for each file by its keys and the sample.
///
/// ```
/// use lacuna_guard::GuardSpec;
///
/// let spec = GuardSpec::parse("grafite@14 codec=fixed_be:8 seed=7")?;
/// assert_eq!(spec.family(), Some("grafite"));
/// assert_eq!(spec.to_string(), "grafite@14 codec=fixed_be:8 seed=7 cap=28 fallback=bucketing");
/// assert!(GuardSpec::parse("off")?.is_off());
/// assert!(GuardSpec::parse("no_such_family@14").is_err());
/// # Ok::<(), lacuna_base::Error>(())
/// ```
///
/// In code, the same is made of types:
///
/// ```
/// use lacuna_base::Budget;
/// use lacuna_families::{GrafiteSpec, RencoderSpec};
/// use lacuna_guard::{GuardCodec, GuardSpec};
///
/// let spec = GuardSpec::new(RencoderSpec::new(), Budget::bits_per_key(14.0)?)
///     .with_codec(GuardCodec::fixed_be(8)?)
///     .with_fallback(GrafiteSpec::new());
/// assert_eq!(spec.to_string(), "rencoder@14 codec=fixed_be:8 seed=0 cap=28 fallback=grafite");
/// assert_eq!(spec.to_string().parse::<GuardSpec>()?, spec);
/// # Ok::<(), lacuna_base::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct GuardSpec {
    family: Option<String>,
    budget: Budget,
    cap: Budget,
    fallback: Option<String>,
    codec: GuardCodec,
    seed: u64,
    secret: Option<Secret>,
}

impl GuardSpec {
    /// A family within a budget; its cap is twice the budget, its fallback `bucketing`, its codec keys as they are.
    pub fn new(family: impl DynSpec<u64> + DynSpec<[u8]>, budget: Budget) -> Self {
        Self::named(text_of(&family), budget)
    }

    /// Nothing is built.
    pub fn off() -> Self {
        let budget = Budget::bits_per_key(DEFAULT_BITS_PER_KEY).expect("between 0 and 128");
        Self { family: None, ..Self::named(String::new(), budget) }
    }

    /// Reads a line of configuration, as [`FromStr`] does.
    ///
    /// # Errors
    /// `InvalidInput` that names the word which is wrong and what to give instead.
    pub fn parse(text: &str) -> Result<Self> {
        let mut words = text.split_whitespace();
        let head = words.next().unwrap_or_default();
        let (family, budget) = match head.rsplit_once('@') {
            Some((family, budget)) => (family, self::budget(budget)?),
            None => (head, Budget::bits_per_key(DEFAULT_BITS_PER_KEY)?),
        };
        let mut spec = match family {
            "off" => Self::off(),
            family => Self::named(family.to_owned(), budget),
        };
        let (mut cap, mut seen) = (None, Vec::new());
        for word in words {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            if seen.contains(&name) {
                return Err(wrong(word, "each word once"));
            }
            seen.push(name);
            match name {
                "codec" => spec.codec = GuardCodec::parse(value)?,
                "seed" => spec.seed = value.parse().map_err(|_| wrong(word, "seed=WHOLE_NUMBER"))?,
                "cap" => cap = Some(number(value)?),
                "fallback" => spec.fallback = Some(value.to_owned()).filter(|family| family != "none"),
                _ => return Err(wrong(word, "codec=, seed=, cap= or fallback=")),
            }
        }
        if let Some(cap) = cap {
            spec = spec.with_cap(cap)?;
        }
        spec.check_families()?;
        Ok(spec)
    }

    fn named(family: String, budget: Budget) -> Self {
        let cap = (budget.as_bits_per_key() * DEFAULT_CAP_FACTOR).min(Budget::MAX_BITS_PER_KEY);
        Self {
            family: Some(family),
            budget,
            cap: Budget::bits_per_key(cap)
                .expect("above the budget, and at most the largest there is")
                .with_extra_bytes(budget.extra_bytes()),
            fallback: Some(DEFAULT_FALLBACK.to_owned()),
            codec: GuardCodec::bytes(),
            seed: 0,
            secret: None,
        }
    }

    fn check_families(&self) -> Result<()> {
        for family in self.families() {
            match self.codec {
                GuardCodec::Integers { .. } => drop(u64::spec(family)?),
                GuardCodec::Strings { .. } => drop(<[u8]>::spec(family)?),
            }
        }
        Ok(())
    }

    /// The family and its fallback.
    fn families(&self) -> impl Iterator<Item = &str> {
        [&self.family, &self.fallback].into_iter().flatten().map(String::as_str)
    }

    /// Refuses a spec under which no file would get a filter, since a family hashes under a secret and there is none, or the codec makes
    /// byte strings of its keys; and a codec of the program's own with a [number](lacuna_base::CodecId) of ours. Adapters ask when
    /// they are installed.
    ///
    /// ```
    /// use lacuna_base::Secret;
    /// use lacuna_guard::GuardSpec;
    ///
    /// let spec = GuardSpec::parse("ribbon:secret@14 codec=fixed_be:8")?;
    /// assert!(spec.check().is_err());
    /// let secret: Secret = "000102030405060708090a0b0c0d0e0f".parse()?; // Yours is random, and in no program's text.
    /// spec.with_secret(secret).check()?;
    /// # Ok::<(), lacuna_base::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidInput` that says what to give.
    pub fn check(&self) -> Result<()> {
        self.codec.check_number()?;
        self.families().try_for_each(|family| match self.codec {
            GuardCodec::Integers { .. } => self.check_secret_of::<u64>(family),
            GuardCodec::Strings { .. } => self.check_secret_of::<[u8]>(family),
        })
    }

    fn check_secret_of<K: GuardKey + KeySpace + ?Sized>(&self, family: &str) -> Result<()> {
        let secret_use = K::spec(family)?.secret_use();
        secret_use.check::<K>(family, self.secret.is_some(), "beside the text of the spec")
    }

    /// Sets the codec.
    #[must_use]
    pub fn with_codec(mut self, codec: GuardCodec) -> Self {
        self.codec = codec;
        self
    }

    /// Sets the seed of every hash.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Gives the secret for a family that asks for one, such as `ribbon:secret`, or takes one, `auto:robust`, so that the rate of
    /// a filter keeps its bound against those who choose their queries; for codecs that make integers. It is no part of the
    /// text: `Display` leaves it out, and so do logs. `None` takes it away.
    #[must_use]
    pub fn with_secret(mut self, secret: impl Into<Option<Secret>>) -> Self {
        self.secret = secret.into();
        self
    }

    /// Sets the bits per key a filter may grow to when its family needs more than asked.
    ///
    /// # Errors
    /// `InvalidInput` unless it is at least the budget and at most 128.
    pub fn with_cap(mut self, bits_per_key: f64) -> Result<Self> {
        self.cap = Budget::bits_per_key(bits_per_key)?.with_extra_bytes(self.budget.extra_bytes());
        if self.cap < self.budget {
            return Err(wrong(&format!("cap={bits_per_key}"), "a cap of at least the budget"));
        }
        Ok(self)
    }

    /// Sets the family that is tried when the first fits neither budget nor cap.
    #[must_use]
    pub fn with_fallback(mut self, family: impl DynSpec<u64> + DynSpec<[u8]>) -> Self {
        self.fallback = Some(text_of(&family));
        self
    }

    /// Tries no other family: files that the first does not fit have no filter.
    #[must_use]
    pub fn without_fallback(mut self) -> Self {
        self.fallback = None;
        self
    }

    /// The same with budget and cap lowered, so that a sealed filter over `key_count` keys takes at most
    /// `sealed_bytes`; `None` if that leaves no bits.
    #[must_use]
    pub fn limited_to(&self, sealed_bytes: usize, key_count: usize) -> Option<Self> {
        if key_count == 0 {
            return Some(self.clone());
        }
        // A payload may take its fixed bytes and a rounded-up one beyond its bits.
        let beside = self.budget.payload_bytes(0) + 1;
        let bits = sealed_bytes.saturating_sub(ENVELOPE_BYTES + beside) as f64 * 8.0 / key_count as f64;
        let max = Budget::bits_per_key(bits.min(Budget::MAX_BITS_PER_KEY))
            .ok()?
            .with_extra_bytes(self.budget.extra_bytes());
        let lower = |budget: Budget| if budget <= max { budget } else { max };
        Some(Self { budget: lower(self.budget), cap: lower(self.cap), ..self.clone() })
    }

    /// Whether nothing is built.
    pub fn is_off(&self) -> bool {
        self.family.is_none()
    }

    /// The family with its parameters; `None` if nothing is built.
    pub fn family(&self) -> Option<&str> {
        self.family.as_deref()
    }

    /// The family tried when the first fits neither budget nor cap.
    pub fn fallback(&self) -> Option<&str> {
        self.fallback.as_deref()
    }

    /// Space for a payload.
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// Most space for a payload of a family that needs more than its budget.
    pub fn cap(&self) -> Budget {
        self.cap
    }

    /// How engine keys become filter keys.
    pub fn codec(&self) -> &GuardCodec {
        &self.codec
    }

    /// The seed of every hash.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The secret, if there is one.
    pub fn secret(&self) -> Option<Secret> {
        self.secret
    }

    /// Most bytes the sealed filter over `key_count` keys takes within its budget, envelope included; a coarsened one
    /// may take what the cap allows.
    pub fn sealed_bytes(&self, key_count: usize) -> usize {
        if self.is_off() { 0 } else { self.budget.payload_bytes(key_count).saturating_add(ENVELOPE_BYTES) }
    }
}

/// The family with its parameters, as the registry reads them back.
fn text_of(family: &(impl DynSpec<u64> + DynSpec<[u8]>)) -> String {
    DynSpec::<u64>::name(family)
}

fn number(text: &str) -> Result<f64> {
    text.parse().map_err(|_| wrong(text, "a number of bits per key"))
}

/// Most bytes of a spec beside its bits per key: what grows with a file belongs to these.
const MAX_EXTRA_BYTES: usize = 1 << 20;

/// Bits per key, and after a `+` bytes on top of them.
fn budget(text: &str) -> Result<Budget> {
    let (bits, bytes) = text.split_once('+').unwrap_or((text, "0"));
    let bytes = bytes.parse().ok().filter(|bytes| *bytes <= MAX_EXTRA_BYTES);
    let bytes = bytes.ok_or_else(|| wrong(text, "bits per key, and after a `+` at most 1048576 bytes"))?;
    Ok(Budget::bits_per_key(number(bits)?)?.with_extra_bytes(bytes))
}

fn wrong(word: &str, wanted: &str) -> Error {
    Error::invalid_input(format!("`{word}` in a guard spec is not understood; give {wanted}"))
}

impl FromStr for GuardSpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}

impl fmt::Display for GuardSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(family) = self.family() else { return write!(f, "off codec={}", self.codec) };
        let (bits, cap) = (self.budget.as_bits_per_key(), self.cap.as_bits_per_key());
        let fallback = self.fallback().unwrap_or("none");
        let bytes = match self.budget.extra_bytes() {
            0 => String::new(),
            bytes => format!("+{bytes}"),
        };
        write!(
            f,
            "{family}@{bits}{bytes} codec={} seed={} cap={cap} fallback={fallback}",
            self.codec, self.seed
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_read_back() {
        for text in [
            "bloom@10 codec=bytes seed=0 cap=20 fallback=bucketing",
            "bucketing@2.5 codec=composite:4,6 seed=9 cap=2.5 fallback=none",
            "auto:price=5000000@14 codec=bytes seed=0 cap=28 fallback=bucketing",
            "grafite@14.875+32 codec=fixed_be:8 seed=0 cap=29.75 fallback=bucketing",
            "off codec=fixed_be:4",
        ] {
            assert_eq!(GuardSpec::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn wrong_words_are_refused() {
        for text in [
            "",
            "bloom@x",
            "bloom@0",
            "bloom@129",
            "bloom@10+x",
            "bloom@10+1048577",
            "bloom@10+",
            "bloom cap=2",
            "bloom seed=x",
            "bloom seed=1 seed=1",
            "bloom colour=red",
            "zzz",
        ] {
            assert!(GuardSpec::parse(text).is_err(), "{text}");
        }
        assert!(GuardSpec::parse("bloom@10 fallback=zzz").is_err());
    }

    #[test]
    fn a_secret_is_kept_and_not_shown() {
        let spec = GuardSpec::parse("ribbon:secret@14 codec=fixed_be:8 seed=7").unwrap();
        let secret = Secret::new(*b"sixteen bytes ok");
        let guarded = spec.clone().with_secret(secret);
        assert_eq!((guarded.secret(), spec.secret()), (Some(secret), None));
        assert_eq!(guarded.clone().with_secret(None).secret(), None);
        assert_eq!(guarded.to_string(), spec.to_string());
        assert!(format!("{guarded:?}").contains("Secret(..)"), "{guarded:?}");
        assert_eq!(guarded.limited_to(1_000, 100).unwrap().secret(), Some(secret));
    }

    #[test]
    fn a_missing_secret_is_refused_for_family_and_fallback() {
        let secret = Secret::new(*b"sixteen bytes ok");
        for (text, without, with) in [
            ("ribbon:secret@14 codec=fixed_be:8", false, true),
            ("grafite@14 codec=fixed_be:8 fallback=grafite:secret", false, true),
            ("ribbon:secret@14 codec=bytes", false, false),
            ("grafite@14 codec=bytes fallback=grafite:secret", false, false),
            ("grafite@14 codec=fixed_be:8", true, true),
            ("auto@14 codec=bytes", true, true),
            ("auto:robust@14 codec=fixed_be:8", true, true),
            ("auto:robust@14 codec=bytes", true, false),
            ("off", true, true),
        ] {
            let spec = GuardSpec::parse(text).unwrap();
            assert_eq!(spec.check().is_ok(), without, "{text}");
            assert_eq!(spec.clone().with_secret(secret).check().is_ok(), with, "{text}");
        }
        let spec = GuardSpec::parse("ribbon:secret@14 codec=fixed_be:8").unwrap();
        let said = spec.check().unwrap_err().to_string();
        assert_eq!(said, "`ribbon:secret` hashes under a secret: give one beside the text of the spec");
    }

    #[test]
    fn a_limit_lowers_budget_and_cap() {
        let spec = GuardSpec::parse("bloom@10 cap=30").unwrap();
        let limited = spec.limited_to(1_129, 1_000).unwrap();
        assert_eq!((limited.budget().as_bits_per_key(), limited.cap().as_bits_per_key()), (8.0, 8.0));
        assert!(limited.sealed_bytes(1_000) <= 1_129);
        assert_eq!(spec.limited_to(2_129, 1_000).unwrap().cap().as_bits_per_key(), 16.0);
        assert_eq!(spec.limited_to(1 << 20, 1_000).unwrap(), spec);
        assert!(spec.limited_to(129, 1_000).is_none());
    }

    #[test]
    fn a_budget_for_a_rate_is_kept_whole() {
        let budget = Budget::for_rate(0.01, 64).unwrap();
        let spec = GuardSpec::new(lacuna_families::GrafiteSpec::new(), budget);
        assert_eq!(spec.to_string().parse::<GuardSpec>().unwrap(), spec);
        let same = spec.clone().with_cap(budget.as_bits_per_key()).unwrap();
        assert_eq!((same.budget(), same.cap()), (budget, budget));
        for key_count in [1, 100, 1_000, 5_001] {
            for bytes in (150..20_000).step_by(77) {
                let limited = spec.limited_to(bytes, key_count);
                let taken = limited.map_or(0, |limited| limited.sealed_bytes(key_count));
                assert!(taken <= bytes, "{taken} of {bytes} bytes for {key_count} keys");
            }
        }
    }

    #[test]
    fn estimates_hold_envelope_and_budget() {
        assert_eq!(GuardSpec::parse("bloom@8").unwrap().sealed_bytes(1_000), 64 + 1_000 + 64);
        assert_eq!(GuardSpec::parse("off").unwrap().sealed_bytes(1_000), 0);
    }
}
