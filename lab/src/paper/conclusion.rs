//! What a paper concludes from its numbers, and whether ours say so too.
//!
//! A [`Conclusion`] names claims of its figure and bounds our number: "`REncoderPO` is the fastest from 26 bits" asks for a ratio of
//! at least 1. The verdict is computed from the claim wherever a table of claims is written, so it follows the data, and
//! [`read`](super::csv::read_claims) takes the claims from data that was measured before.

use super::model::{Claim, shown};

/// A bound on our number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    /// Not below this.
    AtLeast(f64),
    /// Not above this.
    AtMost(f64),
}

impl Bound {
    /// Whether `value` keeps it.
    pub(crate) fn is_kept_by(self, value: f64) -> bool {
        match self {
            Self::AtLeast(least) => value >= least,
            Self::AtMost(most) => value <= most,
        }
    }
}

impl std::fmt::Display for Bound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::AtLeast(least) => write!(f, "at least {}", shown(*least)),
            Self::AtMost(most) => write!(f, "at most {}", shown(*most)),
        }
    }
}

/// A bound that a conclusion of the paper puts on some claims.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Conclusion {
    /// A part of the text of each claim that it is about.
    pub about: &'static str,
    /// The bound.
    pub bound: Bound,
}

impl Conclusion {
    /// Claims that have `about` in their text are at least `least`.
    pub(crate) const fn at_least(about: &'static str, least: f64) -> Self {
        Self { about, bound: Bound::AtLeast(least) }
    }

    /// Claims that have `about` in their text are at most `most`.
    pub(crate) const fn at_most(about: &'static str, most: f64) -> Self {
        Self { about, bound: Bound::AtMost(most) }
    }
}

/// What the first of `conclusions` that is about `claim` asks for, and whether ours is so; `-` if none is.
pub(super) fn verdict(claim: &Claim, conclusions: &[Conclusion]) -> String {
    let Some(conclusion) = conclusions.iter().find(|one| claim.what.contains(one.about)) else {
        return "-".to_owned();
    };
    let bound = conclusion.bound;
    match claim.ours {
        None => format!("{bound}: not yet"),
        Some(ours) if bound.is_kept_by(ours) => format!("{bound}: holds"),
        Some(_) => format!("{bound}: **does not hold here**"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FASTER: [Conclusion; 2] =
        [Conclusion::at_least("speed of A", 2.0), Conclusion::at_most("rate of A", 0.1)];

    fn judged(what: &str, ours: Option<f64>) -> String {
        verdict(&Claim::new(what, 3.0, ours), &FASTER)
    }

    #[test]
    fn a_wrong_number_turns_the_verdict() {
        assert_eq!(judged("speed of A over B", Some(2.0)), "at least 2.00: holds");
        assert_eq!(judged("speed of A over B", Some(1.99)), "at least 2.00: **does not hold here**");
        assert_eq!(judged("rate of A", Some(0.1)), "at most 0.100: holds");
        assert_eq!(judged("rate of A", Some(0.11)), "at most 0.100: **does not hold here**");
        assert_eq!(judged("rate of A", Some(f64::NAN)), "at most 0.100: **does not hold here**");
    }

    #[test]
    fn what_is_unknown_or_not_concluded_has_no_verdict() {
        assert_eq!(judged("speed of A over B", None), "at least 2.00: not yet");
        assert_eq!(judged("speed of B", Some(1.0)), "-");
    }
}
