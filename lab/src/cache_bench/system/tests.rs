//! One order of steps that every system meets, and what each shows after it.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]

use std::time::Duration;

use lacuna_cache_protocol::Policy;

use super::*;
use crate::cache_bench::servers::{Databases, start_redis};
use crate::cache_bench::setup::StoreKind;
use crate::cache_bench::versions::Versions;

/// Servers and a system of two records, or nothing where they are not installed and need not be.
struct World {
    setup: Setup,
    servers: RunServers,
    versions: Versions,
    _databases: Databases,
}

impl World {
    async fn new(system: System, store: StoreKind, delay: Duration) -> Option<Self> {
        if !lacuna_testkit::servers::is_installed("redis-server") {
            return None;
        }
        let setup = Setup { records: 20, clients: 2, delay, ..Setup::new(system, store) };
        let mut databases = Databases::default();
        databases.start(&setup).ok()?;
        let servers = RunServers::prepare(&databases, start_redis(&setup).unwrap(), &setup, 1).await.unwrap();
        servers.hold_back(true);
        Some(Self { setup, servers, versions: Versions::new(&[1; 20]), _databases: databases })
    }

    async fn read(&self, system: &dyn SystemUnderTest) {
        let floor = self.versions.begin_read(0, 5);
        let shown = system.scan(0, 5).await.unwrap();
        self.versions.end_read(0, &floor, &shown);
    }

    async fn update(&self, system: &dyn SystemUnderTest, record: u64) {
        let version = self.versions.begin_update(record);
        system.update(record, version).await.unwrap();
        self.versions.end_update(record, version);
    }
}

#[tokio::test]
async fn an_update_between_query_and_set_stays_unseen_without_leases() {
    let Some(world) = World::new(System::Aside, StoreKind::Sqlite, Duration::ZERO).await else { return };
    let aside = Aside::open(&world.setup, &world.servers).await.unwrap();
    let floor = world.versions.begin_read(0, 5);
    assert_eq!(aside.look_up(0).await.unwrap(), None);
    let value = aside.query(0, 5).await.unwrap();
    world.update(&aside, 3).await;
    aside.install(0, &value).await.unwrap();
    world.versions.end_read(0, &floor, &aside.versions(&value).unwrap());
    assert_eq!(world.versions.anomalies(), 0, "the read began before the update did");
    for stale in 1..=3 {
        world.read(&aside).await;
        assert_eq!(world.versions.anomalies(), stale, "it is never put right");
    }
}

#[tokio::test]
async fn updates_of_one_record_that_cross_leave_the_older_one_in_redis() {
    for system in [System::Naive, System::NaiveLua] {
        let Some(world) = World::new(system, StoreKind::Sqlite, Duration::ZERO).await else { return };
        let naive = open(&world.setup, &world.servers).await.unwrap();
        // Both have their versions from memory; the second is set first.
        let (first, second) = (world.versions.begin_update(3), world.versions.begin_update(3));
        naive.update(3, second).await.unwrap();
        world.versions.end_update(3, second);
        world.read(&*naive).await;
        assert_eq!(world.versions.anomalies(), 0);
        naive.update(3, first).await.unwrap();
        world.versions.end_update(3, first);
        world.read(&*naive).await;
        assert_eq!(world.versions.anomalies(), 1, "{system:?}");
    }
}

/// The same steps, as far as they can be forced from outside: the answer to a miss is on its way when an update comes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_update_during_a_miss_is_seen_with_leases() {
    let delay = Duration::from_millis(5);
    for policy in [Policy::WriteAround, Policy::WriteThrough, Policy::WriteBack] {
        let Some(world) = World::new(System::Lacuna(policy), StoreKind::Postgres, delay).await else {
            return;
        };
        let ours = open(&world.setup, &world.servers).await.unwrap();
        for round in 0..10 {
            let update = async {
                tokio::time::sleep(Duration::from_millis(round)).await;
                world.update(&*ours, 3).await;
            };
            tokio::join!(world.read(&*ours), update);
            world.read(&*ours).await;
            // A scan that was not asked for yet is a miss again.
            let (first, rows) = (round % 4, 5);
            let floor = world.versions.begin_read(first, rows);
            let shown = ours.scan(first, rows).await.unwrap();
            world.versions.end_read(first, &floor, &shown);
        }
        assert_eq!(world.versions.anomalies(), 0, "{policy:?}");
        ours.stop().await.unwrap();
    }
}
