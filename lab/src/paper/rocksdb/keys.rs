//! Keys of real sets, scaled.

use crate::paper::Session;
use lacuna_base::{ByteColumn, Error, Result};
use lacuna_workload::{KeySource, Keys, ReadOptions, real_sets};

/// The keys of a generator such as `normal`, `count` of them; or the first `count` of a real set.
pub(super) fn keys(session: &Session<'_>, name: &str, count: usize) -> Result<Keys> {
    match real_sets().iter().find(|set| set.name() == name) {
        Some(set) => Ok(first(set.load()?, count)),
        None => KeySource::parse(&format!("{name}:{count}"))?.load(
            &ReadOptions::default(),
            session.seed(),
            &mut |_| {},
        ),
    }
}

/// `count`, or as many keys as the real set `name` has if that is fewer.
pub(super) fn at_most(name: &str, count: usize) -> usize {
    let sets = real_sets();
    let set = sets.iter().find(|set| set.name() == name);
    set.and_then(|set| set.load().ok()).map_or(count, |keys| count.min(keys.len()))
}

/// The first keys keep their runs and prefixes, where every `n`th key would not.
fn first(keys: Keys, count: usize) -> Keys {
    match keys {
        Keys::U64(mut keys) => {
            keys.truncate(count);
            Keys::U64(keys)
        }
        Keys::Bytes(keys) => {
            let mut kept = ByteColumn::new();
            keys.iter().take(count).for_each(|key| kept.push(key));
            Keys::Bytes(kept)
        }
    }
}

/// Integers, or an error.
pub(super) fn integers(keys: Keys) -> Result<Vec<u64>> {
    match keys {
        Keys::U64(keys) => Ok(keys),
        Keys::Bytes(_) => Err(Error::invalid_input("this figure is made over integer keys")),
    }
}

/// Keys of the deepest of three levels, each ten times as large as the one above, in every figure of these.
pub(super) const KEYS_OF_A_LEVEL: usize = 1_000_000;
/// Keys of a database whose deepest level has that many.
pub(super) const OWN_KEYS: usize = KEYS_OF_A_LEVEL / 100 * 111;

/// How many times fewer there are here than in the paper.
pub(super) fn factor(paper: usize, here: usize) -> String {
    format!("{:.0}", paper as f64 / here.max(1) as f64)
}
