//! The store: parts that hold keys, each with a filter before it.

use std::ops::Range;
use std::time::Instant;

use lacuna_base::internal::KeyColumn;
use lacuna_base::{Error, KeyRange, Result, SortedKeys};

use super::part::{Found, Part, add_filters, count_where, overlaps, places_in};
use lacuna_bench::BenchKey;

/// How the keys are spread over parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Overlapping sorted tables: key i of the set goes to table i modulo `table_count`.
    SsTables {
        /// Number of tables.
        table_count: usize,
    },
    /// Leaves of a B+tree: consecutive keys.
    Leaves {
        /// Keys of a leaf; the last may have fewer.
        keys_per_leaf: usize,
    },
}

impl Layout {
    fn part_count(self, key_count: usize) -> usize {
        match self {
            Self::SsTables { table_count } => table_count,
            Self::Leaves { keys_per_leaf } => key_count.div_ceil(keys_per_leaf),
        }
    }

    /// Place in the set of key `index` of part `part`.
    fn position(self, part: usize, index: usize) -> usize {
        match self {
            Self::SsTables { table_count } => index * table_count + part,
            Self::Leaves { keys_per_leaf } => part * keys_per_leaf + index,
        }
    }

    fn keys_in_part(self, part: usize, key_count: usize) -> usize {
        match self {
            Self::SsTables { table_count } => (key_count - part.min(key_count)).div_ceil(table_count),
            Self::Leaves { keys_per_leaf } => (key_count - part * keys_per_leaf).min(keys_per_leaf),
        }
    }
}

/// How to build a store.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StorePlan<'a> {
    /// Spec of every filter, or [`OFF`](super::OFF).
    pub spec: &'a str,
    /// Budget of every filter, in bits per key.
    pub bits_per_key: f64,
    /// How the keys are spread.
    pub layout: Layout,
    /// Seed of the filters' hashes.
    pub seed: u64,
}

/// Keys in parts, each part with a filter before it.
///
/// ```
/// use lacuna_lab::two_level::{Layout, StorePlan, TwoLevelStore};
///
/// let keys: Vec<u64> = (0..10_000).map(|key| key << 40).collect();
/// let layout = Layout::Leaves { keys_per_leaf: 100 };
/// let plan = StorePlan { spec: "grafite", bits_per_key: 14.0, layout, seed: 1 };
/// let store = TwoLevelStore::<u64>::build(&keys, &plan)?;
/// assert_eq!(store.part_count(), 100);
/// # Ok::<(), lacuna_base::Error>(())
/// ```
#[derive(Debug)]
pub struct TwoLevelStore<K: BenchKey + ?Sized> {
    pub(super) parts: Vec<Part<K>>,
    /// First key of each leaf; empty for tables.
    first_keys: K::OwnedColumn,
    layout: Layout,
    build_ns: f64,
}

impl<K: BenchKey + ?Sized> TwoLevelStore<K> {
    /// Spreads the ascending, distinct `keys` over parts and builds a filter for each. Building and opening the
    /// filters is timed, spreading the keys is not.
    ///
    /// # Errors
    /// `InvalidInput` if the keys are out of order or none, the layout has no parts, or the spec does not exist;
    /// `BudgetTooSmall` if the family does not fit.
    pub fn build(keys: &K::OwnedColumn, plan: &StorePlan<'_>) -> Result<Self> {
        let sorted = SortedKeys::<K>::try_new(K::column(keys))?;
        let layout = plan.layout;
        let per_part = match layout {
            Layout::SsTables { table_count } => table_count,
            Layout::Leaves { keys_per_leaf } => keys_per_leaf,
        };
        if per_part == 0 || sorted.is_empty() {
            return Err(Error::invalid_input(
                "a store needs a key, a table, and a key in each leaf; one of them is 0",
            ));
        }
        let mut parts = spread(sorted, layout);
        let start = Instant::now();
        add_filters(&mut parts, plan)?;
        let build_ns = start.elapsed().as_nanos() as f64;
        let mut first_keys = K::OwnedColumn::default();
        if matches!(layout, Layout::Leaves { .. }) {
            parts.iter().for_each(|part| K::push(&mut first_keys, K::column(&part.keys).key(0)));
        }
        Ok(Self { parts, first_keys, layout, build_ns })
    }

    /// Number of tables or leaves.
    pub fn part_count(&self) -> usize {
        self.parts.len()
    }

    /// Time to build, seal and open all filters, in nanoseconds.
    pub fn build_ns(&self) -> f64 {
        self.build_ns
    }

    /// Sealed bytes of all filters, envelopes included.
    pub fn filter_bytes(&self) -> usize {
        self.parts.iter().filter_map(|part| part.filter.as_ref()).map(|filter| filter.size_in_bytes()).sum()
    }

    /// The parts that a query must ask, before any filter: those whose first and last key do not exclude it, or the
    /// leaves that the index names.
    pub(super) fn candidates(&self, range: KeyRange<'_, K>) -> impl Iterator<Item = usize> {
        let parts = match self.layout {
            Layout::SsTables { .. } => 0..self.parts.len(),
            Layout::Leaves { .. } => self.leaves_for(range),
        };
        let overlaps = move |part: &usize| match self.layout {
            Layout::SsTables { .. } => overlaps::<K>(&self.parts[*part].keys, range),
            Layout::Leaves { .. } => true,
        };
        parts.filter(overlaps)
    }

    fn leaves_for(&self, range: KeyRange<'_, K>) -> Range<usize> {
        let (lo, hi) = K::ends(range);
        let first_keys = K::column(&self.first_keys);
        let first = count_where::<K>(first_keys, |key| K::shorten(key) <= K::shorten(lo)).saturating_sub(1);
        let end = hi.map_or(self.parts.len(), |hi| {
            count_where::<K>(first_keys, |key| K::shorten(key) <= K::shorten(hi))
        });
        first..end.max(first)
    }

    /// Whether the filter of `part` lets a read through.
    #[inline]
    pub(super) fn may_hold(&self, part: usize, range: KeyRange<'_, K>) -> bool {
        self.parts[part].filter.as_ref().is_none_or(|filter| filter.may_contain_range(range))
    }

    /// Whether the store has filters at all.
    pub(super) fn has_filters(&self) -> bool {
        self.parts.iter().any(|part| part.filter.is_some())
    }

    /// Reads `part`: what it holds in `range`.
    pub(super) fn read(&self, part: usize, range: KeyRange<'_, K>) -> Found {
        let keys = K::column(&self.parts[part].keys);
        let mut found = Found::default();
        for index in places_in::<K>(keys, range) {
            found.keys += 1;
            found.place_sum += self.layout.position(part, index) as u64;
        }
        found
    }
}

fn spread<K: BenchKey + ?Sized>(keys: SortedKeys<'_, K>, layout: Layout) -> Vec<Part<K>> {
    let part = |part| {
        let mut column = K::OwnedColumn::default();
        for index in 0..layout.keys_in_part(part, keys.len()) {
            K::push(&mut column, keys.get(layout.position(part, index)));
        }
        Part::new(column)
    };
    (0..layout.part_count(keys.len())).map(part).collect()
}
