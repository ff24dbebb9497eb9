//! Coordinators that step on each other's feet: whatever the order, each range has one owner, and epochs rise.

use std::collections::BTreeMap;
use std::sync::Arc;

use lacuna_cache::etcd::{EtcdCoordinator, Holder};
use lacuna_cache_protocol::ports::Coordinator as _;
use lacuna_cache_protocol::{Cut, Epoch, Interval, RangeId, RangeTable, Recut};
use lacuna_testkit::effort;
use lacuna_testkit::servers::Etcd;
use lacuna_workload::Rng;

use crate::etcd::claims::process;

/// Values of the domain.
const VALUES: u64 = 40;

/// What one coordinator does.
#[derive(Debug, Clone, Copy)]
enum Step {
    Claim(RangeId, Option<usize>),
    Release(RangeId),
    /// Releases what the wish asks for.
    Heed,
    Split(RangeId, u64),
    Merge(RangeId),
    CarryOut,
    /// Its lease is over, and it does not know.
    LoseLease,
}

/// A process, and the tenures it believes in.
#[derive(Debug)]
struct Process {
    coordinator: EtcdCoordinator,
    tenures: tokio::sync::Mutex<BTreeMap<RangeId, Epoch>>,
}

impl Process {
    /// Takes a step; returns what it was granted.
    async fn take(&self, step: Step) -> Option<(RangeId, Epoch)> {
        let coordinator = &self.coordinator;
        match step {
            Step::Claim(range, lost) => {
                let tenure = coordinator.claim(range, lost).await.ok().flatten()?;
                self.tenures.lock().await.insert(range, tenure.epoch);
                return Some((range, tenure.epoch));
            }
            Step::Release(range) => {
                let epoch = self.tenures.lock().await.remove(&range)?;
                drop(coordinator.release(range, epoch).await);
            }
            Step::Heed => {
                for range in coordinator.map().await.ok()?.to_stop(coordinator.holder()) {
                    let epoch = self.tenures.lock().await.remove(&range)?;
                    drop(coordinator.release(range, epoch).await);
                }
            }
            Step::Split(range, at) => {
                drop(coordinator.wish(&Recut::Split(range, 0, Cut::Before(at.into()))).await);
            }
            Step::Merge(upper) => {
                let lower = coordinator.seen().table()?.below(upper)?;
                drop(coordinator.wish(&Recut::Merge(lower, upper)).await);
            }
            Step::CarryOut => drop(coordinator.carry_out_wish().await),
            Step::LoseLease => drop(coordinator.leave().await),
        }
        None
    }

    /// Tenures that etcd says are its own still.
    async fn held(&self) -> Vec<(RangeId, Epoch)> {
        let mut held = Vec::new();
        for (range, epoch) in self.tenures.lock().await.clone() {
            if self.coordinator.renew(range, epoch).await.unwrap() {
                held.push((range, epoch));
            }
        }
        held
    }
}

fn step(rng: &mut Rng, table: &RangeTable) -> Step {
    let ranges = table.ranges();
    let range = ranges[rng.index(ranges.len())];
    match rng.below(24) {
        0..=8 => Step::Claim(range, (rng.below(4) == 0).then(|| rng.index(3))),
        9..=11 => Step::Release(range),
        12..=16 => Step::Heed,
        17..=19 => Step::Split(range, 1 + rng.below(VALUES)),
        20..=21 => Step::Merge(range),
        22 => Step::CarryOut,
        _ => Step::LoseLease,
    }
}

/// The largest epoch that was granted of each value, and who had it.
type Granted = BTreeMap<u64, Epoch>;

/// Every value of a range had smaller epochs before, whatever its range was called then.
fn note(granted: &mut Granted, table: &RangeTable, (range, epoch): (RangeId, Epoch)) -> Result<(), String> {
    for value in 0..VALUES {
        let is_inside = table.parts(&[(0, Interval::point(value.into()))]).contains_key(&range);
        let before = granted.get(&value).copied().unwrap_or(Epoch(0));
        if is_inside && before >= epoch {
            return Err(format!("{range:?} is granted {epoch:?} and {value} had {before:?}"));
        }
        if is_inside {
            granted.insert(value, epoch);
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_the_order_each_range_has_one_owner_and_epochs_rise() {
    let Some(etcd) = Etcd::start(1) else { return };
    let (seed, mut rng) = (effort::seed(), effort::rng(700));
    let mut processes = Vec::new();
    for number in 0..3 {
        let coordinator = process(&etcd, "steps", &format!("p:{number}")).await;
        processes.push(Arc::new(Process { coordinator, tenures: tokio::sync::Mutex::default() }));
    }
    let (mut granted, mut grants, mut cuts) = (Granted::new(), 0, 0);
    for round in 0..effort::short_or_long(160, 3_000) {
        let map = processes[0].coordinator.map().await.unwrap();
        let table = map.table().unwrap().clone();
        // All at once: their transactions meet in any order.
        let steps: Vec<Step> = processes.iter().map(|_| step(&mut rng, &table)).collect();
        let mut running = tokio::task::JoinSet::new();
        for (process, step) in processes.iter().zip(steps.clone()) {
            let process = process.clone();
            running.spawn(async move { process.take(step).await });
        }
        let mut new: Vec<(RangeId, Epoch)> = running.join_all().await.into_iter().flatten().collect();
        new.sort_by_key(|(_, epoch)| *epoch);
        let map = processes[0].coordinator.map().await.unwrap();
        let after = map.table().unwrap();
        cuts += after.version() - table.version();
        grants += new.len();
        for grant in new {
            // Nothing is cut while it is owned: a range that was granted is the same in one of the tables.
            let table = if after.ranges().contains(&grant.0) { after } else { &table };
            let noted = note(&mut granted, table, grant);
            assert!(noted.is_ok(), "seed {seed}, round {round}, {steps:?}: {}", noted.unwrap_err());
        }
        one_owner(&processes, &format!("seed {seed}, round {round}, {steps:?}")).await;
    }
    println!("{grants} grants, {cuts} changes of the table");
    assert!(grants > 40 && cuts >= 2, "seed {seed}: {grants} grants, {cuts} changes: nothing was tried");
}

async fn one_owner(processes: &[Arc<Process>], what: &str) {
    let mut owners: BTreeMap<RangeId, Holder> = BTreeMap::new();
    for process in processes {
        for (range, _) in process.held().await {
            let holder = process.coordinator.holder();
            let other = owners.insert(range, holder);
            assert_eq!(other, None, "{what}: {range:?} has two owners");
        }
    }
    let map = processes[0].coordinator.map().await.unwrap();
    for (range, holder) in owners {
        assert_eq!(map.owner(range).map(|owned| owned.holder), Some(holder), "{what}: {range:?}");
        assert!(map.table().unwrap().ranges().contains(&range), "{what}: {range:?} is owned and gone");
    }
}
