//! Rows that come out of a measurement.

use lacuna_base::{ErrorKind, Result};
use lacuna_bench::report::outcomes_to_table;
use lacuna_bench::{Contender, Effort, Outcome, Progress, Row, Setting, Watch, measure, measure_fitting};
use lacuna_workload::{ByteQueries, Keys, Queries, QuerySource, Workload};

use crate::workloads::{byte_workload, workload};

fn measured(workload: &Workload, contenders: &[(&str, f64)]) -> Result<Vec<Row>> {
    let contenders: Vec<Contender<'_>> =
        contenders.iter().map(|&(spec, bits_per_key)| Contender { spec, bits_per_key }).collect();
    let setting =
        Setting { keys: "the keys", queries: "the queries", workload, apart: None, seed: 3, secret: None };
    measure(&contenders, &setting, Effort::SMALL, &mut |_| {})
}

#[test]
fn rows_keep_the_order_of_contenders() {
    let workload = workload("uniform:3k", "uniform:2k:32", 3);
    let rows =
        measured(&workload, &[("grafite", 12.0), ("bloom:k=5", 10.0), ("grafite", 18.0)]).expect("fits");
    let specs: Vec<&str> = rows.iter().map(|row| row.spec.as_str()).collect();
    assert_eq!(specs, ["grafite", "bloom:k=5", "grafite"]);
    assert_eq!(rows[1].filter, "bloom");
    assert!(rows[0].bits_per_key < rows[2].bits_per_key);
    assert!(rows[0].fpr > rows[2].fpr, "{rows:?}");
}

#[test]
fn rows_tell_what_was_measured() {
    let workload = workload("uniform:3k", "uniform:2k:32", 3);
    let row = &measured(&workload, &[("grafite", 12.0)]).expect("fits")[0];
    assert_eq!((row.key_count, row.query_count, row.empty_count, row.seed), (3_000, 2_000, 2_000, 3));
    assert_eq!((row.keys.as_str(), row.queries.as_str()), ("the keys", "the queries"));
    assert_eq!(row.false_negatives, 0);
    let (measured, told) = (row.fpr.expect("empty queries"), row.predicted_fpr.expect("predictable"));
    assert!((measured - told).abs() < 0.01 + 0.3 * told, "{row:?}");
    assert!((10.0..12.5).contains(&row.bits_per_key), "{row:?}");
    let times = [row.build_ns_per_key, row.ns_per_query, row.ns_per_query_batched, row.memory_floor_ns];
    assert!(times.iter().all(|ns| *ns > 0.0), "{row:?}");
    for [low, median, high] in [
        [row.build_ns_per_key_low, row.build_ns_per_key, row.build_ns_per_key_high],
        [row.ns_per_query_low, row.ns_per_query, row.ns_per_query_high],
        [row.ns_per_query_batched_low, row.ns_per_query_batched, row.ns_per_query_batched_high],
    ] {
        assert!(0.0 < low && low <= median && median <= high, "{row:?}");
    }
}

#[test]
fn byte_strings_are_measured_too() {
    let workload = byte_workload("uniform:2k", "correlated:1k:1-32:1k", 4);
    for row in measured(&workload, &[("bloom", 12.0), ("grafite", 18.0), ("bucketing", 14.0)]).expect("fits")
    {
        assert_eq!(
            (row.key_count, row.empty_count, row.false_negatives),
            (2_000, 1_000, 0),
            "seed 4: {row:?}"
        );
    }
}

#[test]
fn hits_have_no_rate() {
    let workload = workload("uniform:2k", "heldout:500:16:hit", 5);
    let row = &measured(&workload, &[("grafite", 14.0)]).expect("fits")[0];
    assert_eq!((row.empty_count, row.fpr, row.false_negatives), (0, None, 0), "seed 5");
}

#[test]
fn impossible_measurements_are_refused() {
    let workload = workload("uniform:100", "points:10", 1);
    for wrong in [("blom", 10.0), ("bloom", 0.0), ("bloom", 1e9)] {
        let error = measured(&workload, &[wrong]).expect_err("wrong on purpose");
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{wrong:?}: {error}");
    }
    let nothing = Workload {
        inserted: Keys::U64(vec![]),
        held_out: Keys::U64(vec![]),
        queries: Queries::U64(vec![(1, 2)]),
    };
    assert!(measured(&nothing, &[("bloom", 10.0)]).is_err());
}

