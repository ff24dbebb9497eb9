//! Filters and tables under a secret.

use std::ffi::{CStr, CString, c_char};
use std::ptr;

use lacuna::{Budget, BuildPlan, KeyType as CoreKeyType};
use lacuna_c::{
    Builder, Bytes, Counts, EntryType, Filter, Guard, KeyType, Plan, Secret, Status, lacuna_build_bytes,
    lacuna_build_u64, lacuna_builder_new_bytes, lacuna_builder_new_u64, lacuna_bytes, lacuna_close,
    lacuna_collector_add, lacuna_collector_finish, lacuna_collector_free, lacuna_collector_new,
    lacuna_explain, lacuna_last_error, lacuna_may_contain_key_u64, lacuna_may_contain_u64,
    lacuna_secret_read, lacuna_table_guard_counts, lacuna_table_guard_free, lacuna_table_guard_new,
};

static SECRET: Secret = Secret { bytes: *b"sixteen bytes ok" };
const HEX: &str = "7369787465656e206279746573206f6b";

fn plan(spec: &CStr, secret: *const Secret) -> Plan {
    Plan {
        spec: spec.as_ptr(),
        bits_per_key: 14.0,
        rate: 0.0,
        max_range_len: 0,
        seed: 7,
        key_type: KeyType::Unknown.into(),
        sample: ptr::null(),
        secret,
        threads: 0,
    }
}

fn keys() -> Vec<u64> {
    (0..2_000u64).map(|number| number * number * 1_000_003).collect()
}

fn said() -> String {
    // SAFETY: the text is valid until the next failure of this thread.
    unsafe { CStr::from_ptr(lacuna_last_error()) }.to_str().unwrap().to_owned()
}

/// The bytes of a filter in which every key is found and whose explanation does not tell the secret.
fn built(spec: &CStr, secret: &Secret) -> Vec<u8> {
    let (keys, mut filter) = (keys(), ptr::null_mut());
    // SAFETY: keys, plan and secret live until the call returns; the filter is closed once.
    unsafe {
        let plan = plan(spec, secret);
        assert_eq!(lacuna_build_u64(keys.as_ptr(), keys.len(), &raw const plan, &raw mut filter), Status::Ok);
        assert!(keys.iter().all(|&key| lacuna_may_contain_key_u64(filter, key)));
        let denied = keys.iter().filter(|&&key| !lacuna_may_contain_u64(filter, key + 500, key + 531));
        assert!(denied.count() > 1_000);
        let text = CStr::from_ptr(lacuna_explain(filter)).to_str().unwrap();
        assert!(!text.contains("sixteen") && !text.contains(HEX), "{text}");
        assert_eq!(text.contains("under the plan's secret"), spec == c"auto:robust", "{text}");
        let Bytes { data, size } = lacuna_bytes(filter);
        let bytes = std::slice::from_raw_parts(data, size).to_vec();
        lacuna_close(filter);
        bytes
    }
}

#[test]
fn the_bytes_under_a_secret_are_those_of_rust() {
    for name in ["ribbon:secret", "grafite:secret", "auto:robust"] {
        let plan = BuildPlan::new(Budget::bits_per_key(14.0).unwrap())
            .with_key_type(CoreKeyType::U64)
            .with_secret(lacuna::Secret::new(SECRET.bytes));
        let spec = lacuna::spec::<u64>(name).unwrap();
        let ours = lacuna::Filter::<u64>::build_with(keys(), &*spec, &plan).unwrap();
        let name = CString::new(name).unwrap();
        let bytes = built(&name, &SECRET);
        assert_eq!(bytes, ours.as_bytes());
        assert_ne!(bytes, built(&name, &Secret { bytes: *b"sixteen bytes no" }));
        let holds = |part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
        assert!(!holds(&SECRET.bytes[..8]) && !holds(&SECRET.bytes[8..]));
    }
}

