//! The family under test: how its specs are read, its filters built and its bytes opened.

use std::fmt;
use std::num::NonZeroUsize;

use lacuna_base::{
    Budget, BuildPlan, DynFilter, DynSpec, Error, ErrorKind, KeySpace, Result, Sealed, SortedKeys,
};

use crate::{Fault, OffsetBytes};

/// Reads the text of a spec.
pub type ReadSpec<K> = fn(&str) -> Result<Box<dyn DynSpec<K>>>;
/// Opens sealed bytes.
pub type Open<K> = fn(OffsetBytes) -> Result<Box<DynFilter<K>>>;

/// A family over one key space, as [`conformance!`](crate::conformance) hands it to every check.
pub struct Subject<K: KeySpace + ?Sized> {
    text: &'static str,
    read_spec: ReadSpec<K>,
    open: Open<K>,
    open_verified: Open<K>,
    module: &'static str,
    forced: Vec<&'static str>,
    paths: Vec<&'static str>,
    ignores_seed: bool,
    chooses: bool,
}

impl<K: KeySpace + ?Sized> Subject<K> {
    /// The family that `text` names, with the functions that read its specs and open its bytes.
    pub fn new(text: &'static str, read_spec: ReadSpec<K>, open: Open<K>, open_verified: Open<K>) -> Self {
        let (module, forced, paths) = ("", Vec::new(), Vec::new());
        Self {
            text,
            read_spec,
            open,
            open_verified,
            module,
            forced,
            paths,
            ignores_seed: false,
            chooses: false,
        }
    }

    /// Names the test module the facts stand in, as `module_path!()` gives it: one fact runs itself again.
    #[must_use]
    pub fn in_module(mut self, module: &'static str) -> Self {
        self.module = module;
        self
    }

    /// Adds specs whose geometry makes rare paths common; they are proved on every small set too.
    #[must_use]
    pub fn forced(mut self, texts: impl IntoIterator<Item = &'static str>) -> Self {
        self.forced.extend(texts);
        self
    }

    /// Names the rare paths ([`lacuna_base::testing::cross`]) that the small sets must walk.
    #[must_use]
    pub fn paths(mut self, names: impl IntoIterator<Item = &'static str>) -> Self {
        self.paths.extend(names);
        self
    }

    /// Says that the family has no hash, so that every seed must give the same bytes.
    #[must_use]
    pub fn ignores_seed(mut self, ignores_seed: bool) -> Self {
        self.ignores_seed = ignores_seed;
        self
    }

    /// Says that the spec chooses among families that are proved by themselves: a short run asks it about a smaller share of all small
    /// sets.
    #[must_use]
    pub fn chooses(mut self, chooses: bool) -> Self {
        self.chooses = chooses;
        self
    }

