//! Eventual mode: the paper's scheme, whose stale window is measured; and shadow mode, which only counts.

use lacuna_node_filters::Mode;

use crate::safe::config;
use crate::sim::{Setup, World};

#[test]
fn the_stale_window_is_there_and_bounded() {
    let setup = Setup {
        config: config(Mode::Eventual, None),
        faults: false,
        moves: 0,
        quorum: false,
        rows: false,
        batches: false,
    };
    let (mut wrong, mut longest) = (0, 0);
    for seed in 0..5 {
        let mut world = World::new(setup, seed);
        for _ in 0..2_000 {
            let _ = world.run(20);
        }
        assert!(world.counts.skipped_of_absent * 10 > world.counts.reads_of_absent * 8, "seed {seed}");
        wrong += world.counts.wrong;
        longest = longest.max(world.counts.longest_window);
    }
    println!(
        "{wrong} reads were empty after an acknowledged write, the last {longest} ms after it; interval 200 ms"
    );
    assert!(wrong > 0, "the paper's scheme misses writes");
    assert!(
        longest <= 200 + 40,
        "without faults no longer than an interval, a tick and a message: {longest}"
    );
}

#[test]
fn a_cut_off_coordinator_stops_answering_after_three_intervals() {
    let setup = Setup {
        config: config(Mode::Eventual, None),
        faults: true,
        moves: 60,
        quorum: false,
        rows: false,
        batches: false,
    };
    let mut longest = 0;
    for seed in 0..10 {
        let mut world = World::new(setup, seed);
        for _ in 0..1_000 {
            let _ = world.run(20);
        }
        longest = longest.max(world.counts.longest_window);
    }
    // Three intervals of age and one until the next delta; pauses of the publisher come on top.
    assert!(longest <= 4 * 200 + 2_050 + 1_600, "{longest}");
}

#[test]
fn shadow_mode_answers_nothing() {
    let setup = Setup {
        config: config(Mode::Shadow, None),
        faults: false,
        moves: 0,
        quorum: false,
        rows: false,
        batches: false,
    };
    let mut world = World::new(setup, 1);
    world.run(10_000).unwrap();
    assert_eq!((world.counts.skipped_of_absent, world.counts.skipped_of_deleted), (0, 0));
}
