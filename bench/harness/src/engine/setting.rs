//! The settings that the databases of a comparison share.

use lacuna_base::{ByteColumn, Error, Result};
use lacuna_guard::GuardCodec;
use lacuna_workload::{Keys, QueryShape, QuerySource, Workload};

use super::{Direction, Manner, Question, Questions, sample_bytes};

/// Keys, questions, and the shape of the databases.
#[derive(Debug, Clone)]
pub struct EngineSetting {
    pub(super) keys_name: String,
    pub(super) queries_name: String,
    pub(super) codec: GuardCodec,
    pub(super) questions: Questions,
    pub(super) sample: Vec<u8>,
    pub(super) manner: Manner,
    pub(super) value_bytes: usize,
    pub(super) levels: usize,
    pub(super) size_ratio: u64,
    pub(super) cache_bytes: u64,
    pub(super) seed: u64,
    /// Where the questions were drawn from; `None` if they were brought.
    source: Option<(Keys, QuerySource)>,
}

impl EngineSetting {
    /// Empty queries of `source` about `keys`; rows of 100 bytes in three levels, each four times as large as the one
    /// above; a block cache for a tenth of the rows.
    ///
    /// # Errors
    /// As [`Questions::draw`].
    pub fn new(keys_name: &str, keys: Keys, source: &QuerySource, seed: u64) -> Result<Self> {
        let codec = codec_of(&keys)?;
        let questions = Questions::draw(source, &keys, 1.0, seed)?;
        let points = source.shape == QueryShape::Points;
        let manner = Manner { points, max_rows: u64::MAX, ..Manner::CLOSED_SEEK };
        let setting = Self::of(keys_name, &source.to_string(), codec, questions, manner, seed);
        Ok(Self { source: Some((keys, *source)), ..setting })
    }

    /// All queries of `workload`, with and without keys; filters may be designed by the empty ones.
    ///
    /// # Errors
    /// `InvalidInput` if there is no key or no query.
    pub fn brought(keys_name: &str, queries_name: &str, workload: &Workload, seed: u64) -> Result<Self> {
        let codec = codec_of(&workload.inserted)?;
        let questions = Questions::brought(workload)?;
        let points = questions.asked.iter().all(|question| question.lo == question.hi);
        let manner = Manner { points, max_rows: u64::MAX, ..Manner::CLOSED_SEEK };
        Ok(Self::of(keys_name, queries_name, codec, questions, manner, seed))
    }

    /// Questions that were not drawn from a source, over keys of `codec`.
    pub fn of(
        keys_name: &str,
        queries_name: &str,
        codec: GuardCodec,
        questions: Questions,
        manner: Manner,
        seed: u64,
    ) -> Self {
        let sample = sample_bytes(&codec, &questions.sample);
        let setting = Self {
            keys_name: keys_name.to_owned(),
            queries_name: queries_name.to_owned(),
            codec,
            sample,
            manner,
            value_bytes: 0,
            levels: 3,
            size_ratio: 4,
            cache_bytes: 0,
            seed,
            questions,
            source: None,
        };
        setting.with_value_bytes(92)
    }

    /// Lets a share of the queries hold a key.
    ///
    /// # Errors
    /// `InvalidInput` unless it lies between 0 and 1; as [`Questions::draw`].
    pub fn with_empty_share(mut self, empty_share: f64) -> Result<Self> {
        if !(0.0..=1.0).contains(&empty_share) {
            return Err(Error::invalid_input(format!(
                "a share of {empty_share} is not possible; give 0 to 1"
            )));
        }
        if let Some((keys, source)) = &self.source {
            self.questions = Questions::draw(source, keys, empty_share, self.seed)?;
        }
        Ok(self)
    }

    /// Sets the bytes of each value, and the block cache to a tenth of the rows.
    #[must_use]
    pub fn with_value_bytes(mut self, value_bytes: usize) -> Self {
        let keys = &self.questions.keys;
        let bytes = keys.total_bytes() as u64 + (keys.len() as u64).saturating_mul(value_bytes as u64);
        self.value_bytes = value_bytes;
        self.cache_bytes = bytes / 10;
        self
    }

    /// Sets the bytes of the block cache.
    #[must_use]
    pub fn with_cache_bytes(mut self, cache_bytes: u64) -> Self {
        self.cache_bytes = cache_bytes;
        self
    }

    /// Sets the number of levels, at least 1 and at most 6, and how many times larger each is than the one above.
    ///
    /// # Errors
    /// `InvalidInput` for other numbers.
    pub fn with_levels(mut self, levels: usize, size_ratio: u64) -> Result<Self> {
        if !(1..=6).contains(&levels) || !(1..=100).contains(&size_ratio) {
            return Err(Error::invalid_input(format!(
                "{levels} levels of size ratio {size_ratio} cannot be made; give 1 to 6 levels and a ratio of 1 to 100"
            )));
        }
        (self.levels, self.size_ratio) = (levels, size_ratio);
        Ok(self)
    }

    /// Asks these questions, in this manner, in place of its own.
    #[must_use]
    pub fn with_questions(mut self, queries_name: &str, asked: Vec<Question>, manner: Manner) -> Self {
        self.queries_name = queries_name.to_owned();
        (self.questions.asked, self.manner) = (asked, manner);
        self
    }

    /// Ends seeks after `n` rows.
    #[must_use]
    pub fn with_max_rows(mut self, max_rows: u64) -> Self {
        self.manner.max_rows = max_rows;
        self
    }

    /// Sets which way seeks go.
    #[must_use]
    pub fn with_direction(mut self, direction: Direction) -> Self {
        self.manner.direction = direction;
        self
    }

    /// Keys that are written.
    pub fn keys(&self) -> &ByteColumn {
        &self.questions.keys
    }

    /// How filters see the keys.
    pub fn codec(&self) -> &GuardCodec {
        &self.codec
    }
}

/// Integers as eight big-endian bytes, anything else as it is.
fn codec_of(keys: &Keys) -> Result<GuardCodec> {
    match keys {
        Keys::U64(_) => GuardCodec::parse("fixed_be:8"),
        Keys::Bytes(_) => Ok(GuardCodec::bytes()),
    }
}
