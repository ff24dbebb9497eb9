//! Waiting until the processor knows an answer.
//!
//! **Problem.** "The next question depends on the last answer" is true of the program but not of the processor: an answer
//! that comes out of a branch (a Bloom filter that returns at its first zero bit) is predicted, and the next question
//! starts before the answer is there. A blocked Bloom filter then seems to take half of the time of the one memory
//! access that it consists of, while a filter that computes its answer without branches seems slow.
//!
//! **Idea.** Between two questions stands a read of the clock. The operating system reads it with an instruction that
//! waits for all instructions before it (`rdtscp`, or one after a barrier), and the place of the next question is
//! computed from the time read, as "how many times 2^40 seconds have passed". Neither atomic operations nor memory
//! fences do this: current processors speculate across both.
//!
//! **Cost.** Some 25 to 50 ns, the same for all; it is measured alone in every round and taken off.

use std::time::Instant;

/// A place where the processor waits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Barrier {
    start: Instant,
}

impl Barrier {
    pub(super) fn new() -> Self {
        Self { start: Instant::now() }
    }

    /// 0, but not before everything that the program did before is done.
    #[inline(always)]
    pub(super) fn wait(self) -> usize {
        // 2^40 seconds are 34,000 years.
        usize::from(self.start.elapsed().as_secs() >> 40 != 0)
    }
}

/// `count` barriers and nothing else: what they cost. Returns `count`.
#[inline(never)]
pub(super) fn barriers(count: usize) -> usize {
    let barrier = Barrier::new();
    let mut index = 0;
    while index < count {
        index += 1 + barrier.wait();
    }
    index
}
