//! The two-level store.

use lacuna_lab::two_level::{Layout, OFF, Outcome, ReadPrice, StorePlan, run_store};
use lacuna_workload::{Keys, Queries, Workload};

use crate::workloads::{byte_workload, workload};

const LAYOUTS: [Layout; 4] = [
    Layout::SsTables { table_count: 1 },
    Layout::SsTables { table_count: 7 },
    Layout::Leaves { keys_per_leaf: 100 },
    Layout::Leaves { keys_per_leaf: 999 },
];
const PRICE: ReadPrice = ReadPrice::Accounted(1_000.0);

fn run(workload: &Workload, spec: &str, layout: Layout) -> Outcome {
    let plan = StorePlan { spec, bits_per_key: 14.0, layout, seed: 9 };
    run_store(workload, &plan, PRICE).expect("the plan is sound")
}

#[test]
fn answers_equal_a_plain_scan() {
    let workloads = [
        workload("uniform:3k", "half:split:1k:1-2^52:1k:any", 1),
        workload("clustered:3k", "heldout:1k:1-2^30:hit", 2),
        byte_workload("uniform:3k", "half:split:1k:1-2^52:1k:any", 3),
    ];
    for (workload, seed) in workloads.iter().zip(1..) {
        for layout in LAYOUTS {
            for spec in [OFF, "bloom", "grafite", "bucketing"] {
                let outcome = run(workload, spec, layout);
                assert_eq!(outcome.wrong_answers, 0, "{spec} {layout:?} seed {seed}");
                assert!(outcome.hits > 0, "{spec} {layout:?} seed {seed} finds nothing");
                assert!(outcome.reads >= outcome.needed, "{outcome:?} seed {seed}");
            }
        }
    }
}

#[test]
fn filters_avoid_reads() {
    let workload = workload("uniform:10k", "uniform:2k:32", 4);
    for layout in LAYOUTS {
        let without = run(&workload, OFF, layout);
        let with = run(&workload, "grafite", layout);
        assert_eq!(without.reads, without.candidates, "seed 4");
        assert_eq!((with.candidates, with.needed), (without.candidates, without.needed), "seed 4");
        assert!(with.reads * 20 < without.reads, "{with:?} seed 4");
        assert_eq!(with.avoided + with.reads, with.candidates);
        assert_eq!(with.false_positives, with.reads, "every query is empty, seed 4");
    }
}

#[test]
fn tables_are_asked_all_and_leaves_one() {
    let workload = workload("uniform:10k", "uniform:1k:32", 5);
    let tables = run(&workload, OFF, Layout::SsTables { table_count: 7 });
    let leaves = run(&workload, OFF, Layout::Leaves { keys_per_leaf: 100 });
    assert!((6_900..=7_000).contains(&tables.candidates), "{tables:?} seed 5");
    assert!((1_000..1_010).contains(&leaves.candidates), "{leaves:?} seed 5");
    assert_eq!((tables.parts, leaves.parts), (7, 100));
    assert_eq!((tables.layout.as_str(), leaves.layout.as_str()), ("sstables:7", "leaves:100"));
}

#[test]
fn prices_are_accounted() {
    let workload = workload("uniform:1k", "uniform:500:32", 6);
    let outcome = run(&workload, OFF, Layout::Leaves { keys_per_leaf: 100 });
    assert_eq!(outcome.filter_ns, 0.0);
    assert_eq!(outcome.filter_questions_per_second(), None);
    assert_eq!(outcome.overall_ns, outcome.reads as f64 * 1_000.0);
    let expected = outcome.queries as f64 / outcome.overall_ns * 1e9;
    assert_eq!(outcome.queries_per_second(), expected);
}

#[test]
fn spun_reads_take_their_time() {
    let workload = workload("uniform:1k", "uniform:50:32", 7);
    let layout = Layout::SsTables { table_count: 2 };
    let plan = StorePlan { spec: OFF, bits_per_key: 14.0, layout, seed: 7 };
    let outcome = run_store(&workload, &plan, ReadPrice::Spun(20_000.0)).expect("the plan is sound");
    assert!(outcome.overall_ns >= outcome.reads as f64 * 20_000.0, "{outcome:?}");
}

#[test]
fn filter_sizes_add_up() {
    let workload = workload("uniform:10k", "uniform:10:32", 8);
    let outcome = run(&workload, "bloom", Layout::Leaves { keys_per_leaf: 1_000 });
    // An envelope and a fixed allowance of 64 bytes each are one bit a key here.
    assert!((14.0..15.1).contains(&outcome.bits_per_key()), "{outcome:?}");
    assert!(outcome.total_ns() > outcome.overall_ns);
}

#[test]
fn more_tables_than_keys_are_allowed() {
    let queries = Queries::U64(vec![(0, 4), (5, 5), (6, u64::MAX)]);
    let tiny = Workload { inserted: Keys::U64(vec![1, 5]), held_out: Keys::U64(vec![]), queries };
    for layout in [Layout::SsTables { table_count: 5 }, Layout::Leaves { keys_per_leaf: 1 }] {
        let outcome = run(&tiny, "grafite", layout);
        assert_eq!((outcome.wrong_answers, outcome.hits, outcome.needed), (0, 2, 2), "{layout:?}");
    }
}

#[test]
fn stores_without_parts_are_refused() {
    let workload = workload("uniform:100", "uniform:10:32", 1);
    for layout in [Layout::SsTables { table_count: 0 }, Layout::Leaves { keys_per_leaf: 0 }] {
        let plan = StorePlan { spec: OFF, bits_per_key: 14.0, layout, seed: 1 };
        assert!(run_store(&workload, &plan, PRICE).is_err(), "{layout:?}");
    }
}