#[test]
fn every_stage_is_announced() {
    let workload = workload("uniform:100", "points:10", 1);
    let setting = Setting { keys: "", queries: "", workload: &workload, apart: None, seed: 1, secret: None };
    let mut stages: Vec<&str> = Vec::new();
    let mut hear = |progress: Progress| {
        assert!(progress.done <= progress.of, "{progress:?}");
        if stages.last() != Some(&progress.stage) {
            stages.push(progress.stage);
        }
    };
    let contender = Contender { spec: "bloom", bits_per_key: 10.0 };
    measure(&[contender], &setting, Effort::SMALL, &mut hear).expect("fits");
    assert_eq!(stages, ["building", "timing builds", "timing queries"]);
}

#[test]
fn times_of_few_queries_are_called_so() {
    let (few, many) = (workload("uniform:1k", "points:100", 1), workload("uniform:1k", "points:2k", 2));
    let contender = Contender { spec: "bloom", bits_per_key: 10.0 };
    let note = |apart| {
        let setting = Setting { keys: "", queries: "", workload: &few, apart, seed: 1, secret: None };
        let rows = measure(&[contender], &setting, Effort::SMALL, &mut |_| {}).expect("fits");
        assert_eq!(rows[0].query_count, 100, "others are not counted");
        rows[0].note.clone()
    };
    let said = note(None).expect("there is a note");
    assert_eq!(said, "timed with 100 queries, each asked 11 times a round: caches hold what they touch");
    assert_eq!(note(Some(&many.queries)), None);
}

/// A design is judged by queries that it has not seen.
#[test]
fn designs_are_shown_queries_that_are_not_counted() {
    let counted = workload("uniform:2k", "uniform:1k:1000000", 1);
    let shown = workload("uniform:2k", "points:2k", 2);
    let spec = "auto";
    let predicted = |apart| {
        let setting = Setting { keys: "", queries: "", workload: &counted, apart, seed: 1, secret: None };
        let contender = Contender { spec, bits_per_key: 8.0 };
        measure(&[contender], &setting, Effort::SMALL, &mut |_| {}).expect("fits")[0].predicted_fpr
    };
    let (of_counted, of_shown) =
        (predicted(None).expect("known"), predicted(Some(&shown.queries)).expect("known"));
    assert!(of_shown != of_counted, "{of_shown} and {of_counted}");
}

#[test]
fn a_filter_made_for_the_counted_queries_is_called_so() {
    let counted = workload("uniform:2k", "uniform:2k:1000000", 1);
    let others = workload("uniform:2k", "uniform:2k:1000000", 2);
    let said = |spec, apart| {
        let setting = Setting { keys: "", queries: "", workload: &counted, apart, seed: 1, secret: None };
        let contender = Contender { spec, bits_per_key: 14.0 };
        let rows = measure(&[contender], &setting, Effort::SMALL, &mut |_| {}).expect("fits");
        rows[0].note.clone().unwrap_or_default().contains("designed by the queries that are counted")
    };
    assert!(said("proteus", None));
    assert!(!said("bloom", None) && !said("grafite", None), "they do not depend on queries");
    assert!(!said("proteus", Some(&others.queries)), "others are counted");
}

/// Ends the measurement after so many filters.
struct Impatient {
    filters: usize,
    found: Vec<String>,
}

impl Watch for Impatient {
    fn progress(&mut self, _: Progress) {}

    fn found(&mut self, spec: &str, _: f64, finding: &str) {
        self.found.push(format!("{spec}: {finding}"));
    }

    fn is_stopped(&self) -> bool {
        self.found.len() >= self.filters
    }
}

