//! The cells of the grid.

use std::fmt;

use lacuna_base::Result;
use lacuna_workload::{KeySource, Keys, QuerySource, ReadOptions, Workload, real_sets};

/// Generated sets, which take a number of keys.
const GENERATED: [&str; 3] = ["uniform", "normal", "zipf"];
/// Real sets, which are as they are.
const REAL: [&str; 5] = ["osm_node_ids", "places_zorder", "commit_times", "gov_hosts", "nab_series_points"];
/// Where queries start.
const STARTS: [&str; 6] = ["uniform", "correlated 1", "correlated 32", "correlated 1024", "split", "heldout"];
/// Lengths of ranges, in keys.
const LENGTHS: [&str; 4] = ["1", "2-32", "2-1024", "2-1048576"];
/// Budgets, in bits per key.
const BITS: [f64; 4] = [8.0, 10.0, 14.0, 18.0];

/// One combination.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// Name of the key set.
    pub keys: &'static str,
    /// Where queries start.
    pub starts: &'static str,
    /// Lengths of ranges, in keys.
    pub lengths: &'static str,
    /// Budget, in bits per key.
    pub bits_per_key: f64,
}

/// All cells, in the order of the page.
pub fn cells() -> Vec<Cell> {
    let sets = GENERATED.into_iter().chain(REAL);
    let workloads = STARTS.into_iter().flat_map(|starts| LENGTHS.map(|lengths| (starts, lengths)));
    sets.flat_map(|keys| workloads.clone().map(move |(starts, lengths)| (keys, starts, lengths)))
        .flat_map(|(keys, starts, lengths)| {
            BITS.map(|bits_per_key| Cell { keys, starts, lengths, bits_per_key })
        })
        .collect()
}

impl Cell {
    /// The text of `count` queries as [`QuerySource`] reads it.
    fn queries(&self, count: usize) -> String {
        let lengths = self.lengths;
        match self.starts.split_once(' ') {
            Some((kind, degree)) => format!("{kind}:{count}:{lengths}:{degree}"),
            None if self.starts == "split" => format!("split:{count}:{lengths}:1024"),
            None => format!("{}:{count}:{lengths}", self.starts),
        }
    }

    /// Its keys and `count` empty queries; generated sets have `key_count` keys.
    ///
    /// # Errors
    /// `InvalidInput` where the keys leave no room for such queries.
    pub fn workload(&self, key_count: usize, count: usize, seed: u64) -> Result<Workload> {
        let keys = match real_sets().into_iter().find(|set| set.name() == self.keys) {
            Some(set) => set.load()?,
            None => KeySource::parse(&format!("{}:{key_count}", self.keys))?.load(
                &ReadOptions::default(),
                seed,
                &mut |_| {},
            )?,
        };
        self.draw(keys, count, seed)
    }

    fn draw(&self, keys: Keys, count: usize, seed: u64) -> Result<Workload> {
        QuerySource::parse(&self.queries(count))?.workload(keys, seed)
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { keys, starts, lengths, bits_per_key } = self;
        write!(f, "{keys}, {starts}, {lengths} keys, {bits_per_key} bits")
    }
}
