//! Specs and builders: a small value with parameters, and a thing that takes ascending keys.

use std::fmt::Debug;

use crate::columns::{KeyColumn, SortedKeys};
use crate::error::{Error, Result};
use crate::key::KeySpace;
use crate::plan::BuildPlan;
use crate::sealed::Sealed;
use crate::secret_use::SecretUse;

/// A family with its parameters: says what to build and starts a builder.
pub trait FilterSpec<K: KeySpace + ?Sized>: Debug + Send + Sync {
    /// The builder it starts.
    type Builder: FilterBuilder<K>;

    /// The spec as text, such as `grafite` or `prefix_bloom:bits=44`; the registry reads it back.
    fn name(&self) -> String;

    /// What it does with the plan's secret.
    fn secret_use(&self) -> SecretUse {
        SecretUse::Unused
    }

    /// A builder without keys.
    ///
    /// # Errors
    /// `InvalidInput` if the parameters and the plan do not go together, such as `ribbon:secret` and a plan without a secret.
    fn builder(&self, plan: &BuildPlan<K>) -> Result<Self::Builder>;

    /// Builds from keys that already stand side by side; same bytes as adding them one by one.
    ///
    /// # Errors
    /// As [`builder`](Self::builder), [`FilterBuilder::add`] and [`FilterBuilder::finish`].
    fn build(&self, keys: SortedKeys<'_, K>, plan: &BuildPlan<K>) -> Result<Sealed> {
        let mut builder = self.builder(plan)?;
        for key in keys.iter() {
            builder.add(key)?;
        }
        builder.finish()
    }
}

/// Takes keys in ascending order and seals them.
pub trait FilterBuilder<K: KeySpace + ?Sized>: Send {
    /// Adds the next key; one equal to its predecessor is taken once.
    ///
    /// # Errors
    /// `InvalidInput` if the key is below the one before it.
    fn add(&mut self, key: K::Ref<'_>) -> Result<()>;

    /// Builds the filter.
    ///
    /// # Errors
    /// `BudgetTooSmall` with the smallest budget that works.
    fn finish(self) -> Result<Sealed>;
}

/// A family that needs all keys at once; [`CollectingBuilder`] turns it into a [`FilterBuilder`].
pub trait BuildFromKeys<K: KeySpace + ?Sized>: Debug + Clone + Send + Sync {
    /// The spec as text, see [`FilterSpec::name`].
    fn spec_name(&self) -> String;

    /// What it does with the plan's secret, see [`FilterSpec::secret_use`].
    fn secret_use(&self) -> SecretUse {
        SecretUse::Unused
    }

    /// Builds the filter over `keys`.
    ///
    /// # Errors
    /// `BudgetTooSmall` with the smallest budget that works, `InvalidInput` if the plan and the spec do not go together.
    fn build_from(&self, keys: SortedKeys<'_, K>, plan: &BuildPlan<K>) -> Result<Sealed>;
}

/// Collects ascending keys, dropping repeats, until [`finish`](FilterBuilder::finish).
///
/// Memory: the keys themselves, 8 bytes each for integers, their bytes and 8 more for byte strings.
#[derive(Debug)]
pub struct CollectingBuilder<K: KeySpace + ?Sized, S> {
    spec: S,
    plan: BuildPlan<K>,
    keys: K::OwnedColumn,
}

impl<K: KeySpace + ?Sized, S: BuildFromKeys<K>> FilterBuilder<K> for CollectingBuilder<K, S> {
    fn add(&mut self, key: K::Ref<'_>) -> Result<()> {
        let column = K::column(&self.keys);
        if let Some(last) = column.key_count().checked_sub(1) {
            let (last, next) = (column.key(last), K::shorten(key));
            if next == last {
                return Ok(());
            }
            if next < last {
                return Err(Error::invalid_input(format!(
                    "key {next:?} came after {last:?}; add keys in ascending order"
                )));
            }
        }
        K::push(&mut self.keys, key);
        Ok(())
    }

    fn finish(self) -> Result<Sealed> {
        let keys = SortedKeys::try_new(K::column(&self.keys)).expect("`add` kept the order");
        self.spec.build_from(keys, &self.plan)
    }
}

impl<K: KeySpace + ?Sized, S: BuildFromKeys<K>> FilterSpec<K> for S {
    type Builder = CollectingBuilder<K, S>;

    fn name(&self) -> String {
        self.spec_name()
    }

    fn secret_use(&self) -> SecretUse {
        BuildFromKeys::secret_use(self)
    }

    fn builder(&self, plan: &BuildPlan<K>) -> Result<Self::Builder> {
        let secret_use = BuildFromKeys::secret_use(self);
        secret_use.check::<K>(&self.spec_name(), plan.secret().is_some(), "with the plan")?;
        Ok(CollectingBuilder { spec: self.clone(), plan: plan.clone(), keys: K::OwnedColumn::default() })
    }

    fn build(&self, keys: SortedKeys<'_, K>, plan: &BuildPlan<K>) -> Result<Sealed> {
        self.build_from(keys, plan)
    }
}
