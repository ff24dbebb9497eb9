//! Runs without a flaw find nothing, and mean something.

use std::collections::BTreeMap;

use lacuna_cache_protocol::Policy;
use lacuna_testkit::effort;

use crate::sim::{Setup, World};

/// Steps of a run.
const STEPS: u64 = 20_000;

pub(crate) fn setup(policy: Policy) -> Setup {
    Setup {
        policy,
        domains: 1,
        ranges: 2,
        read_percent: if policy == Policy::WriteAround { 98 } else { 90 },
        // A buffered write that is refused excuses its keys from the check.
        forbidden: if policy == Policy::WriteBack { 0 } else { 20 },
        beta: 100,
        max_entries: 1_000,
        beta_varies: false,
        is_sparse: false,
        is_warm: true,
        conditional_percent: 0,
        transaction_percent: 0,
        across_percent: 0,
        waits_long: false,
        joined_percent: 0,
        recuts: false,
        hunts: false,
        faults: true,
        fault_every: 700,
        flaw: None,
    }
}

/// What all runs together did.
#[derive(Debug, Default)]
struct Total {
    steps: u64,
    hits: u64,
    /// Hits that clients have put together from several entries.
    fused: u64,
    /// Entries that cache servers held, summed over every hundredth step.
    held: u64,
    misses: u64,
    direct: u64,
    behind_writes: u64,
    empty: u64,
    unknown: u64,
    writes: BTreeMap<String, u64>,
    endings: BTreeMap<String, u64>,
    transactions: BTreeMap<String, u64>,
    faults: BTreeMap<&'static str, u64>,
    lost: u64,
    late: u64,
    fenced_in_store: u64,
    fenced_hits: u64,
    write_through: u64,
    set_aside: u64,
    warm: u64,
    cuts: u64,
    redirects: u64,
    fenced_across: u64,
    joins: u64,
    joins_again: u64,
    peers: BTreeMap<String, u64>,
    crash_points: BTreeMap<String, u64>,
}

impl Total {
    fn add(&mut self, world: World) {
        let counts = world.counts;
        let reads = |how: &str| counts.reads.get(how).copied().unwrap_or(0);
        self.steps += counts.steps;
        self.hits += reads("Hit");
        self.fused += counts.fused;
        self.held += counts.held;
        self.misses += reads("Miss");
        self.direct += reads("Direct");
        self.behind_writes += counts.behind_writes;
        self.empty += counts.empty;
        self.unknown += counts.unknown;
        counts.writes.into_iter().for_each(|(what, count)| *self.writes.entry(what).or_default() += count);
        counts.endings.into_iter().for_each(|(what, count)| *self.endings.entry(what).or_default() += count);
        counts.faults.into_iter().for_each(|(what, count)| *self.faults.entry(what).or_default() += count);
        counts
            .transactions
            .into_iter()
            .for_each(|(what, count)| *self.transactions.entry(what).or_default() += count);
        self.lost += world.network.lost;
        self.late += world.network.late;
        self.fenced_in_store += world.store.fenced;
        self.fenced_hits += counts.fenced_hits;
        self.write_through += counts.write_through;
        self.set_aside += counts.set_aside;
        self.warm += counts.warm;
        self.cuts += world.coordinator.cuts;
        self.redirects += counts.redirects;
        self.fenced_across += world.store.fenced_across;
        self.joins += counts.joins;
        self.joins_again += counts.joins_again;
        counts.peers.into_iter().for_each(|(what, count)| *self.peers.entry(what).or_default() += count);
        counts
            .crash_points
            .into_iter()
            .for_each(|(what, count)| *self.crash_points.entry(what).or_default() += count);
    }

    /// A quiet run proves nothing: half of the reads were hits, a tenth misses, a twentieth misses behind a write, and
    /// every fault struck.
    fn means_something(&self) {
        let reads = self.hits + self.misses + self.direct;
        assert!(self.hits * 2 >= reads, "half of the reads are hits: {self:?}");
        assert!(self.misses * 10 >= reads && self.behind_writes * 20 >= reads, "enough misses: {self:?}");
        let min = effort::short_or_long(1, 100);
        assert!(
            self.faults.len() == 11 && self.faults.values().all(|count| *count >= min),
            "every fault: {self:?}"
        );
        assert!(
            self.lost > 100 && self.late > 100 && self.fenced_hits > 0 && self.fenced_in_store > 0,
            "{self:?}"
        );
    }
}

fn run(setup: Setup, short_runs: u64) -> Total {
    let runs = effort::short_or_long(short_runs, 60 * short_runs);
    let mut total = Total::default();
    for seed in (0..runs).map(|run| effort::seed() * 1_000_000 + run) {
        let mut world = World::new(setup, seed);
        let result = world.run(STEPS);
        assert!(result.is_ok(), "seed {seed}, {setup:?}: {}\n{:?}", result.unwrap_err(), world.counts);
        total.add(world);
    }
    println!("{setup:?}: {total:?}");
    total
}