#[test]
fn a_filter_that_does_not_fit_is_an_outcome() {
    let workload = byte_workload("uniform:2k", "points:200", 1);
    let setting = Setting { keys: "", queries: "", workload: &workload, apart: None, seed: 1, secret: None };
    let contenders = ["surf", "bloom"].map(|spec| Contender { spec, bits_per_key: 4.0 });
    let mut watch = Impatient { filters: usize::MAX, found: Vec::new() };
    let outcomes = measure_fitting(&contenders, &setting, Effort::SMALL, &mut watch).expect("bloom fits");
    let [Outcome::Unfit(unfit), Outcome::Row(row)] = &outcomes[..] else { panic!("{outcomes:?}") };
    assert!(unfit.smallest_bits_per_key > 4.0 && row.spec == "bloom", "{outcomes:?}");
    let table = outcomes_to_table(&outcomes);
    assert!(table.contains("\nsurf: does not fit: needs "), "{table}");
    assert!(watch.found[0].starts_with("surf: does not fit") && watch.found[1].starts_with("bloom: rate"));
    let error = measure(&contenders, &setting, Effort::SMALL, &mut |_| {}).expect_err("surf does not fit");
    assert!(error.to_string().starts_with("surf does not fit the budget"), "{error}");
}

#[test]
fn an_ended_measurement_keeps_what_is_done() {
    let workload = workload("uniform:1k", "points:100", 1);
    let setting = Setting { keys: "", queries: "", workload: &workload, apart: None, seed: 1, secret: None };
    let contenders = ["bloom", "grafite", "bucketing"].map(|spec| Contender { spec, bits_per_key: 14.0 });
    let mut watch = Impatient { filters: 2, found: Vec::new() };
    let outcomes = measure_fitting(&contenders, &setting, Effort::FULL, &mut watch).expect("all fit");
    assert_eq!(outcomes.len(), 2, "{outcomes:?}");
    assert!(outcomes.iter().all(|outcome| outcome.row().is_some_and(|row| row.ns_per_query > 0.0)));
}

#[test]
fn notes_name_the_choice_and_the_blind() {
    let mut keys: Vec<String> = (1_000..3_000).map(|n| format!("{}/a/long/path/{n}", n % 2)).collect();
    keys.sort();
    let inserted = Keys::from_byte_strings(&keys);
    let workload = QuerySource::parse("points:2k").and_then(|source| source.workload(inserted, 1)).unwrap();
    let rows = measured(&workload, &[("auto", 20.0), ("grafite", 20.0), ("bloom", 20.0)]).expect("all fit");
    let notes: Vec<&str> = rows.iter().map(|row| row.note.as_deref().unwrap_or_default()).collect();
    assert!(notes[0].starts_with("chose "), "{notes:?}");
    assert!(notes[1].starts_with("sees 8 bytes, in which 2000 keys have 2 values"), "{notes:?}");
    assert_eq!(notes[2], "");
}

#[test]
fn filters_that_deny_no_neighbour_are_noted_in_every_family() {
    let key = |n: u32| format!("{}/a/long/path/{n:04}", n / 200);
    let mut queries = ByteQueries::new();
    (1..1_000).step_by(2).for_each(|n| queries.push(key(n).as_bytes(), key(n).as_bytes()));
    let workload = Workload {
        inserted: Keys::from_byte_strings((0..1_000).step_by(2).map(key)),
        held_out: Keys::from_byte_strings::<&str>([]),
        queries: Queries::Bytes(queries),
    };
    // Room for every family, and none for a place map.
    let bits_per_key = 60.0;
    let specs = lacuna_families::FAMILIES.iter().map(|family| (family.kind.name(), bits_per_key));
    let rows = measured(&workload, &specs.collect::<Vec<_>>()).expect("all fit");
    assert_eq!(rows.len(), lacuna_families::FAMILIES.len());
    for row in &rows {
        let is_noted = row.note.as_deref().is_some_and(|note| note.starts_with("sees 8 bytes"));
        assert_eq!(is_noted, row.fpr == Some(1.0), "{}: {:?}, {:?}", row.spec, row.fpr, row.note);
    }
    assert!(
        rows.iter().any(|row| row.fpr == Some(1.0)) && rows.iter().any(|row| row.fpr < Some(0.1)),
        "{rows:?}"
    );
}

#[test]
fn notes_say_that_every_key_is_stored() {
    let inserted = Keys::U64((0..3_000).map(|n| ((n / 50) << 40) | ((n % 50) * 2)).collect());
    let workload = QuerySource::parse("points:2k").and_then(|source| source.workload(inserted, 1)).unwrap();
    let rows = measured(&workload, &[("bucketing", 14.0), ("bloom", 14.0)]).expect("all fit");
    assert_eq!(rows[0].note.as_deref(), Some("exact: every key is stored"));
    assert_eq!((rows[0].fpr, rows[1].note.as_deref()), (Some(0.0), None));
}
