//! Operations of key sets on a column of byte strings: order, search, common prefix.

use lacuna_base::ByteColumn;

/// The 8-byte big-endian forms of `keys`, which sort as the integers do.
///
/// ```
/// let column = lacuna_workload::to_be_bytes(&[1, 256]);
/// assert_eq!(column.get(1), [0, 0, 0, 0, 0, 0, 1, 0]);
/// ```
pub fn to_be_bytes(keys: &[u64]) -> ByteColumn {
    keys.iter().map(|key| key.to_be_bytes()).collect()
}

/// The same strings in byte order, each once. Costs a sort and a copy unless they stand so already.
pub(crate) fn sorted_distinct(column: ByteColumn) -> ByteColumn {
    if column.iter().is_sorted_by(|left, right| left < right) {
        return column;
    }
    let mut order: Vec<usize> = (0..column.len()).collect();
    order.sort_unstable_by(|&left, &right| column.get(left).cmp(column.get(right)));
    order.dedup_by(|left, right| column.get(*left) == column.get(*right));
    order.into_iter().map(|index| column.get(index)).collect()
}

/// How many strings of an ascending column are below `bound`.
pub(crate) fn count_below(column: &ByteColumn, bound: &[u8]) -> usize {
    let (mut low, mut high) = (0, column.len());
    while low < high {
        let middle = low + (high - low) / 2;
        if column.get(middle) < bound { low = middle + 1 } else { high = middle }
    }
    low
}

/// The smallest and the largest of several ascending columns, if there is a string at all.
pub(crate) fn ends(columns: [&ByteColumn; 2]) -> Option<(&[u8], &[u8])> {
    let firsts = columns.iter().filter(|column| !column.is_empty()).map(|column| column.get(0));
    let lasts = columns.iter().filter_map(|column| column.last());
    firsts.min().zip(lasts.max())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(words: &[&str]) -> ByteColumn {
        words.iter().collect()
    }

    #[test]
    fn sorting_drops_repeats() {
        let sorted = sorted_distinct(column(&["b", "", "a", "b", "ab"]));
        assert_eq!(sorted, column(&["", "a", "ab", "b"]));
    }

    #[test]
    fn counting_below_finds_the_place() {
        let words = column(&["", "a", "b", "c"]);
        for (bound, below) in [("", 0), ("a", 1), ("aa", 2), ("c", 3), ("d", 4)] {
            assert_eq!(count_below(&words, bound.as_bytes()), below, "{bound}");
        }
    }

    #[test]
    fn ends_look_at_both_columns() {
        let (one, two, none) = (column(&["b", "d"]), column(&["a", "c"]), ByteColumn::new());
        assert_eq!(ends([&one, &two]), Some((b"a".as_slice(), b"d".as_slice())));
        assert_eq!(ends([&one, &none]), Some((b"b".as_slice(), b"d".as_slice())));
        assert_eq!(ends([&none, &none]), None);
    }
}
