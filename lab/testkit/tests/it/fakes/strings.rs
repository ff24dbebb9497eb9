//! The coarsest filter over byte strings there is: "maybe" unless the set is empty.
#![expect(clippy::extra_unused_type_parameters, reason = "families name the key space here, fakes have one")]

use lacuna_base::{
    BuildFromKeys, BuildPlan, ByteRange, DynFilter, DynSpec, Envelope, Error, KeySpaceId, KindId,
    RangeFilter, Result, Sealed, SortedKeys,
};

const KIND: KindId = KindId(0x8FFF);

pub(crate) fn spec<K: ?Sized>(text: &str) -> Result<Box<dyn DynSpec<[u8]>>> {
    if text == "coarse" { Ok(Box::new(Coarse)) } else { Err(Error::invalid_input("only `coarse`")) }
}

pub(crate) fn open<K: ?Sized, B: AsRef<[u8]>>(bytes: B) -> Result<Box<DynFilter<[u8]>>> {
    let (envelope, payload) = Envelope::open(bytes.as_ref())?;
    if (envelope.kind, envelope.payload_version, envelope.key_space) != (KIND, 1, KeySpaceId::Bytes) {
        return Err(Error::unsupported("newer, or another filter"));
    }
    if !payload.is_empty() {
        return Err(Error::corrupt("a payload where none belongs"));
    }
    Ok(Box::new(CoarseFilter { key_count: envelope.key_count, size: bytes.as_ref().len() }))
}

pub(crate) fn open_verified<K: ?Sized, B: AsRef<[u8]>>(bytes: B) -> Result<Box<DynFilter<[u8]>>> {
    open::<K, B>(bytes)
}

#[derive(Debug, Clone)]
struct Coarse;

impl BuildFromKeys<[u8]> for Coarse {
    fn spec_name(&self) -> String {
        "coarse".to_owned()
    }

    fn build_from(&self, keys: SortedKeys<'_, [u8]>, plan: &BuildPlan<[u8]>) -> Result<Sealed> {
        let envelope = Envelope {
            kind: KIND,
            payload_version: 1,
            key_space: KeySpaceId::Bytes,
            codec: plan.codec(),
            key_type: plan.key_type(),
            key_count: keys.len() as u64,
            smallest: 0,
            largest: 0,
        };
        Ok(Sealed::assemble(&envelope, &[]))
    }
}

#[derive(Debug)]
struct CoarseFilter {
    key_count: u64,
    size: usize,
}

impl RangeFilter<[u8]> for CoarseFilter {
    fn may_contain_range(&self, _range: ByteRange<'_>) -> bool {
        self.key_count > 0
    }

    fn key_count(&self) -> u64 {
        self.key_count
    }

    fn size_in_bytes(&self) -> usize {
        self.size
    }

    fn memory_bytes(&self) -> usize {
        self.size + size_of::<Self>()
    }
}
