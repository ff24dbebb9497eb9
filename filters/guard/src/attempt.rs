//! The attempts to build one filter: as asked, then with as much as the cap allows, then another family.

use std::sync::Arc;

use lacuna_base::{
    Budget, BuildPlan, CodecId, DynSpec, ErrorKind, KeySpace, Result, Sample, Sealed, SortedKeys,
};

use crate::guard_key::GuardKey;
use crate::hardly::hardly_answers;
use crate::spec::GuardSpec;

/// Room for the rounding of the smallest budget: one part in a million.
const ROUNDING: f64 = 1.000_001;

/// A built filter, and whether it is another than the one asked for.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) sealed: Sealed,
    pub(crate) coarsened: bool,
    /// What is to be said of a filter that hardly answers its queries.
    pub(crate) doubt: Option<String>,
}

/// Builds the family of `spec`, or coarsens. Only a budget that is too small leads to the next attempt; the error of
/// the first attempt is the one reported.
pub(crate) fn attempt<K: GuardKey + ?Sized>(
    family: &str,
    spec: &GuardSpec,
    keys: SortedKeys<'_, K>,
    sample: Arc<Sample<K>>,
    codec: CodecId,
    is_checked: bool,
) -> Result<Attempt> {
    let plan = |budget| {
        let plan = BuildPlan::new(budget).with_sample(Arc::clone(&sample));
        plan.with_seed(spec.seed()).with_codec(codec).with_secret(spec.secret())
    };
    let fallback = spec.fallback().and_then(|family| K::spec(family).ok());
    let families = Families { asked: &*K::spec(family)?, fallback: fallback.as_deref() };
    let attempt = families.attempt(spec, keys, &plan)?;
    let doubt = is_checked.then(|| hardly_answers(&attempt.sealed, keys, plan(spec.budget())));
    Ok(Attempt { doubt: doubt.flatten(), ..attempt })
}

/// The family asked for and the fallback.
struct Families<'a, K: KeySpace + ?Sized> {
    asked: &'a dyn DynSpec<K>,
    fallback: Option<&'a dyn DynSpec<K>>,
}

impl<K: KeySpace + ?Sized> Families<'_, K> {
    fn attempt(
        &self,
        spec: &GuardSpec,
        keys: SortedKeys<'_, K>,
        plan: &dyn Fn(Budget) -> BuildPlan<K>,
    ) -> Result<Attempt> {
        let problem = match self.asked.build(keys, &plan(spec.budget())) {
            Ok(sealed) => return Ok(Attempt { sealed, coarsened: false, doubt: None }),
            Err(problem) => problem,
        };
        let ErrorKind::BudgetTooSmall { smallest_bits_per_key } = problem.kind() else { return Err(problem) };
        let grown = within(spec.cap(), smallest_bits_per_key)
            .and_then(|budget| self.asked.build(keys, &plan(budget)).ok());
        let coarsened = grown.or_else(|| self.fallback?.build(keys, &plan(spec.budget())).ok());
        coarsened.map(|sealed| Attempt { sealed, coarsened: true, doubt: None }).ok_or(problem)
    }
}

/// The smallest budget that works, if the cap allows it.
fn within(cap: Budget, smallest_bits_per_key: f64) -> Option<Budget> {
    let budget = Budget::bits_per_key(smallest_bits_per_key * ROUNDING).ok()?;
    if budget <= cap { Some(budget) } else { None }
}

#[cfg(test)]
mod tests {
    use lacuna_base::{BuildFromKeys, Envelope, Error, KeySpaceId, KindId};

    use super::*;

    /// A family that needs `least` bits per key, or that fails altogether.
    #[derive(Debug, Clone)]
    struct Hungry {
        kind: KindId,
        min: Option<f64>,
    }

    const ASKED: KindId = KindId(0x8001);
    const FALLBACK: KindId = KindId(0x8002);

