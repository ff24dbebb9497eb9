//! The one line with which a family joins.

/// Expands to a module of tests, one for each fact of the suite; see the crate's page.
///
/// Arguments: the module's name, the key space, the spec; then, in any order, the options of
/// [`Subject`](crate::Subject): `forced = [..]`, `paths = [..]`, `ignores_seed = true`, `chooses = true`. `using = path`, if given,
/// comes right after the spec and names the module with `spec`, `open` and `open_verified`; `lacuna_families`
/// otherwise.
#[macro_export]
macro_rules! conformance {
    ($module:ident, $space:ty, $spec:expr, using = $($family:ident)::+ $(, $option:ident = $value:expr)* $(,)?) => {
        mod $module {
            use $($family)::+ as family;

            fn subject() -> $crate::Subject<$space> {
                $crate::Subject::new(
                    $spec,
                    family::spec::<$space>,
                    family::open::<$space, $crate::OffsetBytes>,
                    family::open_verified::<$space, $crate::OffsetBytes>,
                )
                .in_module(module_path!())
                $(.$option($value))*
            }

            $crate::__facts! {
                answers::added_keys_are_found,
                answers::ranges_around_keys_are_found,
                answers::random_sets_are_answered,
                answers::batched_answers_equal_single_answers,
                proof::every_set_of_sixteen_keys_is_answered,
                proof::every_pair_of_256_keys_is_answered,
                proof::every_three_keys_of_256_are_answered,
                proof::forced_geometries_walk_their_rare_paths,
                edges::the_empty_set_denies_everything,
                edges::one_key_is_found,
                edges::the_smallest_key_alone_is_found,
                edges::the_largest_key_alone_is_found,
                edges::both_rims_are_found,
                edges::a_dense_run_is_found,
                edges::repeated_keys_count_once,
                edges::unsorted_keys_are_refused,
                edges::inverted_bounds_are_denied,
                edges::ranges_at_the_rims_are_found,
                edges::wide_ranges_are_found,
                peers::small_filters_find_ranges_across_blocks,
                peers::small_filters_find_their_own_keys,
                peers::many_dense_keys_are_found,
                peers::crowded_keys_are_found,
                peers::a_million_keys_are_found,
                peers::keys_with_zero_low_bits_are_found,
                peers::two_filters_do_not_disturb_each_other,
                peers::threads_get_the_same_answers,
                budget::payloads_keep_their_budget,
                budget::the_smallest_budget_named_works,
                budget::impossible_budgets_are_refused,
                reproducible::the_same_input_gives_the_same_bytes,
                reproducible::threads_build_the_same_bytes,
                reproducible::bytes_do_not_depend_on_the_number_of_threads,
                reproducible::adding_one_by_one_gives_the_same_bytes,
                reproducible::the_seed_decides_the_bytes,
                reproducible::bytes_and_answers_do_not_depend_on_the_instruction_set,
                round_trip::bytes_open_at_every_alignment,
                round_trip::counts_and_sizes_are_told_truly,
                round_trip::a_spec_reads_its_own_name,
                damage::any_flipped_bit_is_reported,
                damage::a_flipped_header_bit_is_reported_at_once,
                damage::any_truncation_is_reported,
                damage::newer_versions_are_unsupported,
                damage::arbitrary_bytes_never_panic,
                damage::lying_payloads_never_panic,
                allocation::queries_allocate_nothing,
                allocation::opening_allocates_next_to_nothing,
                rate::the_stated_rate_is_kept,
            }
        }
    };
    ($module:ident, $space:ty, $spec:expr $(, $option:ident = $value:expr)* $(,)?) => {
        $crate::conformance!($module, $space, $spec, using = lacuna_families $(, $option = $value)*);
    };
}

/// Expands to a test that holds a family to its golden file, see [`golden_file_is_kept`](crate::golden_file_is_kept).
///
/// Arguments: the test's name, the key space, the spec, the file relative to the crate; then `using = path` as in
/// [`conformance!`](crate::conformance).
#[macro_export]
macro_rules! golden {
    ($name:ident, $space:ty, $spec:expr, $path:expr, using = $($family:ident)::+ $(,)?) => {
        #[test]
        fn $name() {
            use $($family)::+ as family;
            let (open, verified) = (family::open::<$space, _>, family::open_verified::<$space, _>);
            let subject = $crate::Subject::<$space>::new($spec, family::spec::<$space>, open, verified);
            $crate::demand($crate::golden_file_is_kept(&subject, $path));
        }
    };
    ($name:ident, $space:ty, $spec:expr, $path:expr $(,)?) => {
        $crate::golden!($name, $space, $spec, $path, using = lacuna_families);
    };
}

/// One test for each fact.
#[doc(hidden)]
#[macro_export]
macro_rules! __facts {
    ($($group:ident :: $fact:ident),* $(,)?) => {
        $(
            #[test]
            fn $fact() {
                $crate::demand($crate::checks::$group::$fact(&subject()));
            }
        )*
    };
}
