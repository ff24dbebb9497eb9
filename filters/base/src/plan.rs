//! The input of a builder besides the keys: budget, number of keys, common queries, seed.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;

use crate::codec::CodecId;
use crate::error::{Error, Result};
use crate::key::{KeyRange, KeySpace};
use crate::key_type::KeyType;
use crate::secret::Secret;

/// Bits per key that Grafite takes beyond `log2(range_len / rate)`: 2 for the upper half of its Elias-Fano sequence, the
/// rest for the index of it.
const BITS_BESIDE_RATE: f64 = 2.2;

/// Bytes that a filter for a rate may take besides: its Elias-Fano sequence ends with a whole slice, whose buckets and place in the
/// directory are up to 145 bits, and a keyed one has a longer key. A few hundred keys do not pay for that with their bits.
const BYTES_BESIDE_RATE: usize = 32;

/// Space for a payload, in bits per distinct key.
///
/// ```
/// use lacuna_base::Budget;
///
/// let budget = Budget::bits_per_key(14.0).expect("between 0 and 128");
/// assert_eq!(budget.payload_bytes(1_000), 1_750 + 64);
/// assert!(Budget::bits_per_key(0.0).is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Budget {
    bits_per_key: f64,
    /// Bytes beside the bits per key and the fixed ones.
    beside: usize,
}

impl Budget {
    /// Largest budget there is, in bits per key.
    pub const MAX_BITS_PER_KEY: f64 = 128.0;
    /// Bytes every payload may use on top of its bits per key, so that small sets have room for a header.
    pub const FIXED_BYTES: usize = 64;

    /// A budget of `bits_per_key` bits for each distinct key.
    ///
    /// # Errors
    /// `InvalidInput` unless `0 < bits_per_key <= 128`.
    pub fn bits_per_key(bits_per_key: f64) -> Result<Self> {
        if bits_per_key > 0.0 && bits_per_key <= Self::MAX_BITS_PER_KEY {
            Ok(Self { bits_per_key, beside: 0 })
        } else {
            Err(Error::invalid_input(format!(
                "the budget is {bits_per_key} bits per key; give more than 0 and at most {}",
                Self::MAX_BITS_PER_KEY
            )))
        }
    }

    /// A budget with which `grafite` keeps `rate` for ranges of up to `max_range_len` keys, whatever the integers in the
    /// filter and whatever the queries: at most `rate` of the ranges without a key are answered "maybe".
    ///
    /// Other families may do better on the queries they are made for, and worse on others.
    ///
    /// ```
    /// use lacuna_base::Budget;
    ///
    /// let budget = Budget::for_rate(0.01, 64)?;
    /// assert!(budget > Budget::bits_per_key(14.0)? && budget < Budget::bits_per_key(16.0)?);
    /// assert!(Budget::for_rate(0.0, 64).is_err());
    /// # Ok::<(), lacuna_base::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidInput` unless `0 < rate < 1`, and if that takes more than 128 bits per key.
    pub fn for_rate(rate: f64, max_range_len: u64) -> Result<Self> {
        if rate > 0.0 && rate < 1.0 {
            let bits = libm::log2(max_range_len.max(1) as f64 / rate) + BITS_BESIDE_RATE;
            let budget = Self::bits_per_key((bits * 16.0).ceil() / 16.0)?;
            Ok(Self { beside: BYTES_BESIDE_RATE, ..budget })
        } else {
            Err(Error::invalid_input(format!("the rate is {rate}; give more than 0 and less than 1")))
        }
    }

    /// The same with `bytes` on top, whatever the number of keys, in place of those that it has.
    ///
    /// ```
    /// use lacuna_base::Budget;
    ///
    /// let budget = Budget::for_rate(0.01, 64)?;
    /// assert_eq!(Budget::bits_per_key(budget.as_bits_per_key())?.with_extra_bytes(budget.extra_bytes()), budget);
    /// # Ok::<(), lacuna_base::Error>(())
    /// ```
    #[must_use]
    pub fn with_extra_bytes(self, bytes: usize) -> Self {
        Self { beside: bytes, ..self }
    }

