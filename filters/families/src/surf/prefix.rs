//! Prefixes: one walk down, without the detour over the range of all strings after them.

use lacuna_base::{PrefixFilter, RangeFilter};
use lacuna_succinct::arch::{Isa, Kernel, dispatch};

use super::codec::Body;
use super::filter::Surf;
use super::key::StringKey;
use crate::frame::FilterBytes;

/// A prefix: whether any path starts with it, or ends on the way to it.
struct AskPrefix<'a> {
    body: &'a Body,
    bytes: &'a [u8],
    prefix: StringKey<'a>,
}

impl Kernel for AskPrefix<'_> {
    type Output = bool;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> bool {
        self.body.any_with_prefix(isa, self.bytes, &self.prefix)
    }
}

impl<B: FilterBytes> PrefixFilter for Surf<[u8], B> {
    fn may_contain_prefix(&self, prefix: &[u8]) -> bool {
        let shared = self.frame.prefix();
        match (&self.body, prefix.strip_prefix(shared)) {
            _ if self.key_count() == 0 => false,
            (Some(body), Some(tail)) => {
                dispatch(AskPrefix { body, bytes: self.trie_bytes(), prefix: StringKey(tail) })
            }
            // All keys start with the shared prefix.
            (_, None) => shared.starts_with(prefix),
            (None, Some(_)) => true,
        }
    }
}
