//! Each rule taken back: the same runs must find a lie.

use lacuna_node_filters::{Config, Flaw};

use crate::safe::{LONGEST_HOLD, in_batches, rows, safe, streams};
use crate::sim::{Setup, World};

/// Most runs that a flaw may stay hidden.
const MAX_SEEDS: u64 = 200;

fn is_found(flaw: Flaw) {
    // A ring that moves all the time gives its flaw a chance; the others need leases that last.
    let moves = if flaw == Flaw::IgnoreRing { 10 } else { 0 };
    let quorum = flaw == Flaw::AskFewer;
    is_found_in(flaw, Setup { quorum, ..safe(true, moves) });
}

fn is_found_in(flaw: Flaw, setup: Setup) {
    let setup = Setup { config: Config { flaw: Some(flaw), ..setup.config }, ..setup };
    let found =
        (0..MAX_SEEDS).find_map(|seed| World::new(setup, seed).run(20_000).err().map(|lie| (seed, lie)));
    let (seed, lie) = found.unwrap_or_else(|| panic!("{flaw:?} was not found in {MAX_SEEDS} runs"));
    println!("{flaw:?} found with seed {seed}: {lie}");
}

macro_rules! control {
    ($name:ident, $flaw:ident) => {
        #[test]
        fn $name() {
            is_found(Flaw::$flaw);
        }
    };
}

control!(acknowledging_at_once_is_found, AcknowledgeAtOnce);
control!(counting_a_lease_from_its_grant_is_found, LeaseFromGrant);
control!(ignoring_gaps_is_found, IgnoreGaps);
control!(ignoring_the_ring_is_found, IgnoreRing);
control!(acknowledging_right_after_a_start_is_found, AcknowledgeAfterBoot);
control!(a_clock_that_stops_asleep_is_found, ClockStopsAsleep);
control!(taking_overwrites_for_known_is_found, OverwritesAreKnown);
control!(showing_what_holders_do_not_know_is_found, RevealAtOnce);
control!(trusting_a_missing_copy_is_found, TrustUnknown);
control!(burying_without_proof_is_found, BuryUnproven);
control!(writes_that_leave_a_key_dead_are_found, WriteKeepsDead);
control!(asking_one_replica_is_found, AskOneReplica);
control!(asking_fewer_than_a_quorum_is_found, AskFewer);
control!(publishing_late_is_found, PublishLate);
control!(rebuilding_quietly_is_found, RebuildQuietly);
control!(taking_a_restored_filter_for_whole_is_found, RestoredIsWhole);
control!(copies_that_are_older_than_they_say_are_found, CopiesAreOld);
control!(news_that_raise_no_flag_are_found, NewsRaiseNoFlag);
control!(a_flag_that_is_lowered_early_is_found, FlagLoweredEarly);
control!(confirming_before_applying_is_found, ConfirmedBeforeApplied);

/// No read is answered wrongly for them, since requests make up for them: writes wait.
#[test]
fn confirmations_that_get_lost_are_found() {
    for (flaw, setup) in [
        (Flaw::NothingIsConfirmed, safe(false, 0)),
        (Flaw::NothingIsConfirmed, in_batches(safe(false, 0))),
        (Flaw::CarriersLoseConfirmations, in_batches(safe(false, 0))),
    ] {
        let setup = Setup { config: Config { flaw: Some(flaw), ..setup.config }, ..setup };
        let mut world = World::new(setup, 1);
        world.run(2_000).unwrap();
        world.counts = Default::default();
        world.run(60_000).unwrap();
        assert!(world.counts.longest_hold > LONGEST_HOLD, "{flaw:?}: {:?}", world.counts);
    }
}

/// The same where reads are of slices, and rows are proven to be gone.
macro_rules! control_of_rows {
    ($name:ident, $flaw:ident) => {
        #[test]
        fn $name() {
            is_found_in(Flaw::$flaw, rows(true, 0));
        }
    };
}

control_of_rows!(writes_that_leave_margins_are_found, WriteKeepsMargins);
control_of_rows!(margins_that_end_quietly_are_found, MarginsEndQuietly);
control_of_rows!(margins_beyond_proofs_are_found, MarginsBeyondProofs);
control_of_rows!(writes_that_leave_water_marks_are_found, WriteKeepsWaterMarks);
control_of_rows!(water_marks_beyond_proofs_are_found, WaterMarksBeyondProofs);
control_of_rows!(water_marks_that_are_asked_for_once_are_found, WaterMarksAskedOnce);
control_of_rows!(proofs_that_were_overtaken_are_found, OvertakenProofsCount);
control_of_rows!(taking_restored_rows_for_whole_is_found, RestoredIsWhole);
control_of_rows!(acknowledging_rows_at_once_is_found, AcknowledgeAtOnce);
control_of_rows!(taking_overwrites_of_rows_for_known_is_found, OverwritesAreKnown);

/// The same where slots are open for streams of new keys.
macro_rules! control_of_streams {
    ($name:ident, $flaw:ident, $setup:ident) => {
        #[test]
        fn $name() {
            is_found_in(Flaw::$flaw, streams($setup(true, 0)));
        }
    };
}

control_of_streams!(slots_that_count_as_open_early_are_found, SlotsOpenEarly, safe);
control_of_streams!(slots_that_are_closed_empty_are_found, SlotsCloseEmpty, safe);
control_of_streams!(slots_of_rows_that_are_closed_empty_are_found, SlotsCloseEmpty, rows);
control_of_streams!(snapshots_that_forget_open_slots_are_found, SnapshotsForgetSlots, safe);
control_of_streams!(acknowledging_streams_at_once_is_found, AcknowledgeAtOnce, safe);
