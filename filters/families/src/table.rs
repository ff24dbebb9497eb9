//! A table of families: a list of specs, and work that is done for one of them.

use lacuna_base::{
    BuildPlan, DynSpec, Envelope, Error, KeyStatistics, KindId, Prediction, Result, SortedKeys,
};

use crate::costs::ProbeCosts;
use crate::family::{FamilyKey, FilterFamily, FilterVisitor, OpenFrame};
use crate::frame::FilterBytes;
use crate::kind::Kind;
use crate::spec_text::SpecText;

/// The facts that a person needs to name a family in a spec.
#[derive(Debug, Clone, Copy)]
pub struct Family {
    /// The family.
    pub kind: Kind,
    /// A description in one sentence.
    pub about: &'static str,
    /// A spec that names it with everything that can be set.
    pub example: &'static str,
    pub(crate) costs: ProbeCosts,
    pub(crate) sees_strings_as_integers: bool,
}

impl Family {
    pub(crate) const fn of<F: FilterFamily>() -> Self {
        Self {
            kind: F::KIND,
            about: F::ABOUT,
            example: F::EXAMPLE,
            costs: F::COSTS,
            sees_strings_as_integers:
                <F::OverStrings<&'static [u8]> as OpenFrame<&'static [u8]>>::SEES_INTEGERS,
        }
    }
}

/// A list of families, as [`families!`] writes it.
pub(crate) trait FamilyTable {
    /// Its families, in the order of the list.
    const ALL: &'static [Family];

    /// Does `work` for the first family that `is_meant`; `None` if none is.
    fn find<W: FamilyWork>(is_meant: impl Fn(Kind) -> bool, work: W) -> Option<W::Output>;
}

/// Work that is the same for each family.
pub(crate) trait FamilyWork {
    /// The result.
    type Output;
    /// Does it for the family of `F`.
    fn run<F: FilterFamily>(self) -> Self::Output;
}

