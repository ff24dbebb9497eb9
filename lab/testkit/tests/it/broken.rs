//! A suite that cannot fail proves nothing: every fact is broken here by a fake made for it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use lacuna_base::{DynFilter, Envelope, Result};
use lacuna_testkit::checks::{
    allocation, answers, budget, damage, edges, peers, proof, rate, reproducible, round_trip,
};
use lacuna_testkit::{OffsetBytes, Subject, Verdict, golden_file_is_kept};

use crate::fakes::integers;

fn subject(text: &'static str) -> Subject<u64> {
    Subject::new(text, integers::spec::<u64>, integers::open::<u64, _>, integers::open_verified::<u64, _>)
        .ignores_seed(true)
}

/// Asserts that `check` finds a fault in the fake called `text`, told with `words`; a panic is none.
fn caught(check: fn(&Subject<u64>) -> Verdict, text: &'static str, words: &str) {
    caught_in(check, &subject(text), words);
}

fn caught_in(check: fn(&Subject<u64>) -> Verdict, subject: &Subject<u64>, words: &str) {
    let verdict = catch_unwind(AssertUnwindSafe(|| check(subject))).expect("a check returns its fault");
    let fault = verdict.expect_err("the check must notice").to_string();
    assert!(fault.contains(words), "the fault does not speak of `{words}`: {fault}");
}

#[test]
fn a_denied_key_is_caught_by_every_check_on_answers() {
    for check in [
        answers::added_keys_are_found,
        answers::ranges_around_keys_are_found,
        answers::random_sets_are_answered,
        answers::batched_answers_equal_single_answers,
        proof::every_set_of_sixteen_keys_is_answered,
        proof::every_pair_of_256_keys_is_answered,
        proof::every_three_keys_of_256_are_answered,
        proof::forced_geometries_walk_their_rare_paths,
        edges::one_key_is_found,
        edges::the_smallest_key_alone_is_found,
        edges::both_rims_are_found,
        edges::a_dense_run_is_found,
        peers::small_filters_find_their_own_keys,
        peers::many_dense_keys_are_found,
        peers::crowded_keys_are_found,
        peers::a_million_keys_are_found,
        peers::keys_with_zero_low_bits_are_found,
        peers::two_filters_do_not_disturb_each_other,
        round_trip::bytes_open_at_every_alignment,
    ] {
        caught(check, "fake:deniesakey", "denied");
    }
}

/// Most families need no body for two keys.
#[test]
fn a_denied_third_key_is_caught_by_sets_of_three_and_not_of_two() {
    let pairs = proof::every_pair_of_256_keys_is_answered(&subject("fake:deniesthethird"));
    assert!(pairs.is_ok(), "{pairs:?}");
    caught(proof::every_three_keys_of_256_are_answered, "fake:deniesthethird", "denied");
}

#[test]
fn a_denied_largest_key_is_caught() {
    caught(edges::the_largest_key_alone_is_found, "fake:deniesthelargest", "denied");
    caught(proof::every_set_of_sixteen_keys_is_answered, "fake:deniesthelargest", "denied");
}

#[test]
fn denied_wide_ranges_are_caught() {
    for check in [
        edges::wide_ranges_are_found,
        edges::ranges_at_the_rims_are_found,
        peers::small_filters_find_ranges_across_blocks,
        proof::every_set_of_sixteen_keys_is_answered,
    ] {
        caught(check, "fake:denieswideranges", "denied");
    }
}

#[test]
fn denied_points_are_caught() {
    caught(edges::repeated_keys_count_once, "fake:deniespoints", "denied");
    caught(peers::a_million_keys_are_found, "fake:deniespoints", "denied");
}

#[test]
fn needless_maybes_are_caught() {
    caught(edges::the_empty_set_denies_everything, "fake:emptysaysmaybe", "maybe");
    caught(edges::inverted_bounds_are_denied, "fake:invertedsaysmaybe", "maybe");
    caught(answers::ranges_around_keys_are_found, "fake:invertedsaysmaybe", "maybe");
}

#[test]
fn batches_that_differ_are_caught() {
    caught(answers::batched_answers_equal_single_answers, "fake:batchdiffers", "batch");
    caught(answers::random_sets_are_answered, "fake:batchdiffers", "batch");
}

#[test]
fn pairs_that_differ_are_caught() {
    caught(answers::batched_answers_equal_single_answers, "fake:pairsdiffer", "batch of 7 pairs");
    caught(answers::batched_answers_equal_single_answers, "fake:invertedpairsaysmaybe", "pairs");
}

#[test]
fn panics_become_faults() {
    caught(edges::the_smallest_key_alone_is_found, "fake:panicsonzero", "panicked: zero");
    caught(proof::every_set_of_sixteen_keys_is_answered, "fake:panicsonzero", "panicked: zero");
    caught(damage::arbitrary_bytes_never_panic, "fake:panicsondamage", "panicked");
    caught(damage::lying_payloads_never_panic, "fake:panicsondamage", "panicked");
}

#[test]
fn a_query_that_never_returns_is_caught() {
    caught(damage::lying_payloads_never_panic, "fake:hangsondamage", "does not return");
}

