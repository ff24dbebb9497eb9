//! Sorting values that are spread evenly below a bound, in linear time.
//!
//! Hashed keys are almost uniform, so their high bits give their approximate place: one pass scatters them into parts
//! of a few thousand, each part is scattered again into groups of a few, and insertion sort finishes. Parts that turn
//! out much larger than the average (keys in long consecutive runs) go to the standard sort.

use std::ops::Range;

use lacuna_succinct::threads::on_threads;

use crate::threads::piece_of;

/// Values a part should have: its 8-byte values and their scattered copy stay in the first-level caches.
const PART: usize = 2_048;
/// Values a group inside a part should have.
const GROUP: usize = 2;
/// Below this many values the standard sort is as fast.
const FEW: usize = 1_024;

/// Sorts `values`, which are at most `last`.
pub(crate) fn sort_below(values: &mut [u64], last: u64) {
    if values.len() <= FEW {
        values.sort_unstable();
        return;
    }
    let parts = (values.len() / PART).next_power_of_two().max(1);
    let shift = shift_for(last, parts);
    let mut scattered = vec![0; values.len()];
    let ends = scatter(values, &mut scattered, shift, parts);
    let mut groups = Vec::new();
    let mut start = 0;
    for end in ends {
        sort_part(&mut scattered[start..end], &mut values[start..end], shift, &mut groups);
        start = end;
    }
}

/// The values that `value` gives for `keys`, which are at most `last`: sorted and without repeats, as `pieces` runs that follow one
/// another, each made by a thread.
pub(crate) fn sorted_runs(
    keys: &[u64],
    value: impl Fn(u64) -> u64 + Sync,
    last: u64,
    pieces: usize,
) -> Vec<Vec<u64>> {
    let parts = (keys.len() / PART).next_power_of_two();
    let shift = shift_for(last, parts);
    let scattered = on_threads(pieces, |piece| {
        let keys = &keys[piece_of(keys.len(), pieces, piece)];
        let values: Vec<u64> = keys.iter().map(|&key| value(key)).collect();
        let mut scattered = vec![0; values.len()];
        let ends = scatter(&values, &mut scattered, shift, parts);
        Scattered { values: scattered, ends }
    });
    let bounds = even_bounds(&scattered, parts, pieces);
    on_threads(pieces, |piece| sorted_run(&scattered, bounds[piece]..bounds[piece + 1], shift))
}

/// A piece of the values by part.
struct Scattered {
    values: Vec<u64>,
    /// Where each part ends.
    ends: Vec<usize>,
}

impl Scattered {
    fn part(&self, part: usize) -> &[u64] {
        let start = if part == 0 { 0 } else { self.ends[part - 1] };
        &self.values[start..self.ends[part]]
    }
}

/// Cuts `parts` parts into `pieces` stretches of about as many values: their first parts, and the number of parts.
fn even_bounds(scattered: &[Scattered], parts: usize, pieces: usize) -> Vec<usize> {
    let end = |part: usize| scattered.iter().map(|piece| piece.ends[part]).sum::<usize>();
    let all = end(parts - 1);
    let mut part = 0;
    let mut bounds = vec![0];
    for piece in 1..pieces {
        let before = piece_of(all, pieces, piece).start;
        while part < parts && end(part) <= before {
            part += 1;
        }
        bounds.push(part);
    }
    bounds.push(parts);
    bounds
}

/// The values of consecutive parts.
fn sorted_run(scattered: &[Scattered], parts: Range<usize>, shift: u32) -> Vec<u64> {
    let values = |part: usize| scattered.iter().map(move |piece| piece.part(part));
    let len = parts.clone().flat_map(values).map(<[u64]>::len).sum();
    let mut run = vec![0; len];
    let (mut from, mut groups) = (Vec::new(), Vec::new());
    let mut start = 0;
    for part in parts {
        from.clear();
        values(part).for_each(|values| from.extend_from_slice(values));
        let end = start + from.len();
        sort_part(&mut from, &mut run[start..end], shift, &mut groups);
        start = end;
    }
    run.dedup();
    run
}

