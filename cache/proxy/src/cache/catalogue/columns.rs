//! Types of columns: what may be compared, and what may be shown.

use crate::recognise::strict::{Moment, NUMERIC};

/// Types whose texts and bytes depend on nothing but the value and the settings of the session. Those of users, and those
/// that name things of the catalogue, are not among them.
const SHOWN: [u32; 44] = [
    16, 17, 18, 19, 20, 21, 23, 25, 114, 650, 700, 701, 774, 790, 829, 869, 1000, 1001, 1002, 1005, 1007,
    1009, 1014, 1015, 1016, 1021, 1022, 1042, 1043, 1082, 1083, 1114, 1115, 1182, 1184, 1185, 1186, 1231,
    1266, 1560, 1562, 1700, 2950, 3802,
];

/// What is known of a column beside its type.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Traits {
    /// Equal texts are the same.
    pub(super) is_deterministic: bool,
    /// The modifier of the type, by which the server rounds or cuts; -1 without one.
    pub(super) modifier: i32,
    /// Its collation orders texts by their bytes.
    pub(super) is_bytewise: bool,
}

/// What is known of a column of texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Texts {
    /// Their order is that of their bytes, and not that of a language.
    pub(crate) is_bytewise: bool,
    /// The length of a `varchar(20)`: what is longer by spaces alone is cut when it is written.
    pub(crate) max_chars: Option<usize>,
}

/// What is known of a column's type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `smallint`, `integer` or `bigint`.
    Integer,
    /// A date or a timestamp that is kept as it is written.
    Moment(Moment),
    /// `numeric`, and if it has a modifier the digits after the point to which it is rounded when it is written.
    Numeric(Option<i32>),
    Bool,
    /// `text` or `varchar` of which equal values have equal bytes.
    Text(Texts),
    Uuid,
    /// `text` or `varchar` under a collation that is not deterministic: shown, and never compared. Equal values may have other bytes.
    LooseText,
    /// Shown, and never compared.
    Shown,
    /// Neither.
    Other,
}

impl Kind {
    /// The kind of a type by its number. Two texts of a collation that is not deterministic may be equal without being
    /// the same.
    pub(super) fn of(type_number: u32, Traits { is_deterministic, modifier, is_bytewise }: Traits) -> Self {
        let is_exact = modifier == -1;
        match type_number {
            20 | 21 | 23 => Self::Integer,
            1_082 => Self::Moment(Moment::Date),
            1_114 if is_exact => Self::Moment(Moment::Timestamp),
            1_184 if is_exact => Self::Moment(Moment::Timestamptz),
            16 => Self::Bool,
            25 | 1_043 if is_deterministic || is_bytewise => {
                Self::Text(Texts { is_bytewise, max_chars: max_chars(modifier) })
            }
            25 | 1_043 => Self::LooseText,
            2_950 => Self::Uuid,
            NUMERIC => Self::Numeric(scale(modifier)),
            other if SHOWN.contains(&other) => Self::Shown,
            _ => Self::Other,
        }
    }

    /// Whether replies can be kept that are bounded by it: by ranges, or by single values at least.
    pub(crate) const fn is_registrable(self) -> bool {
        self.is_ordered() || matches!(self, Self::Text(_))
    }

    /// Whether ranges of it can be kept.
    pub(crate) const fn is_ordered(self) -> bool {
        self.is_counted()
            || matches!(self, Self::Text(Texts { is_bytewise: true, .. }) | Self::Uuid | Self::Numeric(_))
    }

    /// Whether its values are integers to the server, so that there is a next one.
    pub(crate) const fn is_counted(self) -> bool {
        matches!(self, Self::Integer | Self::Moment(_))
    }

    pub(crate) const fn is_shown(self) -> bool {
        !matches!(self, Self::Other)
    }
}

/// The length in the modifier of a `varchar`.
const fn max_chars(modifier: i32) -> Option<usize> {
    const HEADER: i32 = 4;
    if modifier < HEADER { None } else { Some((modifier - HEADER).unsigned_abs() as usize) }
}

/// The scale in the modifier of a `numeric`: eleven bits with a sign. Before PostgreSQL 15 it had no sign and was at most 1,000,
/// which is the same in these bits.
const fn scale(modifier: i32) -> Option<i32> {
    const HEADER: i32 = 4;
    if modifier < HEADER { None } else { Some((((modifier - HEADER) & 0x7ff) ^ 1_024) - 1_024) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The modifiers of `numeric`, `numeric(10, 2)`, `numeric(1000)`, `numeric(3, -2)`, `numeric(1000, 1000)` and
    /// `numeric(1, -1000)` by `atttypmod` of PostgreSQL 15.
    #[test]
    fn modifiers_have_a_scale() {
        let cases = [
            (-1, None),
            (655_366, Some(2)),
            (65_536_004, Some(0)),
            (198_658, Some(-2)),
            (65_537_004, Some(1_000)),
            (66_588, Some(-1_000)),
        ];
        for (modifier, expected) in cases {
            assert_eq!(scale(modifier), expected, "{modifier}");
        }
    }
}
