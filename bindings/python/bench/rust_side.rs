//! The yardstick of `bars.py`: does in Rust what a line of standard input says, and prints a line when it is done.
//!
//! `build` makes a filter as a program in Rust does ([`lacuna_families::spec`], keys copied into a vector, sorted if they are not);
//! `ranges` and `pairs` ask a million ranges at once; `single` asks them one by one; `count` prints how many of the last answers were
//! "maybe". Keys and ends come from the folder that is its argument: `keys.u64`, `lo.u64`, `hi.u64`.

use std::error::Error;
use std::hint::black_box;
use std::io::{BufRead as _, Write as _};
use std::path::Path;

use lacuna_base::{Budget, BuildPlan, DynFilter, KeyType, Sealed, SortedKeys, U64Range};

/// Bits for each key.
const BITS_PER_KEY: f64 = 14.0;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("give the folder of the keys")?;
    let read = |name: &str| integers(&Path::new(&folder).join(name));
    let (keys, los, his) = (read("keys.u64")?, read("lo.u64")?, read("hi.u64")?);
    let filter = lacuna_families::open::<u64, _>(built(&keys)?)?;
    let ranges: Vec<_> = los.iter().zip(&his).filter_map(|(&lo, &hi)| U64Range::new(lo, hi)).collect();
    let mut answers = vec![false; ranges.len()];
    let mut maybes = 0;
    for line in std::io::stdin().lock().lines() {
        match line?.as_str() {
            "build" => drop(black_box(built(&keys)?)),
            "build borrowed" => drop(black_box(sealed(&keys)?)),
            "ranges" => filter.may_contain_ranges(&ranges, &mut answers),
            "pairs" => filter.may_contain_pairs(&los, &his, &mut answers),
            "ranges, new answers" => answers = fresh_answers(&*filter, &ranges),
            "single" => ranges
                .iter()
                .zip(&mut answers)
                .for_each(|(range, answer)| *answer = filter.may_contain_range(*range)),
            "count" => maybes = answers.iter().filter(|answer| **answer).count(),
            other => return Err(format!("there is no `{other}`").into()),
        }
        writeln!(std::io::stdout(), "{maybes}")?;
    }
    Ok(())
}

fn fresh_answers(filter: &DynFilter<u64>, ranges: &[U64Range]) -> Vec<bool> {
    let mut answers = vec![false; ranges.len()];
    filter.may_contain_ranges(ranges, &mut answers);
    answers
}

/// As `Filter.build` of Python: the keys are the caller's, so they are copied, and in any order.
fn built(keys: &[u64]) -> lacuna_base::Result<Sealed> {
    let mut keys = keys.to_vec();
    if SortedKeys::integers(&keys).is_err() {
        keys.sort_unstable();
        keys.dedup();
    }
    sealed(&keys)
}

/// The keys as they are, ascending.
fn sealed(keys: &[u64]) -> lacuna_base::Result<Sealed> {
    let plan = BuildPlan::new(Budget::bits_per_key(BITS_PER_KEY)?).with_seed(1).with_key_type(KeyType::U64);
    lacuna_families::spec::<u64>("grafite")?.build(SortedKeys::integers(keys)?, &plan)
}

fn integers(path: &Path) -> std::io::Result<Vec<u64>> {
    let bytes = std::fs::read(path)?;
    let (words, _) = bytes.as_chunks::<8>();
    Ok(words.iter().map(|word| u64::from_le_bytes(*word)).collect())
}