#[test]
fn wrong_budgets_are_caught() {
    caught(budget::payloads_keep_their_budget, "fake:overbudget", "the budget");
    caught(budget::the_smallest_budget_named_works, "fake:namestoosmallabudget", "named as the fewest");
    caught(answers::added_keys_are_found, "fake:namestoosmallabudget", "was not built");
    caught(budget::impossible_budgets_are_refused, "fake:unknown", "refused");
}

#[test]
fn unstable_bytes_are_caught() {
    caught(reproducible::the_same_input_gives_the_same_bytes, "fake:unstable", "other bytes");
    caught(reproducible::threads_build_the_same_bytes, "fake:unstable", "other bytes");
    caught(reproducible::bytes_do_not_depend_on_the_number_of_threads, "fake:unstable", "other bytes");
    caught(reproducible::adding_one_by_one_gives_the_same_bytes, "fake:builderdiffers", "one by one");
}

#[test]
fn a_wrong_use_of_the_seed_is_caught() {
    caught(reproducible::the_seed_decides_the_bytes, "fake:salted", "four seeds");
    caught_in(reproducible::the_seed_decides_the_bytes, &subject("fake").ignores_seed(false), "four seeds");
}

#[test]
fn wrong_input_taken_is_caught() {
    caught(edges::unsorted_keys_are_refused, "fake:takesunsorted", "unsorted");
    caught(edges::repeated_keys_count_once, "fake:countsrepeats", "copies");
}

#[test]
fn wrong_counts_and_names_are_caught() {
    caught(round_trip::counts_and_sizes_are_told_truly, "fake:miscounts", "the filter says");
    caught(round_trip::a_spec_reads_its_own_name, "fake:forgetsitsname", "another filter");
}

#[test]
fn bytes_that_need_alignment_are_caught() {
    caught(round_trip::bytes_open_at_every_alignment, "fake:needsalignment", "not aligned");
}

#[test]
fn trust_in_newer_bytes_is_caught() {
    caught(damage::newer_versions_are_unsupported, "fake:takesnewer", "version of the payload");
}

#[test]
fn an_opener_that_verifies_nothing_is_caught() {
    let subject =
        Subject::new("fake", integers::spec::<u64>, integers::open::<u64, _>, integers::open::<u64, _>);
    caught_in(damage::any_flipped_bit_is_reported, &subject, "not reported");
}

/// Opens damaged bytes as an empty filter.
fn trusting(bytes: OffsetBytes) -> Result<Box<DynFilter<u64>>> {
    if Envelope::open(bytes.as_ref()).is_ok() {
        return integers::open::<u64, _>(bytes);
    }
    let spec = integers::spec::<u64>("fake")?;
    let keys = lacuna_base::SortedKeys::<u64>::try_new(&[])?;
    let plan = lacuna_base::BuildPlan::new(lacuna_base::Budget::bits_per_key(64.0)?);
    integers::open::<u64, _>(spec.build(keys, &plan)?)
}

#[test]
fn an_opener_that_trusts_headers_is_caught() {
    let subject = Subject::new("fake", integers::spec::<u64>, trusting, trusting);
    caught_in(damage::a_flipped_header_bit_is_reported_at_once, &subject, "not reported");
    caught_in(damage::any_truncation_is_reported, &subject, "not reported");
}

#[test]
fn allocations_are_caught() {
    caught(allocation::queries_allocate_nothing, "fake:queriesallocate", "queries made");
    caught(allocation::opening_allocates_next_to_nothing, "fake:openingallocates", "allocated");
}

#[test]
fn a_rate_above_its_bound_is_caught() {
    caught(rate::the_stated_rate_is_kept, "fake:liesaboutrate", "false positives");
}

#[test]
fn a_bound_of_0_that_is_not_kept_is_caught() {
    for check in [
        proof::every_set_of_sixteen_keys_is_answered,
        proof::every_pair_of_256_keys_is_answered,
        proof::every_three_keys_of_256_are_answered,
    ] {
        caught(check, "fake:liesaboutexactness", "it is not exact");
    }
}

#[test]
fn queries_that_write_are_caught() {
    caught(peers::two_filters_do_not_disturb_each_other, "fake:countsqueries", "beside a second");
    caught(peers::threads_get_the_same_answers, "fake:countsqueries", "threads");
}

#[test]
fn a_path_never_walked_is_caught() {
    if lacuna_base::testing::crossed().is_some() {
        let subject = subject("fake").paths(["fake: marked"]);
        caught_in(proof::forced_geometries_walk_their_rare_paths, &subject, "never walked");
    }
}

#[test]
fn a_changed_golden_file_is_caught() {
    let verdict =
        |path| golden_file_is_kept(&subject("fake:salted"), path).map_err(|fault| fault.to_string());
    if std::env::var_os("LACUNA_BLESS").is_none() {
        let changed = verdict("tests/golden/fake_u64.lacuna").expect_err("the salt differs");
        assert!(changed.contains("the format changed"), "{changed}");
        let missing = verdict("tests/golden/nothing").expect_err("no such file");
        assert!(missing.contains("LACUNA_BLESS=1"), "{missing}");
    }
}
