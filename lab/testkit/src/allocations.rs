//! Counts the allocations of one piece of work, on the thread that does it.
//!
//! A test binary installs [`CountingAllocator`] once; [`count_allocations`] then says what a closure allocated. The
//! counters belong to the thread, so tests that run side by side do not disturb one another.
//!
//! ```
//! use lacuna_testkit::{CountingAllocator, count_allocations};
//!
//! #[global_allocator]
//! static ALLOCATOR: CountingAllocator = CountingAllocator;
//!
//! let (numbers, allocations) = count_allocations(|| vec![1u64; 100]);
//! assert_eq!((allocations.count, allocations.bytes), (1, 800));
//! # drop(numbers);
//! ```

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;

use crate::Fault;

/// Allocations of some work; freed memory is not subtracted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Allocations {
    /// Number of allocations and of reallocations.
    pub count: u64,
    /// Bytes asked for; a reallocation counts its new size.
    pub bytes: u64,
}

thread_local! {
    static TALLY: Cell<Allocations> = const { Cell::new(Allocations { count: 0, bytes: 0 }) };
}

/// The system's allocator, counting.
#[derive(Debug, Clone, Copy)]
pub struct CountingAllocator;

fn note(bytes: usize) {
    // A thread that is ending has no counter any more, and none is read.
    let _ = TALLY.try_with(|tally| {
        let Allocations { count, bytes: before } = tally.get();
        tally.set(Allocations { count: count + 1, bytes: before.saturating_add(bytes as u64) });
    });
}

#[expect(unsafe_code, reason = "a global allocator cannot be written without")]
// SAFETY: every call goes to `System` unchanged; `note` touches a `const`-initialised thread-local without destructor,
// and therefore allocates nothing itself.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller keeps `alloc`'s contract, which is `System`'s.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller keeps `alloc_zeroed`'s contract, which is `System`'s.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        note(new_size);
        // SAFETY: `block` came from `System` through this allocator; the rest is the caller's contract.
        unsafe { System.realloc(block, layout, new_size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: `block` came from `System` through this allocator, with this layout.
        unsafe { System.dealloc(block, layout) }
    }
}

/// Runs `work` and counts what this thread allocated meanwhile: nothing, if [`CountingAllocator`] is not installed.
pub fn count_allocations<T>(work: impl FnOnce() -> T) -> (T, Allocations) {
    let before = TALLY.with(Cell::get);
    let result = work();
    let after = TALLY.with(Cell::get);
    let spent = Allocations { count: after.count - before.count, bytes: after.bytes - before.bytes };
    (result, spent)
}

/// A fault unless [`CountingAllocator`] is installed, so that a count of zero means something.
pub(crate) fn require_counting() -> Result<(), Fault> {
    let ((), probe) = count_allocations(|| drop(black_box(Box::new(black_box(7u64)))));
    if probe.count > 0 {
        return Ok(());
    }
    Err(Fault::new(
        "allocations are not counted here: put `#[global_allocator] static ALLOCATOR: lacuna_testkit::CountingAllocator \
         = lacuna_testkit::CountingAllocator;` into tests/it/main.rs",
    ))
}
