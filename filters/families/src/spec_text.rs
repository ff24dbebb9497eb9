//! The text of a spec: `family` or `family:flag,key=value,key=value`. The name of a family may itself have a flag in it.

use std::fmt::Display;
use std::ops::RangeInclusive;

use lacuna_base::{Error, Result};

/// Families that are named by another family's name and a flag.
const FLAGGED_NAMES: [&str; 1] = ["rencoder:published"];

/// Stands between the numbers of a list.
const LIST_JOINT: char = '+';

/// A spec split into its family and parameters; each parameter is taken once, and none may be left over.
#[derive(Debug)]
pub(crate) struct SpecText<'a> {
    family: &'a str,
    parameters: Vec<(&'a str, &'a str)>,
    flags: Vec<&'a str>,
    /// Names that were looked for with a value.
    known: Vec<String>,
}

impl<'a> SpecText<'a> {
    /// Splits `text`.
    pub(crate) fn parse(text: &'a str) -> Result<Self> {
        let (family, rest) = text.split_once(':').unwrap_or((text, ""));
        let (mut parameters, mut flags) = (Vec::new(), Vec::new());
        for part in rest.split(',').filter(|part| !part.is_empty()) {
            match part.split_once('=') {
                Some(parameter) => parameters.push(parameter),
                None if part.starts_with(|first: char| first.is_ascii_alphabetic()) => flags.push(part),
                None => {
                    let message = format!("`{part}` in spec `{text}` is not `parameter=value`");
                    return Err(Error::invalid_input(message));
                }
            }
        }
        let mut spec = Self { family, parameters, flags, known: Vec::new() };
        spec.take_flagged_name();
        Ok(spec)
    }

    /// Takes the flag that is part of the family's name, if there is one.
    fn take_flagged_name(&mut self) {
        for name in FLAGGED_NAMES {
            let is_meant = name
                .split_once(':')
                .is_some_and(|(family, flag)| self.family == family && self.take_flag(flag));
            if is_meant {
                self.family = name;
            }
        }
    }

    /// Takes the flag called `name`: whether it was given.
    pub(crate) fn take_flag(&mut self, name: &str) -> bool {
        let place = self.flags.iter().position(|flag| *flag == name);
        place.map(|place| self.flags.remove(place)).is_some()
    }

    /// The family's name.
    pub(crate) fn family(&self) -> &'a str {
        self.family
    }

    /// Takes the whole number called `key`, which must lie in `min..=max`.
    pub(crate) fn take(&mut self, key: &str, min: u32, max: u32) -> Result<Option<u32>> {
        self.known.push(key.to_owned());
        let Some(place) = self.parameters.iter().position(|(name, _)| *name == key) else { return Ok(None) };
        let (_, value) = self.parameters.remove(place);
        match value.parse() {
            Ok(number) if (min..=max).contains(&number) => Ok(Some(number)),
            _ => Err(Error::invalid_input(format!(
                "`{key}={value}` in a {} spec is not a whole number from {min} to {max}",
                self.family
            ))),
        }
    }

    /// Takes the whole numbers called `key`, joined by `+`: at most `max_len` of them, each in `range`; none if it was not given.
    pub(crate) fn take_list(
        &mut self,
        key: &str,
        range: RangeInclusive<u32>,
        max_len: usize,
    ) -> Result<Vec<u32>> {
        self.known.push(key.to_owned());
        let place = self.parameters.iter().position(|(name, _)| *name == key);
        let Some(place) = place else { return Ok(Vec::new()) };
        let (_, value) = self.parameters.remove(place);
        let numbers = value.split(LIST_JOINT).map(|number| number.parse().ok());
        let numbers: Option<Vec<u32>> =
            numbers.map(|number| number.filter(|number| range.contains(number))).collect();
        numbers.filter(|numbers| numbers.len() <= max_len).ok_or_else(|| {
            Error::invalid_input(format!(
                "`{key}={value}` in a {} spec is not 1 to {max_len} whole numbers from {} to {}, joined by `{LIST_JOINT}`",
                self.family,
                range.start(),
                range.end()
            ))
        })
    }

    /// Takes the parameter called `key` if its value is this `word`: whether it is.
    pub(crate) fn take_word(&mut self, key: &str, word: &str) -> bool {
        let place = self.parameters.iter().position(|(name, value)| *name == key && *value == word);
        place.map(|place| self.parameters.remove(place)).is_some()
    }

    /// Refuses whatever was not taken.
    pub(crate) fn finish(self) -> Result<()> {
        let family = self.family;
        let is_known = |key: &str| self.known.iter().any(|known| known == key);
        let problem = match (self.parameters.first(), self.flags.first()) {
            (None, None) => return Ok(()),
            (Some((key, _)), _) if is_known(key) => format!("{family} has `{key}` twice; give it once"),
            (None, Some(key)) if is_known(key) => {
                format!("`{key}` of {family} has no value; give `{key}=` and a number")
            }
            (Some((key, _)), _) | (None, Some(key)) => {
                let known: Vec<String> =
                    self.known.iter().map(|known| format!("; it takes `{known}=`")).collect();
                format!("{family} has no parameter `{key}`{}", known.concat())
            }
        };
        Err(Error::invalid_input(problem))
    }
}