/// Bits to shift so that values up to `last` fall into `parts` (a power of two) parts.
fn shift_for(last: u64, parts: usize) -> u32 {
    (u64::BITS - last.leading_zeros()).saturating_sub(parts.ilog2())
}

#[inline(always)]
fn part_of(value: u64, shift: u32, mask: usize) -> usize {
    #[expect(clippy::cast_possible_truncation, reason = "the mask keeps fewer bits than usize has")]
    let part = value.unbounded_shr(shift) as usize & mask;
    part
}

/// Copies `from` to `to`, ordered by `value >> shift` below `parts`; returns where each part ends.
fn scatter(from: &[u64], to: &mut [u64], shift: u32, parts: usize) -> Vec<usize> {
    let mask = parts - 1;
    let mut next = vec![0usize; parts];
    for &value in from {
        next[part_of(value, shift, mask)] += 1;
    }
    let mut total = 0;
    for place in &mut next {
        total += std::mem::replace(place, total);
    }
    for &value in from {
        let place = &mut next[part_of(value, shift, mask)];
        to[*place] = value;
        *place += 1;
    }
    next
}

/// Sorts the values of one part of `from` into `to`.
fn sort_part(from: &mut [u64], to: &mut [u64], shift: u32, next: &mut Vec<u32>) {
    if from.len() < GROUP * 2 || from.len() > 16 * PART {
        to.copy_from_slice(from);
        to.sort_unstable();
        return;
    }
    let groups = (from.len() / GROUP).next_power_of_two();
    let shift = shift.saturating_sub(groups.ilog2());
    let mask = groups - 1;
    next.clear();
    next.resize(groups, 0);
    for &value in &*from {
        next[part_of(value, shift, mask)] += 1;
    }
    let mut total = 0;
    for place in next.iter_mut() {
        total += std::mem::replace(place, total);
    }
    for &value in &*from {
        let place = &mut next[part_of(value, shift, mask)];
        to[*place as usize] = value;
        *place += 1;
    }
    if is_even(next) { insertion_sort(to) } else { to.sort_unstable() }
}

/// Whether no group is so large that insertion sort would be slow.
fn is_even(ends: &[u32]) -> bool {
    let mut start = 0;
    ends.iter().all(|&end| end - std::mem::replace(&mut start, end) <= 64)
}

fn insertion_sort(values: &mut [u64]) {
    for place in 1..values.len() {
        let value = values[place];
        let mut hole = place;
        while hole > 0 && values[hole - 1] > value {
            values[hole] = values[hole - 1];
            hole -= 1;
        }
        values[hole] = value;
    }
}

#[cfg(test)]
mod tests {
    use lacuna_base::hash::{IntegerHasher, reduce};

    use super::*;

    fn check(mut values: Vec<u64>, last: u64) {
        let mut expected = values.clone();
        expected.sort_unstable();
        for pieces in [1, 2, 3, 8] {
            let runs = sorted_runs(&values, |value| value, last, pieces);
            assert_eq!(runs.len(), pieces);
            let mut distinct = expected.clone();
            distinct.dedup();
            assert!(runs.concat() == distinct, "{} values up to {last} by {pieces} threads", values.len());
        }
        sort_below(&mut values, last);
        assert!(values == expected, "{} values up to {last}", values.len());
    }

    #[test]
    fn even_values_are_sorted() {
        let hasher = IntegerHasher::new(1);
        for count in [0u64, 1, 2, 1_024, 1_025, 5_000, 300_000] {
            for last in [0, 1, 1_000, 1 << 35, u64::MAX - 1] {
                check((0..count).map(|i| reduce(hasher.hash(i), last + 1)).collect(), last);
            }
        }
    }

    #[test]
    fn uneven_values_are_sorted() {
        let hasher = IntegerHasher::new(2);
        check((0..200_000u64).rev().collect(), u64::MAX);
        check((0..200_000u64).map(|i| (hasher.hash(i) >> 40 << 50) | (i & 0xFFF)).collect(), u64::MAX);
        check((0..100_000u64).map(|i| if i % 3 == 0 { 7 } else { hasher.hash(i) }).collect(), u64::MAX);
        check((0..100_000u64).map(|i| (1 << 63) + hasher.hash(i) % 50_000).collect(), u64::MAX);
    }
}