    /// The bytes beside the bits per key and the [fixed](Self::FIXED_BYTES) ones: 0, or 32 if it was made [for a rate](Self::for_rate).
    pub fn extra_bytes(self) -> usize {
        self.beside
    }

    /// The bits per key as given.
    pub fn as_bits_per_key(self) -> f64 {
        self.bits_per_key
    }

    /// Most bytes a payload over `distinct_keys` keys may have: `ceil(bits_per_key * distinct_keys / 8) + 64`, and 32 more if the
    /// budget was made [for a rate](Self::for_rate).
    #[expect(clippy::cast_possible_truncation, reason = "at most 16 bytes a key; f64 to usize saturates")]
    pub fn payload_bytes(self, distinct_keys: usize) -> usize {
        let bytes = (self.bits_per_key * distinct_keys as f64 / 8.0).ceil();
        (bytes as usize).saturating_add(Self::FIXED_BYTES).saturating_add(self.beside)
    }

    /// Fewest bits per key whose budget over `distinct_keys` keys holds `payload_bytes`.
    pub fn smallest_for(payload_bytes: usize, distinct_keys: usize) -> f64 {
        let beyond = payload_bytes.saturating_sub(Self::FIXED_BYTES);
        beyond as f64 * 8.0 / distinct_keys.max(1) as f64
    }
}

/// Bits per key, as in [`Budget::bits_per_key`].
impl TryFrom<f64> for Budget {
    type Error = Error;

    fn try_from(bits_per_key: f64) -> Result<Self> {
        Self::bits_per_key(bits_per_key)
    }
}

/// Recent queries that returned nothing: what a filter is designed for.
pub struct Sample<K: KeySpace + ?Sized> {
    los: K::OwnedColumn,
    his: K::OwnedColumn,
    len: usize,
}

impl<K: KeySpace + ?Sized> Sample<K> {
    /// A sample without queries.
    pub fn new() -> Self {
        Self { los: K::OwnedColumn::default(), his: K::OwnedColumn::default(), len: 0 }
    }

    /// Adds the closed query `[lo, hi]`; an inverted one is left out.
    pub fn push(&mut self, lo: K::Ref<'_>, hi: K::Ref<'_>) {
        if K::shorten(lo) <= K::shorten(hi) {
            K::push(&mut self.los, lo);
            K::push(&mut self.his, hi);
            self.len += 1;
        }
    }

    /// Number of queries.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no query.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The queries as closed `(lo, hi)` pairs, oldest first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (K::Ref<'_>, K::Ref<'_>)> {
        use crate::columns::KeyColumn;
        let (los, his) = (K::column(&self.los), K::column(&self.his));
        (0..self.len).map(move |index| (los.key(index), his.key(index)))
    }

    /// The queries as ranges, oldest first.
    pub fn ranges(&self) -> impl Iterator<Item = KeyRange<'_, K>> {
        use std::ops::Bound::Included;
        self.iter().filter_map(|(lo, hi)| K::range(Included(lo), Included(hi)))
    }
}

impl<K: KeySpace + ?Sized> Clone for Sample<K> {
    fn clone(&self) -> Self {
        Self { los: self.los.clone(), his: self.his.clone(), len: self.len }
    }
}

impl<K: KeySpace + ?Sized> Default for Sample<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: KeySpace + ?Sized> fmt::Debug for Sample<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sample").field("len", &self.len).finish()
    }
}

