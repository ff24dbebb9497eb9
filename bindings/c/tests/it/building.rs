//! What C builds is what Rust builds, byte for byte.

use std::ffi::CString;
use std::ptr;
use std::sync::Arc;

use lacuna::{Budget, BuildPlan, KeyType as CoreKeyType, Sample, TypedKey as _};
use lacuna_c::{
    Builder, Bytes, Filter, KeyType, Plan, Status, lacuna_build_bytes, lacuna_build_f64, lacuna_build_i64,
    lacuna_build_u64, lacuna_builder_add_u64, lacuna_builder_finish, lacuna_builder_free,
    lacuna_builder_new_u64, lacuna_bytes, lacuna_close, lacuna_explain, lacuna_sample_add_u64,
    lacuna_sample_free, lacuna_sample_new,
};

const SEED: u64 = 9;
const BITS: f64 = 40.0;

fn plan(spec: *const std::ffi::c_char) -> Plan {
    Plan {
        spec,
        bits_per_key: BITS,
        rate: 0.0,
        max_range_len: 0,
        seed: SEED,
        key_type: KeyType::Unknown.into(),
        sample: ptr::null(),
        secret: ptr::null(),
        threads: 0,
    }
}

/// The bytes and the explanation of what a function for building hands over.
fn built(build: impl FnOnce(*mut *mut Filter) -> Status) -> (Vec<u8>, String) {
    let mut filter = ptr::null_mut();
    assert_eq!(build(&raw mut filter), Status::Ok);
    // SAFETY: the filter is open until it is closed, once.
    unsafe {
        let Bytes { data, size } = lacuna_bytes(filter);
        let bytes = std::slice::from_raw_parts(data, size).to_vec();
        let text = std::ffi::CStr::from_ptr(lacuna_explain(filter)).to_str().unwrap().to_owned();
        lacuna_close(filter);
        (bytes, text)
    }
}

fn rust_plan<K: lacuna::FilterKey + ?Sized>(key_type: CoreKeyType) -> BuildPlan<K> {
    BuildPlan::new(Budget::bits_per_key(BITS).unwrap()).with_seed(SEED).with_key_type(key_type)
}

fn rust<K: lacuna::FilterKey + lacuna::filters::OpenFilter + ?Sized, T: lacuna::AsKey<K>>(
    keys: impl IntoIterator<Item = T>,
    spec: &dyn lacuna_base::DynSpec<K>,
    plan: &BuildPlan<K>,
) -> Vec<u8> {
    lacuna::Filter::build_with(keys, spec, plan).unwrap().as_bytes().to_vec()
}

/// Every family, and what is usual.
fn specs() -> impl Iterator<Item = &'static str> {
    lacuna::filters::FAMILIES.iter().map(|family| family.kind.name()).chain(["auto"])
}

fn integers() -> Vec<u64> {
    (0..3_000).map(|number: u64| number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20).collect()
}

#[test]
fn integers_are_built_as_in_rust() {
    let keys = integers();
    for spec in specs() {
        let text = CString::new(spec).unwrap();
        // SAFETY: keys, text and plan live until the calls return.
        let (bytes, _) = built(|filter| unsafe {
            lacuna_build_u64(keys.as_ptr(), keys.len(), &plan(text.as_ptr()), filter)
        });
        let (spec, plan) = (lacuna::spec::<u64>(spec).unwrap(), rust_plan(CoreKeyType::U64));
        assert_eq!(bytes, rust(&keys, &*spec, &plan), "{}", spec.name());
    }
}

