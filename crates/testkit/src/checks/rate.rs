//! The rate a filter promises is the rate it has, for uniform queries and for queries that start next to a key.
//!
//! A bound is held by statistics: over `n` empty queries, `E = bound * n` false positives are expected at most, and a
//! count up to `E + 3.3 sqrt(E)` passes. `E` is at least 100, in a long run 400.

use lacuna_core::DynFilter;
use lacuna_workload::Rng;

use crate::space::{closed, uniform_keys};
use crate::verdict::ensure;
use crate::{Fault, Oracle, Subject, TestSpace, Verdict, effort};

/// Random streams of the checks below.
const STREAM: u64 = 0xA00;
/// Bounds below this would take more than a few million queries; they are measured by larger studies.
const MOST_QUERIES: f64 = 4e6;
/// Lengths of the ranges asked, in keys.
const RANGE_LENGTHS: [u64; 5] = [1, 2, 32, 100, 1_024];

/// Where a filter states a bound below one, it keeps it.
///
/// # Errors
/// A fault with the counts, if a bound is no number from 0 to 1 or falls as ranges grow, or if none could be measured.
pub fn the_stated_rate_is_kept<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    let mut rng = effort::rng(STREAM);
    let mut tally = Tally::default();
    let dense = (0..20_000).map(|step| K::number((1 << 45) + step * 40)).collect();
    for (name, keys) in [("uniform keys", uniform_keys::<K>(&mut rng, 20_000)), ("close keys", dense)] {
        let oracle = Oracle::<K>::new(keys);
        for bits in [8.0, 11.0, 14.0, 18.0] {
            let filter = subject.filter(oracle.sorted(), bits, rng.next_u64())?;
            let cells = holds_its_bounds(&*filter, &oracle, &mut rng, &mut tally);
            cells.map_err(|fault| {
                fault.within(format!("{} over {name} at {bits} bits per key", subject.text()))
            })?;
        }
    }
    ensure(tally.stated == 0 || tally.measured > 0, || {
        format!("{}: no stated bound was measured", subject.text())
    })
}

/// Cells with a bound below one, and those among them that had enough queries.
#[derive(Default)]
struct Tally {
    stated: usize,
    measured: usize,
}

fn holds_its_bounds<K: TestSpace + ?Sized>(
    filter: &DynFilter<K>,
    oracle: &Oracle<K>,
    rng: &mut Rng,
    tally: &mut Tally,
) -> Verdict {
    let mut last = 0.0;
    for len in RANGE_LENGTHS {
        let bound = filter.rate_bound(len);
        ensure((0.0..=1.0).contains(&bound), || format!("the bound for {len} keys is {bound}"))?;
        ensure(bound >= last, || format!("the bound falls from {last} to {bound} at {len} keys"))?;
        last = bound;
        if bound < 1.0 {
            for near in [false, true] {
                tally.stated += 1;
                tally.measured += usize::from(measure(filter, oracle, rng, (len, near, bound))?);
            }
        }
    }
    Ok(())
}

/// Whether there were enough queries to hold the bound, which then is kept.
fn measure<K: TestSpace + ?Sized>(
    filter: &DynFilter<K>,
    oracle: &Oracle<K>,
    rng: &mut Rng,
    (len, near, bound): (u64, bool, f64),
) -> Result<bool, Fault> {
    let least_expected: f64 = effort::short_or_long(100.0, 400.0);
    // A filter that promises no false positive at all is held to it on many queries.
    let wanted = if bound == 0.0 { 100_000.0 } else { (least_expected / bound).ceil() };
    if wanted > MOST_QUERIES {
        return Ok(false);
    }
    let (mut queries, mut positives, mut misses) = (0.0, 0.0, 0.0);
    while queries < wanted {
        let near = near.then(|| &oracle.keys()[rng.index(oracle.len())]);
        let drawn = K::draw_query(rng, near, len);
        let range = drawn.as_ref().and_then(|(lo, hi)| closed::<K>(lo, hi));
        let Some(range) = range.filter(|range| !oracle.holds_any(*range)) else {
            misses += 1.0;
            // Hardly any query of this kind is empty among these keys, or lengths mean nothing in this space.
            if misses > 10_000.0 + 20.0 * queries {
                return Ok(false);
            }
            continue;
        };
        queries += 1.0;
        positives += f64::from(u8::from(filter.may_contain_range(range)));
    }
    let expected = bound * queries;
    let most = expected + 3.3 * expected.sqrt();
    let kind = if near { "next to keys" } else { "anywhere" };
    if positives <= most {
        return Ok(true);
    }
    Err(Fault::new(format!(
        "{positives} false positives in {queries} ranges of {len} {kind}; the bound {bound} allows {most:.0}"
    )))
}
