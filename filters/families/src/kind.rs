//! The identity of a family: its number in the bytes and its name in a spec.

use lacuna_base::KindId;

/// A family of filters; two are the same if number and name are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Kind {
    number: u16,
    name: &'static str,
}

impl Kind {
    /// A family's number, which is in every sealed filter and never changes its meaning, and its name.
    pub(crate) const fn new(number: u16, name: &'static str) -> Self {
        Self { number, name }
    }

    /// Its number in the envelope.
    pub(crate) fn id(self) -> KindId {
        KindId(self.number)
    }

    /// Its name in a spec.
    pub const fn name(self) -> &'static str {
        self.name
    }
}
