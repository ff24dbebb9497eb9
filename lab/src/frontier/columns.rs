//! What is asked of keys: three kinds of ranges for integers, three for byte strings, a column each.

use lacuna_base::hash::{IntegerHasher, hash_bytes};
use lacuna_base::{ByteColumn, ErrorKind, KeySpace, Result, Window};
use lacuna_bench::BenchKey;
use lacuna_workload::{ByteQueries, Keys, Queries, QuerySource, Workload};

use super::scenes::Starts;

/// Columns of a scene.
pub const COLUMNS: usize = 3;
/// Lengths of ranges of integers, in keys.
pub const LENGTHS: [u64; COLUMNS] = [1, 32, 1_024];
/// After the last byte of an end: the last signs that stand in texts.
const LAST: [u8; 8] = [b'~'; 8];

/// A key space with scenes.
pub(super) trait SceneKey: BenchKey {
    /// What its columns ask, for the head of a table.
    const NAMES: [&'static str; COLUMNS];
    /// A column of keys of this space; nothing for others.
    fn of(keys: Keys) -> Option<Self::OwnedColumn>;
    /// The hash of a key, for a filter that is not ours.
    fn hash(key: <Self as KeySpace>::Ref<'_>, seed: u64) -> u64;
    /// The keys that stay, the same for each column, and `count` empty ranges of a column; `None` where the keys leave no room for
    /// them. Keys that were taken out, which nothing asks for, are left out.
    ///
    /// # Errors
    /// Any other error of drawing.
    fn draw(keys: &Keys, starts: Starts, column: usize, count: usize, seed: u64) -> Result<Option<Workload>>;
}

impl SceneKey for u64 {
    const NAMES: [&'static str; COLUMNS] = ["1", "32", "1,024"];

    fn of(keys: Keys) -> Option<Vec<u64>> {
        match keys {
            Keys::U64(keys) => Some(keys),
            Keys::Bytes(_) => None,
        }
    }

    fn hash(key: u64, seed: u64) -> u64 {
        IntegerHasher::new(seed).hash(key)
    }

    fn draw(keys: &Keys, starts: Starts, column: usize, count: usize, seed: u64) -> Result<Option<Workload>> {
        let length = LENGTHS[column];
        let source = match starts {
            Starts::Anywhere => format!("uniform:{count}:{length}"),
            Starts::After(degree) => format!("correlated:{count}:{length}:{degree}"),
            Starts::HeldOut => format!("heldout:{count}:{length}"),
        };
        drawn(&source, keys, seed)
    }
}

/// Byte strings have no length of a range that means the same everywhere: a key that was taken out, from it to the last byte's next
/// value, and from it up to where the next key that stays begins to differ.
impl SceneKey for [u8] {
    const NAMES: [&'static str; COLUMNS] = ["the key", "its last byte", "up to the next key"];

    fn of(keys: Keys) -> Option<ByteColumn> {
        match keys {
            Keys::Bytes(keys) => Some(keys),
            Keys::U64(_) => None,
        }
    }

    fn hash(key: &[u8], seed: u64) -> u64 {
        hash_bytes(key, seed)
    }

    fn draw(keys: &Keys, _: Starts, column: usize, count: usize, seed: u64) -> Result<Option<Workload>> {
        match column {
            0 => drawn(&format!("heldout:{count}:1"), keys, seed),
            1 => drawn(&format!("lastbyte:{count}"), keys, seed),
            _ => Ok(drawn(&format!("heldout:{count}:1"), keys, seed)?.map(up_to_next_keys)),
        }
    }
}

/// What `source` draws; `None` where the keys leave no room for it, which is the only input that a source in order refuses.
fn drawn(source: &str, keys: &Keys, seed: u64) -> Result<Option<Workload>> {
    match QuerySource::parse(source)?.workload(keys.clone(), seed) {
        Err(problem) if problem.kind() == ErrorKind::InvalidInput => Ok(None),
        drawn => drawn.map(Some),
    }
}

/// Every range goes on up to the byte in which the next key that stays differs.
fn up_to_next_keys(workload: Workload) -> Workload {
    let (Keys::Bytes(keys), Queries::Bytes(asked)) = (&workload.inserted, &workload.queries) else {
        return workload;
    };
    let mut longer = ByteQueries::new();
    for (low, high) in asked.iter() {
        let end = next_key(keys, high).and_then(|next| before_branch(high, next));
        longer.push(low, end.as_deref().unwrap_or(high));
    }
    Workload { queries: Queries::Bytes(longer), ..workload }
}

/// The first of `keys` above `bound`.
fn next_key<'a>(keys: &'a ByteColumn, bound: &[u8]) -> Option<&'a [u8]> {
    let (mut start, mut end) = (0, keys.len());
    while start < end {
        let middle = start.midpoint(end);
        if keys.get(middle) <= bound { start = middle + 1 } else { end = middle }
    }
    (start < keys.len()).then(|| keys.get(start))
}

/// The end of the ranges from `key` that stop before the strings which share with `next`, a larger one, the first byte that `key` does
/// not: none if that byte is zero.
fn before_branch(key: &[u8], next: &[u8]) -> Option<Vec<u8>> {
    let shared = Window::common_prefix_len(key, next);
    let last = next.get(shared)?.checked_sub(1)?;
    let end = [&key[..shared], &[last], &LAST].concat();
    (end.as_slice() >= key).then_some(end)
}

#[cfg(test)]
mod tests {
    use lacuna_workload::{is_empty_bytes, real_sets};

    use super::*;

    #[test]
    fn ranges_of_texts_hold_no_key_that_stays_and_grow_with_the_column() {
        for name in ["repo_paths", "wordnet_lemmas"] {
            let set = real_sets().into_iter().find(|set| set.name() == name).expect("a real set");
            println!("{}, seed 3", set.note());
            let keys = set.load().expect("a file, or a twin");
            let columns = [0, 1, 2].map(|column| {
                let drawn = <[u8]>::draw(&keys, Starts::HeldOut, column, 500, 3);
                drawn.expect("a source in order").expect("there is room")
            });
            for workload in &columns {
                assert_eq!(workload.inserted, columns[0].inserted, "{name}: one filter for all columns");
                let (Keys::Bytes(keys), Queries::Bytes(asked)) = (&workload.inserted, &workload.queries)
                else {
                    panic!("texts stay texts")
                };
                assert_eq!(asked.len(), 500);
                assert!(
                    asked.iter().all(|(low, high)| low <= high && is_empty_bytes(keys, low, high)),
                    "{name}"
                );
            }
            let points = |workload: &Workload| match &workload.queries {
                Queries::Bytes(asked) => asked.iter().filter(|(low, high)| low == high).count(),
                Queries::U64(_) => 0,
            };
            assert_eq!(points(&columns[0]), 500);
            assert_eq!(points(&columns[1]), 0, "{name}");
            assert!(points(&columns[2]) < 50, "{name}: nearly all go further than their key");
        }
    }

    #[test]
    fn only_keys_without_room_leave_a_column_out() {
        let dense = Keys::U64((0..10_000).collect());
        assert_eq!(u64::draw(&dense, Starts::Anywhere, 2, 5, 1).expect("a source in order"), None);
        assert!(drawn("uniforn:5:1", &dense, 1).is_err());
    }

    #[test]
    fn ends_are_before_the_next_branch() {
        let end = |key: &str, next: &str| {
            before_branch(key.as_bytes(), next.as_bytes()).map(|end| String::from_utf8(end).expect("a text"))
        };
        assert_eq!(end("usr/lib", "usr/share"), Some("usr/r~~~~~~~~".to_owned()));
        assert_eq!(end("abc", "abd"), Some("abc~~~~~~~~".to_owned()));
        assert_eq!(end("ab", "abc"), Some("abb~~~~~~~~".to_owned()));
        assert_eq!(end("ab", "ab\0"), None);
        let keys: ByteColumn = ["ant", "bee"].iter().collect();
        assert_eq!(next_key(&keys, b"ant"), Some(&b"bee"[..]));
        assert_eq!((next_key(&keys, b"ans"), next_key(&keys, b"bee")), (Some(&b"ant"[..]), None));
    }
}
