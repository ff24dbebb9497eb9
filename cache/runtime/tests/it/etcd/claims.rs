//! Who gets a range, and under which epoch.

use std::time::{Duration, Instant};

use lacuna_cache::etcd::{EtcdCoordinator, EtcdOptions};
use lacuna_cache_protocol::ErrorKind;
use lacuna_cache_protocol::ports::{Coordinator as _, Directory as _, Tenure};
use lacuna_cache_protocol::{Cut, Epoch, RangeId, RangeLoad, RangeTable, Recut};
use lacuna_testkit::servers::Etcd;

const RANGE: RangeId = RangeId(0);
/// What a busy machine may take.
pub(crate) const AT_MOST: Duration = Duration::from_secs(120);
/// So long that no lease ends, and no member is given up, because the machine is out of breath.
const LEASE_S: u64 = 60;
/// What is left of it for whoever serves, in milliseconds.
const SERVED_MS: u64 = 48_000;

/// A process of the cache `name`.
pub(crate) async fn process(etcd: &Etcd, name: &str, address: &str) -> EtcdCoordinator {
    open(options(etcd, name, address)).await
}

/// A process of these options, whose members have a fraction of its lease to answer.
pub(crate) async fn open(options: EtcdOptions) -> EtcdCoordinator {
    let start = Instant::now();
    loop {
        match options.clone().open().await {
            Ok(opened) => return opened,
            Err(why) => assert!(start.elapsed() < AT_MOST, "{why}"),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

pub(crate) fn options(etcd: &Etcd, name: &str, address: &str) -> EtcdOptions {
    let options =
        EtcdOptions::new(etcd.url(), name).with_address(address).with_range_table(RangeTable::new(1));
    options.with_lease_s(LEASE_S).with_cache_servers(3).without_foreign_routes()
}

async fn claim(process: &EtcdCoordinator, range: RangeId) -> Option<Tenure> {
    process.claim(range, None).await.unwrap()
}

/// What is said of a claim, once etcd answers.
pub(crate) async fn claimed(process: &EtcdCoordinator, range: RangeId) -> Option<Tenure> {
    let start = Instant::now();
    loop {
        match process.claim(range, None).await {
            Ok(said) => return said,
            Err(why) => assert!(start.elapsed() < AT_MOST, "{range:?}: {why}"),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Whether a tenure goes on, once etcd answers.
pub(crate) async fn renewed(process: &EtcdCoordinator, epoch: Epoch) -> bool {
    let start = Instant::now();
    loop {
        match process.renew(RANGE, epoch).await {
            Ok(is_ours) => return is_ours,
            Err(why) => assert!(start.elapsed() < AT_MOST, "{epoch:?}: {why}"),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Until a claim is granted.
pub(crate) async fn wait_for(process: &EtcdCoordinator, range: RangeId) -> Tenure {
    let start = Instant::now();
    loop {
        if let Some(tenure) = claimed(process, range).await {
            return tenure;
        }
        assert!(start.elapsed() < AT_MOST, "{range:?} is granted");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_process_has_a_range_and_epochs_rise() {
    let Some(etcd) = Etcd::start(1) else { return };
    let (a, b) = (process(&etcd, "rise", "a:1").await, process(&etcd, "rise", "b:1").await);
    let first = claim(&a, RANGE).await.unwrap();
    assert_eq!(
        (first.epoch, first.cache, first.serve_after_ms, first.lease_ms),
        (Epoch(262_144), 0, 0, Some(SERVED_MS))
    );
    assert_eq!(claim(&b, RANGE).await, None);
    assert!(a.renew(RANGE, first.epoch).await.unwrap() && !b.renew(RANGE, first.epoch).await.unwrap());
    // The same process begins anew.
    let second = claim(&a, RANGE).await.unwrap();
    assert!(second.epoch > first.epoch && !a.renew(RANGE, first.epoch).await.unwrap());
    // A tenure that is over gives nothing back.
    a.release(RANGE, first.epoch).await.unwrap();
    let again = claim(&a, RANGE).await.unwrap();
    a.release(RANGE, again.epoch).await.unwrap();
    let third = claim(&b, RANGE).await.unwrap();
    assert!(third.epoch > again.epoch);
    assert_eq!(claim(&a, RANGE).await, None);
    assert_eq!(claim(&a, RangeId(7)).await, None, "no such range in the table");
    b.newer_than(0).await;
    assert_eq!(a.map().await.unwrap().address(RANGE), Some("b:1"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dead_process_loses_its_ranges_after_a_lease() {
    let Some(etcd) = Etcd::start(1) else { return };
    let opened = |address| open(options(&etcd, "dead", address).with_lease_s(3));
    let (a, b) = (opened("a:1").await, opened("b:1").await);
    // Its lease holds for its term from some moment behind this one.
    let start = Instant::now();
    let first = wait_for(&a, RANGE).await;
    drop(a);
    let second = wait_for(&b, RANGE).await;
    let took = start.elapsed();
    println!("claimed {took:?} after its owner was gone, with a lease of 3 s");
    assert!(second.epoch > first.epoch && took > Duration::from_millis(1_800) && took < AT_MOST);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_cache_server_is_left_once_routes_to_it_are_over() {
    let Some(etcd) = Etcd::start(1) else { return };
    let a = process(&etcd, "moves", "a:1").await;
    let first = claim(&a, RANGE).await.unwrap();
    let start = Instant::now();
    let moved = a.claim(RANGE, Some(first.cache)).await.unwrap().unwrap();
    assert_eq!((moved.cache, moved.serve_after_ms), (1, SERVED_MS));
    // Whoever claims soon after waits for the rest, here or elsewhere.
    tokio::time::sleep(Duration::from_millis(300)).await;
    let again = claim(&a, RANGE).await.unwrap();
    let waits = |tenure: &Tenure| {
        let is_over = start.elapsed() > Duration::from_millis(SERVED_MS - 400);
        tenure.serve_after_ms < SERVED_MS - 200 && (tenure.serve_after_ms > 0 || is_over)
    };
    assert!(again.cache == 1 && waits(&again), "{again:?}");
    a.release(RANGE, again.epoch).await.unwrap();
    let b = process(&etcd, "moves", "b:1").await;
    let other = claim(&b, RANGE).await.unwrap();
    assert!(other.cache == 1 && waits(&other), "{other:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_waits_for_routes_that_were_over_long_ago() {
    let Some(etcd) = Etcd::start(1) else { return };
    let a = process(&etcd, "settled", "a:1").await;
    let first = claim(&a, RANGE).await.unwrap();
    let moved = a.claim(RANGE, Some(first.cache)).await.unwrap().unwrap();
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(SERVED_MS + 500) {
        assert!(renewed(&a, moved.epoch).await);
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    drop(a);
    let b = process(&etcd, "settled", "b:1").await;
    let next = wait_for(&b, RANGE).await;
    assert_eq!((next.cache, next.serve_after_ms, next.before), (1, 0, Some(moved.epoch)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_owner_after_a_revoked_lease_on_another_cache_server_waits_for_its_routes() {
    let Some(etcd) = Etcd::start(1) else { return };
    let a = process(&etcd, "revoked", "a:1").await;
    let first = claim(&a, RANGE).await.unwrap();
    assert!(etcd.revoke_lease(0));
    let (b, c) = (process(&etcd, "revoked", "b:1").await, process(&etcd, "revoked", "c:1").await);
    let moved = b.claim(RANGE, Some(first.cache)).await.unwrap().unwrap();
    assert_eq!((moved.cache, moved.serve_after_ms), (1, SERVED_MS), "a may not know yet");
    // Of all of them, as nobody says whose is which.
    while etcd.revoke_lease(0) {}
    let next = wait_for(&c, RANGE).await;
    assert_eq!((next.cache, next.serve_after_ms), (1, SERVED_MS), "b did not wait to the end");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hot_ranges_are_split_and_cold_ones_merged() {
    let Some(etcd) = Etcd::start(1) else { return };
    let (a, b) = (process(&etcd, "cuts", "a:1").await, process(&etcd, "cuts", "b:1").await);
    let first = claim(&a, RANGE).await.unwrap();
    let middle = Some((0, Cut::Before(500.into())));
    a.report(&[(RANGE, RangeLoad { requests: 9_000, middle })]).await.unwrap();
    let wish = b.balance(5_000, 100).await.unwrap();
    assert_eq!(wish, Some(Recut::Split(RANGE, 0, Cut::Before(500.into()))));
    assert_eq!(b.balance(5_000, 100).await.unwrap(), None, "one at a time");
    let map = a.map().await.unwrap();
    assert_eq!((map.to_stop(a.holder()), map.to_stop(b.holder())), (vec![RANGE], vec![]));
    assert!(!b.carry_out_wish().await.unwrap(), "its owner is at work");
    a.release(RANGE, first.epoch).await.unwrap();
    let map = a.newer_table(1).await;
    assert_eq!(map.table().unwrap().ranges(), [RangeId(0), RangeId(1)]);
    // Both halves go to those who have least to do, and their epochs are above the whole's.
    let heirs = map.heirs();
    assert_eq!(heirs.len(), 2);
    assert!(heirs.values().any(|heir| *heir == a.holder()) && heirs.values().any(|heir| *heir == b.holder()));
    for range in [RangeId(0), RangeId(1)] {
        assert!(claim(&a, range).await.unwrap().epoch > first.epoch);
    }
    a.report(&[RangeId(0), RangeId(1)].map(|range| (range, RangeLoad { requests: 3, middle: None })))
        .await
        .unwrap();
    assert_eq!(a.balance(5_000, 100).await.unwrap(), Some(Recut::Merge(RangeId(0), RangeId(1))));
    let last = a.map().await.unwrap();
    for range in last.to_stop(a.holder()) {
        a.release(range, last.owner(range).unwrap().epoch).await.unwrap();
    }
    let map = b.newer_table(2).await;
    assert_eq!(map.table().unwrap().ranges(), [RangeId(0)]);
    let whole = wait_for(&b, RANGE).await;
    assert!([RangeId(0), RangeId(1)].iter().all(|range| last.owner(*range).unwrap().epoch < whole.epoch));
    assert_eq!(b.table().await.unwrap().version(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_range_whose_owner_died_is_claimed_before_it_is_cut() {
    let Some(etcd) = Etcd::start(1) else { return };
    let (a, b) = (process(&etcd, "dies", "a:1").await, process(&etcd, "dies", "b:1").await);
    claim(&a, RANGE).await.unwrap();
    assert!(b.wish(&Recut::Split(RANGE, 0, Cut::Before(9.into()))).await.unwrap());
    assert!(!b.wish(&Recut::Merge(RANGE, RangeId(1))).await.unwrap(), "nothing to merge");
    a.leave().await.unwrap();
    drop(a);
    assert!(!b.carry_out_wish().await.unwrap(), "what its owner had in flight is not fenced");
    let tenure = wait_for(&b, RANGE).await;
    assert_eq!(b.map().await.unwrap().to_stop(b.holder()), [RANGE]);
    b.release(RANGE, tenure.epoch).await.unwrap();
    assert_eq!(b.newer_table(1).await.table().unwrap().ranges().len(), 2);
}

/// Its watch reports that its own keys are gone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_has_left_is_no_member_until_it_claims() {
    let Some(etcd) = Etcd::start(1) else { return };
    let (a, b) = (process(&etcd, "left", "a:1").await, process(&etcd, "left", "b:1").await);
    let is_member = async || b.map().await.unwrap().members().contains_key(&a.holder());
    assert!(is_member().await);
    a.leave().await.unwrap();
    for _ in 0..20 {
        assert!(!is_member().await, "it has joined again");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(claim(&a, RANGE).await.is_some() && is_member().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bad_input_is_told_apart_from_trouble() {
    for (url, namespace, address) in [
        ("redis://127.0.0.1:1", "name", "a:1"),
        ("etcd://127.0.0.1", "name", "a:1"),
        ("etcd://127.0.0.1:1", "two words", "a:1"),
        ("etcd://127.0.0.1:1", "name", "a 1"),
    ] {
        let refused = EtcdOptions::new(url, namespace).with_address(address).open().await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidInput, "{url} {namespace} {address}: {refused}");
    }
    let forever = EtcdOptions::new("etcd://127.0.0.1:1", "name").with_lease_s(u64::MAX);
    let forever = forever.open().await.unwrap_err();
    assert!(forever.kind() == ErrorKind::InvalidInput && forever.to_string().contains("86400"), "{forever}");
    let nobody = EtcdOptions::new("etcd://127.0.0.1:1", "name").open().await.unwrap_err();
    assert_eq!(nobody.kind(), ErrorKind::Unavailable, "{nobody}");
    let Some(etcd) = Etcd::start(1) else { return };
    // Ranges are numbered elsewhere: there is no table, and every number can be had.
    let free = EtcdOptions::new(etcd.url(), "free").with_lease_s(LEASE_S).open().await.unwrap();
    assert_eq!(free.table().await.unwrap_err().kind(), ErrorKind::InvalidInput);
    assert!(free.claim(RangeId(77), None).await.unwrap().is_some());
    assert!(!free.wish(&Recut::Split(RANGE, 0, Cut::Before(9.into()))).await.unwrap());
    let table = RangeTable::new(1);
    assert_eq!(process(&etcd, "other", "a:1").await.table().await.unwrap().version(), table.version());
}
