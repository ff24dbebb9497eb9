//! The short keys between which partitions lie.

/// Longest key in a directory; where keys have a longer common prefix, a table is not cut.
pub(crate) const MAX_SEPARATOR_BYTES: usize = 256;

/// The shortest prefix of `next` that is above `last`; `None` if `next` is not above it, or the prefix is too long.
pub(crate) fn between(last: &[u8], next: &[u8]) -> Option<usize> {
    let common = last.iter().zip(next).take_while(|(last, next)| last == next).count();
    let is_above = next > last;
    Some(common + 1).filter(|&len| is_above && len <= MAX_SEPARATOR_BYTES)
}

/// A key at or below `smallest`.
pub(crate) fn below(smallest: &[u8]) -> &[u8] {
    &smallest[..smallest.len().min(MAX_SEPARATOR_BYTES)]
}

/// A key above `largest`; `None` if all short ones are below.
pub(crate) fn above(largest: &[u8]) -> Option<Vec<u8>> {
    if largest.len() < MAX_SEPARATOR_BYTES {
        return Some([largest, &[0]].concat());
    }
    let prefix = &largest[..MAX_SEPARATOR_BYTES];
    let last = prefix.iter().rposition(|&byte| byte != u8::MAX)?;
    let mut above = prefix[..=last].to_vec();
    above[last] += 1;
    Some(above)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_are_short_and_separate() {
        assert_eq!(between(b"apple", b"apricot"), Some(3));
        assert_eq!(between(b"app", b"apple"), Some(4));
        assert_eq!(between(b"", b"b"), Some(1));
        assert_eq!(between(b"b", b"b"), None);
        assert_eq!(between(b"b", b"a"), None);
        assert_eq!(between(&[7; 256], &[[7; 256].as_slice(), b"x"].concat()), None, "too long");
    }

    #[test]
    fn ends_are_beyond_their_keys() {
        for largest in
            [&b""[..], b"z", &[255; 255], &[255; 256], &[255; 999], &[[7; 299].as_slice(), &[9]].concat()]
        {
            let above = above(largest);
            assert!(above.as_deref().is_none_or(|above| above > largest), "{largest:?}");
            assert_eq!(above.is_none(), largest.len() >= 256 && largest.iter().all(|&byte| byte == 255));
            assert!(below(largest) <= largest);
        }
    }
}
