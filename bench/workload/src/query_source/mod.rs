//! Where queries come from: a law, a count and a promise about the answer, named by one text.
//!
//! | text | each range |
//! | --- | --- |
//! | `points:N` | one key value, uniform between the smallest and the largest key; on byte strings a key with one byte after the common prefix changed |
//! | `uniform:N:LO-HI` | starts uniformly between the smallest and the largest key |
//! | `correlated:N:LO-HI:D` | starts 1 to D after a key |
//! | `split:N:LO-HI:D` | in turn one of `uniform` and one of `correlated` |
//! | `heldout:N:LO-HI` | lies around a key that was taken out of the set; one key in ten is |
//! | `offset:N:LO-HI:D` | starts exactly D after a key |
//! | `shift:N:A-B` | from A after a key to B after the same key |
//! | `lastbyte:N` | from a key that was taken out to the same key with its last byte plus one; one key in ten is taken out |
//! | `half:KIND:..` | any kind above, with half of the keys taken out and ranges made from all keys |
//! | `half:N`, `half:N:LO-HI` | half of the keys taken out; a range starts at one of all the keys (length 1 when not given) |
//!
//! N and lengths read like `1k` or `2^20`; LO-HI is the number of key values a range covers, uniform from LO to HI,
//! and may be one number. **Every range is empty** in the keys that stay. With `:hit` appended every range holds a
//! key that stays: `points` asks for keys, `uniform`, `heldout` and `lastbyte` lie around keys that stay, and
//! `correlated` starts at most D before one. With `:any` ranges are left as drawn, so that `half:points:N:any` asks
//! for present and absent keys alike.
//!
//! On byte strings, "after" and "length" count in the 8 bytes after the longest common prefix of all keys, read as
//! a big-endian integer and padded with zeros: after the prefix `user`, the key `userAB` is
//! `0x4142_0000_0000_0000`, and a range is `user` + both ends in 8 bytes. `points` and `lastbyte` work on the strings themselves; where the
//! last byte is 0xFF, the one before takes the carry.

mod parse;

use std::fmt;

use lacuna_base::Result;

use crate::draw::{TooFew, draw_workload};
use crate::numbers::with_commas;
use crate::{Keys, Lengths, Workload};

/// The law that the ranges follow; distances and lengths are in key values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryShape {
    /// Single keys.
    Points,
    /// Starts anywhere between the smallest and the largest key.
    Uniform {
        /// Length of the ranges.
        lengths: Lengths,
    },
    /// Starts shortly after a key.
    Correlated {
        /// Length of the ranges.
        lengths: Lengths,
        /// Largest distance between the key and the start; at least 1.
        degree: u64,
    },
    /// In turn uniform and correlated.
    Split {
        /// Length of the ranges.
        lengths: Lengths,
        /// As in [`QueryShape::Correlated`].
        degree: u64,
    },
    /// Lies around a key that was taken out.
    HeldOut {
        /// Length of the ranges.
        lengths: Lengths,
    },
    /// Starts at a fixed distance after a key.
    Offset {
        /// Length of the ranges.
        lengths: Lengths,
        /// Distance between the key and the start.
        distance: u64,
    },
    /// Both ends at fixed distances after a key.
    Shift {
        /// Distance of the start.
        from: u64,
        /// Distance of the end, not below `from`.
        to: u64,
    },
    /// From a key to the same key with its last byte plus one.
    LastByte,
}

/// The promise about the answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    /// No range holds a key.
    Empty,
    /// Every range holds a key.
    Hit,
    /// Ranges are left as drawn.
    Any,
}

/// Which keys stay in the set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// All of them.
    All,
    /// Nine in ten.
    NineTenths,
    /// Every other one, at random.
    Half,
}

/// A query workload before it meets its keys.
///
/// ```
/// use lacuna_workload::{Keys, Queries, QuerySource, is_empty};
///
/// let source = QuerySource::parse("correlated:100:1-4:10")?;
/// let workload = source.workload(Keys::from_u64s(vec![0, 1_000, u64::MAX]), 7)?;
/// let Queries::U64(ranges) = &workload.queries else { panic!("integers stay integers") };
/// assert!(ranges.iter().all(|&(low, high)| is_empty(&[0, 1_000, u64::MAX], low, high)));
/// # Ok::<(), lacuna_workload::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuerySource {
    /// The law that the ranges follow.
    pub shape: QueryShape,
    /// Number of ranges.
    pub count: usize,
    /// The promise about the answers.
    pub want: Want,
    /// Which keys stay in the set.
    pub kept: Kept,
}