/// As many keys as two threads take, by more than that.
#[test]
fn the_number_of_threads_does_not_decide_the_bytes() {
    let keys: Vec<u64> = (0..70_000).map(|key: u64| key.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
    for spec in [c"ribbon", c"grafite", c"bucketing"] {
        let of = |threads| {
            let plan = Plan { threads, ..plan(spec.as_ptr()) };
            // SAFETY: keys, text and plan live until the call returns.
            built(|filter| unsafe { lacuna_build_u64(keys.as_ptr(), keys.len(), &plan, filter) }).0
        };
        let one = of(0);
        assert!([1, 2, u32::MAX].into_iter().all(|threads| of(threads) == one), "{spec:?}");
    }
}

#[test]
fn typed_integers_are_built_as_in_rust() {
    let keys: Vec<i64> = integers().into_iter().map(|key| key.cast_signed() - (1 << 43)).collect();
    let floats: Vec<f64> = keys.iter().map(|&key| key as f64 / 3.0).collect();
    let grafite = lacuna::spec::<u64>("grafite").unwrap();
    let days = Plan { key_type: KeyType::Date.into(), ..plan(c"grafite".as_ptr()) };
    for (asked, noted) in [(plan(c"grafite".as_ptr()), CoreKeyType::I64), (days, CoreKeyType::Date)] {
        // SAFETY: keys and plan live until the calls return.
        let (bytes, _) =
            built(|filter| unsafe { lacuna_build_i64(keys.as_ptr(), keys.len(), &asked, filter) });
        assert_eq!(bytes, rust(keys.iter().map(|key| key.to_key()), &*grafite, &rust_plan(noted)));
    }
    // SAFETY: as above.
    let (bytes, _) = built(|filter| unsafe {
        lacuna_build_f64(floats.as_ptr(), floats.len(), &plan(c"grafite".as_ptr()), filter)
    });
    let keys = floats.iter().map(|key| key.to_key());
    assert_eq!(bytes, rust(keys, &*grafite, &rust_plan(CoreKeyType::F64)));
}

#[test]
fn strings_are_built_as_in_rust() {
    let keys: Vec<String> = integers().iter().map(|key| format!("user/{key}")).collect();
    let lent: Vec<Bytes> = keys.iter().map(|key| Bytes { data: key.as_ptr(), size: key.len() }).collect();
    for spec in specs() {
        let text = CString::new(spec).unwrap();
        let plan = Plan { bits_per_key: 80.0, ..plan(text.as_ptr()) };
        // SAFETY: keys, text and plan live until the calls return.
        let (bytes, _) =
            built(|filter| unsafe { lacuna_build_bytes(lent.as_ptr(), lent.len(), &plan, filter) });
        let spec = lacuna::spec::<[u8]>(spec).unwrap();
        let plan = BuildPlan::new(Budget::bits_per_key(80.0).unwrap()).with_seed(SEED);
        assert_eq!(bytes, rust(&keys, &*spec, &plan), "{}", spec.name());
    }
}

#[test]
fn what_is_usual_is_what_the_facade_has() {
    let plan = |rate| Plan { bits_per_key: 0.0, rate, max_range_len: 64, ..plan(ptr::null()) };
    let budget = Budget::for_rate(0.01, 64).unwrap();
    let seedless = |plan: Plan| Plan { seed: 0, ..plan };
    let keys = integers();
    // SAFETY: keys and plan live until the calls return.
    let (bytes, _) =
        built(|filter| unsafe { lacuna_build_u64(keys.as_ptr(), keys.len(), &seedless(plan(0.01)), filter) });
    assert_eq!(bytes, lacuna::Filter::build_typed(keys.clone(), budget).unwrap().as_bytes());

    let words = ["ant", "bee", "cat"];
    let lent = words.map(|word| Bytes { data: word.as_ptr(), size: word.len() });
    // SAFETY: as above.
    let (bytes, text) = built(|filter| unsafe {
        lacuna_build_bytes(lent.as_ptr(), lent.len(), &seedless(plan(0.01)), filter)
    });
    assert_eq!(bytes, lacuna::Filter::build(words, budget).unwrap().as_bytes());
    assert!(text.contains("cheapest first"), "{text}");
}

#[test]
fn a_sample_designs_as_in_rust() {
    let keys = integers();
    let mut queries = Sample::<u64>::new();
    // SAFETY: the sample is freed once, at the end.
    let sample = lacuna_sample_new();
    for &key in &keys[..500] {
        queries.push(key + 5, key + 40);
        // SAFETY: as above.
        assert_eq!(unsafe { lacuna_sample_add_u64(sample, key + 5, key + 40) }, Status::Ok);
    }
    let asked = Plan { sample, ..plan(c"auto".as_ptr()) };
    // SAFETY: keys, plan and sample live until the call returns.
    let (bytes, _) = built(|filter| unsafe { lacuna_build_u64(keys.as_ptr(), keys.len(), &asked, filter) });
    let plan = rust_plan(CoreKeyType::U64).with_sample(Arc::new(queries));
    assert_eq!(bytes, rust(&keys, &lacuna::filters::AutoSpec::new(), &plan));
    // SAFETY: as above.
    unsafe { lacuna_sample_free(sample) }
}

#[test]
fn one_by_one_is_the_same_as_at_once() {
    let keys = integers();
    let mut builder: *mut Builder = ptr::null_mut();
    // SAFETY: the builder is freed once, at the end; keys and plan live until the calls return.
    unsafe {
        let asked = plan(c"rencoder".as_ptr());
        assert_eq!(lacuna_builder_new_u64(&raw const asked, &raw mut builder), Status::Ok);
        for &key in keys.iter().rev().chain(&keys[..9]) {
            assert_eq!(lacuna_builder_add_u64(builder, key), Status::Ok);
        }
        let (one_by_one, _) = built(|filter| lacuna_builder_finish(builder, filter));
        let (at_once, _) =
            built(|filter| lacuna_build_u64(keys.as_ptr(), keys.len(), &raw const asked, filter));
        assert_eq!(one_by_one, at_once);
        let mut none = ptr::null_mut();
        assert_eq!(lacuna_builder_finish(builder, &raw mut none), Status::InvalidInput);
        assert!(none.is_null());
        lacuna_builder_free(builder);
    }
}
