//! The keys around a range among the raw entries of one table.

use lacuna_base::ByteRange;

use crate::raw_table::RawTable;

/// The keys around a range, if none is inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Surroundings {
    /// Two keys side by side, the range between them; `None` where the table ends.
    Gap { below: Option<Vec<u8>>, above: Option<Vec<u8>> },
    /// The table holds a key of the range, whatever its entries say about it.
    NoGap,
    /// Something could not be read.
    Failed,
}

/// Looks around `range`: the first entry at its lower end or above, and the one before that. Entries that follow each
/// other are the proof: what is between their keys is not in the table.
pub(super) fn look(table: &mut RawTable, range: ByteRange<'_>) -> Surroundings {
    table.seek(range.lo());
    let above = table.key().map(<[u8]>::to_vec);
    // The lower end itself may be excluded; then it is a neighbour, and may have many versions.
    if above.as_deref() == Some(range.lo()) && !range.contains(range.lo()) {
        return look_behind(table, range);
    }
    if above.as_deref().is_some_and(|above| range.contains(above)) {
        return Surroundings::NoGap;
    }
    table.prev();
    let below = table.key().map(<[u8]>::to_vec);
    settled(table, below, above)
}

/// Looks around a range whose excluded lower end is a key of the table.
fn look_behind(table: &mut RawTable, range: ByteRange<'_>) -> Surroundings {
    table.seek(&[range.lo(), &[0]].concat());
    let above = table.key().map(<[u8]>::to_vec);
    match above {
        Some(above) if range.contains(&above) => Surroundings::NoGap,
        above => settled(table, Some(range.lo().to_vec()), above),
    }
}

fn settled(table: &RawTable, below: Option<Vec<u8>>, above: Option<Vec<u8>>) -> Surroundings {
    match (&below, &above) {
        _ if !table.is_good() => Surroundings::Failed,
        // An empty table proves nothing about a range, and no filter lets a scan of it pass.
        (None, None) => Surroundings::NoGap,
        _ => Surroundings::Gap { below, above },
    }
}
