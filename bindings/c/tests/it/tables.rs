//! Guard, collector, question: the life of a property.

use std::ffi::{CStr, c_char, c_void};
use std::ptr;

use lacuna_c::{
    Bound, Bytes, Counts, EntryType, Guard, Status, lacuna_bytes, lacuna_close, lacuna_collector_add,
    lacuna_collector_finish, lacuna_collector_free, lacuna_collector_new, lacuna_open, lacuna_question_free,
    lacuna_question_may_contain, lacuna_question_new, lacuna_question_note_empty, lacuna_table_guard_clone,
    lacuna_table_guard_counts, lacuna_table_guard_free, lacuna_table_guard_last_problem,
    lacuna_table_guard_new,
};

fn guard(spec: &str) -> *mut Guard {
    // SAFETY: the text is ours.
    unsafe { lacuna_table_guard_new(spec.as_ptr().cast(), spec.len(), 0, ptr::null()) }
}

unsafe extern "C" fn keep(sink: *mut c_void, bytes: *const c_char, size: usize) {
    // SAFETY: the sink is the vector below, the bytes are lent for this call.
    let (sink, bytes) =
        unsafe { (&mut *sink.cast::<Vec<u8>>(), std::slice::from_raw_parts(bytes.cast(), size)) };
    sink.extend_from_slice(bytes);
}

fn property(guard: *const Guard) -> Vec<u8> {
    let mut property: Vec<u8> = Vec::new();
    // SAFETY: all pointers are ours and alive; the collector is freed once.
    unsafe {
        let collector = lacuna_collector_new(guard, 2);
        for key in (0..1_000u64).map(|number| (number << 20).to_be_bytes()) {
            lacuna_collector_add(collector, EntryType::Put.into(), key.as_ptr().cast(), key.len());
        }
        lacuna_collector_finish(collector, Some(keep), (&raw mut property).cast());
        lacuna_collector_free(collector);
    }
    property
}

fn asks(guard: *const Guard, comparator: &[u8], property: Option<&[u8]>, lo: u64, hi: u64) -> bool {
    let (lo, hi) = (lo.to_be_bytes(), hi.to_be_bytes());
    let (bytes, size) = property.map_or((ptr::null(), 0), |bytes| (bytes.as_ptr(), bytes.len()));
    // SAFETY: all pointers are ours and alive; the question is freed once.
    unsafe {
        let question = lacuna_question_new(
            guard,
            Bound::Included.into(),
            lo.as_ptr().cast(),
            lo.len(),
            Bound::Excluded.into(),
            hi.as_ptr().cast(),
            hi.len(),
            false,
        );
        let comparator = (comparator.as_ptr().cast(), comparator.len());
        let answer = lacuna_question_may_contain(question, comparator.0, comparator.1, bytes.cast(), size);
        lacuna_question_note_empty(question);
        lacuna_question_free(question);
        answer
    }
}

#[test]
fn a_property_is_written_and_asked() {
    const BYTEWISE: &[u8] = b"leveldb.BytewiseComparator";
    let guard = guard("grafite@16 codec=fixed_be:8");
    let property = property(guard);
    assert!(asks(guard, BYTEWISE, Some(&property), 5 << 20, (5 << 20) + 1));
    assert!(!asks(guard, BYTEWISE, Some(&property), (5 << 20) + 77, (5 << 20) + 99));
    assert!(asks(guard, BYTEWISE, None, 1, 2), "no property, no answer");
    assert!(asks(guard, b"theirs", Some(&property), (5 << 20) + 77, (5 << 20) + 99));
    assert!(asks(guard, BYTEWISE, Some(&property[..40]), 1, 2), "cut short");
    let mut counts = Counts::default();
    // SAFETY: both handles are ours and freed once each.
    unsafe {
        let twin = lacuna_table_guard_clone(guard);
        lacuna_table_guard_counts(twin, &raw mut counts);
        lacuna_table_guard_free(twin);
        lacuna_table_guard_free(guard);
    }
    assert_eq!((counts.built, counts.skipped, counts.passed, counts.empty_scans), (1, 1, 1, 5));
    assert_eq!((counts.missing, counts.comparator, counts.corrupt), (1, 1, 1));
    assert_eq!((counts.hardly_answering, counts.build_failures, counts.panics), (0, 0, 0));
    assert_eq!(counts.false_positives, 1, "the table that was passed held no row of the range");
}

