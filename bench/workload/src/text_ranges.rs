//! Ends of ranges of texts: a range starts at a key, and ends in that key's last place or before the next key branches off.
//!
//! A number of key values means little between texts, so these two stand for a short range and a long one. Between the keys
//! `usr/lib` and `usr/share`, a range from `usr/lib64` ends at `usr/lib6` + `4` to `7`, or at `usr/r~~~~~~~~`.

use lacuna_base::{ByteColumn, Window};

use crate::columns::count_below;

/// After the last byte of an end: the last signs that stand in texts.
const LAST: [u8; 8] = [b'~'; 8];

/// `key` with `distance` added to its last byte, up to 0xFF; an empty key stays as it is.
///
/// ```
/// assert_eq!(lacuna_workload::end_in_last_place(b"host1", 3), b"host4");
/// ```
#[must_use]
pub fn end_in_last_place(key: &[u8], distance: u8) -> Vec<u8> {
    let mut end = key.to_vec();
    if let Some(last) = end.last_mut() {
        *last = last.saturating_add(distance);
    }
    end
}

/// The end of the range from `key` that stops before the strings which share with the next of the ascending `keys` the first
/// byte that `key` does not; `key` itself where there is no room for one, or no next key.
///
/// ```
/// use lacuna_workload::{ByteColumn, end_before_next_key};
///
/// let keys: ByteColumn = ["usr/bin", "usr/share"].iter().collect();
/// assert_eq!(end_before_next_key(&keys, b"usr/lib"), b"usr/r~~~~~~~~");
/// ```
#[must_use]
pub fn end_before_next_key(keys: &ByteColumn, key: &[u8]) -> Vec<u8> {
    let next = count_below(keys, key);
    let end = if next < keys.len() { before_branch(key, keys.get(next)) } else { None };
    end.unwrap_or_else(|| key.to_vec())
}

/// None where the byte of `next` is zero, where `next` is `key`, or where the end would be below `key`.
fn before_branch(key: &[u8], next: &[u8]) -> Option<Vec<u8>> {
    let shared = Window::common_prefix_len(key, next);
    let last = next.get(shared)?.checked_sub(1)?;
    let end = [&key[..shared], &[last], &LAST].concat();
    (end.as_slice() >= key).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_place_does_not_carry() {
        for (key, distance, end) in
            [(&b"a"[..], 0, &b"a"[..]), (b"a", 3, b"d"), (b"a\xfe", 3, b"a\xff"), (b"", 1, b"")]
        {
            assert_eq!(end_in_last_place(key, distance), end, "{key:?} and {distance}");
        }
    }

    #[test]
    fn ends_are_before_the_next_branch() {
        let end = |key: &[u8], next: &[u8]| end_before_next_key(&[next].into_iter().collect(), key);
        assert_eq!(end(b"usr/lib", b"usr/share"), b"usr/r~~~~~~~~");
        assert_eq!(end(b"abc", b"abd"), b"abc~~~~~~~~");
        assert_eq!(end(b"ab", b"abc"), b"abb~~~~~~~~");
        assert_eq!(end(b"ab", b"ab\0"), b"ab", "there is no string between them");
        assert_eq!(end(b"b", b"a"), b"b", "no key is above");
        assert_eq!(end(b"a\xff", b"b"), b"a\xff", "texts end before it");
    }
}
