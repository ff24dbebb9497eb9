//! Open, ask, inspect.

use std::ffi::CStr;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use lacuna_base::{Budget, BuildPlan, SortedKeys};
use lacuna_c::{
    Filter, Info, KeySpace, KeyType, Plan, Status, lacuna_build_u64, lacuna_builder_add_u64,
    lacuna_builder_free, lacuna_bytes, lacuna_close, lacuna_collector_free, lacuna_describe, lacuna_explain,
    lacuna_inspect, lacuna_last_error, lacuna_last_smallest_bits_per_key, lacuna_may_contain_bytes,
    lacuna_may_contain_key_u64, lacuna_may_contain_many_u64, lacuna_may_contain_prefix,
    lacuna_may_contain_u64, lacuna_open, lacuna_question_free, lacuna_rate_bound, lacuna_sample_add_u64,
    lacuna_sample_free, lacuna_table_guard_free,
};

fn integers() -> Vec<u8> {
    let keys: Vec<u64> = (1..=1_000).map(|number| number << 20).collect();
    let plan = BuildPlan::new(Budget::bits_per_key(16.0).unwrap()).with_key_type(lacuna_base::KeyType::U64);
    let spec = lacuna_families::spec::<u64>("grafite").unwrap();
    spec.build(SortedKeys::integers(&keys).unwrap(), &plan).unwrap().as_bytes().to_vec()
}

fn open(bytes: &[u8]) -> Result<*mut Filter, Status> {
    let mut filter = ptr::null_mut();
    // SAFETY: the slice and the pointer are ours.
    let status = unsafe { lacuna_open(bytes.as_ptr(), bytes.len(), &raw mut filter) };
    if status == Status::Ok { Ok(filter) } else { Err(status) }
}

#[test]
fn an_opened_filter_answers() {
    let filter = open(&integers()).unwrap();
    // SAFETY: the filter is open.
    let may_contain = |lo, hi| unsafe { lacuna_may_contain_u64(filter, lo, hi) };
    assert!((1..=1_000u64).all(|number| may_contain(number << 20, number << 20)));
    let empty =
        (1..1_000u64).filter(|number| !may_contain((number << 20) + 100, (number << 20) + 200)).count();
    assert!(empty > 900, "{empty}");
    assert!(!may_contain(9, 5), "an inverted range holds no key");
    // SAFETY: the filter is open, the bytes are ours, and it is closed once.
    unsafe {
        assert!(lacuna_may_contain_bytes(filter, b"a".as_ptr(), 1, b"b".as_ptr(), 1), "doubt says maybe");
        lacuna_close(filter);
        lacuna_close(ptr::null_mut());
    }
}

#[test]
fn damaged_bytes_are_reported_in_words() {
    let mut bytes = integers();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    assert_eq!(open(&bytes), Err(Status::Corrupt));
    // SAFETY: the message is valid until the next failure of this thread.
    let message = unsafe { CStr::from_ptr(lacuna_last_error()) };
    assert!(message.to_str().unwrap().contains("checksum"), "{message:?}");
    assert_eq!(open(&[]), Err(Status::Corrupt));
    bytes[4] = 99;
    assert_eq!(open(&bytes), Err(Status::Unsupported));
}

#[test]
fn the_envelope_is_shown() {
    let bytes = integers();
    let mut info = std::mem::MaybeUninit::<Info>::uninit();
    // SAFETY: the slice and the place are ours; the place is written on success.
    let info = unsafe {
        assert_eq!(lacuna_inspect(bytes.as_ptr(), bytes.len(), info.as_mut_ptr()), Status::Ok);
        info.assume_init()
    };
    assert_eq!((info.key_space, info.key_type), (KeySpace::U64, KeyType::U64));
    assert_eq!(info.key_count, 1_000);
    assert_eq!((info.smallest, info.largest), (1 << 20, 1_000 << 20));
    assert_eq!(info.payload_bytes + 64, bytes.len() as u64);
}

