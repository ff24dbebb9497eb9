//! Blocks that a plan saves.

use std::ops::Bound;

use lacuna_rocksdb::{RangeFilters, SeekTables};
use lacuna_workload::Rng;
use rust_rocksdb::perf::{PerfContext, PerfMetric, PerfStatsLevel, set_perf_stats};

use super::plain;
use crate::differential::Bounds;
use crate::saved_reads::four_levels;
use crate::support::options;

#[test]
fn an_open_seek_reads_one_table() {
    let lacuna = RangeFilters::parse("surf@20 codec=fixed_be:8").unwrap();
    let (db, env) = four_levels(Some(&lacuna));
    let mut options = rust_rocksdb::Options::default();
    options.set_env(&env);
    let tables = SeekTables::load(&lacuna, &options, &db).unwrap();
    let ((seekable, all), bytes) = (tables.seekable(), tables.memory_bytes());
    // Where compaction cuts is up to its threads; a table of a few rows may be left, whose SuRF is above its budget.
    assert!(bytes > 100_000 && all - seekable <= all / 20, "{seekable} of {all} tables, {bytes} bytes");
    let seek = |planned: bool, first: bool, rng: &mut Rng| {
        let from = (rng.next_u64() >> 1).to_be_bytes();
        let bounds: Bounds = match first {
            true => (Bound::Included(from.to_vec()), Bound::Unbounded),
            false => (Bound::Unbounded, Bound::Included(from.to_vec())),
        };
        match (planned, first) {
            (false, _) => plain(&db, &bounds, first),
            (true, true) => tables.first(&db, bounds).unwrap(),
            (true, false) => tables.last(&db, bounds).unwrap(),
        }
    };
    let blocks = |planned: bool, first: bool| {
        let mut rng = Rng::new(77);
        blocks_of(|| (0..1_000).for_each(|_| assert!(seek(planned, first, &mut rng).is_some())))
    };
    for first in [true, false] {
        let (without, with) = (blocks(false, first), blocks(true, first));
        println!("1,000 open seeks, first {first}: {without} blocks without a plan, {with} with");
        assert!(with < 1_600 && 2 * with < without, "{with} against {without}");
    }
}

/// Blocks that `work` reads.
fn blocks_of(work: impl FnOnce()) -> u64 {
    set_perf_stats(PerfStatsLevel::EnableCount);
    let mut context = PerfContext::default();
    context.reset();
    work();
    context.metric(PerfMetric::BlockReadCount)
}

#[test]
fn the_last_row_of_all_is_planned() {
    let lacuna = RangeFilters::parse("surf@20 codec=fixed_be:8").unwrap();
    let (db, env) = four_levels(Some(&lacuna));
    let tables = SeekTables::load(&lacuna, &options(&env, None), &db).unwrap();
    let all: Bounds = (Bound::Unbounded, Bound::Unbounded);
    let (mut expected, mut found) = (None, None);
    let without = blocks_of(|| expected = plain(&db, &all, false));
    let with = blocks_of(|| found = tables.last(&db, all.clone()).unwrap());
    assert!(expected.is_some() && expected == found);
    assert!(with > 0 && with < without, "{with} blocks against {without}");
    // Keys of tables that the plan does not know are found too.
    db.put([0xFF; 9], b"beyond").unwrap();
    assert_eq!(tables.last(&db, all).unwrap(), Some((vec![0xFF; 9], b"beyond".to_vec())));
}
