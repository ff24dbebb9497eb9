//! The model of two prefix Bloom filters (CPFPR, equation 4, derived anew).
//!
//! A query is denied if every short prefix it touches is either denied, or followed by long prefixes all of which are
//! denied. These are independent events, so their chances multiply: one factor for each end, and for each of the prefixes
//! between, which lie inside the query and so belong to no key, the same one:
//! `1 - p1 (1 - (1 - p2)^(2^(l2 - l1)))`. An end that a key shares passes the short filter for certain.
//!
//! Queries with one short prefix, by far the most, are counted in [bins](crate::cpfpr). Those with more concern only
//! the few lengths between one prefix and as many as are asked; of them, at most 2,048 are looked at one by one.

use crate::proteus::cpfpr::{Bins, EmptyQueries, EmptyQuery, KeyCounts, Regions, any_of, bloom_rate};
use crate::proteus::prefix_key::{Aligned, PrefixKeys};

use super::body::{BLOOM_HEADER_BYTES, HEADER_BYTES, split};

/// Percent of the bytes that the short prefixes may get.
pub(crate) const SHARES: [u32; 3] = [40, 50, 60];
/// Queries of several short prefixes that are looked at.
const MOST_LOOKED_AT: usize = 2_048;

/// A design of two prefix Bloom filters with what the model expects of it on the sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoPrefixRate {
    /// Bits of the short prefixes; 0 without them.
    pub short_bits: u32,
    /// Bits of the long prefixes.
    pub long_bits: u32,
    /// Percent of the bytes for the short prefixes.
    pub share: u32,
    /// Share of the sample's empty queries that will be "maybe".
    pub rate: f64,
}

/// What is to be designed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TwoTask {
    pub(crate) most_bytes: usize,
    pub(crate) short_bits: Option<u32>,
    pub(crate) long_bits: Option<u32>,
    pub(crate) share: Option<u32>,
    pub(crate) probes: u64,
}

/// The lengths and shares of a task, and the chances of both filters for each.
struct Grid {
    /// Lengths of either prefix, ascending; index 0 is length 0, where a short prefix tells nothing.
    lengths: Vec<u32>,
    shares: Vec<u32>,
    /// For each share and length, the rate of a filter of prefixes of that length.
    short_rates: Vec<Vec<f64>>,
    long_rates: Vec<Vec<f64>>,
    /// The rate of a filter with all bytes.
    lone_rates: Vec<f64>,
    probes: u64,
}

impl Grid {
    fn new(keys: &Aligned<'_>, task: TwoTask) -> Self {
        let counts = KeyCounts::of(keys, keys.longest_bits());
        let lengths: Vec<u32> = (0..=keys.longest_bits()).collect();
        let shares = task.share.map_or(SHARES.to_vec(), |share| vec![share]);
        let rates = |bytes: usize| -> Vec<f64> {
            let bits = bytes.saturating_sub(BLOOM_HEADER_BYTES) as u64 * 8;
            lengths.iter().map(|&length| bloom_rate(bits, counts.distinct(length))).collect()
        };
        let short_rates = shares.iter().map(|&share| rates(split(task.most_bytes, share).0)).collect();
        let long_rates = shares.iter().map(|&share| rates(split(task.most_bytes, share).1)).collect();
        let lone_rates = rates(task.most_bytes - HEADER_BYTES);
        Self { lengths, shares, short_rates, long_rates, lone_rates, probes: task.probes }
    }

    fn len(&self) -> usize {
        self.lengths.len()
    }
}

