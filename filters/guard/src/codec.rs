//! Codecs chosen by text, with the key space erased.
//!
//! An adapter gets byte strings from its engine and a text such as `fixed_be:8` from its user. The codec decides
//! whether filters stand over integers or over byte strings; everything above this page holds one [`GuardCodec`].

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use lacuna_base::{CodecId, Composite, Error, FixedBe, Head, Identity, KeyCodec, KeySpaceId, Result};

/// A codec into one of the two key spaces.
///
/// ```
/// use lacuna_base::KeySpaceId;
/// use lacuna_guard::GuardCodec;
///
/// let codec = GuardCodec::parse("fixed_be:8")?;
/// assert_eq!((codec.key_space(), codec.to_string()), (KeySpaceId::U64, "fixed_be:8".to_owned()));
/// assert_eq!(GuardCodec::parse("bytes")?, GuardCodec::bytes());
/// assert!(GuardCodec::parse("fixed_be:9").is_err());
/// # Ok::<(), lacuna_base::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum GuardCodec {
    /// Engine keys become integers.
    Integers {
        /// The map.
        codec: Arc<dyn KeyCodec<u64>>,
        /// Whether it keeps the engine's order. Only then are keys out of order an error.
        keeps_order: bool,
    },
    /// Engine keys become byte strings in the engine's order.
    Strings {
        /// The map.
        codec: Arc<dyn KeyCodec<[u8]>>,
    },
}

impl GuardCodec {
    /// Byte keys as they are.
    pub fn bytes() -> Self {
        Self::Strings { codec: Arc::new(Identity) }
    }

    /// Keys that are big-endian integers of `width` bytes, 1 to 8.
    ///
    /// # Errors
    /// `InvalidInput` for another width.
    pub fn fixed_be(width: usize) -> Result<Self> {
        Ok(Self::Integers { codec: Arc::new(FixedBe::try_new(width)?), keeps_order: true })
    }

    /// The first `width` bytes of each key, 1 to 8, as an integer.
    ///
    /// # Errors
    /// `InvalidInput` for another width.
    pub fn head(width: usize) -> Result<Self> {
        Ok(Self::Integers { codec: Arc::new(Head::try_new(width)?), keeps_order: true })
    }

    /// A prefix of `prefix` bytes, hashed, and the `suffix` bytes after it in their order.
    ///
    /// # Errors
    /// `InvalidInput` unless [`Composite`] takes the lengths.
    pub fn composite(prefix: usize, suffix: usize) -> Result<Self> {
        Ok(Self::Integers { codec: Arc::new(Composite::try_new(prefix, suffix)?), keeps_order: false })
    }

    /// The codec called `bytes`, `fixed_be:WIDTH`, `head:WIDTH` or `composite:PREFIX,SUFFIX`.
    ///
    /// # Errors
    /// `InvalidInput` for any other text and for parameters the codec does not take.
    pub fn parse(text: &str) -> Result<Self> {
        let (name, parameters) = text.split_once(':').unwrap_or((text, ""));
        match name {
            "bytes" if parameters.is_empty() => Ok(Self::bytes()),
            "fixed_be" => Self::fixed_be(number(text, parameters)?),
            "head" => Self::head(number(text, parameters)?),
            "composite" => {
                let (prefix, suffix) = parameters.split_once(',').ok_or_else(|| unknown(text))?;
                Self::composite(number(text, prefix)?, number(text, suffix)?)
            }
            _ => Err(unknown(text)),
        }
    }

    /// The codec with this number and parameter, as an envelope over `key_space` notes it.
    ///
    /// ```
    /// use lacuna_guard::GuardCodec;
    ///
    /// let codec = GuardCodec::parse("composite:4,6")?;
    /// assert_eq!(GuardCodec::from_id(codec.id(), codec.key_space())?, codec);
    /// # Ok::<(), lacuna_base::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Unsupported` if this version knows none over these keys.
    pub fn from_id(id: CodecId, key_space: KeySpaceId) -> Result<Self> {
        Self::numbered(id).filter(|codec| codec.id() == id && codec.key_space() == key_space).ok_or_else(
            || {
                let CodecId { number, parameter } = id;
                Error::unsupported(format!(
                    "codec {number} with parameter {parameter} is not known to this version"
                ))
            },
        )
    }

    fn numbered(id: CodecId) -> Option<Self> {
        let parameter = usize::try_from(id.parameter).ok()?;
        let codec = match id.number {
            0 => Ok(Self::bytes()),
            FixedBe::NUMBER => Self::fixed_be(parameter),
            Composite::NUMBER => Self::composite(parameter / 8, parameter % 8),
            Head::NUMBER => Self::head(parameter),
            _ => return None,
        };
        codec.ok()
    }

