//! Keys and bounds that random work draws.

use std::ops::Bound;

use lacuna_workload::Rng;

/// Where keys come from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Keys {
    /// Eight bytes: a few clusters of integers with small gaps.
    Integers,
    /// One to six bytes at the rims of the alphabet.
    Strings,
}

/// Bounds of a scan.
pub(crate) type Bounds = (Bound<Vec<u8>>, Bound<Vec<u8>>);

impl Keys {
    /// A key that may be put, deleted and merged.
    pub(crate) fn draw(self, rng: &mut Rng) -> Vec<u8> {
        match self {
            Self::Integers => ((rng.below(6) << 40) + rng.below(80) * 7).to_be_bytes().to_vec(),
            Self::Strings => {
                let letters = [0, 1, b'a', b'z', 0xFE, 0xFF];
                (0..=rng.index(6)).map(|_| letters[rng.index(letters.len())]).collect()
            }
        }
    }

    /// A key that is only ever put once before it is single-deleted, as RocksDB demands.
    pub(crate) fn draw_single(self, rng: &mut Rng) -> Vec<u8> {
        let number = rng.below(60) * 5;
        match self {
            Self::Integers => ((7 << 40) + number).to_be_bytes().to_vec(),
            Self::Strings => [b"single", &number.to_be_bytes()[6..]].concat(),
        }
    }

    /// Bounds of all kinds, most of them close together.
    pub(crate) fn draw_bounds(self, rng: &mut Rng) -> Bounds {
        let lo = if rng.below(5) == 0 { self.draw_single(rng) } else { self.draw(rng) };
        let mut hi = match self {
            Self::Integers if rng.below(4) > 0 => {
                let number = u64::from_be_bytes(lo[..].try_into().unwrap());
                (number + rng.below(12)).to_be_bytes().to_vec()
            }
            Self::Strings if rng.below(3) > 0 => [&lo[..], &self.draw(rng)].concat(),
            _ => self.draw(rng),
        };
        if rng.below(10) == 0 {
            hi.push(0);
        }
        (bound(rng, lo), bound(rng, hi))
    }
}

fn bound(rng: &mut Rng, key: Vec<u8>) -> Bound<Vec<u8>> {
    match rng.below(12) {
        0 => Bound::Unbounded,
        1..6 => Bound::Excluded(key),
        _ => Bound::Included(key),
    }
}