/// Every design of `task` for `keys`, those without short prefixes first.
pub(crate) fn designs(keys: &Aligned<'_>, queries: &EmptyQueries<u64>, task: TwoTask) -> Vec<TwoPrefixRate> {
    let grid = Grid::new(keys, task);
    let single = Single::of(&queries.inside, &grid);
    let several = Several::of(&queries.inside, &grid);
    let count = queries.count.max(1) as f64;
    let mut designs = Vec::new();
    let wanted = |given: Option<u32>, bits: u32| given.is_none_or(|given| given == bits);
    for long in (1..grid.len()).filter(|&bits| wanted(task.long_bits, grid.lengths[bits])) {
        for short in (0..long).filter(|&bits| wanted(task.short_bits, grid.lengths[bits])) {
            for share in 0..if short == 0 { 1 } else { grid.shares.len() } {
                let rates = match short {
                    0 => (1.0, grid.lone_rates[long]),
                    _ => (grid.short_rates[share][short], grid.long_rates[share][long]),
                };
                let expected = single.maybes(short, long, rates) + several.maybes(share, short, long);
                designs.push(TwoPrefixRate {
                    short_bits: grid.lengths[short],
                    long_bits: grid.lengths[long],
                    share: if short == 0 { 0 } else { grid.shares[share] },
                    rate: expected / count,
                });
            }
        }
    }
    designs
}

/// Queries at the lengths of which they touch one short prefix.
struct Single {
    /// By the number of long prefixes: those whose short prefix a key has, and those for which none has it.
    shared: Bins,
    free: Bins,
    /// How many there are of each, for each short length.
    shared_count: Vec<f64>,
    free_count: Vec<f64>,
}

impl Single {
    fn of(queries: &[EmptyQuery<u64>], grid: &Grid) -> Self {
        let bins = || Bins::new(grid.len(), grid.len(), grid.probes);
        let (mut shared, mut free) = (bins(), bins());
        let mut shared_count = vec![0.0; grid.len()];
        let mut free_count = vec![0.0; grid.len()];
        let longest = grid.len() - 1;
        for query in queries {
            let (ends, nearest) =
                ((query.shared as usize).min(longest), (query.nearest() as usize).min(longest));
            let with_key = ends.min(nearest);
            shared_count[..=with_key].iter_mut().for_each(|count| *count += 1.0);
            free_count[with_key + 1..=ends.max(with_key)].iter_mut().for_each(|count| *count += 1.0);
            let mut regions = Regions::between(query.lo, query.hi, query.shared.min(grid.lengths[longest]));
            for long in nearest + 1..=longest {
                let prefixes = if long <= ends { 1 } else { regions.of(grid.lengths[long]) };
                if prefixes > grid.probes {
                    break;
                }
                shared.note_through(with_key, long, prefixes);
                if ends > with_key {
                    free.note_between(with_key, ends, long, prefixes);
                }
            }
        }
        shared.sum_up();
        free.sum_up();
        Self { shared, free, shared_count, free_count }
    }

    /// Expected "maybe" answers.
    fn maybes(&self, short: usize, long: usize, (short_rate, long_rate): (f64, f64)) -> f64 {
        let positives = |bins: &Bins, count: f64| {
            let bins = bins.of(short, long).iter().filter(|bin| bin.count() > 0.0);
            bins.fold(count, |sum, bin| sum + bin.count() * (any_of(long_rate, bin.mean()) - 1.0))
        };
        let shared = positives(&self.shared, self.shared_count[short]);
        shared + short_rate * positives(&self.free, self.free_count[short])
    }
}

/// Queries at the lengths of which they touch several short prefixes.
struct Several {
    len: usize,
    /// Expected "maybe" answers for each share, short and long length.
    maybes: Vec<f64>,
    /// Queries that touch more short prefixes than are asked, for each short length.
    certain: Vec<f64>,
}

impl Several {
    fn of(queries: &[EmptyQuery<u64>], grid: &Grid) -> Self {
        let cells = grid.shares.len() * grid.len() * grid.len();
        let mut several = Self { len: grid.len(), maybes: vec![0.0; cells], certain: vec![0.0; grid.len()] };
        let step = queries.len().div_ceil(MOST_LOOKED_AT).max(1);
        let looked_at = queries.len().div_ceil(step);
        let weight = queries.len() as f64 / looked_at.max(1) as f64;
        let powers = Powers::new(grid);
        for query in queries.iter().step_by(step) {
            let mut shorts = Regions::between(query.lo, query.hi, query.shared);
            for short in query.shared.min(64) as usize + 1..grid.len() {
                let count = shorts.of(grid.lengths[short]);
                if count > grid.probes {
                    // So are all longer ones.
                    several.certain[short] += weight;
                    break;
                }
                several.add(query, (short, count), &powers, weight);
            }
        }
        let mut sum = 0.0;
        for certain in &mut several.certain {
            sum += *certain;
            *certain = sum;
        }
        several
    }

