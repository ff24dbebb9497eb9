//! Filters under a secret: refused without one when they are installed, and opened by who has none or another.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use lacuna_base::Secret;
use lacuna_slatedb::{GuardSpec, RangeFilters};
use slatedb::Db;
use slatedb::object_store::memory::InMemory;

use crate::support::{TestDb, quiet_settings, rows};

const SPEC: &str = "ribbon:secret@14 codec=fixed_be:8";

fn under(secret: &[u8; 16]) -> RangeFilters {
    RangeFilters::new(GuardSpec::parse(SPEC).unwrap().with_secret(Secret::new(*secret)))
}

fn key(number: u64) -> [u8; 8] {
    (number << 20).to_be_bytes()
}

/// Every row is found, and gaps are denied.
async fn all_is_answered(test: &TestDb, numbers: u64) {
    let before = test.lacuna().stats().skipped();
    for number in 0..numbers {
        let (lo, hi) = (key(number), ((number << 20) + 9).to_be_bytes());
        let found = test.lacuna().scan(&test.db, lo..=hi).await.unwrap().next().await.unwrap();
        assert_eq!(found.expect("it was put").key.as_ref(), lo);
        assert!(test.db.get(lo).await.unwrap().is_some(), "{number}");
        let gap = ((number << 20) + 700).to_be_bytes()..=((number << 20) + 731).to_be_bytes();
        assert!(rows(test.db.scan(gap).await.unwrap()).await.is_empty());
    }
    let skipped = test.lacuna().stats().skipped() - before;
    assert!(skipped > numbers / 2, "{skipped} of {numbers} gaps were denied");
}

#[test]
fn a_missing_secret_is_refused_at_installation() {
    let refused = RangeFilters::parse(SPEC).map(|_| ()).unwrap_err().to_string();
    assert!(refused.ends_with("hashes under a secret: give one beside the text of the spec"), "{refused}");
    assert!(RangeFilters::parse("grafite@14 codec=fixed_be:8 fallback=grafite:secret").is_err());
    let without = RangeFilters::new(GuardSpec::parse(SPEC).unwrap());
    let builder = || {
        let store = Arc::new(InMemory::new());
        Db::builder("db", store).with_settings(quiet_settings())
    };
    assert_eq!(without.try_install(builder()).map(|_| ()).unwrap_err().to_string(), refused);
    let panicked = catch_unwind(AssertUnwindSafe(|| drop(without.install(builder())))).unwrap_err();
    assert_eq!(panicked.downcast_ref::<String>(), Some(&refused));
    let strings = GuardSpec::parse("ribbon:secret@14 codec=bytes").unwrap();
    let strings = RangeFilters::new(strings.with_secret(Secret::new(*b"sixteen bytes ok")));
    let refused = strings.try_install(builder()).map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("is for integers"), "{refused}");
    assert!(under(b"sixteen bytes ok").try_install(builder()).is_ok());
}

#[tokio::test]
async fn filters_are_opened_without_their_secret() {
    let test = TestDb::new(Some(under(b"sixteen bytes ok"))).await;
    test.write_sst((0..300).map(key)).await;
    all_is_answered(&test, 300).await;
    assert_eq!((test.lacuna().stats().built, test.lacuna().stats().build_failures), (1, 0));
    // Another process has another secret, or none: the key is in the filter.
    let test = test.reopen_with(Some(under(b"sixteen bytes no"))).await;
    all_is_answered(&test, 300).await;
    test.write_sst((300..600).map(key)).await;
    all_is_answered(&test, 600).await;
    let test = test.reopen_with(Some(RangeFilters::parse("grafite@14 codec=fixed_be:8").unwrap())).await;
    all_is_answered(&test, 600).await;
}
