//! Asks a filter that is in partitions.

use std::ops::Bound;

use lacuna_guard::GuardCodec;

use crate::in_place::{InPlace, ask_in_place};
use crate::partitions::directory::{Directory, Touched};
use crate::partitions::store::PartitionStore;
use crate::property::Property;

/// Bounds of a range.
pub(crate) type Bounds<'b> = (Bound<&'b [u8]>, Bound<&'b [u8]>);

/// The filter of one table. Whatever keeps a partition from being asked is "maybe", and was counted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PartitionedFilter<'a> {
    pub(crate) directory: Directory<'a>,
    pub(crate) store: &'a PartitionStore,
    pub(crate) codec: &'a GuardCodec,
}

impl PartitionedFilter<'_> {
    /// Whether a key can lie between the bounds; `false` proves that none does.
    pub(crate) fn may_contain_bounds(&self, lo: Bound<&[u8]>, hi: Bound<&[u8]>) -> bool {
        match self.directory.touched(lo, hi) {
            Touched::Certain => true,
            Touched::Partitions(mut partitions) => partitions.any(|partition| {
                self.ask(partition, |filter| filter.may_contain_bounds(lo, hi)).unwrap_or(true)
            }),
        }
    }

    /// As [`may_contain_bounds`](Self::may_contain_bounds), of many ranges: each partition is read once, and asked about all
    /// that touch it in one batch.
    pub(crate) fn may_contain_many<'b>(&self, bounds: impl Iterator<Item = Bounds<'b>>) -> Vec<bool> {
        let bounds: Vec<Bounds<'b>> = bounds.collect();
        let touched: Vec<Touched> = bounds.iter().map(|&(lo, hi)| self.directory.touched(lo, hi)).collect();
        let mut answers: Vec<bool> = touched.iter().map(|touched| *touched == Touched::Certain).collect();
        let mut open = by_partition(&touched);
        while let Some(&(partition, _)) = open.last() {
            let start = open.partition_point(|&(earlier, _)| earlier < partition);
            let places: Vec<usize> = open.drain(start..).map(|(_, place)| place).collect();
            let asked = places.iter().map(|&place| bounds[place]);
            let found = self.ask(partition, |filter| filter.may_contain_many(asked));
            let found = found.unwrap_or_else(|| vec![true; places.len()]);
            places.iter().zip(found).for_each(|(&place, found)| answers[place] |= found);
        }
        answers
    }

    /// The answer of one partition; `None` if it cannot be asked.
    fn ask<T>(&self, partition: usize, ask: impl FnOnce(InPlace<'_>) -> T) -> Option<T> {
        let place = self.directory.place(partition)?;
        let partition = self.store.partition(&place).ok()?;
        let property = Property { level: self.directory.level, sealed: partition.sealed() };
        let answer = ask_in_place(property, self.codec, ask);
        // The bytes are those that were written: a family that this code does not know.
        answer.inspect_err(|_| self.store.counters().damaged.add(1)).ok()
    }
}

/// Partitions with the places of the ranges that touch them, ascending.
fn by_partition(touched: &[Touched]) -> Vec<(usize, usize)> {
    let mut open = Vec::new();
    for (place, touched) in touched.iter().enumerate() {
        if let Touched::Partitions(partitions) = touched {
            open.extend(partitions.clone().map(|partition| (partition, place)));
        }
    }
    open.sort_unstable();
    open
}