/// What a pointer one byte beside a real one leads to is not looked at.
#[test]
fn unaligned_pointers_are_errors_and_doubts() {
    let filter = open(&integers()).unwrap();
    let beside = filter.wrapping_byte_add(1);
    let said = || {
        // SAFETY: the message is valid until the next failure of this thread.
        unsafe { CStr::from_ptr(lacuna_last_error()) }.to_str().unwrap().to_owned()
    };
    let refused = |status: Status, name: &str| {
        assert_eq!(status, Status::InvalidInput, "{name}");
        assert!(said().contains(&format!("{name} is not aligned to")), "{name}: {}", said());
    };
    let keys = [1_u64, 2];
    let mut place = [ptr::null_mut::<Filter>(); 2];
    let mut answers = [false; 2];
    let mut info = std::mem::MaybeUninit::<[Info; 2]>::uninit();
    let of = |sample| Plan {
        spec: c"grafite".as_ptr(),
        bits_per_key: 16.0,
        rate: 0.0,
        max_range_len: 0,
        seed: 0,
        key_type: KeyType::Unknown.into(),
        sample,
        secret: ptr::null(),
        threads: 0,
    };
    let plans = [of(ptr::null()), of(ptr::null())];
    let with_sample = of(ptr::without_provenance(1));
    // SAFETY: what is aligned is ours; what is not is refused.
    unsafe {
        assert!(lacuna_may_contain_u64(beside, 3, 4) && lacuna_may_contain_key_u64(beside, 3));
        assert!(lacuna_may_contain_bytes(beside, b"a".as_ptr(), 1, b"b".as_ptr(), 1));
        assert!(lacuna_may_contain_prefix(beside, b"a".as_ptr(), 1));
        assert_eq!((lacuna_bytes(beside).size, lacuna_rate_bound(beside, 1)), (0, 1.0));
        assert!(CStr::from_ptr(lacuna_explain(beside)).is_empty());
        refused(
            lacuna_may_contain_many_u64(beside, keys.as_ptr(), keys.as_ptr(), 2, answers.as_mut_ptr()),
            "filter",
        );
        assert_eq!(answers, [true, true]);
        refused(lacuna_describe(beside, info.as_mut_ptr().cast()), "filter");
        refused(lacuna_describe(filter, info.as_mut_ptr().cast::<Info>().byte_add(1)), "about");
        let (plan, out) = (plans.as_ptr(), place.as_mut_ptr());
        refused(lacuna_build_u64(keys.as_ptr(), 2, plan.byte_add(1), out), "plan");
        refused(lacuna_build_u64(keys.as_ptr(), 2, plan, out.byte_add(1)), "filter");
        refused(lacuna_build_u64(keys.as_ptr(), 2, &raw const with_sample, out), "the plan's sample");
        refused(lacuna_builder_add_u64(ptr::without_provenance_mut(1), 1), "builder");
        refused(lacuna_sample_add_u64(ptr::without_provenance_mut(1), 1, 2), "sample");
        lacuna_close(beside);
        lacuna_builder_free(ptr::without_provenance_mut(1));
        lacuna_sample_free(ptr::without_provenance_mut(1));
        lacuna_table_guard_free(ptr::without_provenance_mut(1));
        lacuna_collector_free(ptr::without_provenance_mut(1));
        lacuna_question_free(ptr::without_provenance_mut(1));
        assert!(!lacuna_may_contain_u64(filter, 3, 4), "still open");
        lacuna_close(filter);
    }
}

/// A destructor that the thread registered before it called us runs after our own.
#[test]
fn a_thread_may_call_until_it_has_ended() {
    static SAID: AtomicUsize = AtomicUsize::new(usize::MAX);

    struct Last;
    impl Drop for Last {
        fn drop(&mut self) {
            assert_eq!(open(b"no filter"), Err(Status::Corrupt));
            // SAFETY: the message is valid until the next failure of this thread.
            let said = unsafe { CStr::from_ptr(lacuna_last_error()) };
            SAID.store(said.count_bytes(), Relaxed);
            assert_eq!(lacuna_last_smallest_bits_per_key(), 0.0);
            let filter = open(&integers()).unwrap();
            // SAFETY: the filter is open, and closed once.
            unsafe {
                assert!(lacuna_may_contain_u64(filter, 1 << 20, 1 << 20));
                lacuna_close(filter);
            }
        }
    }

    thread_local! {
        static LAST: Last = const { Last };
    }
    std::thread::spawn(|| {
        LAST.with(|_| {});
        assert_eq!(open(b"no filter"), Err(Status::Corrupt));
    })
    .join()
    .unwrap();
    assert_eq!(SAID.load(Relaxed), 0, "there is no message any more, and no panic");
}
