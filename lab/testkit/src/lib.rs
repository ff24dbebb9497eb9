//! The oracle and the conformance suite that every Lacuna filter passes.
//!
//! "No" must always be true, budgets must be kept, bytes must never lie or panic. Those are facts about every family
//! alike, so they are written once, here, and a family joins with one line.
//!
//! # How to join
//!
//! In `tests/it/main.rs` of the family's crate, once, so that allocations can be counted:
//!
//! ```text
//! #[global_allocator]
//! static ALLOCATOR: lacuna_testkit::CountingAllocator = lacuna_testkit::CountingAllocator;
//! ```
//!
//! Then, for each family and key space:
//!
//! ```text
//! lacuna_testkit::conformance!(grafite_u64, u64, "grafite",
//!     forced = ["grafite:block=3,slice=1,heavy=2"],
//!     paths = ["grafite: wrapped", "grafite: two blocks"]);
//! lacuna_testkit::conformance!(bucketing_bytes, [u8], "bucketing", ignores_seed = true);
//! lacuna_testkit::golden!(grafite_u64_v1, u64, "grafite", "tests/golden/grafite_u64_v1.lacuna");
//! ```
//!
//! - `forced`: specs with a geometry so small that rare paths become common. They pass what the plain spec passes.
//! - `paths`: names that the family marks with [`lacuna_base::testing::cross`]; with debug assertions on, a path that the small
//!   sets never walked is a fault.
//! - `ignores_seed = true`: the family has no hash, so every seed must give the same bytes.
//! - `using = my_crate::filters` right after the spec: a family outside `lacuna_families`, in a module with the
//!   functions `spec`, `open` and `open_verified` in the same shape.
//!
//! Each fact is one `#[test]` named as a sentence; the functions in [`checks`] are the checklist. `LACUNA_LONG=1` turns
//! samples into whole proofs, `LACUNA_SEED=7` draws other sets, `LACUNA_BLESS=1` writes golden files.
//!
//! ```
//! use lacuna_base::U64Range;
//! use lacuna_testkit::Oracle;
//!
//! let oracle = Oracle::<u64>::new(vec![3, 8]);
//! assert!(oracle.holds_any(U64Range::new(4, 8).expect("4 <= 8")));
//! ```

mod allocations;
mod buffer;
pub mod checks;
mod corrupt;
pub mod effort;
mod golden;
mod join;
mod oracle;
#[cfg(feature = "servers")]
pub mod servers;
mod space;
mod subject;
mod verdict;
mod watch;

pub use allocations::{Allocations, CountingAllocator, count_allocations};
pub use buffer::OffsetBytes;
pub use corrupt::{envelope_of, flipped, lying_copy, with_payload};
pub use golden::{golden_bytes_are_kept, golden_file_is_kept, golden_file_opens};
pub use oracle::Oracle;
pub use space::TestSpace;
pub use subject::{Open, ReadSpec, Subject, seal_or_coarsen};
pub use verdict::{Fault, Verdict, demand};