#[test]
fn a_missing_secret_is_refused_before_the_keys() {
    let mut filter: *mut Filter = ptr::null_mut();
    let mut builder: *mut Builder = ptr::null_mut();
    // Where no keys can be, none are looked for.
    let nowhere: *const u64 = ptr::null();
    for name in [c"ribbon:secret", c"grafite:secret"] {
        let without = plan(name, ptr::null());
        let with = plan(name, &raw const SECRET);
        // SAFETY: the plans live until the calls return; a null pointer is refused.
        unsafe {
            for status in [
                lacuna_build_u64(nowhere, 5, &raw const without, &raw mut filter),
                lacuna_builder_new_u64(&raw const without, &raw mut builder),
            ] {
                assert_eq!(status, Status::InvalidInput);
                assert!(said().ends_with("hashes under a secret: give one with the plan"), "{}", said());
            }
            assert_eq!(lacuna_build_u64(nowhere, 5, &raw const with, &raw mut filter), Status::InvalidInput);
            assert!(said().contains("keys is null"), "{}", said());
            for status in [
                lacuna_build_bytes(ptr::null(), 0, &raw const with, &raw mut filter),
                lacuna_builder_new_bytes(&raw const with, &raw mut builder),
            ] {
                assert_eq!(status, Status::InvalidInput);
                assert!(said().contains("is for integers"), "{}", said());
            }
        }
        assert!(filter.is_null() && builder.is_null());
    }
    let unused = plan(c"grafite", &raw const SECRET);
    // SAFETY: as above.
    let status = unsafe { lacuna_build_u64(nowhere, 0, &raw const unused, &raw mut filter) };
    assert_eq!(status, Status::InvalidInput);
    assert!(said().contains("leaves the secret aside"), "{}", said());
}

#[test]
fn a_secret_is_read_from_its_digits() {
    let read = |text: &str| {
        let mut secret = Secret { bytes: [0; 16] };
        // SAFETY: text and secret are ours.
        (unsafe { lacuna_secret_read(text.as_ptr().cast(), text.len(), &raw mut secret) }, secret.bytes)
    };
    for text in [HEX.to_owned(), format!(" {HEX}\n"), HEX.to_uppercase()] {
        assert_eq!(read(&text), (Status::Ok, SECRET.bytes), "{text}");
    }
    for text in ["", &HEX[1..], &format!("{HEX}0"), &HEX.replace('0', "g"), &format!("{HEX} {HEX}")] {
        assert_eq!(read(text), (Status::InvalidInput, [0; 16]), "{text}");
        assert!(said().contains("32 hexadecimal digits") && !said().contains(&HEX[1..]), "{}", said());
    }
    // SAFETY: null is refused.
    unsafe {
        assert_eq!(lacuna_secret_read(HEX.as_ptr().cast(), 32, ptr::null_mut()), Status::InvalidInput);
        let mut secret = SECRET;
        assert_eq!(lacuna_secret_read(ptr::null(), 32, &raw mut secret), Status::InvalidInput);
    }
    assert_eq!(format!("{SECRET:?}"), "Secret(..)");
}

unsafe extern "C" fn count(sink: *mut std::ffi::c_void, _: *const c_char, size: usize) {
    // SAFETY: the sink is the number below.
    unsafe { *sink.cast::<usize>() += size }
}

/// Bytes of the property of a table that `guard` watched, and tables without one.
fn property_of(guard: *mut Guard) -> (usize, u64) {
    let (mut bytes, mut counts) = (0usize, Counts::default());
    // SAFETY: all pointers are ours and alive; collector and guard are freed once.
    unsafe {
        let collector = lacuna_collector_new(guard, 1);
        for key in (0..1_000u64).map(|number| (number << 20).to_be_bytes()) {
            lacuna_collector_add(collector, EntryType::Put.into(), key.as_ptr().cast(), key.len());
        }
        lacuna_collector_finish(collector, Some(count), (&raw mut bytes).cast());
        lacuna_collector_free(collector);
        lacuna_table_guard_counts(guard, &raw mut counts);
        lacuna_table_guard_free(guard);
    }
    (bytes, counts.not_built)
}

#[test]
fn tables_under_a_secret_need_it() {
    const SPEC: &str = "ribbon:secret@14 codec=fixed_be:8";
    // SAFETY: text and secret are ours.
    let guard =
        |text: &str, secret| unsafe { lacuna_table_guard_new(text.as_ptr().cast(), text.len(), 0, secret) };
    assert!(guard(SPEC, ptr::null()).is_null());
    assert!(said().ends_with("hashes under a secret: give one beside the text of the spec"), "{}", said());
    assert!(guard("ribbon:secret@14 codec=bytes", &raw const SECRET).is_null());
    assert!(said().contains("is for integers"), "{}", said());
    let (bytes, failures) = property_of(guard(SPEC, &raw const SECRET));
    assert!(bytes > 1_000 && failures == 0, "{bytes} bytes, {failures} failures");
}
