//! Figures 9a to 9d: keys of 80, 200 and 1,440 bits.
//!
//! Keys and queries are numbers of as many bits, written big-endian. Uniform keys are random bytes. Normal keys are spread
//! around the middle by a hundredth of the space, as the paper's are: their first 8 bytes are normal, the rest random. A
//! correlated query starts at most 2^29 after a key, and is up to 2^30 long, both counted in the last bytes.

use lacuna_base::{ByteColumn, ByteRange, Result, Sample, SortedKeys};
use lacuna_workload::{KeySource, Keys, ReadOptions, Rng, is_empty_bytes};

use super::contest::result_of;
use super::filters;
use super::workloads::plot;
use crate::paper::{Finding, Session};

/// Keys here; the paper has ten million.
const OWN_KEYS: usize = 50_000;
/// Queries here; as many again are a sample, up to the paper's 20,000.
const OWN_QUERIES: usize = 20_000;
const SAMPLED: usize = 20_000;
/// Bytes of the keys.
const LENGTHS: [usize; 3] = [10, 25, 180];
/// Longest range, and largest distance to a key.
const LONGEST: u64 = 1 << 30;
const DEGREE: u64 = 1 << 29;
/// Stream of one seed.
const STREAM: u64 = 201;
/// Draws for one query before the next one is tried: nearly all are empty.
const MAX_DRAWS: usize = 1_000;

/// Laws of keys and queries of panels a to d.
const PANELS: [(&str, &str, Law); 4] = [
    ("a", "uniform", Law::Uniform),
    ("b", "uniform", Law::Correlated),
    ("c", "normal", Law::Split),
    ("d", "normal", Law::Correlated),
];

/// Where queries start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Law {
    Uniform,
    Correlated,
    Split,
}

/// Figure 9a to 9d, and the same for shorter keys.
pub(super) fn rates(session: &mut Session<'_>) -> Result<Finding> {
    let mut finding = Finding::default();
    let key_count = session.key_count_or(OWN_KEYS, filters::PAPER_KEYS);
    for bytes in LENGTHS.into_iter().rev() {
        for (letter, keys, law) in PANELS {
            let title = format!("{letter}: {} bits, {keys}, {law:?}", bytes * 8).to_lowercase();
            session.say(title.clone());
            let column = column(keys, key_count, bytes, session.seed())?;
            let count = session.query_count_or(OWN_QUERIES);
            let drawn = queries(&column, law, count + SAMPLED.min(count), session.seed());
            let result = asked(&column, &drawn, count, session.seed())?;
            finding.plots.push(plot(&title, &result));
            finding.notes = result.notes();
        }
    }
    finding.notes.push(format!(
        "{key_count} keys; the paper has 10 million. Lengths of prefixes are counted after the common prefix of all keys; Proteus \
         models 128 lengths spread evenly."
    ));
    Ok(finding)
}

/// Builds all filters and asks the first `count` of `drawn`; the rest is the sample.
fn asked(
    column: &ByteColumn,
    drawn: &[(Vec<u8>, Vec<u8>)],
    count: usize,
    seed: u64,
) -> Result<crate::paper::GridResult> {
    let (asked, sampled) = drawn.split_at(count.min(drawn.len()));
    let ranges: Vec<ByteRange<'_>> =
        asked.iter().filter_map(|(low, high)| ByteRange::new(low, high)).collect();
    let mut sample = Sample::<[u8]>::new();
    sampled.iter().for_each(|(low, high)| sample.push(low, high));
    result_of::<[u8]>(SortedKeys::byte_strings(column)?, &ranges, sample, &filters::BITS, seed)
}

/// `count` keys of `bytes` bytes.
fn column(law: &str, count: usize, bytes: usize, seed: u64) -> Result<ByteColumn> {
    let heads =
        KeySource::parse(&format!("{law}:{count}"))?.load(&ReadOptions::default(), seed, &mut |_| {})?;
    let Keys::U64(heads) = heads else { unreachable!("generators give integers") };
    let mut rng = Rng::with_stream(seed, STREAM);
    // Heads are distinct and ascending, so whole keys are.
    let key = |head: &u64| [&head.to_be_bytes()[..], &random(bytes - 8, &mut rng)].concat();
    Ok(heads.iter().map(key).collect::<Vec<_>>().iter().collect())
}

fn random(bytes: usize, rng: &mut Rng) -> Vec<u8> {
    (0..bytes).map(|_| rng.next_u64().to_le_bytes()[7]).collect()
}

/// `count` ranges without a key.
fn queries(keys: &ByteColumn, law: Law, count: usize, seed: u64) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut rng = Rng::with_stream(seed, STREAM + 1);
    let bytes = keys.get(0).len();
    let one = |place: usize| {
        let is_near = law == Law::Correlated || law == Law::Split && place.is_multiple_of(2);
        (0..MAX_DRAWS).find_map(|_| {
            let low = if is_near {
                plus(keys.get(rng.index(keys.len())), rng.between(1, DEGREE))?
            } else {
                random(bytes, &mut rng)
            };
            let high = plus(&low, rng.between(1, LONGEST - 1))?;
            is_empty_bytes(keys, &low, &high).then_some((low, high))
        })
    };
    (0..count).filter_map(one).collect()
}

/// `number`, a big-endian number of any length, plus `more`; `None` beyond the last one.
fn plus(number: &[u8], more: u64) -> Option<Vec<u8>> {
    let mut sum = number.to_vec();
    let mut carry = u128::from(more);
    for byte in sum.iter_mut().rev() {
        carry += u128::from(*byte);
        *byte = carry.to_le_bytes()[0];
        carry >>= 8;
        if carry == 0 {
            break;
        }
    }
    (carry == 0).then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_carry() {
        assert_eq!(plus(&[1, 0xff, 0xff], 1), Some(vec![2, 0, 0]));
        assert_eq!(plus(&[0, 0, 7], 0x1_0203), Some(vec![1, 2, 10]));
        assert_eq!(plus(&[0xff; 10], 1), None);
    }

    #[test]
    fn drawn_ranges_are_empty_and_near() {
        let keys = column("uniform", 500, 10, 3).expect("a generator");
        let drawn = queries(&keys, Law::Correlated, 200, 3);
        assert_eq!(drawn.len(), 200, "seed 3");
        for (low, high) in &drawn {
            assert!(low < high && is_empty_bytes(&keys, low, high));
            let near =
                keys.iter().any(|key| key < &low[..] && plus(key, DEGREE).is_some_and(|end| *low <= end));
            assert!(near, "{low:?}, seed 3");
        }
    }
}
