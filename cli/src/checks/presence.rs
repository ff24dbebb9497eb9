//! No false negative: every key is asked for, alone and within ranges that hold it.
//!
//! Around each key stand up to five ranges: from just after the key before it, up to just before the key after it, and
//! three short ones. For the keys 10, 20, 30 those of 20 are (10, 20], [20, 30) and, say, [17, 20], [20, 24], [3, 21].
//! Every range is asked alone and in a batch; both answers must be "maybe".

use std::ops::Bound::{Excluded, Included};
use std::ops::Range;

use lacuna_base::internal::KeyColumn as _;
use lacuna_base::{DynFilter, KeyRange, KeySpace, SortedKeys};
use lacuna_workload::Rng;

use super::CheckedSpace;

/// Keys whose ranges are asked in one call.
const CHUNK: usize = 256;
/// Stream of the distances, apart from those of keys and queries.
const STREAM: u64 = 0x7072_6573;

/// Counts of the filter's answers about keys that it holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Presence {
    /// Keys asked for alone.
    pub(crate) points: u64,
    /// How many of them were denied.
    pub(crate) denied_points: u64,
    /// Ranges asked that hold a key.
    pub(crate) ranges: u64,
    /// How many of them were denied.
    pub(crate) denied_ranges: u64,
    /// Ranges and points asked in batches.
    pub(crate) batched: u64,
    /// How many of them were answered otherwise than alone.
    pub(crate) differing: u64,
    /// The first range that was denied.
    pub(crate) first_denied: Option<String>,
}

impl Presence {
    /// Asks for every key of `keys`, from which the filter was built.
    pub(crate) fn check<K: CheckedSpace + ?Sized>(
        filter: &DynFilter<K>,
        keys: SortedKeys<'_, K>,
        seed: u64,
    ) -> Self {
        let mut rng = Rng::with_stream(seed, STREAM);
        let mut found = Self::default();
        for start in (0..keys.len()).step_by(CHUNK) {
            let places = start..keys.len().min(start + CHUNK);
            found.ask_points(filter, keys, places.clone());
            found.ask_between_neighbours(filter, keys, places.clone());
            found.ask_around(filter, keys, places, &mut rng);
        }
        found
    }

    fn ask_points<K: CheckedSpace + ?Sized>(
        &mut self,
        filter: &DynFilter<K>,
        keys: SortedKeys<'_, K>,
        places: Range<usize>,
    ) {
        let start = places.start;
        let points: Vec<KeyRange<'_, K>> = places.map(|place| K::point(keys.get(place))).collect();
        self.denied_points += self.ask_both_ways(filter, &points, |index| {
            filter.may_contain(keys.get(start + index)) && filter.may_contain_range(points[index])
        });
        self.points += points.len() as u64;
    }

    fn ask_between_neighbours<K: CheckedSpace + ?Sized>(
        &mut self,
        filter: &DynFilter<K>,
        keys: SortedKeys<'_, K>,
        places: Range<usize>,
    ) {
        let ranges: Vec<KeyRange<'_, K>> =
            places.flat_map(|place| between_neighbours(keys, place)).flatten().collect();
        self.ask_ranges(filter, &ranges);
    }

    fn ask_around<K: CheckedSpace + ?Sized>(
        &mut self,
        filter: &DynFilter<K>,
        keys: SortedKeys<'_, K>,
        places: Range<usize>,
        rng: &mut Rng,
    ) {
        let (mut lows, mut highs) = (K::OwnedColumn::default(), K::OwnedColumn::default());
        for place in places {
            K::around(keys.get(place), rng, &mut |low, high| {
                K::push(&mut lows, low);
                K::push(&mut highs, high);
            });
        }
        let (lows, highs) = (K::column(&lows), K::column(&highs));
        let ranges: Vec<KeyRange<'_, K>> = (0..lows.key_count())
            .filter_map(|index| K::range(Included(lows.key(index)), Included(highs.key(index))))
            .collect();
        self.ask_ranges(filter, &ranges);
    }