/// The counts of a guard of this spec and its last problem, after a table of the first `size` bytes of these keys.
fn written(spec: &str, keys: impl Iterator<Item = u64>, size: usize) -> (Counts, String) {
    let (guard, mut counts, mut property) = (guard(spec), Counts::default(), Vec::<u8>::new());
    // SAFETY: all pointers are ours and alive; collector and guard are freed once.
    unsafe {
        let collector = lacuna_collector_new(guard, 1);
        for key in keys.map(u64::to_be_bytes) {
            lacuna_collector_add(collector, EntryType::Put.into(), key.as_ptr().cast(), size);
        }
        lacuna_collector_finish(collector, Some(keep), (&raw mut property).cast());
        lacuna_collector_free(collector);
        lacuna_table_guard_counts(guard, &raw mut counts);
        let problem = CStr::from_ptr(lacuna_table_guard_last_problem(guard)).to_str().unwrap().to_owned();
        lacuna_table_guard_free(guard);
        (counts, problem)
    }
}

#[test]
fn a_guard_says_what_went_wrong_last() {
    let keys = || (0..5_000u64).map(|number| number << 30);
    let (counts, problem) = written("grafite@14 codec=fixed_be:8", keys(), 8);
    assert_eq!((counts.not_built, counts.hardly_answering, problem.as_str()), (0, 0, ""));
    // Prefixes of four bits are all there.
    let (counts, problem) = written("prefix_bloom:bits=4@10 codec=fixed_be:8", keys(), 8);
    assert_eq!((counts.built, counts.hardly_answering), (1, 1));
    assert!(problem.contains("points and short ranges"), "{problem}");
    let (counts, problem) = written("grafite@14 codec=fixed_be:8", keys(), 7);
    assert_eq!((counts.built, counts.not_built, counts.build_failures), (0, 1, 1));
    assert!(!problem.is_empty());
    // SAFETY: null is allowed.
    assert!(unsafe { CStr::from_ptr(lacuna_table_guard_last_problem(ptr::null())) }.is_empty());
}

#[test]
fn a_property_opens_as_a_filter() {
    let golden = include_bytes!("../../../../engines/rocksdb/property/tests/golden/property_v1.lacuna");
    let guard = guard("surf@60 codec=fixed_be:8");
    for property in [&golden[..], &property(guard)] {
        let mut filter = ptr::null_mut();
        // SAFETY: the bytes outlive the call, and the filter is closed once.
        unsafe {
            assert_eq!(lacuna_open(property.as_ptr(), property.len(), &raw mut filter), Status::Ok);
            let Bytes { data, size } = lacuna_bytes(filter);
            assert_eq!(std::slice::from_raw_parts(data, size), &property[16..], "the sealed filter");
            lacuna_close(filter);
            let cut = property.len() - 1;
            assert_eq!(lacuna_open(property.as_ptr(), cut, &raw mut filter), Status::Corrupt);
            let newer = [&[2], &property[1..]].concat();
            assert_eq!(lacuna_open(newer.as_ptr(), newer.len(), &raw mut filter), Status::Unsupported);
        }
    }
    // SAFETY: the guard is ours and freed once.
    unsafe { lacuna_table_guard_free(guard) }
}

#[test]
fn wrong_specs_are_refused_and_off_builds_nothing() {
    assert!(guard("zzz@14").is_null());
    let off = guard("off");
    // SAFETY: the guard is ours and freed once.
    unsafe {
        assert!(lacuna_collector_new(off, -1).is_null());
        lacuna_table_guard_free(off);
    }
}
