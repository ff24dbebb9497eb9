//! Runs without a flaw find nothing.

use lacuna_range_cache::Policy;
use lacuna_testkit::effort;

use crate::sim::{Setup, World};

pub(crate) fn setup(policy: Policy) -> Setup {
    Setup {
        policy,
        domains: 1,
        ranges: 2,
        read_percent: 75,
        forbidden: 10,
        beta: 100,
        faults: true,
        flaw: None,
    }
}

fn runs_clean(setup: Setup) {
    let (seeds, steps) = (effort::short_or_long(4, 200), 20_000);
    for seed in (0..seeds).map(|run| effort::seed() * 1_000 + run) {
        let mut world = World::new(setup, seed);
        let result = world.run(steps);
        assert!(result.is_ok(), "seed {seed}, {setup:?}: {}\n{:?}", result.unwrap_err(), world.counts);
        println!(
            "seed {seed}: {:?}, lost {}, late {}, cut off {}, fenced {}",
            world.counts, world.network.lost, world.network.late, world.network.cut_off, world.store.fenced
        );
    }
}

#[test]
fn write_around_shows_nothing_stale() {
    runs_clean(setup(Policy::WriteAround));
}

#[test]
fn write_through_shows_nothing_stale() {
    runs_clean(setup(Policy::WriteThrough));
}

#[test]
fn write_back_shows_nothing_stale_and_loses_nothing() {
    runs_clean(setup(Policy::WriteBack));
}

#[test]
fn two_domains_of_one_table_agree() {
    for policy in [Policy::WriteAround, Policy::WriteThrough, Policy::WriteBack] {
        runs_clean(Setup { domains: 2, ranges: 1, ..setup(policy) });
    }
}