#[test]
fn write_around_shows_nothing_stale() {
    run(setup(Policy::WriteAround), 12).means_something();
}

#[test]
fn write_through_shows_nothing_stale() {
    run(setup(Policy::WriteThrough), 12).means_something();
}

#[test]
fn write_back_shows_nothing_stale_and_loses_nothing() {
    let total = run(setup(Policy::WriteBack), 12);
    total.means_something();
    assert!(total.write_through > 0, "the log was full: {total:?}");
}

/// Rows come and go, outcomes are lost and owners replaced, and no range is said to be empty that is not.
#[test]
fn no_range_is_wrongly_empty() {
    let total = run(Setup { is_sparse: true, fault_every: 300, ..setup(Policy::WriteThrough) }, 26);
    assert!(total.empty >= effort::short_or_long(10_000, 1_000_000), "{total:?}");
    assert!(total.unknown > 10 && total.warm > 10, "outcomes and owners were lost: {total:?}");
}

#[test]
fn two_domains_of_one_table_agree() {
    for policy in [Policy::WriteAround, Policy::WriteThrough, Policy::WriteBack] {
        run(Setup { domains: 2, ranges: 1, ..setup(policy) }, 4);
    }
}

/// Writers share rows and compare what they saw. A buffered write that the store could refuse would be set aside, which a run
/// without forbidden writes counts as an anomaly.
#[test]
fn conditions_of_shared_rows_hold_where_they_are_acknowledged() {
    for policy in POLICIES {
        for domains in [1, 2] {
            let setup = Setup { domains, ranges: 1, ..shared_rows(policy) };
            let total = run(setup, 6);
            assert!(total.writes["Refused"] > 20 && total.writes["Done"] > 100, "{total:?}");
        }
        run(Setup { fault_every: 150, across_percent: 20, ..shared_rows(policy) }, 6);
    }
}

/// Half of the writes have a condition, and writers meet.
pub(crate) fn shared_rows(policy: Policy) -> Setup {
    Setup { conditional_percent: 80, read_percent: 70, forbidden: 0, ..setup(policy) }
}

#[test]
fn refused_buffered_writes_are_told_and_dropped() {
    let total = run(Setup { forbidden: 10, ..setup(Policy::WriteBack) }, 6);
    assert!(total.set_aside > 0, "{total:?}");
}

#[test]
fn small_beta_keeps_fewer_entries_and_is_right() {
    let whole = run(setup(Policy::WriteThrough), 2);
    let sparse = run(Setup { beta: 0, ..setup(Policy::WriteThrough) }, 2);
    let held = |total: &Total| total.held as f64 / total.steps as f64;
    assert!(held(&sparse) < held(&whole), "{sparse:?}");
}

const POLICIES: [Policy; 3] = [Policy::WriteAround, Policy::WriteThrough, Policy::WriteBack];

#[test]
fn a_cold_take_over_shows_nothing_stale() {
    for policy in POLICIES {
        let total = run(Setup { is_warm: false, ..setup(policy) }, 2);
        assert_eq!(total.warm, 0);
    }
}

#[test]
fn a_warm_take_over_keeps_entries_and_shows_nothing_stale() {
    for policy in POLICIES {
        let total = run(Setup { fault_every: 300, ..setup(policy) }, 4);
        assert!(total.warm > 10, "{total:?}");
    }
}

#[test]
fn writes_and_reads_across_owners_are_whole() {
    for policy in POLICIES {
        for waits_long in [false, true] {
            let across = Setup { across_percent: 30, ranges: 3, fault_every: 300, ..setup(policy) };
            let total = run(Setup { waits_long, ..across }, 6);
            assert!(total.peers["Held"] > 1_000 && total.peers["Released"] > 1_000, "{total:?}");
        }
    }
}

#[test]
fn ranges_that_are_split_and_merged_show_nothing_stale() {
    for policy in POLICIES {
        let setup = Setup { recuts: true, across_percent: 10, fault_every: 300, ..setup(policy) };
        let total = run(setup, 4);
        assert!(total.cuts > 10, "{total:?}");
    }
}

#[test]
fn results_put_together_from_others_are_right() {
    for (policy, beta) in POLICIES.into_iter().zip([0, 50, 25]) {
        run(Setup { beta, ..setup(policy) }, 4);
    }
    // Of what was put together from buffered writes, some is set aside.
    run(Setup { beta: 25, forbidden: 10, ..setup(Policy::WriteBack) }, 4);
}

/// With β = 0 clients read the parts of a result themselves, while writes change several of them, rows are shared, and
/// ranges and owners change.
#[test]
fn results_that_clients_put_together_are_right() {
    let across = |setup| Setup { across_percent: 20, ranges: 3, fault_every: 300, ..setup };
    for policy in POLICIES {
        let kinds = [
            setup(policy),
            Setup { fault_every: 150, ..shared_rows(policy) },
            across(setup(policy)),
            Setup { recuts: true, ..across(setup(policy)) },
            Setup { transaction_percent: 30, ..setup(policy) },
        ];
        for kind in kinds {
            let total = run(Setup { beta: 0, ..kind }, 2);
            assert!(total.fused * 20 > total.hits, "{total:?}");
        }
    }
}

