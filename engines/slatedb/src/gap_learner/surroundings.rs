//! The keys around a range among the raw entries of one SST.

use bytes::Bytes;
use lacuna_base::ByteRange;
use slatedb::{Error, SstFile};

/// The keys around a range, if none is inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Surroundings {
    /// Two keys side by side, the range between them; `None` where the file ends.
    Gap { below: Option<Bytes>, above: Option<Bytes> },
    /// The file holds a key of the range, whatever its entries say about it, or could not be read in full.
    NoGap,
}

/// The state of a range after a run of neighbouring keys.
#[derive(Debug, Default)]
struct Seen {
    below: Option<Bytes>,
    inside: bool,
    above: Option<Bytes>,
}

impl Seen {
    /// Takes the next keys after or before those that were seen.
    fn take(&mut self, keys: impl IntoIterator<Item = Bytes>, range: ByteRange<'_>) {
        for key in keys {
            if range.contains(&key) {
                self.inside = true;
            } else if &key[..] <= range.lo() {
                self.below = self.below.take().max(Some(key));
            } else if self.above.as_ref().is_none_or(|above| key < *above) {
                self.above = Some(key);
            }
        }
    }
}

/// Looks around `range` in the blocks of `file`: the one in which it starts, and the ones next to it if the neighbours
/// stand there. The proof is in the rows alone: blocks that follow each other, and rows that follow each other in them.
pub(super) async fn look(file: &SstFile, range: ByteRange<'_>) -> Result<Surroundings, Error> {
    let index = file.index().await?;
    if index.is_empty() {
        return Ok(Surroundings::NoGap);
    }
    let start = index.partition_point(|first| first <= range.lo()).saturating_sub(1);
    let mut seen = Seen::default();
    seen.take(keys(file, start).await?, range);
    if seen.below.is_none() && !seen.inside && start > 0 {
        seen.take(keys(file, start - 1).await?, range);
    }
    if seen.above.is_none() && !seen.inside && start + 1 < index.len() {
        seen.take(keys(file, start + 1).await?, range);
    }
    // Blocks are never empty, so if a neighbour is missing now, the file does not have it.
    let complete = (seen.below.is_some() || start == 0) && (seen.above.is_some() || start + 1 == index.len());
    if complete && !seen.inside {
        Ok(Surroundings::Gap { below: seen.below, above: seen.above })
    } else {
        Ok(Surroundings::NoGap)
    }
}

async fn keys(file: &SstFile, block: usize) -> Result<impl Iterator<Item = Bytes>, Error> {
    Ok(file.read_block(block).await?.into_iter().map(|row| row.key))
}