/// Writes a spec back: `family` with those parameters that were given.
pub(crate) fn spec_text<T: Display>(family: &str, parameters: &[(&str, Option<T>)]) -> String {
    spec_text_with_flags(family, &[], parameters)
}

/// The value of a parameter that is a list; `None` if it is empty.
pub(crate) fn list_text(numbers: &[u32]) -> Option<String> {
    let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
    Some(numbers.join(&LIST_JOINT.to_string())).filter(|list| !list.is_empty())
}

/// As [`spec_text`], with flags before the parameters.
pub(crate) fn spec_text_with_flags<T: Display>(
    family: &str,
    flags: &[&str],
    parameters: &[(&str, Option<T>)],
) -> String {
    let flags = flags.iter().map(|flag| (*flag).to_owned());
    let given =
        parameters.iter().filter_map(|(key, value)| value.as_ref().map(|value| format!("{key}={value}")));
    let parts: Vec<String> = flags.chain(given).collect();
    if parts.is_empty() { family.to_owned() } else { format!("{family}:{}", parts.join(",")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_taken_by_name() {
        let mut spec = SpecText::parse("grafite:block=3,slice=1").expect("well formed");
        assert_eq!(spec.family(), "grafite");
        assert_eq!(spec.take("slice", 1, 9).expect("in range"), Some(1));
        assert_eq!(spec.take("block", 1, 9).expect("in range"), Some(3));
        assert_eq!(spec.take("block", 1, 9).expect("gone"), None);
        assert!(spec.finish().is_ok());
    }

    #[test]
    fn unknown_and_misshapen_parameters_are_refused() {
        assert!(SpecText::parse("bloom:7").is_err());
        assert!(SpecText::parse("bloom:k=x").expect("well formed").take("k", 1, 32).is_err());
        assert!(SpecText::parse("bloom:k=99").expect("well formed").take("k", 1, 32).is_err());
        assert!(SpecText::parse("bloom:z=1").expect("well formed").finish().is_err());
        assert!(SpecText::parse("bloom:ss").expect("well formed").finish().is_err());
    }

    #[test]
    fn what_is_wrong_with_a_parameter_is_said() {
        for (text, said) in [
            ("surf:real=4,real=5", "surf has `real` twice"),
            ("surf:real", "`real` of surf has no value; give `real=` and a number"),
            ("surf:rael=4", "surf has no parameter `rael`; it takes `real=`"),
            ("surf:rael", "surf has no parameter `rael`"),
        ] {
            let mut spec = SpecText::parse(text).expect("well formed");
            spec.take("real", 1, 9).expect("in range");
            let error = spec.finish().unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }

    #[test]
    fn flags_are_taken_by_name() {
        let mut spec = SpecText::parse("rencoder:ss,k=3").expect("well formed");
        assert!(spec.take_flag("ss"));
        assert!(!spec.take_flag("ss"));
        assert_eq!(spec.take("k", 1, 9).expect("in range"), Some(3));
        assert!(spec.finish().is_ok());
    }

    #[test]
    fn a_flag_may_belong_to_the_name() {
        for text in ["rencoder:published,k=3", "rencoder:k=3,published"] {
            let mut spec = SpecText::parse(text).expect("well formed");
            assert_eq!(spec.family(), "rencoder:published");
            assert_eq!(spec.take("k", 1, 9).expect("in range"), Some(3));
            assert!(spec.finish().is_ok(), "the flag was taken");
        }
        assert_eq!(SpecText::parse("rosetta:published").expect("well formed").family(), "rosetta");
        assert_eq!(SpecText::parse("rencoder:ss").expect("well formed").family(), "rencoder");
    }

    #[test]
    fn lists_are_taken_whole() {
        let take = |text: &str| SpecText::parse(text).expect("well formed").take_list("at", 1..=9, 3);
        assert_eq!(take("bloom:at=3+1+9").expect("in range"), [3, 1, 9]);
        assert_eq!(take("bloom:at=3").expect("in range"), [3]);
        assert_eq!(take("bloom").expect("not given"), []);
        for text in [
            "bloom:at=1+2+3+4",
            "bloom:at=0+1",
            "bloom:at=1+10",
            "bloom:at=",
            "bloom:at=1++2",
            "bloom:at=1+x",
        ] {
            let error = take(text).unwrap_err().to_string();
            assert!(error.contains("1 to 3 whole numbers from 1 to 9"), "{text}: {error}");
        }
        let list = ("at", list_text(&[3, 1, 9]));
        assert_eq!(spec_text("bloom", &[list, ("k", list_text(&[]))]), "bloom:at=3+1+9");
    }

    #[test]
    fn text_is_written_as_it_is_read() {
        assert_eq!(spec_text_with_flags("rencoder", &["ss"], &[("k", Some(3))]), "rencoder:ss,k=3");
        assert_eq!(spec_text::<u32>("bloom", &[("k", None)]), "bloom");
        assert_eq!(
            spec_text("grafite", &[("block", Some(3)), ("slice", None), ("heavy", Some(2))]),
            "grafite:block=3,heavy=2"
        );
    }
}
