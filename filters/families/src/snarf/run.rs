//! A block of exact keys: the smallest as it is, the others Rice-coded after it.

use lacuna_succinct::bytes::{BitWriter, PADDING_BYTES};
use lacuna_succinct::rice::RiceList;

/// Ascending keys, at least one, that are coded anew for each change.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    smallest: u64,
    /// The distances of the keys from the one after the smallest on.
    list: RiceList,
    code: Box<[u8]>,
}

impl Run {
    /// Codes ascending distinct `keys`, at least one.
    pub(crate) fn of(keys: &[u64]) -> Self {
        let (smallest, largest) = (keys[0], keys[keys.len() - 1]);
        let behind = keys.len() as u64 - 1;
        let list = RiceList::new(behind, RiceList::low_bits_for(behind, largest - smallest));
        let mut code = Vec::new();
        let mut writer = BitWriter::new(&mut code);
        list.encode(keys[1..].iter().map(|key| key - smallest), &mut writer);
        writer.finish();
        code.extend_from_slice(&[0; PADDING_BYTES]);
        Self { smallest, list, code: code.into_boxed_slice() }
    }

    /// The smallest key.
    pub(crate) fn smallest(&self) -> u64 {
        self.smallest
    }

    /// All keys, ascending.
    pub(crate) fn keys(&self) -> impl Iterator<Item = u64> {
        let behind = self.list.iter(&self.code, 0).map(|distance| self.smallest + distance);
        std::iter::once(self.smallest).chain(behind)
    }

    /// Whether a key lies in `lo..=hi`, where `lo` is above the smallest.
    pub(crate) fn any_behind(&self, lo: u64, hi: u64) -> bool {
        self.list.any_in(&self.code, 0, lo - self.smallest, hi - self.smallest)
    }

    /// Bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.code.len()
    }
}
