//! The erased twins of spec, builder and filter, for edges where the family is chosen at run time.

use std::fmt::Debug;

use crate::build::{FilterBuilder, FilterSpec};
use crate::columns::SortedKeys;
use crate::error::Result;
use crate::filter::RangeFilter;
use crate::key::KeySpace;
use crate::plan::BuildPlan;
use crate::sealed::Sealed;
use crate::secret_use::SecretUse;

/// A filter whose family is known at run time only.
pub type DynFilter<K> = dyn RangeFilter<K>;

/// The erased [`FilterSpec`]; every spec is one.
pub trait DynSpec<K: KeySpace + ?Sized>: Debug + Send + Sync {
    /// See [`FilterSpec::name`].
    fn name(&self) -> String;
    /// See [`FilterSpec::secret_use`].
    fn secret_use(&self) -> SecretUse;
    /// See [`FilterSpec::builder`].
    ///
    /// # Errors
    /// As there.
    fn builder(&self, plan: &BuildPlan<K>) -> Result<Box<dyn DynBuilder<K>>>;
    /// See [`FilterSpec::build`].
    ///
    /// # Errors
    /// As there.
    fn build(&self, keys: SortedKeys<'_, K>, plan: &BuildPlan<K>) -> Result<Sealed>;
}

/// The erased [`FilterBuilder`]; every builder is one.
pub trait DynBuilder<K: KeySpace + ?Sized>: Send {
    /// See [`FilterBuilder::add`].
    ///
    /// # Errors
    /// As there.
    fn add(&mut self, key: K::Ref<'_>) -> Result<()>;
    /// See [`FilterBuilder::finish`].
    ///
    /// # Errors
    /// As there.
    fn finish(self: Box<Self>) -> Result<Sealed>;
}

impl<K, S> DynSpec<K> for S
where
    K: KeySpace + ?Sized,
    S: FilterSpec<K>,
    S::Builder: 'static,
{
    fn name(&self) -> String {
        FilterSpec::name(self)
    }
    fn secret_use(&self) -> SecretUse {
        FilterSpec::secret_use(self)
    }
    fn builder(&self, plan: &BuildPlan<K>) -> Result<Box<dyn DynBuilder<K>>> {
        Ok(Box::new(FilterSpec::builder(self, plan)?))
    }
    fn build(&self, keys: SortedKeys<'_, K>, plan: &BuildPlan<K>) -> Result<Sealed> {
        FilterSpec::build(self, keys, plan)
    }
}

impl<K: KeySpace + ?Sized, B: FilterBuilder<K>> DynBuilder<K> for B {
    fn add(&mut self, key: K::Ref<'_>) -> Result<()> {
        FilterBuilder::add(self, key)
    }
    fn finish(self: Box<Self>) -> Result<Sealed> {
        FilterBuilder::finish(*self)
    }
}
