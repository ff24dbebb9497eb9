//! Seeks of the two-level store: by candidates never more reads than by yes and no, and the same keys.

use lacuna_guard::Direction;
use lacuna_lab::two_level::{Layout, OFF, SeekOutcome, StorePlan, run_seeks};
use lacuna_workload::Workload;

use crate::workloads::{byte_workload, workload};

const LAYOUTS: [Layout; 3] = [
    Layout::SsTables { table_count: 1 },
    Layout::SsTables { table_count: 12 },
    Layout::Leaves { keys_per_leaf: 300 },
];

fn seek(workload: &Workload, spec: &str, layout: Layout, direction: Direction) -> SeekOutcome {
    let plan = StorePlan { spec, bits_per_key: 26.0, layout, seed: 9 };
    run_seeks(workload, &plan, direction).expect("the plan is sound")
}

/// Runs every layout both ways and adds up.
fn seek_everywhere(workload: &Workload, spec: &str) -> SeekOutcome {
    let mut sum = SeekOutcome::default();
    for layout in LAYOUTS {
        for direction in [Direction::Forward, Direction::Backward] {
            let outcome = seek(workload, spec, layout, direction);
            let name = format!("{spec} {layout:?} {direction:?}: {outcome:?}");
            assert_eq!(outcome.wrong_answers, 0, "{name}");
            assert!(outcome.planned_reads <= outcome.stock_reads, "{name}");
            assert!(outcome.stock_reads <= outcome.unfiltered_reads, "{name}");
            sum.stock_reads += outcome.stock_reads;
            sum.planned_reads += outcome.planned_reads;
            sum.unfiltered_reads += outcome.unfiltered_reads;
            sum.found += outcome.found;
        }
    }
    sum
}

#[test]
fn candidates_never_cost_a_read() {
    let workloads = [
        ("short, mostly empty", workload("uniform:20k", "half:split:2k:1-2^52:1k:any", 1)),
        ("long, mostly hits", workload("uniform:20k", "uniform:2k:2^53:any", 2)),
        ("clustered", workload("clustered:20k", "heldout:1k:1-2^30:any", 3)),
        ("strings", byte_workload("uniform:20k", "uniform:2k:2^52:any", 4)),
    ];
    for (name, workload) in &workloads {
        for spec in ["surf", "surf:real=0", "surf:hash=4", "grafite", OFF] {
            let sum = seek_everywhere(workload, spec);
            println!(
                "{name}, {spec}: {} reads planned, {} stock, {} without filters: ratio {:.3}",
                sum.planned_reads,
                sum.stock_reads,
                sum.unfiltered_reads,
                sum.ratio()
            );
            assert!(sum.found > 0, "{name}, {spec}");
        }
    }
}

#[test]
fn a_found_key_costs_little_more_than_one_read() {
    // Every table holds keys of every range; the stock path reads all twelve.
    let workload = workload("uniform:20k", "uniform:2k:2^56:any", 5);
    let layout = Layout::SsTables { table_count: 12 };
    for direction in [Direction::Forward, Direction::Backward] {
        let outcome = seek(&workload, "surf:real=8", layout, direction);
        assert_eq!((outcome.found, outcome.wrong_answers), (outcome.seeks, 0), "{outcome:?} seed 5");
        assert!(outcome.stock_reads > 11 * outcome.seeks, "{outcome:?} seed 5");
        assert!(outcome.planned_reads * 10 < outcome.seeks * 11, "{outcome:?} seed 5");
    }
}

#[test]
fn an_empty_seek_reads_nothing_unless_in_doubt() {
    let workload = workload("uniform:20k", "uniform:2k:32", 6);
    let outcome = seek(&workload, "surf:real=8", LAYOUTS[1], Direction::Forward);
    assert_eq!((outcome.found, outcome.wrong_answers), (0, 0), "seed 6");
    assert!(outcome.planned_reads * 50 < outcome.seeks, "{outcome:?} seed 6");
}