    /// The spec's text.
    pub(crate) fn text(&self) -> &'static str {
        self.text
    }

    /// The plain spec's text, then the forced ones.
    pub(crate) fn all_texts(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.text).chain(self.forced.iter().copied())
    }

    /// The rare paths that must be walked.
    pub(crate) fn path_names(&self) -> &[&'static str] {
        &self.paths
    }

    /// Whether every seed must give the same bytes.
    pub(crate) fn seed_is_ignored(&self) -> bool {
        self.ignores_seed
    }

    /// Whether a short run takes a smaller share of the small sets than of other families.
    pub(crate) fn is_proved_in_parts(&self) -> bool {
        self.chooses
    }

    /// The test module without its crate, as the test binary's command line takes it.
    pub(crate) fn module(&self) -> &'static str {
        self.module.split_once("::").map_or(self.module, |(_, module)| module)
    }

    /// Reads a spec.
    ///
    /// # Errors
    /// A fault if the family refuses the text.
    pub(crate) fn spec(&self, text: &str) -> Result<Box<dyn DynSpec<K>>, Fault> {
        (self.read_spec)(text).map_err(|error| Fault::new(format!("spec `{text}` was refused: {error}")))
    }

    /// Opens bytes in O(1).
    ///
    /// # Errors
    /// The family's own.
    pub(crate) fn try_open(&self, bytes: OffsetBytes) -> Result<Box<DynFilter<K>>> {
        (self.open)(bytes)
    }

    /// Opens bytes and checks the payload too.
    ///
    /// # Errors
    /// The family's own.
    pub(crate) fn try_open_verified(&self, bytes: OffsetBytes) -> Result<Box<DynFilter<K>>> {
        (self.open_verified)(bytes)
    }

    /// Opens a filter just sealed.
    ///
    /// # Errors
    /// A fault if it does not open.
    pub(crate) fn open(&self, sealed: Sealed) -> Result<Box<DynFilter<K>>, Fault> {
        self.try_open(sealed.into())
            .map_err(|error| Fault::new(format!("{}: its own bytes do not open: {error}", self.text)))
    }

    /// Builds and seals the plain spec.
    ///
    /// # Errors
    /// As [`seal_or_coarsen`].
    pub(crate) fn seal(
        &self,
        keys: SortedKeys<'_, K>,
        bits_per_key: f64,
        seed: u64,
    ) -> Result<Sealed, Fault> {
        seal_or_coarsen(&*self.spec(self.text)?, keys, bits_per_key, seed)
    }

    /// Builds the plain spec and opens it.
    ///
    /// # Errors
    /// As [`seal`](Self::seal) and [`open`](Self::open).
    pub(crate) fn filter(
        &self,
        keys: SortedKeys<'_, K>,
        bits_per_key: f64,
        seed: u64,
    ) -> Result<Box<DynFilter<K>>, Fault> {
        self.open(self.seal(keys, bits_per_key, seed)?)
    }
}

impl<K: KeySpace + ?Sized> Clone for Subject<K> {
    fn clone(&self) -> Self {
        Self { forced: self.forced.clone(), paths: self.paths.clone(), ..*self }
    }
}

impl<K: KeySpace + ?Sized> fmt::Debug for Subject<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subject")
            .field("text", &self.text)
            .field("forced", &self.forced)
            .finish_non_exhaustive()
    }
}

/// Builds; where the budget is too small, builds with the budget that the error names.
///
/// # Errors
/// A fault for any other error, and where the named budget does not work either.
pub fn seal_or_coarsen<K: KeySpace + ?Sized>(
    spec: &dyn DynSpec<K>,
    keys: SortedKeys<'_, K>,
    bits_per_key: f64,
    seed: u64,
) -> Result<Sealed, Fault> {
    seal_by_threads(spec, keys, (bits_per_key, seed), NonZeroUsize::MIN)
}

/// As [`seal_or_coarsen`], by several threads.
///
/// # Errors
/// As there.
pub(crate) fn seal_by_threads<K: KeySpace + ?Sized>(
    spec: &dyn DynSpec<K>,
    keys: SortedKeys<'_, K>,
    (bits_per_key, seed): (f64, u64),
    threads: NonZeroUsize,
) -> Result<Sealed, Fault> {
    let build = |bits| spec.build(keys, &plan(bits)?.with_seed(seed).with_threads(threads));
    build(bits_per_key).or_else(|error| match error.kind() {
        ErrorKind::BudgetTooSmall { smallest_bits_per_key } => build(smallest_bits_per_key)
            .map_err(|again| refusal(spec, bits_per_key, seed, &error).within(again)),
        _ => Err(refusal(spec, bits_per_key, seed, &error)),
    })
}

fn refusal<K: KeySpace + ?Sized>(spec: &dyn DynSpec<K>, bits: f64, seed: u64, error: &Error) -> Fault {
    Fault::new(format!("{} with {bits} bits per key, seed {seed}, was not built: {error}", spec.name()))
}

/// A plan of this number of bits per key.
pub(crate) fn plan<K: KeySpace + ?Sized>(bits_per_key: f64) -> Result<BuildPlan<K>> {
    Ok(BuildPlan::new(Budget::bits_per_key(bits_per_key)?))
}
