//! Each correction taken back: the same runs must find an anomaly.

use lacuna_cache_protocol::{Flaw, Policy};

use crate::clean::{setup, shared_rows};
use crate::sim::{Setup, World};

/// Most runs that a flaw may stay hidden.
const MAX_SEEDS: u64 = 1_000;

fn is_found(setup: Setup, flaw: Flaw) {
    let found = (0..MAX_SEEDS).find_map(|seed| {
        let mut world = World::new(Setup { flaw: Some(flaw), ..setup }, seed);
        world.run(6_000).err().map(|anomaly| (seed, anomaly))
    });
    let (seed, anomaly) = found.unwrap_or_else(|| panic!("{flaw:?} was not found in {MAX_SEEDS} runs"));
    println!("{flaw:?} found with seed {seed}: {anomaly}");
}

macro_rules! control {
    ($name:ident, $flaw:ident, $setup:expr) => {
        #[test]
        fn $name() {
            is_found($setup, Flaw::$flaw);
        }
    };
}

control!(without_p1_old_rows_follow_new_ones, SwapOneByOne, setup(Policy::WriteThrough));
control!(
    without_p2_refused_rows_are_seen,
    CacheBeforeStore,
    Setup { forbidden: 100, ..setup(Policy::WriteThrough) }
);
control!(
    without_hiding_a_row_that_the_store_has_shown_goes_back,
    ShowWhileStoring,
    setup(Policy::WriteThrough)
);
control!(a_patch_that_is_made_again_brings_an_old_row_back, RepeatPatch, shared_rows(Policy::WriteThrough));
control!(a_patch_before_an_older_one_of_its_row_is_lost, PatchEarlier, shared_rows(Policy::WriteThrough));
control!(
    a_warm_entry_may_lack_a_write_of_the_log,
    WarmUnpatched,
    Setup { fault_every: 100, is_warm: true, ..setup(Policy::WriteBack) }
);
control!(without_p3_a_paused_owner_spoils_the_cache, UnfencedStore, setup(Policy::WriteAround));
control!(without_p5_an_entry_is_never_invalidated, KnowAfterInstall, setup(Policy::WriteAround));
control!(
    an_entry_that_was_forgotten_too_early_is_never_invalidated,
    ForgetInstalledAnew,
    Setup { max_entries: 1, ..setup(Policy::WriteAround) }
);
control!(
    an_owner_that_has_not_seen_a_cut_serves_keys_of_another,
    BeginWithOwnTable,
    Setup { recuts: true, fault_every: 100, ..setup(Policy::WriteThrough) }
);
control!(without_p6_buffered_writes_are_lost, ForgetUnapplied, setup(Policy::WriteBack));
control!(without_p7_the_store_gets_the_wrong_order, ApplyBackwards, setup(Policy::WriteBack));
control!(without_p8_a_moved_row_stays, NewValueOnly, setup(Policy::WriteThrough));
control!(
    without_p9_the_other_domain_is_stale,
    OneDomainOnly,
    Setup { domains: 2, ranges: 1, ..setup(Policy::WriteThrough) }
);
control!(without_p10_an_insert_behind_the_last_row_is_missed, CoverLastRowOnly, setup(Policy::WriteThrough));
control!(
    without_p11_clients_read_the_old_cache_server,
    ServeAtOnce,
    Setup { fault_every: 200, ..setup(Policy::WriteAround) }
);
control!(
    without_p11_clients_read_a_range_as_it_was_before_it_was_cut,
    ServeAtOnce,
    Setup { recuts: true, across_percent: 10, fault_every: 300, ..setup(Policy::WriteAround) }
);
control!(without_p12_a_restored_cache_is_stale, RestoreSnapshot, setup(Policy::WriteAround));
control!(without_p13_acknowledged_writes_are_lost, ForgetfulLogs, setup(Policy::WriteBack));
control!(
    a_write_in_one_of_several_logs_is_lost_with_it,
    OneLogIsEnough,
    Setup { fault_every: 30, read_percent: 70, ..setup(Policy::WriteBack) }
);
control!(
    without_p14_acknowledged_writes_are_set_aside,
    BufferInDoubt,
    Setup { domains: 2, ranges: 1, ..shared_rows(Policy::WriteBack) }
);
control!(a_gap_split_late_hides_rows, SplitGapLate, setup(Policy::WriteAround));
control!(
    without_the_epoch_before_a_warm_cache_is_stale,
    WarmFromAny,
    Setup { fault_every: 100, ..setup(Policy::WriteAround) }
);
control!(
    without_the_order_of_numbers_a_warm_owner_misses_entries,
    ReplayUnsorted,
    Setup { fault_every: 200, ..setup(Policy::WriteAround) }
);
control!(
    a_store_that_is_asked_too_early_lacks_buffered_writes,
    AskUnflushed,
    Setup { beta: 25, ..setup(Policy::WriteBack) }
);
control!(
    parts_that_are_read_apart_never_were_there_together,
    ReadPartsApart,
    Setup { beta: 0, ..setup(Policy::WriteThrough) }
);
control!(
    parts_that_are_read_apart_show_half_of_a_buffered_write,
    ReadPartsApart,
    Setup { beta: 0, ..setup(Policy::WriteBack) }
);
control!(
    without_the_other_owners_their_entries_are_stale,
    LeadAlone,
    Setup { across_percent: 30, ..setup(Policy::WriteThrough) }
);
control!(
    without_a_lease_a_transaction_reads_what_buffered_writes_have_changed,
    HoldNothing,
    Setup { transaction_percent: 50, ..setup(Policy::WriteBack) }
);
control!(
    without_fences_a_transaction_lands_after_its_lease,
    UnfencedStore,
    Setup { transaction_percent: 50, fault_every: 200, ..setup(Policy::WriteThrough) }
);
control!(
    without_stamps_a_joined_table_is_stale,
    KeepStamps,
    Setup { joined_percent: 60, ..setup(Policy::WriteThrough) }
);
control!(
    without_a_second_stamp_buffered_writes_are_missing,
    StampOnce,
    Setup { joined_percent: 60, read_percent: 70, ..setup(Policy::WriteBack) }
);
