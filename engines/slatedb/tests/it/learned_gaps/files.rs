//! Whose gaps are whose.

use std::sync::Arc;

use lacuna_slatedb::{GapOptions, RangeFilters};
use slatedb::{Filter, FilterQuery};

use crate::support::{BLIND, Learning, entry, range};

fn key(number: u64) -> [u8; 8] {
    (number << 20).to_be_bytes()
}

fn bytes(number: u64) -> [u8; 8] {
    number.to_be_bytes()
}

fn encoded(filter: &dyn Filter) -> Vec<u8> {
    let mut bytes = Vec::new();
    filter.encode(&mut bytes);
    assert_eq!(bytes.len(), filter.size());
    bytes
}

/// Two files whose filters are the same to the last bit; one holds a key in the other's gap.
#[tokio::test]
async fn files_of_equal_filters_keep_their_own_gaps() {
    let spec = "bucketing@2 codec=fixed_be:8";
    let keys =
        |odd: u64| (0..64u64).map(move |number| bytes((number << 20) + if number == 31 { odd } else { 0 }));
    let plain = |odd| {
        let mut builder = RangeFilters::parse(spec).unwrap().policies()[0].builder();
        keys(odd).for_each(|key| builder.add_entry(&entry(&key)));
        encoded(&*builder.build())
    };
    let (first, second) = (0, 1_000);
    assert_eq!(plain(first), plain(second), "a filter says nothing of the file's identity");

    let mut learning = Learning::new(spec).await;
    learning.test.write_sst(keys(first)).await;
    let db = learning.test.db.clone();
    let (lo, hi) = (bytes((31 << 20) + 500), bytes((31 << 20) + 1_500));
    learning.learn_from_nothing(&db, &lo, &hi).await;
    assert_eq!(learning.lacuna().stats().gaps.learned, 1, "{}", learning.lacuna().stats());
    learning.test.write_sst(keys(second)).await;
    assert_eq!(learning.scan(&db, &lo, &hi).await, [bytes((31 << 20) + second)]);
}

#[tokio::test]
async fn gaps_outlive_the_filter_in_a_cache_and_not_the_file() {
    let mut learning = Learning::new(BLIND).await;
    learning.test.write_sst((0..40).map(key)).await;
    learning.test.write_sst((0..40).map(|number| bytes((number << 20) + 9))).await;
    let (lo, hi) = (bytes((7 << 20) + 1_000), bytes((7 << 20) + 2_000));
    learning.learn_from_nothing(&learning.test.db.clone(), &lo, &hi).await;
    assert_eq!(learning.lacuna().stats().skipped_by_gap(), 2);
    // Opened again: the filters are read and decoded anew, and find their gaps.
    let mut learning = Learning { test: learning.test.reopen().await, learner: learning.learner };
    assert!(learning.scan(&learning.test.db, &lo, &hi).await.is_empty());
    assert_eq!(learning.lacuna().stats().skipped_by_gap(), 4, "{}", learning.lacuna().stats());
    // Compacted: a new file, about which nothing is known until it is looked into.
    learning.test.compact(true).await;
    let before = learning.lacuna().stats();
    learning.learn_from_nothing(&learning.test.db.clone(), &lo, &hi).await;
    let after = learning.lacuna().stats();
    assert_eq!(after.passed() - before.passed(), 1, "{after}");
    assert_eq!(after.skipped_by_gap() - before.skipped_by_gap(), 1, "{after}");
}

/// A process that does not learn reads the filters of one that does, and the other way round.
#[tokio::test]
async fn tags_are_read_past_by_those_who_do_not_learn() {
    let learning = Learning::new(BLIND).await;
    learning.test.write_sst((0..40).map(key)).await;
    let lacuna = RangeFilters::parse(BLIND).unwrap();
    let test = learning.test.reopen_with(Some(lacuna)).await;
    assert!(test.lacuna().scan(&test.db, bytes(5)..bytes(9)).await.unwrap().next().await.unwrap().is_none());
    let stats = test.lacuna().stats();
    assert_eq!((stats.opened, stats.open_failures, stats.skipped()), (1, 0, 1), "{stats}");
    test.write_sst((0..40).map(key)).await;
    let learns = RangeFilters::parse(BLIND).unwrap().with_learned_gaps(GapOptions::default());
    let test = test.reopen_with(Some(learns)).await;
    let mut learning = Learning { learner: test.learner(), test };
    let (lo, hi) = (bytes((7 << 20) + 1_000), bytes((7 << 20) + 2_000));
    learning.learn_from_nothing(&learning.test.db.clone(), &lo, &hi).await;
    let stats = learning.lacuna().stats();
    assert_eq!((stats.open_failures, stats.gaps.learned, stats.skipped_by_gap()), (0, 1, 1), "{stats}");
}

#[test]
fn a_decoded_filter_is_written_as_it_was() {
    let lacuna = RangeFilters::parse(BLIND).unwrap().with_learned_gaps(GapOptions::default());
    let policy = Arc::clone(&lacuna.policies()[0]);
    let build = || {
        let mut builder = policy.builder();
        (0..40).for_each(|number| builder.add_entry(&entry(&key(number))));
        encoded(&*builder.build())
    };
    let (first, second) = (build(), build());
    assert!(first != second && first[..first.len() - 16] == second[..second.len() - 16], "only tags differ");
    assert_eq!(encoded(&*policy.decode(&first)), first);
    assert_eq!(encoded(&*policy.decode(&first).clamp_allocated_size()), first);
    assert!(first.len() <= policy.estimate_size(40), "{} bytes", first.len());
    // Damaged: read always, as without a tag.
    let damaged = policy.decode(&first[..first.len() - 1]);
    assert!(damaged.might_match(&FilterQuery::point(bytes::Bytes::from_static(b"12345678"))));
    let beyond = range(std::ops::Bound::Included(&key(50)), std::ops::Bound::Included(&key(60)));
    assert!(!policy.decode(&first).might_match(&beyond) && damaged.might_match(&beyond));
}
