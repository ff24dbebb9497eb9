//! A second table with the toy in it: one line registers it, two run it through the whole conformance suite.

use lacuna_base::{Budget, BuildPlan, KindId, SortedKeys};
use lacuna_testkit::{CountingAllocator, conformance};

use super::ToySpec;
use crate::grafite::GrafiteSpec;
use crate::spec_text::SpecText;
use crate::table::{self, FamilyTable as _, families};

/// The suite counts what queries allocate.
#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

families! {
    /// The toy, beside a family of this crate.
    Toys {
        GrafiteSpec,
        ToySpec,
    }
}

/// What the crate has for its own table, for this one.
mod toys {
    use lacuna_base::{DynFilter, DynSpec, Envelope, Result};

    use super::{SpecText, Toys, table};
    use crate::family::FamilyKey;
    use crate::frame::FilterBytes;
    use crate::open::IntoBox;

    pub(super) fn spec<K: FamilyKey + ?Sized>(text: &str) -> Result<Box<dyn DynSpec<K>>> {
        table::spec::<Toys, K>(SpecText::parse(text)?)
    }

    pub(super) fn open<K: FamilyKey + ?Sized, B: FilterBytes>(bytes: B) -> Result<Box<DynFilter<K>>> {
        let (envelope, _) = Envelope::open(bytes.as_ref())?;
        table::visit::<Toys, K, _, _>(envelope, bytes, IntoBox)
    }

    pub(super) fn open_verified<K: FamilyKey + ?Sized, B: FilterBytes>(
        bytes: B,
    ) -> Result<Box<DynFilter<K>>> {
        let (envelope, _) = Envelope::open_verified(bytes.as_ref())?;
        table::visit::<Toys, K, _, _>(envelope, bytes, IntoBox)
    }
}

conformance!(
    toy_u64,
    u64,
    "toy",
    using = crate::toy::tests::toys,
    forced = ["toy:stretches=0", "toy:stretches=3"],
    ignores_seed = true
);
conformance!(toy_bytes, [u8], "toy", using = crate::toy::tests::toys, ignores_seed = true);

#[test]
fn a_line_in_a_table_registers_a_family() {
    let listed: Vec<_> = Toys::ALL.iter().map(|family| (family.kind.name(), family.example)).collect();
    assert_eq!(listed[1], ("toy", "toy:stretches=4"));
    assert_eq!(table::family::<Toys>(KindId(0x7FFF)).expect("in the table").kind.name(), "toy");
    let unknown = toys::spec::<u64>("toi").expect_err("there is none");
    assert!(unknown.to_string().contains("auto, grafite, toy"), "{unknown}");
    assert!(crate::spec::<u64>("toy").is_err(), "the crate's own table has no toys");
}

#[test]
fn a_registered_family_is_predicted() {
    let keys: Vec<u64> = (0..100).map(|key| key * 1_000).collect();
    let plan = BuildPlan::<u64>::new(Budget::bits_per_key(8.0).expect("in range"));
    let keys = SortedKeys::integers(&keys).expect("ascending");
    let text = SpecText::parse("toy").expect("well formed");
    let predicted = table::predict::<Toys, u64>(text, keys, &plan).expect("fits");
    let sealed = toys::spec::<u64>("toy").expect("known").build(keys, &plan).expect("fits");
    assert_eq!(predicted.payload_bytes, sealed.payload().len());
}