    impl BuildFromKeys<u64> for Hungry {
        fn spec_name(&self) -> String {
            "hungry".to_owned()
        }
        fn build_from(&self, keys: SortedKeys<'_, u64>, plan: &BuildPlan<u64>) -> Result<Sealed> {
            let min = self.min.ok_or_else(|| Error::corrupt("broken"))?;
            if plan.budget().as_bits_per_key() < min {
                return Err(Error::budget_too_small("hungry", min));
            }
            let envelope = Envelope {
                kind: self.kind,
                payload_version: 1,
                key_space: KeySpaceId::U64,
                codec: plan.codec(),
                key_type: plan.key_type(),
                key_count: keys.len() as u64,
                smallest: 1,
                largest: 3,
            };
            Ok(Sealed::assemble(&envelope, &[]))
        }
    }

    /// Kind of what was built and whether it was coarsened, for families that need this many bits per key.
    fn outcome(asked: Option<f64>, fallback: Option<f64>, spec: &str) -> Result<(KindId, bool)> {
        let asked = Hungry { kind: ASKED, min: asked };
        let fallback = fallback.map(|min| Hungry { kind: FALLBACK, min: Some(min) });
        let fallback = fallback.as_ref().map(|fallback| fallback as &dyn DynSpec<u64>);
        let spec = GuardSpec::parse(spec)?;
        let built = Families { asked: &asked, fallback }.attempt(
            &spec,
            SortedKeys::<u64>::try_new(&[1, 2, 3])?,
            &BuildPlan::new,
        )?;
        Ok((Envelope::open(built.sealed.as_bytes())?.0.kind, built.coarsened))
    }

    #[test]
    fn the_secret_comes_to_the_family_that_asks_for_it() {
        let keys: Vec<u64> = (0..1_000).map(|number| number << 40).collect();
        let built = |spec: &GuardSpec| {
            let keys = SortedKeys::<u64>::try_new(&keys)?;
            let family = spec.family().expect("it is not off");
            attempt::<u64>(family, spec, keys, Arc::new(Sample::new()), CodecId::IDENTITY, false)
        };
        let spec = GuardSpec::parse("ribbon:secret@14 codec=fixed_be:8").unwrap();
        assert_eq!(built(&spec).unwrap_err().kind(), ErrorKind::InvalidInput);
        let [one, other] = [b"sixteen bytes ok", b"sixteen bytes no"]
            .map(|bytes| built(&spec.clone().with_secret(lacuna_base::Secret::new(*bytes))).unwrap().sealed);
        assert_ne!(one, other);
        let robust = GuardSpec::parse("auto:robust@14 codec=fixed_be:8").unwrap();
        let secret = lacuna_base::Secret::new(*b"sixteen bytes ok");
        let [under_a_seed, under_the_secret] =
            [robust.clone(), robust.with_secret(secret)].map(|spec| built(&spec).unwrap().sealed);
        assert_ne!(under_a_seed, under_the_secret);
    }

    #[test]
    fn a_family_that_fits_is_built_as_asked() {
        assert_eq!(outcome(Some(10.0), Some(1.0), "bloom@10").unwrap(), (ASKED, false));
    }

    #[test]
    fn too_small_a_budget_grows_to_the_cap() {
        assert_eq!(outcome(Some(12.0), Some(1.0), "bloom@10 cap=13").unwrap(), (ASKED, true));
    }

    #[test]
    fn above_the_cap_another_family_steps_in() {
        assert_eq!(outcome(Some(14.0), Some(1.0), "bloom@10 cap=13").unwrap(), (FALLBACK, true));
    }

    #[test]
    fn a_budget_that_nothing_fits_is_reported() {
        for fallback in [None, Some(11.0)] {
            let problem = outcome(Some(14.0), fallback, "bloom@10 cap=13").unwrap_err();
            assert_eq!(problem.kind(), ErrorKind::BudgetTooSmall { smallest_bits_per_key: 14.0 });
        }
    }

    #[test]
    fn other_errors_are_not_retried() {
        assert_eq!(outcome(None, Some(1.0), "bloom@10").unwrap_err().kind(), ErrorKind::Corrupt);
    }
}
