//! Clients: what they ask for, and what they write down.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use lacuna_cache::WriteError;
use lacuna_cache::cluster::{Client, Secret};
use lacuna_cache_protocol::{Form, Query};
use lacuna_workload::Rng;

use crate::sim::history::{How, Moment};
use crate::sim::table::{Change, WriteId, closed, decode};
use crate::simulation::servers::KEYS;
use crate::simulation::wires::{Wires, now};

/// What all dendrites of the simulation serve.
pub(crate) const COLLECTION: &str = "rows";
/// How long a request may take.
const PATIENCE: Duration = Duration::from_secs(3);

/// What all clients of a cluster saw.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    pub(crate) history: Vec<Moment>,
    next: u32,
    pub(crate) reads: u64,
    pub(crate) done: u64,
    pub(crate) unknown: u64,
}

impl Journal {
    /// A number that none before had; those of the first rows are below.
    fn number(&mut self) -> u32 {
        self.next += 1;
        1_000 + self.next
    }
}

/// A client of some dendrites.
pub(crate) struct SimulatedClient {
    pub(crate) journal: Arc<Mutex<Journal>>,
    pub(crate) rng: Rng,
    /// Whether a write without an answer counts as refused: the flaw of the control.
    pub(crate) takes_silence_for_no: bool,
}

/// Connects however long that takes.
pub(crate) async fn connected(addresses: &[String], secret: &Secret) -> Client {
    loop {
        match Client::connect_over(Wires, addresses, secret.clone(), COLLECTION).await {
            Ok(client) => return client.with_patience(PATIENCE),
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

impl SimulatedClient {
    /// Reads and writes until then.
    pub(crate) async fn live(mut self, client: Client, until: Duration) {
        while now() < until {
            if self.rng.below(100) < 85 {
                self.read(&client).await;
            } else {
                self.write(&client).await;
            }
            tokio::time::sleep(Duration::from_millis(self.rng.below(20))).await;
        }
    }

    async fn read(&mut self, client: &Client) {
        let lo = 2 * self.rng.below(KEYS / 2);
        let hi = (lo + [0, 1, 3][self.rng.index(3)]).min(KEYS - 1);
        let form = if self.rng.below(8) == 0 { Form::First(2) } else { Form::All };
        let query = Query { form, ..Query::all(0, closed(lo, hi)) };
        let read = {
            let mut journal = self.journal.lock().unwrap();
            let read = u64::from(journal.number());
            journal.history.push(Moment::ReadBegan(read));
            read
        };
        if let Ok(value) = client.get(&query).await {
            let mut journal = self.journal.lock().unwrap();
            journal.reads += 1;
            journal.history.push(Moment::ReadEnded(read, query, decode(&value), How::Hit));
        }
    }

    async fn write(&mut self, client: &Client) {
        let change = self.some_change();
        let id: WriteId = {
            let mut journal = self.journal.lock().unwrap();
            let id = journal.number();
            journal.history.push(Moment::WriteBegan(id));
            id
        };
        let done = client.write(change.write(id, false)).await;
        let mut journal = self.journal.lock().unwrap();
        match done {
            Ok(()) => {
                journal.done += 1;
                journal.history.push(Moment::WriteDone(id));
            }
            Err(WriteError::Refused(_) | WriteError::NotDone(_)) => {
                journal.history.push(Moment::WriteNot(id));
            }
            Err(_) => {
                journal.unknown += 1;
                if self.takes_silence_for_no {
                    journal.history.push(Moment::WriteNot(id));
                }
            }
        }
    }

    fn some_change(&mut self) -> Change {
        let key = self.rng.below(KEYS);
        match self.rng.below(10) {
            0..=4 => Change::Put { key, other: self.rng.below(5) },
            5..=6 => Change::Delete { key },
            7 => Change::Move { from: key, to: (key + 1 + self.rng.below(5)) % KEYS },
            _ => Change::Touch { lo: key, hi: (key + self.rng.below(3)).min(KEYS - 1) },
        }
    }
}
