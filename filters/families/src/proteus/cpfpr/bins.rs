//! Queries by the number of prefixes they ask for, in bins that double.
//!
//! All queries of a design with about as many prefixes have about the same chance of a false positive, so they are
//! counted together: bin i holds those with 2^i to 2^(i+1) - 1 prefixes, with their mean. What a query adds to a whole
//! run of trie depths is noted once, at the last of them, and summed up when all queries are in.

/// The bins of every pair of a trie depth and a Bloom prefix length.
#[derive(Debug, Clone)]
pub(crate) struct Bins {
    blooms: usize,
    bins: usize,
    cells: Vec<Bin>,
}

/// Some queries with about as many prefixes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Bin {
    /// Queries; differences while they are being noted.
    count: i64,
    /// Prefixes of all of them.
    prefixes: i64,
}

impl Bin {
    /// Number of queries.
    pub(crate) fn count(&self) -> f64 {
        self.count as f64
    }

    /// Mean number of prefixes; 0 without queries.
    pub(crate) fn mean(&self) -> f64 {
        self.prefixes as f64 / self.count.max(1) as f64
    }

    #[inline(always)]
    fn plus(&mut self, other: Self) {
        self.count += other.count;
        self.prefixes += other.prefixes;
    }
}

impl Bins {
    /// Empty bins for `tries` depths and `blooms` lengths, of queries with 1 to `most` prefixes.
    pub(crate) fn new(tries: usize, blooms: usize, max: u64) -> Self {
        let bins = max.ilog2() as usize + 1;
        Self { blooms, bins, cells: vec![Bin::default(); tries * blooms * bins] }
    }

    /// Notes a query at all depths from 0 to `trie`, and at each length from `first` on for which `prefixes` gives how
    /// many there are.
    #[inline(always)]
    pub(crate) fn note_lengths(
        &mut self,
        trie: usize,
        first: usize,
        mut prefixes: impl FnMut(usize) -> Option<u64>,
    ) {
        let (row, bins) = (self.blooms * self.bins, self.bins);
        let cells = self.cells[trie * row..][..row].chunks_exact_mut(bins).enumerate().skip(first);
        for (bloom, cells) in cells {
            let Some(prefixes) = prefixes(bloom) else { return };
            add(cells, prefixes, 1);
        }
    }

    /// Notes a query with `prefixes` prefixes at the length `bloom` and at all depths from 0 to `trie`.
    #[inline(always)]
    pub(crate) fn note_through(&mut self, trie: usize, bloom: usize, prefixes: u64) {
        add(self.of_mut(trie, bloom), prefixes, 1);
    }

    /// Notes a query at the depth `trie` alone.
    #[inline(always)]
    pub(crate) fn note_at(&mut self, trie: usize, bloom: usize, prefixes: u64) {
        self.note_through(trie, bloom, prefixes);
        if let Some(before) = trie.checked_sub(1) {
            add(self.of_mut(before, bloom), prefixes, -1);
        }
    }

    /// Notes a query at all depths after `from` up to `to`.
    #[inline(always)]
    #[cfg_attr(not(feature = "baselines"), allow(dead_code, reason = "only baselines ask for it"))]
    pub(crate) fn note_between(&mut self, from: usize, to: usize, bloom: usize, prefixes: u64) {
        self.note_through(to, bloom, prefixes);
        add(self.of_mut(from, bloom), prefixes, -1);
    }

    #[inline(always)]
    fn of_mut(&mut self, trie: usize, bloom: usize) -> &mut [Bin] {
        let start = (trie * self.blooms + bloom) * self.bins;
        &mut self.cells[start..start + self.bins]
    }

    /// Adds the counts of another thread.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (cell, other) in self.cells.iter_mut().zip(&other.cells) {
            cell.plus(*other);
        }
    }

    /// Sums up: a query noted at a depth counts for all depths before it.
    pub(crate) fn sum_up(&mut self) {
        let row = self.blooms * self.bins;
        for place in (row..self.cells.len()).rev() {
            let behind = self.cells[place];
            self.cells[place - row].plus(behind);
        }
    }

    /// The bins of a pair.
    pub(crate) fn of(&self, trie: usize, bloom: usize) -> &[Bin] {
        let start = (trie * self.blooms + bloom) * self.bins;
        &self.cells[start..start + self.bins]
    }
}

/// Adds a query, or takes one away, in the bin of this many prefixes.
#[inline(always)]
fn add(cells: &mut [Bin], prefixes: u64, sign: i64) {
    if let Some(cell) = cells.get_mut(prefixes.ilog2() as usize) {
        cell.plus(Bin { count: sign, prefixes: sign * prefixes.cast_signed() });
    }
}