/// The input of a builder before the first key. Same keys, plan and seed give the same bytes on every machine, whatever the number of
/// [threads](Self::with_threads).
///
/// ```
/// use lacuna_base::{BuildPlan, Budget};
///
/// let plan = BuildPlan::<u64>::new(Budget::bits_per_key(12.0).expect("in range")).with_seed(7);
/// assert_eq!(plan.seed(), 7);
/// ```
#[derive(Debug)]
pub struct BuildPlan<K: KeySpace + ?Sized> {
    budget: Budget,
    sample: Arc<Sample<K>>,
    seed: u64,
    secret: Option<Secret>,
    codec: CodecId,
    key_type: KeyType,
    threads: NonZeroUsize,
}

impl<K: KeySpace + ?Sized> Clone for BuildPlan<K> {
    fn clone(&self) -> Self {
        Self { sample: Arc::clone(&self.sample), ..*self }
    }
}

impl<K: KeySpace + ?Sized> BuildPlan<K> {
    /// A plan with this budget, no sample, seed 0, keys as they are and of unknown type, and one thread.
    pub fn new(budget: Budget) -> Self {
        Self {
            budget,
            sample: Arc::new(Sample::new()),
            seed: 0,
            secret: None,
            codec: CodecId::IDENTITY,
            key_type: KeyType::Unknown,
            threads: NonZeroUsize::MIN,
        }
    }

    /// Gives recent queries that returned nothing.
    #[must_use]
    pub fn with_sample(mut self, sample: Arc<Sample<K>>) -> Self {
        self.sample = sample;
        self
    }

    /// Sets the seed of every hash. It spreads what a filter gets wrong; against those who choose their queries to meet it there
    /// is [`with_secret`](Self::with_secret).
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Gives the secret for specs that ask for one, `ribbon:secret` and `grafite:secret`, or take one, `auto:robust`: they hash under a
    /// key made of it. Other specs leave it aside. `None` takes it away.
    #[must_use]
    pub fn with_secret(mut self, secret: impl Into<Option<Secret>>) -> Self {
        self.secret = secret.into();
        self
    }

    /// Sets the codec that made the keys, noted in the envelope.
    #[must_use]
    pub fn with_codec(mut self, codec: CodecId) -> Self {
        self.codec = codec;
        self
    }

    /// Sets the type of the values that the keys stand for, noted in the envelope.
    #[must_use]
    pub fn with_key_type(mut self, key_type: KeyType) -> Self {
        self.key_type = key_type;
        self
    }

    /// Sets the most threads that a build takes: the caller's, and others that end with the build. The bytes do not depend on it.
    ///
    /// `ribbon`, `grafite` and `bucketing` take as many as there are times 32,768 keys, other families one. A build by several
    /// threads keeps about 8 bytes a key more at once. Without this a build takes the caller's thread alone, as engines want it
    /// that build many filters at a time.
    ///
    /// ```
    /// use std::num::NonZeroUsize;
    /// use std::thread::available_parallelism;
    /// use lacuna_base::{BuildPlan, Budget};
    ///
    /// let plan = BuildPlan::<u64>::new(Budget::bits_per_key(12.0)?);
    /// assert_eq!(plan.threads(), NonZeroUsize::MIN);
    /// let on_all = plan.with_threads(available_parallelism().unwrap_or(NonZeroUsize::MIN));
    /// # Ok::<(), lacuna_base::Error>(())
    /// ```
    #[must_use]
    pub fn with_threads(mut self, threads: NonZeroUsize) -> Self {
        self.threads = threads;
        self
    }

    /// Space for the payload.
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// Recent queries that returned nothing.
    pub fn sample(&self) -> &Sample<K> {
        &self.sample
    }

    /// The seed of every hash.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The secret, if there is one.
    pub fn secret(&self) -> Option<Secret> {
        self.secret
    }

    /// The codec that made the keys.
    pub fn codec(&self) -> CodecId {
        self.codec
    }

    /// The type of the values that the keys stand for.
    pub fn key_type(&self) -> KeyType {
        self.key_type
    }

    /// The most threads that a build takes.
    pub fn threads(&self) -> NonZeroUsize {
        self.threads
    }
}