/// They delete entries to make room for others, while readers install them anew and writes change them.
#[test]
fn owners_that_know_few_entries_show_nothing_stale() {
    for policy in POLICIES {
        let few = Setup { max_entries: 3, fault_every: 300, ..setup(policy) };
        let kinds =
            [few, Setup { max_entries: 1, ..shared_rows(policy) }, Setup { beta: 0, domains: 2, ..few }];
        for kind in kinds {
            run(kind, 3);
        }
    }
}

/// Owners with β 0 after others with β 100: they keep one of the entries that overlap, while clients read them.
#[test]
fn results_of_an_owner_with_another_beta_are_right() {
    for policy in POLICIES {
        let varies = Setup { beta_varies: true, is_warm: true, fault_every: 60, ..setup(policy) };
        for kind in [varies, Setup { domains: 2, recuts: true, ..varies }] {
            let total = run(kind, 4);
            assert!(total.fused > 0 && total.warm > 0, "{total:?}");
        }
    }
}

/// They read what was acknowledged, buffered or not, and land in the tenures of their leases or not at all.
#[test]
fn transactions_under_leases_read_and_write_as_one() {
    let mut fenced = 0;
    for policy in POLICIES {
        for across_percent in [0, 30] {
            let setup = Setup { transaction_percent: 60, across_percent, fault_every: 300, ..setup(policy) };
            let total = run(setup, 8);
            let count = |what| total.transactions.get(what).copied().unwrap_or(0);
            assert!(count("Done") > 50, "{total:?}");
            fenced += count("Fenced");
        }
    }
    assert!(fenced > 0, "some tenures end before their transactions");
}

/// Two tables and three, writes of both, and what else there is.
#[test]
fn results_of_several_tables_show_nothing_stale() {
    for policy in POLICIES {
        for (ranges, fault_every) in [(2, 700), (3, 300)] {
            let read_percent = if policy == Policy::WriteAround { 98 } else { 95 };
            let setup = Setup { joined_percent: 60, read_percent, ranges, fault_every, ..setup(policy) };
            let total = run(Setup { transaction_percent: 20, ..setup }, 4);
            let hits = total.hits * 4 > total.hits + total.misses;
            assert!(total.joins > 1_000 && hits, "they are read, and from the cache: {total:?}");
            assert!(total.joins_again > 0, "writes come between: {total:?}");
        }
    }
    let recuts =
        Setup { joined_percent: 60, recuts: true, across_percent: 10, ..setup(Policy::WriteThrough) };
    run(recuts, 2);
}

/// What an owner does under every policy.
const POINTS: [&str; 23] = [
    "guest clearing",
    "guest flushing",
    "guest held",
    "guest waiting",
    "read across clearing",
    "read across leading",
    "read across waiting",
    "read asking",
    "read installing",
    "read waiting",
    "starting cache",
    "starting recovering",
    "starting routes",
    "starting store",
    "write across clearing",
    "write across leading",
    "write across storing",
    "write across waiting",
    "write clearing",
    "write hiding",
    "write patching",
    "write storing",
    "write waiting",
];

/// What only some policies do.
fn is_of(policy: Policy, point: &str) -> bool {
    match point {
        "guest flushing" => policy == Policy::WriteBack,
        "write clearing" => policy == Policy::WriteAround,
        "write hiding" | "write patching" => policy != Policy::WriteAround,
        _ => true,
    }
}

#[test]
fn owners_crash_at_every_point() {
    let buffering = [
        "applying",
        "starting logs",
        "starting applying",
        "write draining",
        "write flushing",
        "write logging",
    ];
    for policy in POLICIES {
        let setup = Setup {
            hunts: true,
            across_percent: 20,
            read_percent: 60,
            fault_every: 400,
            forbidden: 60,
            ..setup(policy)
        };
        let total = run(setup, 18);
        let mut points: Vec<&str> = POINTS.into_iter().filter(|point| is_of(policy, point)).collect();
        // One of them is too seldom for a short run.
        let is_often = |point: &&str| effort::is_long() || *point != "write flushing";
        points.extend(buffering.into_iter().filter(|_| policy == Policy::WriteBack).filter(is_often));
        let min = effort::short_or_long(1, 100);
        let rare: Vec<_> = points
            .into_iter()
            .map(|point| (point, total.crash_points.get(point).copied().unwrap_or(0)))
            .filter(|(_, count)| *count < min)
            .collect();
        assert!(rare.is_empty(), "{policy:?}: {rare:?}");
    }
}

#[test]
fn frequent_faults_show_nothing_stale() {
    for policy in [Policy::WriteAround, Policy::WriteThrough, Policy::WriteBack] {
        run(Setup { fault_every: 100, ..setup(policy) }, 4);
    }
}
