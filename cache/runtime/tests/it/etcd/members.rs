//! Members of etcd that die, hang and come back.

use std::time::{Duration, Instant};

use lacuna_cache::etcd::EtcdCoordinator;
use lacuna_cache_protocol::ErrorKind;
use lacuna_cache_protocol::RangeId;
use lacuna_cache_protocol::ports::{Coordinator as _, Tenure};
use lacuna_testkit::servers::Etcd;
use tokio::time::sleep;

use crate::etcd::claims::{AT_MOST, claimed, open, options, renewed, wait_for};

const RANGE: RangeId = RangeId(0);
/// So long that no lease ends because the machine is out of breath; each of three members has a ninth of it to answer.
const LEASE_S: u64 = 15;

async fn process(etcd: &Etcd, name: &str, address: &str) -> EtcdCoordinator {
    open(options(etcd, name, address).with_lease_s(LEASE_S)).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claims_and_renewals_outlive_the_leader() {
    let Some(mut etcd) = Etcd::start(3) else { return };
    let (a, b) = (process(&etcd, "leader", "a:1").await, process(&etcd, "leader", "b:1").await);
    let tenure = wait_for(&a, RANGE).await;
    etcd.kill(etcd.leader());
    let start = Instant::now();
    assert!(renewed(&a, tenure.epoch).await, "the tenure goes on");
    println!("renewed {:?} after the leader was killed", start.elapsed());
    assert_eq!(claimed(&b, RANGE).await, None);
    while a.release(RANGE, tenure.epoch).await.is_err() {
        assert!(start.elapsed() < AT_MOST, "nobody leads");
    }
    assert!(wait_for(&b, RANGE).await.epoch > tenure.epoch);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_majority_nobody_claims() {
    let Some(mut etcd) = Etcd::start(3) else { return };
    let a = open(options(&etcd, "most", "a:1").with_lease_s(LEASE_S).with_uncached_fallback()).await;
    let b = process(&etcd, "most", "b:1").await;
    let leader = etcd.leader();
    let tenure = granted(&a).await;
    let begun = Instant::now();
    let others = [leader, (leader + 1) % 3];
    others.iter().for_each(|place| etcd.kill(*place));
    assert_eq!(b.claim(RANGE, None).await.unwrap_err().kind(), ErrorKind::Unavailable);
    assert_eq!(a.renew(RANGE, tenure.epoch).await.unwrap_err().kind(), ErrorKind::Unavailable);
    // The owner goes on against the store once routes to the cache are over, with an epoch that nobody else is given.
    let past = a.claim(RANGE, None).await.unwrap().unwrap();
    assert_eq!((past.epoch.0, past.cache), (tenure.epoch.0 + 1, usize::MAX));
    assert!(past.serve_after_ms > 0 || begun.elapsed() > Duration::from_secs(LEASE_S / 2), "{past:?}");
    assert!(a.renew(RANGE, past.epoch).await.unwrap() && !a.has_cache_again(RANGE, past.epoch));
    assert_eq!(a.claim(RangeId(5), None).await.unwrap_err().kind(), ErrorKind::Unavailable, "never had");
    others.iter().for_each(|place| etcd.restart(*place));
    let start = Instant::now();
    while !a.has_cache_again(RANGE, past.epoch) {
        assert!(start.elapsed() < AT_MOST, "the members are back");
        sleep(Duration::from_millis(20)).await;
    }
    assert!(a.renew(RANGE, past.epoch).await.unwrap(), "it ends in order: no other process has the range");
    let again = granted(&a).await;
    assert!(again.epoch.0 >= tenure.epoch.0 + 262_144 && again.cache == tenure.cache, "{again:?}");
    assert_eq!(claimed(&b, RANGE).await, None);
}

/// A tenure that etcd has granted: while it does not answer, the last owner is given others.
async fn granted(process: &EtcdCoordinator) -> Tenure {
    loop {
        let tenure = wait_for(process, RANGE).await;
        if tenure.cache != usize::MAX {
            return tenure;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hanging_member_is_passed_over() {
    let Some(etcd) = Etcd::start(3) else { return };
    let a = process(&etcd, "hangs", "a:1").await;
    let tenure = wait_for(&a, RANGE).await;
    for place in 0..3 {
        etcd.pause(place);
        let start = Instant::now();
        assert!(renewed(&a, tenure.epoch).await, "member {place} hangs, and two do not");
        println!("renewed {:?} after member {place} began to hang", start.elapsed());
        etcd.resume(place);
        etcd.leader();
    }
    assert!(renewed(&a, tenure.epoch).await, "the tenure goes on");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_in_a_minority_grants_nothing() {
    let Some(etcd) = Etcd::start(3) else { return };
    let leader = etcd.leader();
    let (near, far) = ((leader + 1) % 3, (leader + 2) % 3);
    let (name, lease_s) = ("minority", 6);
    let alone =
        open(options(&etcd, name, "a:1").with_lease_s(lease_s).with_endpoint(etcd.url_of(leader))).await;
    let tenure = wait_for(&alone, RANGE).await;
    etcd.isolate(leader);
    let others = format!("{},{}", etcd.url_of(near), etcd.url_of(far).trim_start_matches("etcd://"));
    let start = Instant::now();
    let b = open(options(&etcd, name, "b:1").with_lease_s(lease_s).with_endpoint(others)).await;
    // Its old leader still answers; what it says is not believed without the others.
    assert_eq!(alone.renew(RANGE, tenure.epoch).await.unwrap_err().kind(), ErrorKind::Unavailable);
    assert_eq!(alone.claim(RANGE, None).await.unwrap_err().kind(), ErrorKind::Unavailable);
    let other = wait_for(&b, RANGE).await;
    println!("claimed {:?} after the leader was cut off, with a lease of {lease_s} s", start.elapsed());
    assert!(other.epoch > tenure.epoch);
    etcd.rejoin(leader);
    assert!(!renewed(&alone, tenure.epoch).await, "the range is another's");
}
