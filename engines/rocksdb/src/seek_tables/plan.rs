//! How far to read first: the place where the second table may have a key.

use std::ops::Bound;

use lacuna_base::ByteRange;
use lacuna_guard::{SeekPlanner, SeekStep};
use lacuna_rocksdb_property::{Direction, SeekRun};

/// Bounds of a range.
pub(super) type Bounds = (Bound<Vec<u8>>, Bound<Vec<u8>>);

/// The second place at which a table's next key may be: up to there, only tables with the first are read. `None` if
/// all tables are to be read at once, or none.
pub(super) fn cut(runs: &[SeekRun], range: &Bounds, direction: Direction) -> Option<Bound<Vec<u8>>> {
    let (lo, hi) = (range.0.as_ref().map(Vec::as_slice), range.1.as_ref().map(Vec::as_slice));
    let mut planner = match direction {
        Direction::Forward => SeekPlanner::<[u8]>::forward(ByteRange::from_bounds(lo, hi)?),
        Direction::Reverse => {
            // Beyond all strings no filter can be asked, at the largest key of all it can.
            let hi = match (hi, runs.iter().filter_map(SeekRun::largest).max()) {
                (Bound::Unbounded, Some(largest)) => Bound::Included(largest),
                _ => hi,
            };
            SeekPlanner::<[u8]>::backward(ByteRange::from_bounds(lo, hi)?)
        }
    };
    runs.iter().enumerate().for_each(|(number, run)| planner.add_seekable(number, run));
    let first = next_place(&planner)?;
    loop {
        planner.report(None);
        let place = next_place(&planner)?;
        if place != first {
            return Some(place);
        }
    }
}

/// Where the file whose turn it is may hold a key.
fn next_place(planner: &SeekPlanner<'_, [u8]>) -> Option<Bound<Vec<u8>>> {
    match planner.step() {
        SeekStep::Open { at, .. } => Some(at.map(<[u8]>::to_vec)),
        SeekStep::Key { key, .. } => Some(Bound::Included(key.to_vec())),
        SeekStep::Done => None,
    }
}

/// The part of a range before a place, in the direction of the seek, and the part from there on.
pub(super) fn split(range: &Bounds, place: Bound<Vec<u8>>, direction: Direction) -> (Bounds, Bounds) {
    let before = match place.clone() {
        Bound::Included(key) => Bound::Excluded(key),
        Bound::Excluded(key) => Bound::Included(key),
        Bound::Unbounded => Bound::Unbounded,
    };
    let (lo, hi) = range.clone();
    match direction {
        Direction::Forward => ((lo, before), (place, hi)),
        Direction::Reverse => ((before, hi), (lo, place)),
    }
}
