//! The part of the model where a query has one short prefix: only the number of long ones counts.

use super::model::Grid;
use crate::proteus::cpfpr::{Bins, EmptyQuery, Regions, any_of};

/// Queries, for the short lengths at which they touch one prefix.
pub(super) struct Single {
    /// By the number of long prefixes: those whose short prefix a key has, and those for which none has it.
    shared: Bins,
    free: Bins,
    /// How many there are of each, for each short length.
    shared_count: Vec<f64>,
    free_count: Vec<f64>,
}

impl Single {
    pub(super) fn of(queries: &[EmptyQuery<u64>], grid: &Grid) -> Self {
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
    pub(super) fn maybes(&self, short: usize, long: usize, (short_rate, long_rate): (f64, f64)) -> f64 {
        let positives = |bins: &Bins, count: f64| {
            let bins = bins.of(short, long).iter().filter(|bin| bin.count() > 0.0);
            bins.fold(count, |sum, bin| sum + bin.count() * (any_of(long_rate, bin.mean()) - 1.0))
        };
        let shared = positives(&self.shared, self.shared_count[short]);
        shared + short_rate * positives(&self.free, self.free_count[short])
    }
}
