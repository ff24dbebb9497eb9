//! The least that a lookup can cost on this machine: the wait for one random line of memory.

use lacuna_base::AlignedBytes;
use lacuna_base::hash::reduce;
use lacuna_workload::Rng;

/// Bytes of a cache line.
const LINE_BYTES: usize = 64;

/// Stream of the places, apart from those of keys and queries.
const PLACE_STREAM: u64 = 64;

/// Random 64-byte reads in an array as large as a filter, each needing the one before.
///
/// All eight words of a line are combined into a number that is always 0 but that cannot be known before the line has
/// arrived, and that number is added to the place of the next line. The array lies in the same kind of buffer as
/// filters do, so that page size and alignment are the same.
///
/// ```
/// use lacuna_bench::harness::MemoryFloor;
///
/// let floor = MemoryFloor::new(1 << 20, 1_000, 7);
/// assert_eq!(floor.read(1 << 20), 0);
/// ```
#[derive(Debug)]
pub struct MemoryFloor {
    lines: AlignedBytes,
    places: Vec<u64>,
}

impl MemoryFloor {
    /// An array for filters of up to `max_bytes`, to be read `steps` times, at places that follow from `seed`.
    pub fn new(max_bytes: usize, steps: usize, seed: u64) -> Self {
        let mut lines = AlignedBytes::zeroed(max_bytes.next_multiple_of(LINE_BYTES).max(LINE_BYTES));
        // Untouched zeros would all be one page of the operating system.
        for (number, line) in (1_u64..).zip(lines.as_mut_slice().chunks_exact_mut(LINE_BYTES)) {
            let word = number.to_le_bytes();
            line.chunks_exact_mut(8).for_each(|place| place.copy_from_slice(&word));
        }
        let mut rng = Rng::with_stream(seed, PLACE_STREAM);
        Self { lines, places: (0..steps).map(|_| rng.next_u64()).collect() }
    }

    /// Reads that [`read`](Self::read) makes.
    pub fn steps(&self) -> usize {
        self.places.len()
    }

    /// Reads one line after the other within the first `bytes` of the array. Returns 0.
    ///
    /// # Panics
    /// If the array is smaller than `bytes`.
    #[inline(never)]
    pub fn read(&self, bytes: usize) -> usize {
        let lines = self.lines.as_chunks::<LINE_BYTES>().0;
        let line_count = (bytes / LINE_BYTES).max(1);
        let lines = &lines[..line_count];
        let mut always_zero = 0;
        for &place in &self.places {
            let line = &lines[line_of(place, line_count) + always_zero];
            always_zero = xor_of_words(line);
        }
        always_zero
    }
}

#[inline(always)]
fn line_of(place: u64, line_count: usize) -> usize {
    usize::try_from(reduce(place, line_count as u64)).expect("below a usize")
}

/// The eight words combined; 0, since all are equal.
#[inline(always)]
fn xor_of_words(line: &[u8; LINE_BYTES]) -> usize {
    let words = line.as_chunks::<8>().0;
    words.iter().fold(0, |sum, word| sum ^ usize::from_le_bytes(*word))
}
