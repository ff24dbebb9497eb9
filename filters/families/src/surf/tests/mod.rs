//! What is SuRF's own; the conformance suite proves the rest.

mod answers;
mod neighbours;
mod rates;

use lacuna_base::{Budget, BuildPlan, ByteColumn, FilterSpec, Sealed, SortedKeys};
use lacuna_workload::Rng;

use super::{Surf, SurfSpec};
use crate::family::FilterFamily as _;
use crate::spec_text::SpecText;

/// Every kind of suffix, and none.
const SPECS: [&str; 7] = [
    "surf",
    "surf:real=0",
    "surf:real=3",
    "surf:real=11",
    "surf:hash=4",
    "surf:hash=3,real=9",
    "surf:real=64",
];
/// Room for every suffix of a few keys.
const AMPLE: f64 = 128.0;

fn column(keys: &[Vec<u8>]) -> ByteColumn {
    keys.iter().collect()
}

fn strings(text: &str, keys: &[Vec<u8>], bits_per_key: f64) -> Surf<[u8], Sealed> {
    let plan = BuildPlan::<[u8]>::new(Budget::bits_per_key(bits_per_key).expect("in range")).with_seed(5);
    let column = column(keys);
    let keys = SortedKeys::byte_strings(&column).expect("ascending");
    let sealed = spec(text).build(keys, &plan).expect("fits");
    Surf::<[u8], _>::open(sealed).expect("just sealed")
}

fn integers(text: &str, keys: &[u64], bits_per_key: f64) -> Surf<u64, Sealed> {
    let plan = BuildPlan::<u64>::new(Budget::bits_per_key(bits_per_key).expect("in range")).with_seed(5);
    let keys = SortedKeys::integers(keys).expect("ascending");
    Surf::<u64, _>::open(spec(text).build(keys, &plan).expect("fits")).expect("just sealed")
}

/// The spec that `text` names.
fn spec(text: &str) -> SurfSpec {
    let mut parsed = SpecText::parse(text).expect("well formed");
    let spec = SurfSpec::from_text(&mut parsed).expect("in range");
    parsed.finish().expect("nothing else");
    spec
}

/// All strings of at most `longest` of these letters, ascending.
fn strings_of(letters: &[u8], longest: usize) -> Vec<Vec<u8>> {
    let mut strings = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..longest {
        let until = strings.len();
        for place in from..until {
            strings.extend(
                letters.iter().map(|&letter| [&strings[place][..], &[letter]].concat()).collect::<Vec<_>>(),
            );
        }
        from = until;
    }
    strings.sort();
    strings
}

/// Random subsets of short strings after a prefix, with the strings themselves to ask for.
fn small_sets() -> impl Iterator<Item = (String, Vec<Vec<u8>>, Vec<Vec<u8>>)> {
    (0..80_u64).map(|seed| {
        let mut rng = Rng::new(seed);
        let letters: &[u8] = [&[0, 0xFF][..], b"ab", &[0, 1, 0xFE, 0xFF]][rng.index(3)];
        let prefix = [&b""[..], b"p", &[0xFF], &[b'x'; 20]][rng.index(4)];
        let behind = |tail: &Vec<u8>| [prefix, tail].concat();
        let all = strings_of(letters, 10 / (letters.len() + 1) + 1);
        let share = 1 + rng.below(12);
        let keys = all.iter().filter(|_| rng.below(12) < share).map(behind).collect();
        let mut asked: Vec<Vec<u8>> = all.iter().map(behind).collect();
        asked.extend([vec![], vec![0], vec![b'q'], vec![0xFF; 3], vec![b'x'; 19]]);
        asked.sort();
        asked.dedup();
        (format!("seed {seed}"), keys, asked)
    })
}
