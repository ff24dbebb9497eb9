//! A filter beside every sorted file of one's own storage engine: built while the file is written, asked before it is
//! opened, and any doubt about its bytes means "read the file".
//!
//! ```console
//! $ cargo run --release -p lacuna --example own_file_format
//! ```

use std::cell::Cell;
use std::ops::RangeInclusive;

use lacuna::{Budget, Error, Filter};

/// A sorted file: here its rows in memory, and a counter in place of the disk.
struct SortedFile {
    keys: Vec<u64>,
    filter: Option<Filter<u64>>,
    reads: Cell<u64>,
}

impl SortedFile {
    /// Writes the file, and a filter that denies 99.9 % of the ranges of 32 integers in which no row is.
    fn write(keys: Vec<u64>) -> Result<(Self, Vec<u8>), Error> {
        let filter = Filter::build(&keys, Budget::for_rate(0.001, 32)?)?;
        let sidecar = filter.as_bytes().to_vec();
        Ok((Self { keys, filter: None, reads: Cell::new(0) }, sidecar))
    }

    /// Opens the filter from its bytes; without a filter if they do not open.
    fn with_sidecar(mut self, sidecar: Vec<u8>) -> Self {
        match lacuna::open_verified(sidecar) {
            Ok(filter) => self.filter = Some(filter),
            Err(error) => eprintln!("reading without a filter: {error}"),
        }
        self
    }

    /// The rows in `range`; the file is read only if one may be there.
    fn scan(&self, range: RangeInclusive<u64>) -> &[u64] {
        if self.filter.as_ref().is_some_and(|filter| !filter.may_contain_range(range.clone())) {
            return &[];
        }
        self.reads.set(self.reads.get() + 1);
        let first = self.keys.partition_point(|&key| key < *range.start());
        let end = self.keys.partition_point(|&key| key <= *range.end());
        &self.keys[first..end]
    }
}

fn main() -> Result<(), Error> {
    let keys: Vec<u64> = (1..=100_000).map(|row| row * 1_000 + row % 7).collect();
    let (file, sidecar) = SortedFile::write(keys)?;
    println!("100,000 rows, {} bytes of filter", sidecar.len());
    let mut damaged = sidecar.clone();
    damaged[100] ^= 1;

    let file = file.with_sidecar(sidecar);
    for start in (0..100_000_000).step_by(10_000) {
        assert!(file.scan(start + 100..=start + 131).is_empty());
    }
    println!("10,000 scans of ranges without a row read the file {} times", file.reads.get());

    // A flipped bit is seen when the filter is opened; the file is then read, and every answer is still right.
    let file = SortedFile { filter: None, reads: Cell::new(0), ..file }.with_sidecar(damaged);
    assert_eq!(file.scan(5_000..=5_010), [5_005]);
    println!("with a damaged filter the file was read {} time", file.reads.get());
    Ok(())
}
