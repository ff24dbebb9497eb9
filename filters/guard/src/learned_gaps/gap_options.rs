//! How much memory and how many reads learned gaps may take.

/// How much memory learned gaps take, and how hard they are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct GapOptions {
    /// Memory for the gaps of all files and the queue of hints together. Taken file by file. What is less than the queue takes, some
    /// KiB for each hint, leaves room for no gap.
    pub memory_bytes: usize,
    /// Memory for the gaps of one file: at most 1 GiB, and what there is for all of them.
    pub memory_bytes_per_file: usize,
    /// Memory of the background for indexes of files, apart from `memory_bytes`.
    pub index_cache_bytes: usize,
    /// Hints that may wait; more are dropped.
    pub hints: usize,
    /// Requests to the store that the background makes in a second.
    pub reads_per_second: u32,
}

impl Default for GapOptions {
    /// 8 MiB, 64 KiB a file (3,800 gaps of integers, 1,000 of byte strings), 4 MiB of indexes, 128 hints, 20 reads a
    /// second.
    fn default() -> Self {
        Self {
            memory_bytes: 8 << 20,
            memory_bytes_per_file: 64 << 10,
            index_cache_bytes: 4 << 20,
            hints: 128,
            reads_per_second: 20,
        }
    }
}

impl GapOptions {
    /// Sets the memory for the gaps of all files and the queue of hints together.
    #[must_use]
    pub fn with_memory_bytes(mut self, memory_bytes: usize) -> Self {
        self.memory_bytes = memory_bytes;
        self
    }

    /// Sets the memory for the gaps of one file.
    #[must_use]
    pub fn with_memory_bytes_per_file(mut self, memory_bytes: usize) -> Self {
        self.memory_bytes_per_file = memory_bytes;
        self
    }

    /// Sets the memory of the background for indexes of files.
    #[must_use]
    pub fn with_index_cache_bytes(mut self, memory_bytes: usize) -> Self {
        self.index_cache_bytes = memory_bytes;
        self
    }

    /// Sets how many hints may wait.
    #[must_use]
    pub fn with_hints(mut self, hints: usize) -> Self {
        self.hints = hints;
        self
    }

    /// Sets how many requests the background makes to the store in a second.
    #[must_use]
    pub fn with_reads_per_second(mut self, reads: u32) -> Self {
        self.reads_per_second = reads;
        self
    }
}
