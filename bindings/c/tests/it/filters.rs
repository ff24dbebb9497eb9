//! Open, ask, inspect.

use std::ffi::CStr;
use std::ptr;

use lacuna_base::{Budget, BuildPlan, SortedKeys};
use lacuna_c::{
    Filter, Info, KeySpace, KeyType, Status, lacuna_close, lacuna_inspect, lacuna_last_error,
    lacuna_may_contain_bytes, lacuna_may_contain_u64, lacuna_open,
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
