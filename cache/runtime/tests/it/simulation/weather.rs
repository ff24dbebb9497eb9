//! What the network and the hosts do to clients: partitions, delays longer than any deadline, crashes.

use std::collections::BTreeMap;
use std::time::Duration;

use lacuna_workload::Rng;
use turmoil::Sim;

/// Kinds of faults, calls to servers that are lost or late among them.
pub(crate) const KINDS: usize = 5;

/// What ends a fault.
#[derive(Debug)]
enum End {
    Repair(String, String),
    Release(String, String),
    Bounce(String),
}

/// Faults by chance.
#[derive(Debug)]
pub(crate) struct Weather {
    rng: Rng,
    dendrites: Vec<String>,
    hosts: Vec<String>,
    next: Duration,
    ends: Vec<(Duration, End)>,
    pub(crate) faults: BTreeMap<&'static str, u64>,
}

impl Weather {
    pub(crate) fn new(rng: Rng, dendrites: Vec<String>, clients: &[String]) -> Self {
        let hosts = dendrites.iter().chain(clients).cloned().collect();
        let (next, ends, faults) = (Duration::from_millis(500), Vec::new(), BTreeMap::new());
        Self { rng, dendrites, hosts, next, ends, faults }
    }

    /// What happens now. Once it is over, everything mends.
    pub(crate) fn pass(&mut self, sim: &mut Sim<'_>, is_over: bool) {
        let now = sim.elapsed();
        let is_due = |end: &mut (Duration, End)| is_over || end.0 <= now;
        for (_, end) in self.ends.extract_if(.., is_due) {
            match end {
                End::Repair(a, b) => sim.repair(a, b),
                End::Release(a, b) => sim.release(a, b),
                End::Bounce(host) => sim.bounce(host),
            }
        }
        if !is_over && now >= self.next {
            self.next = now + Duration::from_millis(100 + self.rng.below(500));
            self.strike(sim, now);
        }
    }

    fn strike(&mut self, sim: &mut Sim<'_>, now: Duration) {
        let until = now + Duration::from_millis(100 + self.rng.below(4_000));
        let dendrite = self.dendrites[self.rng.index(self.dendrites.len())].clone();
        let other = self.hosts[self.rng.index(self.hosts.len())].clone();
        let is_struck = self.ends.iter().any(|(_, end)| match end {
            End::Repair(a, b) | End::Release(a, b) => *a == dendrite && *b == other,
            End::Bounce(host) => *host == dendrite,
        });
        if dendrite == other || is_struck {
            return;
        }
        let (what, end) = match self.rng.below(8) {
            0 => {
                sim.crash(dendrite.as_str());
                ("dendrite crashed", End::Bounce(dendrite))
            }
            1..=3 => {
                sim.partition(dendrite.as_str(), other.as_str());
                (partition_of(&self.dendrites, &other), End::Repair(dendrite, other))
            }
            _ => {
                sim.hold(dendrite.as_str(), other.as_str());
                ("messages held back", End::Release(dendrite, other))
            }
        };
        self.ends.push((until, end));
        *self.faults.entry(what).or_default() += 1;
    }
}

fn partition_of(dendrites: &[String], other: &str) -> &'static str {
    if dendrites.iter().any(|dendrite| dendrite == other) {
        "dendrites cut off from each other"
    } else {
        "client cut off from a dendrite"
    }
}
