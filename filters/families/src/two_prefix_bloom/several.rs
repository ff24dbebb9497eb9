//! The part of the model where a query has several short prefixes: their chances are independent.

use super::model::Grid;
use crate::proteus::cpfpr::{EmptyQuery, Regions};

/// Queries that are looked at, spread evenly over all.
const MAX_LOOKED_AT: usize = 2_048;

/// Queries, for the short lengths at which they touch several prefixes.
pub(super) struct Several {
    len: usize,
    /// Expected "maybe" answers for each share, short and long length.
    maybes: Vec<f64>,
    /// Queries that touch more short prefixes than are asked, for each short length.
    certain: Vec<f64>,
}

impl Several {
    pub(super) fn of(queries: &[EmptyQuery<u64>], grid: &Grid) -> Self {
        let cells = grid.shares.len() * grid.len() * grid.len();
        let mut several = Self { len: grid.len(), maybes: vec![0.0; cells], certain: vec![0.0; grid.len()] };
        let step = queries.len().div_ceil(MAX_LOOKED_AT).max(1);
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

    pub(super) fn maybes(&self, share: usize, short: usize, long: usize) -> f64 {
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
    /// The long prefixes below the first short one, and whether a key has it.
    low: (bool, u64),
    /// The long prefixes below the last short one, and whether a key has it.
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
