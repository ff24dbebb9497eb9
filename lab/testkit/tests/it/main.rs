//! The suite tested: a correct filter passes every fact, and each fact catches a filter made to break it.

mod broken;
mod fakes;
mod instruction_set;

#[global_allocator]
static ALLOCATOR: lacuna_testkit::CountingAllocator = lacuna_testkit::CountingAllocator;

lacuna_testkit::conformance!(exact_u64, u64, "fake", using = crate::fakes::integers, ignores_seed = true);
lacuna_testkit::conformance!(
    salted_u64,
    u64,
    "fake:salted",
    using = crate::fakes::integers,
    forced = ["fake:marked"],
    paths = ["fake: marked"]
);
lacuna_testkit::conformance!(
    coarse_bytes,
    [u8],
    "coarse",
    using = crate::fakes::strings,
    ignores_seed = true
);
lacuna_testkit::golden!(
    golden_file_is_compared,
    u64,
    "fake",
    "tests/golden/fake_u64.lacuna",
    using = crate::fakes::integers
);
