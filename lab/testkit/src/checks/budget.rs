//! The budget is kept to the byte, and the error for a budget that is too small names one that works.

use lacuna_base::{Budget, BuildPlan, Error, ErrorKind, Sealed};

use crate::subject::plan;
use crate::verdict::{ensure, without_panic};
use crate::{Fault, Oracle, Subject, TestSpace, Verdict, effort};

/// Budgets asked for, in bits per key.
const BUDGETS: [f64; 11] = [1.0, 2.0, 4.0, 6.5, 8.0, 10.0, 14.0, 18.3, 22.0, 64.0, 128.0];
/// Numbers of keys asked for.
const KEY_COUNTS: [usize; 8] = [0, 1, 2, 3, 10, 100, 1_000, 20_000];
/// Random streams of the checks below.
const STREAM: u64 = 0x500;

/// Hands every key set of this module to `check`, under every spec and budget.
fn over_budgets<K: TestSpace + ?Sized>(
    subject: &Subject<K>,
    check: impl Fn(&str, &Oracle<K>, f64) -> Verdict,
) -> Verdict {
    let mut rng = effort::rng(STREAM);
    for count in KEY_COUNTS {
        let uniform = Oracle::<K>::new(crate::space::uniform_keys::<K>(&mut rng, count));
        let dense = Oracle::<K>::new((0..count as u64).map(|step| K::number((1 << 40) + step)).collect());
        for (oracle, bits) in
            [&uniform, &dense].into_iter().flat_map(|oracle| BUDGETS.map(|bits| (oracle, bits)))
        {
            for text in subject.all_texts() {
                let place = format!("{text} over {count} keys at {bits} bits per key");
                without_panic(&place, || check(text, oracle, bits))
                    .flatten()
                    .map_err(|fault| fault.within(place))?;
            }
        }
    }
    for (name, keys) in K::nasty_sets() {
        let oracle = Oracle::<K>::new(keys);
        BUDGETS
            .iter()
            .try_for_each(|bits| check(subject.text(), &oracle, *bits).map_err(|fault| fault.within(name)))?;
    }
    Ok(())
}

fn build<K: TestSpace + ?Sized>(
    subject: &Subject<K>,
    text: &str,
    oracle: &Oracle<K>,
    bits: f64,
) -> Result<Result<Sealed, Error>, Fault> {
    let plan: BuildPlan<K> = plan(bits).map_err(|error| Fault::new(error.to_string()))?;
    Ok(subject.spec(text)?.build(oracle.sorted(), &plan))
}

/// No payload is larger than `ceil(bits_per_key * keys / 8) + 64` bytes.
///
/// # Errors
/// A fault with the sizes, or for any refusal but `BudgetTooSmall`.
pub fn payloads_keep_their_budget<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    over_budgets(subject, |text, oracle, bits| match build(subject, text, oracle, bits)? {
        Ok(sealed) => fits(&sealed, oracle.len(), bits),
        Err(error) if matches!(error.kind(), ErrorKind::BudgetTooSmall { .. }) => Ok(()),
        Err(error) => Err(Fault::new(format!("it was not built: {error}"))),
    })
}

fn fits(sealed: &Sealed, keys: usize, bits: f64) -> Verdict {
    let max = Budget::bits_per_key(bits).expect("the budget was built with").payload_bytes(keys);
    let payload = sealed.payload().len();
    ensure(payload <= max, || format!("the payload over {keys} keys has {payload} bytes, the budget {max}"))
}

/// Where the budget is too small, the budget that the error names is larger, at most 128, and works.
///
/// # Errors
/// A fault if it is not so.
pub fn the_smallest_budget_named_works<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    over_budgets(subject, |text, oracle, bits| {
        let Err(error) = build(subject, text, oracle, bits)? else { return Ok(()) };
        let ErrorKind::BudgetTooSmall { smallest_bits_per_key: named } = error.kind() else {
            return Err(Fault::new(format!("it was refused as {:?}: {error}", error.kind())));
        };
        ensure(named > bits, || format!("{bits} bits are too few, but {named} are named as the fewest"))?;
        match build(subject, text, oracle, named)? {
            Ok(sealed) => fits(&sealed, oracle.len(), named),
            Err(again) => Err(Fault::new(format!("{named} bits are named as the fewest, but: {again}"))),
        }
    })
}

/// Impossible budgets (zero, negative, above 128, infinite, not a number) are refused as `InvalidInput`, and
/// the largest there is works.
///
/// # Errors
/// A fault if one is taken.
pub fn impossible_budgets_are_refused<K: TestSpace + ?Sized>(subject: &Subject<K>) -> Verdict {
    let min_above = f64::from_bits(128f64.to_bits() + 1);
    for bits in [0.0, -0.0, -1.0, 129.0, min_above, f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
        let kind = Budget::bits_per_key(bits).map_err(|error| error.kind());
        ensure(kind == Err(ErrorKind::InvalidInput), || {
            format!("a budget of {bits} bits per key: {kind:?}")
        })?;
    }
    let oracle = Oracle::<K>::new((0..1_000).map(K::number).collect());
    let largest = build(subject, subject.text(), &oracle, Budget::MAX_BITS_PER_KEY)?;
    largest.map(drop).map_err(|error| Fault::new(format!("128 bits per key are refused: {error}")))?;
    let _ = build(subject, subject.text(), &oracle, f64::MIN_POSITIVE)?;
    Ok(())
}