    fn maybes(&self, share: usize, short: usize, long: usize) -> f64 {
        self.maybes[(share * self.len + short) * self.len + long] + self.certain[short]
    }

    /// Adds a query with `count` short prefixes of length `short`.
    fn add(
        &mut self,
        query: &EmptyQuery<u64>,
        (short, count): (usize, u64),
        powers: &Powers<'_>,
        weight: f64,
    ) {
        let grid = powers.grid;
        let bits = grid.lengths[short];
        let (mut low, mut high) = (Regions::from(query.lo, bits), Regions::to(query.hi, bits));
        let mut inner = 1u64;
        let first_told = short.max(query.nearest() as usize) + 1;
        for share in 0..grid.shares.len() {
            let row = (share * self.len + short) * self.len;
            let shared = &mut self.maybes[row + short + 1..row + first_told.min(self.len)];
            shared.iter_mut().for_each(|maybe| *maybe += weight);
        }
        for long in short + 1..self.len {
            inner = inner.saturating_mul(2);
            let touched = Touched {
                low: (query.before >= bits, low.of(grid.lengths[long])),
                high: (query.behind >= bits, high.of(grid.lengths[long])),
                inner: (count - 2, inner),
            };
            if long < first_told {
                continue;
            }
            // Once all parts have more prefixes than are asked, longer ones change nothing.
            let is_last = touched.low.1.min(touched.high.1) > grid.probes && inner > grid.probes;
            let through = if is_last { self.len } else { long + 1 };
            for share in 0..grid.shares.len() {
                let maybe = weight * (1.0 - powers.denied(share, short, long, &touched));
                let row = (share * self.len + short) * self.len;
                self.maybes[row + long..row + through].iter_mut().for_each(|sum| *sum += maybe);
            }
            if is_last {
                break;
            }
        }
    }
}

/// The long prefixes of a query below each of its short ones.
struct Touched {
    /// Those of the first one, and whether a key has it.
    low: (bool, u64),
    /// Those of the last one, and whether a key has it.
    high: (bool, u64),
    /// How many lie between, and the long prefixes of each.
    inner: (u64, u64),
}

/// `base` to the power of a whole number.
fn power(base: f64, mut exponent: u64) -> f64 {
    let (mut result, mut square) = (1.0, base);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result *= square;
        }
        square *= square;
        exponent >>= 1;
    }
    result
}

/// Powers of `1 - p2`, for as many prefixes as are usually asked.
struct Powers<'a> {
    grid: &'a Grid,
    table: Vec<f64>,
}

/// Prefixes that the table knows.
const TABLED: usize = 65;

impl<'a> Powers<'a> {
    fn new(grid: &'a Grid) -> Self {
        let mut table = Vec::with_capacity(grid.shares.len() * grid.len() * TABLED);
        for rate in grid.long_rates.iter().flatten() {
            let mut none = 1.0;
            for _ in 0..TABLED {
                table.push(none);
                none *= 1.0 - rate;
            }
        }
        Self { grid, table }
    }

    /// The chance that a query is denied.
    fn denied(&self, share: usize, short: usize, long: usize, touched: &Touched) -> f64 {
        let short_rate = self.grid.short_rates[share][short];
        let end = |(has_key, prefixes): (bool, u64)| {
            let passes = if has_key { 1.0 } else { short_rate };
            1.0 - passes * (1.0 - self.none_of(share, long, prefixes))
        };
        let (count, inner) = touched.inner;
        let middle = power(1.0 - short_rate * (1.0 - self.none_of(share, long, inner)), count);
        end(touched.low) * end(touched.high) * middle
    }

    /// The chance that all of `prefixes` absent long prefixes are denied; 0 if they are more than are asked.
    fn none_of(&self, share: usize, long: usize, prefixes: u64) -> f64 {
        if prefixes > self.grid.probes {
            return 0.0;
        }
        match usize::try_from(prefixes) {
            Ok(few) if few < TABLED => self.table[(share * self.grid.len() + long) * TABLED + few],
            _ => power(1.0 - self.grid.long_rates[share][long], prefixes),
        }
    }
}