impl QuerySource {
    /// Reads one of `points:N`, `uniform:N:LO-HI`, `correlated:N:LO-HI:D`, `split:N:LO-HI:D`, `heldout:N:LO-HI`,
    /// `offset:N:LO-HI:D`, `shift:N:A-B`, `lastbyte:N`, `half:N[:LO-HI]` or `half:` before any of them, each with an
    /// optional `:hit` or `:any`.
    ///
    /// # Errors
    ///
    /// `InvalidInput` that names the wrong part and the form of the kind.
    pub fn parse(text: &str) -> Result<Self> {
        parse::parse(text)
    }

    /// Splits `keys` into those that stay and those taken out, and draws the queries from `seed`.
    ///
    /// # Errors
    ///
    /// `InvalidInput` when the kind needs more keys than there are, or when too few ranges can be found that are as
    /// promised; the message then says how many were.
    pub fn workload(&self, keys: Keys, seed: u64) -> Result<Workload> {
        self.draw(keys, seed, TooFew::Refuse)
    }

    /// As [`workload`](Self::workload), but with fewer queries, or none, where fewer are found: for a sample, which may be small.
    ///
    /// # Errors
    ///
    /// `InvalidInput` when the kind needs more keys than there are.
    pub fn workload_of_found(&self, keys: Keys, seed: u64) -> Result<Workload> {
        self.draw(keys, seed, TooFew::Keep)
    }

    fn draw(&self, keys: Keys, seed: u64, too_few: TooFew) -> Result<Workload> {
        draw_workload(self, keys, seed, too_few)
            .map_err(|error| error.with_context(format!("queries `{self}`")))
    }

    /// Two lines for a person: how many of what, and how they are drawn.
    pub fn describe(&self) -> String {
        let promise = match self.want {
            Want::Empty => "empty ranges",
            Want::Hit => "ranges that hold a key",
            Want::Any => "ranges as drawn",
        };
        let kept = match self.kept {
            Kept::All => "",
            Kept::NineTenths => "; one key in ten is taken out",
            Kept::Half => "; half of the keys are taken out, ranges come from all of them",
        };
        format!("{} {promise} ({self})\n{}{kept}", with_commas(self.count as u64), self.shape.describe())
    }
}

impl QueryShape {
    /// The name in a query source, such as `correlated`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Points => "points",
            Self::Uniform { .. } => "uniform",
            Self::Correlated { .. } => "correlated",
            Self::Split { .. } => "split",
            Self::HeldOut { .. } => "heldout",
            Self::Offset { .. } => "offset",
            Self::Shift { .. } => "shift",
            Self::LastByte => "lastbyte",
        }
    }

    fn describe(self) -> String {
        match self {
            Self::Points => "single keys".to_owned(),
            Self::Uniform { lengths } => format!("uniform starts, {}", shown(lengths)),
            Self::Correlated { lengths, degree } => {
                format!("starts at most {} from a key, {}", with_commas(degree), shown(lengths))
            }
            Self::Split { lengths, degree } => format!(
                "in turn uniform starts and starts at most {} from a key, {}",
                with_commas(degree),
                shown(lengths)
            ),
            Self::HeldOut { lengths } => format!("ranges around keys, {}", shown(lengths)),
            Self::Offset { lengths, distance } => {
                format!("starts {} after a key, {}", with_commas(distance), shown(lengths))
            }
            Self::Shift { from, to } => {
                format!("from {} to {} after a key", with_commas(from), with_commas(to))
            }
            Self::LastByte => "from a key to the same key with its last byte plus one".to_owned(),
        }
    }
}

fn shown(lengths: Lengths) -> String {
    format!("each {} to {} key values long", with_commas(lengths.shortest()), with_commas(lengths.longest()))
}

impl fmt::Display for QuerySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let half = if self.kept == Kept::Half { "half:" } else { "" };
        write!(f, "{half}{}:{}", self.shape.name(), self.count)?;
        match self.shape {
            QueryShape::Points | QueryShape::LastByte => {}
            QueryShape::Uniform { lengths } | QueryShape::HeldOut { lengths } => write!(f, ":{lengths}")?,
            QueryShape::Correlated { lengths, degree } | QueryShape::Split { lengths, degree } => {
                write!(f, ":{lengths}:{degree}")?;
            }
            QueryShape::Offset { lengths, distance } => write!(f, ":{lengths}:{distance}")?,
            QueryShape::Shift { from, to } => write!(f, ":{from}-{to}")?,
        }
        f.write_str(match self.want {
            Want::Empty => "",
            Want::Hit => ":hit",
            Want::Any => ":any",
        })
    }
}
