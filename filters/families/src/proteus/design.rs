//! A design of Proteus, and its predicted rate and size.

use super::cpfpr::KeyCounts;
use super::prefix_key::PrefixKeys;

/// A design of Proteus: the prefixes it stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Design {
    /// Bits of the prefixes in the trie; 0 without one.
    pub(crate) trie_bits: u32,
    /// Bits of the prefixes in the Bloom filter; 0 without one.
    pub(crate) bloom_bits: u32,
    /// Most prefixes a query asks of the Bloom filter.
    pub(crate) probes: u32,
}

/// A design with the model's prediction for the sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DesignRate {
    /// Bits of the prefixes in the trie; 0 without one.
    pub trie_bits: u32,
    /// Bits of the prefixes in the Bloom filter; 0 without one.
    pub bloom_bits: u32,
    /// Share of the sample's empty queries that will be "maybe".
    pub rate: f64,
    /// Prefixes that an empty query asks of the Bloom filter, on average.
    pub prefixes: f64,
    /// Bytes that the trie and the Bloom filter take.
    pub body_bytes: usize,
}

/// The prediction for a filter before it is built.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProteusPrediction {
    /// The design and its predicted rate.
    pub design: DesignRate,
    /// Payload bits for each key.
    pub bits_per_key: f64,
    /// Empty queries of the sample; without any, the design is the stated assumption, and its rate is not a number.
    pub sampled: u64,
}

/// The length of the Bloom filter's prefixes where nothing is known of queries: prefixes of 32 integers, or of a byte
/// more than distinguishes 99 strings of 100.
pub(super) fn usual_bloom_bits(keys: &(impl PrefixKeys + ?Sized), counts: &KeyCounts) -> u32 {
    let longest = keys.longest_bits();
    if longest == u64::BITS {
        return u64::BITS - 5;
    }
    let apart = (1..longest).find(|&bits| counts.lone(bits) * 100 >= keys.len() as u64 * 99);
    apart.map_or(longest, |bits| (bits + 8).min(longest))
}
