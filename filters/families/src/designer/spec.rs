//! Parameters of the designer.

use std::str::FromStr;

use lacuna_base::{BuildFromKeys, BuildPlan, Error, Result, Sealed, SecretUse, SortedKeys};

use super::candidates::DesignKey;
use super::design::Design;
use super::search::DesignRules;
use crate::costs::{CostModel, DEFAULT_PRICE_NS};
use crate::spec_text::{SpecText, spec_text_with_flags};

/// The name of the designer in a spec.
const NAME: &str = "auto";
/// The flag for the family of this name, in a build with baselines.
const TWO_PREFIXES: &str = "two_prefix_bloom";

/// The family and parameters that cost least for the keys and the plan's sample.
///
/// As text: `auto`; `auto:price=NS` with the nanoseconds that one needless read costs; `auto:robust` for families whose
/// rate holds for any queries chosen without the seed, or without the plan's secret if it has one, over integers; with the feature `baselines`, `auto:two_prefix_bloom` to model that
/// family too. What is sealed is a filter of the chosen family.
///
/// ```
/// use lacuna_base::{Budget, BuildPlan, FilterSpec, Sample, SortedKeys};
/// use lacuna_families::AutoSpec;
/// use std::sync::Arc;
///
/// let keys: Vec<u64> = (0..10_000u64).map(|i| i * i * 1_000_003).collect();
/// let mut far = Sample::<u64>::new();
/// keys.windows(2).skip(100).for_each(|pair| far.push(pair[0].midpoint(pair[1]), pair[0].midpoint(pair[1]) + 99));
/// let plan = BuildPlan::new(Budget::bits_per_key(10.0)?).with_sample(Arc::new(far)).with_seed(42);
///
/// let design = AutoSpec::new().design(SortedKeys::integers(&keys)?, &plan)?;
/// assert!(design.candidates()[0].prediction.rate < 0.01, "such queries stay away from keys: {design}");
/// println!("{design}");
/// let sealed = design.build()?;
/// assert_eq!(sealed, AutoSpec::new().build(SortedKeys::integers(&keys)?, &plan)?);
/// assert!(lacuna_families::open::<u64, _>(sealed)?.may_contain(keys[7]));
/// # Ok::<(), lacuna_base::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AutoSpec {
    price_ns: Option<u32>,
    is_robust: bool,
    with_two_prefixes: bool,
}

impl AutoSpec {
    /// Any family; a needless read costs 20,000 ns, about a block from a fast local disk.
    pub fn new() -> Self {
        Self::default()
    }

    /// Only families whose rate holds for any queries chosen without the seed. With a plan that has a
    /// [secret](BuildPlan::with_secret), they hash under it: the rate holds for any queries chosen without the secret.
    pub fn robust() -> Self {
        Self { is_robust: true, ..Self::default() }
    }

    /// Sets what one needless read costs, in nanoseconds: some thousands from a cache of blocks, millions from an object
    /// store.
    #[must_use]
    pub fn with_price_ns(mut self, price_ns: u32) -> Self {
        self.price_ns = Some(price_ns);
        self
    }

    /// Lets two prefix Bloom filters take part, whose model takes longer than those of all other families together; as
    /// text `auto:two_prefix_bloom`.
    #[cfg(feature = "baselines")]
    #[must_use]
    pub fn with_two_prefixes(mut self) -> Self {
        self.with_two_prefixes = true;
        self
    }

    pub(crate) fn is_named(text: &SpecText<'_>) -> bool {
        text.family() == NAME
    }

    pub(crate) fn from_text(spec: &mut SpecText<'_>) -> Result<Self> {
        Ok(Self {
            price_ns: spec.take("price", 0, u32::MAX)?,
            is_robust: spec.take_flag("robust"),
            with_two_prefixes: cfg!(feature = "baselines") && spec.take_flag(TWO_PREFIXES),
        })
    }

    fn text(self) -> String {
        let flags = [("robust", self.is_robust), (TWO_PREFIXES, self.with_two_prefixes)];
        let given: Vec<&str> =
            flags.into_iter().filter(|(_, is_given)| *is_given).map(|(flag, _)| flag).collect();
        spec_text_with_flags(NAME, &given, &[("price", self.price_ns)])
    }

    fn secret_use(self) -> SecretUse {
        if self.is_robust { SecretUse::Optional } else { SecretUse::Unused }
    }

    /// Nanoseconds that one needless read costs.
    pub fn price_ns(self) -> u32 {
        self.price_ns.unwrap_or(DEFAULT_PRICE_NS)
    }

    /// Chooses without building. Over byte strings too.
    ///
    /// # Errors
    /// `BudgetTooSmall` if no admitted family fits; `InvalidInput` for a robust choice under a secret over byte strings.
    pub fn design<'a, K: DesignKey + ?Sized>(
        self,
        keys: SortedKeys<'a, K>,
        plan: &'a BuildPlan<K>,
    ) -> Result<Design<'a, K>> {
        Design::choose(keys, plan, self.rules(plan)?)
    }

    fn rules<K: DesignKey + ?Sized>(self, plan: &BuildPlan<K>) -> Result<DesignRules> {
        let has_secret = plan.secret().is_some();
        self.secret_use().check::<K>(&self.text(), has_secret, "with the plan")?;
        Ok(DesignRules {
            model: CostModel { key_space: K::ID, price_ns: f64::from(self.price_ns()) },
            is_robust: self.is_robust,
            is_keyed: self.is_robust && has_secret,
            is_of_before: false,
            #[cfg(feature = "baselines")]
            with_two_prefixes: self.with_two_prefixes,
        })
    }
}

/// What `auto` would choose without Ribbon, and without the gaps that Bucketing leaves out, as before there were any.
///
/// # Errors
/// As [`AutoSpec::design`].
pub fn design_of_before<'a, K: DesignKey + ?Sized>(
    auto: AutoSpec,
    keys: SortedKeys<'a, K>,
    plan: &'a BuildPlan<K>,
) -> Result<Design<'a, K>> {
    Design::choose(keys, plan, DesignRules { is_of_before: true, ..auto.rules(plan)? })
}

impl FromStr for AutoSpec {
    type Err = Error;

    /// Reads `auto` with its parameters.
    fn from_str(text: &str) -> Result<Self> {
        let mut parsed = SpecText::parse(text)?;
        if !Self::is_named(&parsed) {
            return Err(Error::invalid_input(format!("`{text}` is not `{NAME}`")));
        }
        let auto = Self::from_text(&mut parsed)?;
        parsed.finish().map(|()| auto)
    }
}

impl<K: DesignKey + ?Sized> BuildFromKeys<K> for AutoSpec {
    fn spec_name(&self) -> String {
        self.text()
    }
    fn secret_use(&self) -> SecretUse {
        Self::secret_use(*self)
    }
    fn build_from(&self, keys: SortedKeys<'_, K>, plan: &BuildPlan<K>) -> Result<Sealed> {
        self.design(keys, plan)?.build()
    }
}