    /// Number and parameter, as the envelope notes them.
    pub fn id(&self) -> CodecId {
        match self {
            Self::Integers { codec, .. } => codec.id(),
            Self::Strings { codec } => codec.id(),
        }
    }

    /// Whether a larger key of the engine never becomes a smaller key of filters.
    pub fn keeps_order(&self) -> bool {
        match self {
            Self::Integers { keeps_order, .. } => *keeps_order,
            Self::Strings { .. } => true,
        }
    }

    /// Refuses a codec of the program's own under a number of ours: filters would be taken for those of another map, and deny keys
    /// that are there.
    ///
    /// # Errors
    /// `InvalidInput` that says which numbers are free.
    pub(crate) fn check_number(&self) -> Result<()> {
        let id = self.id();
        match Self::numbered(id).filter(|known| known.key_space() == self.key_space()) {
            Some(known) if known.to_string() != self.to_string() => Err(Error::invalid_input(format!(
                "the codec `{self}` has the number {} and the parameter {} of `{known}`, so that the filters of one would be asked as \
                 those of the other; take a number from 0x8000 on",
                id.number, id.parameter
            ))),
            _ => Ok(()),
        }
    }

    /// The key space that filters stand over.
    pub fn key_space(&self) -> KeySpaceId {
        match self {
            Self::Integers { .. } => KeySpaceId::U64,
            Self::Strings { .. } => KeySpaceId::Bytes,
        }
    }
}

fn number(text: &str, digits: &str) -> Result<usize> {
    digits.parse().map_err(|_| unknown(text))
}

fn unknown(text: &str) -> Error {
    Error::invalid_input(format!(
        "codec `{text}` does not exist; give `bytes`, `fixed_be:1` to `fixed_be:8`, `head:1` to `head:8`, or \
         `composite:PREFIX,SUFFIX`"
    ))
}

impl FromStr for GuardCodec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}

impl fmt::Display for GuardCodec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integers { codec, .. } => f.write_str(&codec.name()),
            Self::Strings { codec } => f.write_str(&codec.name()),
        }
    }
}

impl PartialEq for GuardCodec {
    fn eq(&self, other: &Self) -> bool {
        self.key_space() == other.key_space() && self.id() == other.id()
    }
}

impl Eq for GuardCodec {}

#[cfg(test)]
mod tests {
    use std::ops::Bound;

    use lacuna_base::{Cover, U64Range};

    use super::*;

    #[test]
    fn names_are_read_back() {
        for text in ["bytes", "fixed_be:1", "fixed_be:8", "head:8", "composite:4,6"] {
            let codec = GuardCodec::parse(text).unwrap();
            assert_eq!(codec.to_string(), text);
            assert_eq!(GuardCodec::from_id(codec.id(), codec.key_space()).unwrap(), codec);
        }
    }

    #[test]
    fn unknown_numbers_are_unsupported() {
        for (number, parameter) in [(0, 1), (1, 0), (1, 9), (2, 7), (2, 8), (3, 9), (4, 0), (1, u64::MAX)] {
            let id = CodecId { number, parameter };
            for key_space in [KeySpaceId::U64, KeySpaceId::Bytes] {
                let kind = GuardCodec::from_id(id, key_space).unwrap_err().kind();
                assert_eq!(kind, lacuna_base::ErrorKind::Unsupported, "{id:?}");
            }
        }
    }

    /// A codec of a program, under any number.
    #[derive(Debug)]
    struct Own(CodecId);

    impl KeyCodec<u64> for Own {
        fn id(&self) -> CodecId {
            self.0
        }
        fn name(&self) -> String {
            "own".to_owned()
        }
        fn key(&self, _: &[u8]) -> Result<u64> {
            Ok(0)
        }
        fn cover(&self, _: Bound<&[u8]>, _: Bound<&[u8]>) -> Cover<U64Range> {
            Cover::Unknown
        }
    }

    #[test]
    fn a_codec_of_a_program_takes_no_number_of_ours() {
        let check = |number, parameter| {
            let codec = Arc::new(Own(CodecId { number, parameter }));
            GuardCodec::Integers { codec, keeps_order: false }.check_number()
        };
        let problem = check(1, 8).unwrap_err().to_string();
        assert!(problem.contains("`own`") && problem.contains("`fixed_be:8`"), "{problem}");
        assert!(check(3, 4).is_err());
        assert!(check(0x8000, 8).is_ok());
        for text in ["bytes", "fixed_be:8", "head:8", "composite:4,6"] {
            GuardCodec::parse(text).unwrap().check_number().unwrap();
        }
    }

    #[test]
    fn wrong_names_are_refused() {
        for text in
            ["", "bytes:1", "fixed_be", "fixed_be:", "fixed_be:x", "composite:4", "composite:4,7", "utf8"]
        {
            assert!(GuardCodec::parse(text).is_err(), "{text}");
        }
    }
}