    fn ask_ranges<K: CheckedSpace + ?Sized>(&mut self, filter: &DynFilter<K>, ranges: &[KeyRange<'_, K>]) {
        self.denied_ranges +=
            self.ask_both_ways(filter, ranges, |index| filter.may_contain_range(ranges[index]));
        self.ranges += ranges.len() as u64;
    }

    /// How many of the ranges were denied, in a batch or `alone`.
    fn ask_both_ways<K: CheckedSpace + ?Sized>(
        &mut self,
        filter: &DynFilter<K>,
        ranges: &[KeyRange<'_, K>],
        alone: impl Fn(usize) -> bool,
    ) -> u64 {
        let mut answers = vec![false; ranges.len()];
        filter.may_contain_ranges(ranges, &mut answers);
        let mut denied = 0;
        for (index, batched) in answers.into_iter().enumerate() {
            let alone = alone(index);
            self.differing += u64::from(alone != batched);
            if !(alone && batched) {
                denied += 1;
                self.first_denied.get_or_insert_with(|| shown::<K>(ranges[index]));
            }
        }
        self.batched += ranges.len() as u64;
        denied
    }
}

/// Both ends of a range, for a sentence.
fn shown<K: CheckedSpace + ?Sized>(range: KeyRange<'_, K>) -> String {
    let (low, high) = K::ends(range);
    format!("{} to {}", K::shown(low), high.map_or("the end".to_owned(), |high| K::shown(high)))
}

/// From after the key before the one at `place`, and up to before the key after it.
fn between_neighbours<'a, K: KeySpace + ?Sized>(
    keys: SortedKeys<'a, K>,
    place: usize,
) -> [Option<KeyRange<'a, K>>; 2] {
    let key = keys.get(place);
    let before = place.checked_sub(1).map(|before| keys.get(before));
    let after = (place + 1 < keys.len()).then(|| keys.get(place + 1));
    [
        before.and_then(|before| K::range(Excluded(before), Included(key))),
        after.and_then(|after| K::range(Included(key), Excluded(after))),
    ]
}

#[cfg(test)]
mod tests {
    use lacuna_base::{Budget, BuildPlan, ByteColumn};

    use super::*;

    impl Presence {
        fn nothing_denied(&self) -> bool {
            (self.denied_points, self.denied_ranges, self.differing, &self.first_denied) == (0, 0, 0, &None)
        }
    }

    fn filter_over(keys: &[u64]) -> Box<DynFilter<u64>> {
        let plan = BuildPlan::new(Budget::bits_per_key(14.0).unwrap());
        let spec = lacuna_families::spec::<u64>("bloom").unwrap();
        let sealed = spec.build(SortedKeys::try_new(keys).unwrap(), &plan).unwrap();
        lacuna_families::open::<u64, _>(sealed).unwrap()
    }

    #[test]
    fn keys_of_the_filter_are_found() {
        let keys: Vec<u64> = (0..1_000).map(|key| key * 1_000_003).collect();
        let found = Presence::check(&*filter_over(&keys), SortedKeys::try_new(keys.as_slice()).unwrap(), 1);
        assert!(found.nothing_denied(), "{found:?}, seed 1");
        assert_eq!((found.points, found.ranges), (1_000, 2 * 999 + 3 * 1_000));
    }

    #[test]
    fn keys_of_another_set_are_missed() {
        let keys: Vec<u64> = (0..1_000).map(|key| key * 1_000_003).collect();
        let others: Vec<u64> = keys.iter().map(|key| key + 500_000).collect();
        let found = Presence::check(&*filter_over(&others), SortedKeys::try_new(keys.as_slice()).unwrap(), 1);
        assert!(
            found.denied_points > 900 && found.denied_ranges > 800 && found.first_denied.is_some(),
            "{found:?}, seed 1"
        );
    }

    #[test]
    fn byte_keys_of_the_filter_are_found() {
        let keys: ByteColumn = ["", "a", "a\0", "ab", "\u{ff}"].iter().collect();
        let keys = SortedKeys::<[u8]>::try_new(&keys).unwrap();
        for family in lacuna_families::FAMILIES {
            let plan = BuildPlan::new(Budget::bits_per_key(64.0).unwrap());
            let sealed = lacuna_families::spec::<[u8]>(family.example).unwrap().build(keys, &plan).unwrap();
            let found = Presence::check(&*lacuna_families::open::<[u8], _>(sealed).unwrap(), keys, 1);
            assert!(found.nothing_denied(), "{}: {found:?}, seed 1", family.example);
        }
    }
}