/// Declares a [`FamilyTable`]: its name, then a spec a line. After `with texts` each spec gets `FromStr` and `Display`, too.
macro_rules! families {
    (with texts $(#[$about:meta])* $table:ident { $($(#[$attribute:meta])* $spec:ty,)* }) => {
        $crate::table::families! { $(#[$about])* $table { $($(#[$attribute])* $spec,)* } }

        $(
            $(#[$attribute])*
            impl std::str::FromStr for $spec {
                type Err = lacuna_base::Error;

                fn from_str(text: &str) -> lacuna_base::Result<Self> {
                    $crate::table::read(text)
                }
            }

            $(#[$attribute])*
            impl std::fmt::Display for $spec {
                fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str(&lacuna_base::BuildFromKeys::<u64>::spec_name(self))
                }
            }
        )*
    };
    ($(#[$about:meta])* $table:ident { $($(#[$attribute:meta])* $spec:ty,)* }) => {
        $(#[$about])*
        pub(crate) struct $table;

        impl $crate::table::FamilyTable for $table {
            const ALL: &'static [$crate::table::Family] =
                &[$($(#[$attribute])* $crate::table::Family::of::<$spec>()),*];

            #[inline]
            fn find<W: $crate::table::FamilyWork>(
                is_meant: impl Fn($crate::kind::Kind) -> bool,
                work: W,
            ) -> Option<W::Output> {
                $($(#[$attribute])* if is_meant(<$spec as $crate::family::FilterFamily>::KIND) {
                    return Some(work.run::<$spec>());
                })*
                None
            }
        }
    };
}
pub(crate) use families;

/// The spec of the family `F` that `text` names.
pub(crate) fn read<F: FilterFamily>(text: &str) -> Result<F> {
    let mut text = SpecText::parse(text)?;
    if text.family() != F::KIND.name() {
        let (given, name) = (text.family(), F::KIND.name());
        return Err(Error::invalid_input(format!("`{given}` is not a spec of {name}; begin with `{name}`")));
    }
    let spec = F::from_text(&mut text)?;
    text.finish().map(|()| spec)
}

/// The family of `table` with this number.
pub(crate) fn family<T: FamilyTable>(id: KindId) -> Result<Family> {
    let mut families = T::ALL.iter();
    families.find(|family| family.kind.id() == id).copied().ok_or_else(|| unknown_number(id))
}

/// Opens the family that the envelope names, and hands the filter to `visitor`.
#[inline]
pub(crate) fn visit<T: FamilyTable, K: FamilyKey + ?Sized, B: FilterBytes, V: FilterVisitor<K>>(
    envelope: Envelope,
    bytes: B,
    visitor: V,
) -> Result<V::Output> {
    let work = Visit { envelope, bytes, visitor, keys: std::marker::PhantomData::<fn(&K)> };
    T::find(|kind| kind.id() == envelope.kind, work).unwrap_or_else(|| Err(unknown_number(envelope.kind)))
}

struct Visit<K: ?Sized, B, V> {
    envelope: Envelope,
    bytes: B,
    visitor: V,
    keys: std::marker::PhantomData<fn(&K)>,
}

impl<K: FamilyKey + ?Sized, B: FilterBytes, V: FilterVisitor<K>> FamilyWork for Visit<K, B, V> {
    type Output = Result<V::Output>;
    fn run<F: FilterFamily>(self) -> Self::Output {
        K::visit_family::<F, B, V>(self.envelope, self.bytes, self.visitor)
    }
}

/// The spec that `text` names.
pub(crate) fn spec<T: FamilyTable, K: FamilyKey + ?Sized>(
    mut text: SpecText<'_>,
) -> Result<Box<dyn DynSpec<K>>> {
    let family = text.family();
    let work = ReadSpec { text: &mut text, keys: std::marker::PhantomData::<fn(&K)> };
    let spec = find_named::<T, _, _>(family, work)?;
    text.finish().map(|()| spec)
}

struct ReadSpec<'a, 'b, K: ?Sized> {
    text: &'a mut SpecText<'b>,
    keys: std::marker::PhantomData<fn(&K)>,
}

impl<K: FamilyKey + ?Sized> FamilyWork for ReadSpec<'_, '_, K> {
    type Output = Result<Box<dyn DynSpec<K>>>;
    fn run<F: FilterFamily>(self) -> Self::Output {
        F::from_text(self.text).map(K::erase)
    }
}

/// The prediction for the filter that `text` names.
pub(crate) fn predict<T: FamilyTable, K: FamilyKey + ?Sized>(
    mut text: SpecText<'_>,
    keys: SortedKeys<'_, K>,
    plan: &BuildPlan<K>,
) -> Result<Prediction> {
    let family = text.family();
    let work = Predict { text: &mut text, known: KeyStatistics::new(keys, plan) };
    find_named::<T, _, _>(family, work)
}

struct Predict<'a, 'b, 'c, K: FamilyKey + ?Sized> {
    text: &'a mut SpecText<'b>,
    known: KeyStatistics<'c, K>,
}

impl<K: FamilyKey + ?Sized> FamilyWork for Predict<'_, '_, '_, K> {
    type Output = Result<Prediction>;
    fn run<F: FilterFamily>(self) -> Self::Output {
        K::predict(&F::from_text(self.text)?, &self.known)
    }
}

/// Does `work` for the family called `name`.
fn find_named<T: FamilyTable, R, W: FamilyWork<Output = Result<R>>>(name: &str, work: W) -> Result<R> {
    T::find(|kind| kind.name() == name, work).unwrap_or_else(|| Err(unknown_name::<T>(name)))
}

fn unknown_number(id: KindId) -> Error {
    Error::unsupported(format!("filter family {} is not known to this version; update it", id.0))
}

fn unknown_name<T: FamilyTable>(family: &str) -> Error {
    let known: Vec<&str> = T::ALL.iter().map(|family| family.kind.name()).collect();
    Error::invalid_input(format!(
        "there is no filter family `{family}`; choose one of auto, {}",
        known.join(", ")
    ))
}
