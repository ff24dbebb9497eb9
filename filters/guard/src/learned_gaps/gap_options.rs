//! What learned gaps may take.

/// How much memory learned gaps take, and how hard they are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GapOptions {
    /// Memory for the gaps of all files and the queue of hints together. Taken file by file.
    pub memory_bytes: usize,
    /// Memory for the gaps of one file.
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
