//! Which operation a client does next, and on which records.

use lacuna_workload::{Rng, ZipfRanks};

use crate::cache_bench::setup::{Setup, Spread};

/// What a run may ask for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Choice {
    tables: u64,
    records_of_a_table: u64,
    /// Records at which a scan of a table may start.
    starts: u64,
    scan_percent: u64,
    clients: u64,
    spread: Spread,
    seed: u64,
}

/// The choices of one client.
#[derive(Debug)]
pub(crate) struct ClientChoice {
    all: Choice,
    client: u64,
    rng: Rng,
}

impl Choice {
    /// The choices of all clients.
    pub(crate) fn new(setup: &Setup) -> Self {
        Self {
            tables: setup.tables(),
            records_of_a_table: setup.records_of_a_table(),
            starts: setup.records_of_a_table() + 1 - setup.rows,
            scan_percent: setup.scan_percent,
            clients: setup.clients as u64,
            spread: setup.spread,
            seed: setup.seed,
        }
    }

    /// Where the scan with this number starts, of all that there are. Neighbours in this order lie in different tables.
    pub(crate) fn scan_number(self, number: u64) -> Option<u64> {
        let (table, start) = (number % self.tables, number / self.tables);
        (start < self.starts).then(|| table * self.records_of_a_table + start)
    }

    /// The choices of one client, different at each of its turns.
    pub(crate) fn of_client(self, client: u64, turn: u64) -> ClientChoice {
        ClientChoice { all: self, client, rng: Rng::with_stream(self.seed, turn * self.clients + client) }
    }
}

impl ClientChoice {
    /// Whether the next operation is a scan.
    pub(crate) fn is_scan(&mut self) -> bool {
        self.rng.below(100) < self.all.scan_percent
    }

    /// Where the next scan starts.
    pub(crate) fn scan(&mut self) -> u64 {
        let scans = self.all.starts * self.all.tables;
        let number = self.draw(scans);
        self.all.scan_number(number).expect("the number is below the count of scans")
    }

    /// The next record to update: any, or one that this client alone updates.
    pub(crate) fn update(&mut self, is_any: bool) -> u64 {
        let records = self.all.records_of_a_table * self.all.tables;
        if is_any {
            return self.draw(records);
        }
        let own = (records - self.client).div_ceil(self.all.clients);
        self.draw(own) * self.all.clients + self.client
    }

    /// One of `count` things.
    fn draw(&mut self, count: u64) -> u64 {
        match self.all.spread {
            Spread::Uniform => self.rng.below(count),
            // The most popular records are not neighbours: a prime without a common factor scatters the ranks.
            Spread::Zipfian => {
                let rank = ZipfRanks::new(count).draw(&mut self.rng) - 1;
                let place = u128::from(rank) * SCATTER % u128::from(count);
                u64::try_from(place).expect("it is below the count")
            }
        }
    }
}

/// A prime larger than any number of records, so that ranks go to places one to one.
const SCATTER: u128 = 0x9E37_79B9_7F4A_7C55;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::cache_bench::setup::{StoreKind, System};

    fn setup(spread: Spread) -> Setup {
        Setup {
            records: 80,
            cache_servers: 4,
            clients: 3,
            spread,
            ..Setup::new(System::Store, StoreKind::Sqlite)
        }
    }

    #[test]
    fn scans_stay_within_their_tables() {
        for spread in [Spread::Uniform, Spread::Zipfian] {
            let mut choice = Choice::new(&setup(spread)).of_client(0, 0);
            let starts: BTreeSet<u64> = (0..5_000).map(|_| choice.scan()).collect();
            assert!(starts.iter().all(|start| start % 20 <= 15), "{starts:?}");
            assert_eq!(starts.len(), 4 * 16, "all of them, {spread:?}");
        }
    }

    #[test]
    fn every_record_has_one_writer() {
        let writers: Vec<BTreeSet<u64>> = (0..3)
            .map(|client| {
                let mut choice = Choice::new(&setup(Spread::Zipfian)).of_client(client, 0);
                (0..5_000).map(|_| choice.update(false)).collect()
            })
            .collect();
        assert!(writers.iter().flatten().all(|record| *record < 80));
        assert_eq!(writers.iter().map(BTreeSet::len).sum::<usize>(), 80);
        assert_eq!(writers.iter().flatten().collect::<BTreeSet<_>>().len(), 80);
    }
}
