//! The families against the conformance suite, and their bytes against golden files.

#[global_allocator]
static ALLOCATOR: lacuna_testkit::CountingAllocator = lacuna_testkit::CountingAllocator;

mod conformance;
mod golden;
mod place_maps;
mod small_sets;
