//! Asking the toy family.

use lacuna_base::{Envelope, Result};
use lacuna_succinct::arch::Isa;

use super::codec::{Header, VERSION};
use crate::integer::{IntegerBody, asks_in_groups};

/// A toy filter; its bytes are in its header.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Toy {
    header: Header,
    smallest: u64,
}

impl IntegerBody for Toy {
    const VERSION: u16 = VERSION;
    type Probe = bool;

    fn open(body: &[u8], envelope: &Envelope) -> Result<Self> {
        Ok(Self { header: Header::decode(body)?, smallest: envelope.smallest })
    }

    fn prefetch(&self, _body: &[u8], _lo: u64, _hi: u64) {}

    fn prepare<I: Isa>(&self, _isa: I, _body: &[u8], lo: u64, hi: u64) -> bool {
        let stretch = |key: u64| self.header.stretch(key.saturating_sub(self.smallest));
        let touched = (u64::MAX << stretch(lo)) & (u64::MAX >> (u64::BITS - 1 - stretch(hi)));
        self.header.occupied & touched != 0
    }

    fn finish<I: Isa>(&self, _isa: I, _body: &[u8], probe: bool) -> bool {
        probe
    }

    asks_in_groups!();
}
