//! Members of etcd that die, hang and come back.

use std::time::{Duration, Instant};

use lacuna_core::ErrorKind;
use lacuna_range_cache::RangeId;
use lacuna_range_cache::ports::Coordinator as _;
use lacuna_store_etcd::EtcdCoordinator;
use lacuna_test_servers::Etcd;
use tokio::time::sleep;

use crate::claims::{options, wait_for};

const RANGE: RangeId = RangeId(0);
/// What a busy machine may take for what takes a second.
const AT_MOST: Duration = Duration::from_secs(60);

async fn process(etcd: &Etcd, name: &str, address: &str) -> EtcdCoordinator {
    options(etcd, name, address).lease_s(4).open().await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claims_and_renewals_outlive_the_leader() {
    let Some(mut etcd) = Etcd::start(3) else { return };
    let (a, b) = (process(&etcd, "leader", "a:1").await, process(&etcd, "leader", "b:1").await);
    let tenure = a.claim(RANGE, None).await.unwrap().unwrap();
    etcd.kill(etcd.leader().unwrap());
    let start = Instant::now();
    while a.renew(RANGE, tenure.epoch).await.is_err() {
        assert!(start.elapsed() < AT_MOST, "nobody leads");
        sleep(Duration::from_millis(20)).await;
    }
    println!("renewed {:?} after the leader was killed", start.elapsed());
    assert!(a.renew(RANGE, tenure.epoch).await.unwrap(), "the tenure goes on");
    assert_eq!(b.claim(RANGE, None).await.unwrap(), None);
    a.release(RANGE, tenure.epoch).await.unwrap();
    assert!(wait_for(&b, RANGE).await.epoch > tenure.epoch);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_majority_nobody_claims() {
    let Some(mut etcd) = Etcd::start(3) else { return };
    let a = options(&etcd, "most", "a:1").lease_s(4).going_past_the_cache().open().await.unwrap();
    let b = process(&etcd, "most", "b:1").await;
    let tenure = a.claim(RANGE, None).await.unwrap().unwrap();
    let leader = etcd.leader().unwrap();
    let others = [leader, (leader + 1) % 3];
    others.iter().for_each(|place| etcd.kill(*place));
    assert_eq!(b.claim(RANGE, None).await.unwrap_err().kind(), ErrorKind::Unavailable);
    assert_eq!(a.renew(RANGE, tenure.epoch).await.unwrap_err().kind(), ErrorKind::Unavailable);
    // The owner goes on against the store once routes to the cache are over, with an epoch that nobody else is given.
    let past = a.claim(RANGE, None).await.unwrap().unwrap();
    assert_eq!((past.epoch.0, past.cache), (tenure.epoch.0 + 1, usize::MAX));
    assert!(past.serve_after_ms > 0, "{past:?}");
    assert!(a.renew(RANGE, past.epoch).await.unwrap());
    assert_eq!(a.claim(RangeId(5), None).await.unwrap_err().kind(), ErrorKind::Unavailable, "never had");
    others.iter().for_each(|place| etcd.restart(*place));
    let start = Instant::now();
    while a.renew(RANGE, past.epoch).await.unwrap() {
        assert!(start.elapsed() < AT_MOST, "the members are back");
        sleep(Duration::from_millis(20)).await;
    }
    let again = wait_for(&a, RANGE).await;
    assert!(again.epoch.0 >= tenure.epoch.0 + 1_024 && again.cache == tenure.cache, "{again:?}");
    assert_eq!(b.claim(RANGE, None).await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hanging_member_is_passed_over() {
    let Some(etcd) = Etcd::start(3) else { return };
    let a = process(&etcd, "hangs", "a:1").await;
    let tenure = a.claim(RANGE, None).await.unwrap().unwrap();
    for place in 0..3 {
        etcd.pause(place);
        let start = Instant::now();
        while a.renew(RANGE, tenure.epoch).await.is_err() {
            assert!(start.elapsed() < AT_MOST, "member {place} hangs, and two do not");
            sleep(Duration::from_millis(20)).await;
        }
        println!("renewed {:?} after member {place} began to hang", start.elapsed());
        etcd.resume(place);
        etcd.wait();
    }
    assert!(a.renew(RANGE, tenure.epoch).await.unwrap(), "the tenure goes on");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_in_a_minority_grants_nothing() {
    let Some(etcd) = Etcd::start(3) else { return };
    let leader = etcd.leader().unwrap();
    let (near, far) = ((leader + 1) % 3, (leader + 2) % 3);
    let name = "minority";
    let alone = options(&etcd, name, "a:1").lease_s(4).reaching(etcd.url_of(leader)).open().await.unwrap();
    let tenure = alone.claim(RANGE, None).await.unwrap().unwrap();
    etcd.isolate(leader);
    let others = format!("{},{}", etcd.url_of(near), etcd.url_of(far).trim_start_matches("etcd://"));
    let start = Instant::now();
    let b = loop {
        match options(&etcd, name, "b:1").lease_s(4).reaching(others.clone()).open().await {
            Ok(opened) => break opened,
            Err(why) => assert!(start.elapsed() < AT_MOST, "two members elect a leader: {why}"),
        }
    };
    // Its old leader still answers; what it says is not believed without the others.
    assert_eq!(alone.renew(RANGE, tenure.epoch).await.unwrap_err().kind(), ErrorKind::Unavailable);
    assert_eq!(alone.claim(RANGE, None).await.unwrap_err().kind(), ErrorKind::Unavailable);
    let other = wait_for(&b, RANGE).await;
    println!("claimed {:?} after the leader was cut off, with a lease of 4 s", start.elapsed());
    assert!(other.epoch > tenure.epoch);
    etcd.rejoin(leader);
    while alone.renew(RANGE, tenure.epoch).await.is_err() {
        assert!(start.elapsed() < 3 * AT_MOST, "the member is back");
        sleep(Duration::from_millis(20)).await;
    }
    assert!(!alone.renew(RANGE, tenure.epoch).await.unwrap(), "the range is another's");
}
