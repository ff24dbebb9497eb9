//! A type of keys as it is asked for: moments with their unit, or without.
//!
//! `timestamp` leaves the unit to the keys and to the filter. One whose filter names no type has no other unit than the one
//! that is asked for, and a guess would be wrong by a factor of 1,000: `timestamp-s`, `timestamp-ms` and `timestamp-us`
//! say it.

use std::str::FromStr;

use lacuna_base::{Error, Result};
use lacuna_workload::{KeyType, TimeUnit};

/// The names of moments whose unit is said.
const MOMENTS: [(&str, TimeUnit); 3] = [
    ("timestamp-s", TimeUnit::Seconds),
    ("timestamp-ms", TimeUnit::Milliseconds),
    ("timestamp-us", TimeUnit::Microseconds),
];

/// What `--key-type` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AskedType {
    /// The type; of moments without a unit it has the finest.
    pub(crate) key_type: KeyType,
    names_unit: bool,
}

impl AskedType {
    /// The text that it is read from.
    pub(crate) fn name(self) -> &'static str {
        let named = MOMENTS.into_iter().find(|&(_, unit)| self.unit() == Some(unit));
        named.map_or(self.key_type.name(), |(name, _)| name)
    }

    /// The unit of moments, if it is said.
    pub(crate) fn unit(self) -> Option<TimeUnit> {
        self.key_type.time_unit().filter(|_| self.names_unit)
    }

    /// Whether these are moments whose unit is not said.
    pub(crate) fn lacks_unit(self) -> bool {
        self.key_type.time_unit().is_some() && !self.names_unit
    }

    /// Whether keys of type `noted` are what is asked for.
    pub(crate) fn fits(self, noted: KeyType) -> bool {
        self.key_type.name() == noted.name() && self.unit().is_none_or(|unit| noted.time_unit() == Some(unit))
    }
}

impl FromStr for AskedType {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match MOMENTS.into_iter().find(|(name, _)| *name == text) {
            Some((_, unit)) => Ok(Self { key_type: KeyType::Timestamp(unit), names_unit: true }),
            None => match text.parse() {
                Ok(key_type) => Ok(Self { key_type, names_unit: false }),
                Err(_) => Err(Error::invalid_input(format!(
                    "`{text}` is not a key type; give one of {}, {}",
                    KeyType::WRITTEN.map(KeyType::name).join(", "),
                    MOMENTS.map(|(name, _)| name).join(", ")
                ))),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for name in KeyType::WRITTEN.map(KeyType::name).into_iter().chain(MOMENTS.map(|(name, _)| name)) {
            let asked: AskedType = name.parse().unwrap();
            assert_eq!(asked.name(), name);
            assert_eq!(asked.lacks_unit(), name == "timestamp");
        }
        let why = "timestamp-ns".parse::<AskedType>().unwrap_err().to_string();
        assert!(why.contains("text, hex, timestamp-s, timestamp-ms, timestamp-us"), "{why}");
    }

    #[test]
    fn a_unit_that_is_said_is_kept() {
        for (name, unit) in MOMENTS {
            let fits = |asked: &str| asked.parse::<AskedType>().unwrap().fits(KeyType::Timestamp(unit));
            assert!(fits("timestamp") && fits(name));
            assert!(MOMENTS.iter().filter(|(other, _)| *other != name).all(|(other, _)| !fits(other)));
        }
    }
}
