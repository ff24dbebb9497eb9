//! What the tests share: seeded numbers and kernels that ask everything of a structure.

use lacuna_succinct::arch::{Isa, IsaKind, Kernel, dispatch_on};
use lacuna_succinct::elias_fano::Layout;

/// A small generator of numbers; the same seed gives the same numbers.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}

/// One question and all that a sequence says about it.
pub(crate) struct AskAll<'a> {
    pub(crate) layout: &'a Layout,
    pub(crate) bytes: &'a [u8],
    pub(crate) lo: u64,
    pub(crate) hi: u64,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answers {
    pub(crate) any: bool,
    pub(crate) rank: u64,
    pub(crate) predecessor: Option<u64>,
    pub(crate) successor: Option<u64>,
    pub(crate) at_rank: Option<u64>,
}

impl Answers {
    /// By definition, for ascending `values`.
    pub(crate) fn by_definition(values: &[u64], lo: u64, hi: u64) -> Self {
        let rank = values.partition_point(|&value| value < lo);
        let through = values.partition_point(|&value| value <= lo);
        Self {
            any: values.get(rank).is_some_and(|&value| value <= hi),
            rank: rank as u64,
            predecessor: through.checked_sub(1).map(|index| values[index]),
            successor: values.get(rank).copied(),
            at_rank: values.get(rank).copied(),
        }
    }
}

impl Kernel for AskAll<'_> {
    type Output = Answers;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Answers {
        let Self { layout, bytes, lo, hi } = self;
        layout.prefetch_directory(bytes, lo);
        let probe = layout.prepare(isa, bytes, lo, hi);
        let rank = layout.rank(isa, bytes, lo);
        let any = layout.any_in(isa, bytes, lo, hi);
        assert_eq!(any, layout.finish(isa, bytes, &probe));
        Answers {
            any,
            rank,
            predecessor: layout.predecessor(isa, bytes, lo),
            successor: layout.successor(isa, bytes, lo),
            at_rank: layout.get(isa, bytes, rank),
        }
    }
}

/// The answers of every instruction set of this machine.
pub(crate) fn ask_all(layout: &Layout, bytes: &[u8], lo: u64, hi: u64) -> Vec<(IsaKind, Answers)> {
    IsaKind::ALL
        .into_iter()
        .filter_map(|kind| Some((kind, dispatch_on(kind, AskAll { layout, bytes, lo, hi })?)))
        .collect()
}
