//! The drivers of the dendrite protocol as they are, on a network and a clock that are simulated.
//!
//! Everything runs in one thread, from one seed: dendrites and clients with the tasks, timers and connections that users get,
//! over wires that delay, hold back and lose what is sent. Behind the dendrites stand the models of the core's simulation, whose
//! checker looks at what clients saw. What `tokio::select!` and maps of random order choose is not in the seed, so that a seed
//! says where to look, not what will be found.

mod clients;
mod servers;
mod simulated_cluster;
mod weather;
mod wires;

use std::collections::BTreeMap;

use lacuna_cache_protocol::Policy;
use lacuna_testkit::effort;

use simulated_cluster::{Ended, SimulatedCluster};

const POLICIES: [Policy; 3] = [Policy::WriteAround, Policy::WriteThrough, Policy::WriteBack];

/// What all runs of a test did.
#[derive(Debug, Default)]
struct Total {
    reads: u64,
    hits: u64,
    done: u64,
    unknown: u64,
    faults: BTreeMap<&'static str, u64>,
}

impl Total {
    fn add(&mut self, ended: &Ended) {
        self.reads += ended.reads;
        self.hits += ended.hits;
        self.done += ended.done;
        self.unknown += ended.unknown;
        for (what, times) in &ended.faults {
            *self.faults.entry(what).or_default() += times;
        }
    }
}

#[test]
fn clients_on_a_bad_network_see_nothing_stale() {
    for policy in POLICIES {
        let mut total = Total::default();
        for run in 0..effort::short_or_long(16, 1_000) {
            let seed = effort::seed() * 1_000 + run;
            let ended = SimulatedCluster::new(seed, policy).live();
            assert!(ended.checked.is_ok(), "seed {seed}, {policy:?}: {}", ended.checked.unwrap_err());
            total.add(&ended);
        }
        println!("{policy:?}: {total:?}");
        let min = effort::short_or_long(1, 100);
        assert!(total.faults.len() == weather::KINDS, "every fault: {total:?}");
        assert!(total.faults.values().all(|times| *times >= min), "often enough: {total:?}");
        assert!(total.hits * 4 >= total.reads, "reads are hits: {total:?}");
        assert!(total.done > total.unknown && total.unknown > 0, "writes, some of them lost: {total:?}");
    }
}

/// The control: the network loses answers of writes that were carried out, and the checker sees who believes otherwise.
#[test]
fn a_client_that_takes_a_lost_answer_for_a_refusal_is_found_out() {
    let found = (0..100).find(|run| {
        let cluster = SimulatedCluster::new(effort::seed() * 1_000 + run, Policy::WriteThrough);
        cluster.whose_clients_take_silence_for_no().live().checked.is_err()
    });
    println!("found out after {found:?} runs");
    assert!(found.is_some());
}

/// A line that has lost bytes never says so: nobody may wait on it for ever.
#[test]
fn lines_that_say_nothing_are_made_anew() {
    for policy in POLICIES {
        let took = SimulatedCluster::new(effort::seed(), policy).is_answered_after_a_partition();
        println!("{policy:?}: answered {took:?} after the network was repaired");
        assert!(took.as_secs() < 5, "{policy:?}: {took:?}");
    }
}
