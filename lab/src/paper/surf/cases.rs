//! What is asked about which keys: five sets, points and ranges, keys chosen evenly or by Zipf's law.

use std::rc::Rc;

use lacuna_base::{ByteColumn, Error, Result};
use lacuna_workload::{Keys, QuerySource, Workload, real_sets};

use crate::paper::Session;

/// Integers of the paper.
const PAPER_INTEGERS: usize = 100_000_000;
/// 256 times fewer: the same trie, one byte higher up.
const OWN_INTEGERS: usize = 390_625;
/// Queries of each case; the paper has ten million.
const OWN_QUERIES: usize = 100_000;
/// The paper's ranges run from K + 2^37 to K + 2^38.
const PAPER_DISTANCE_BITS: u32 = 37;

/// A set of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Set {
    /// Uniform 63-bit integers, as YCSB's: the paper's rates are for these.
    YcsbIntegers,
    /// Uniform 64-bit integers.
    Integers,
    /// A public set of strings, by its name.
    Strings(&'static str),
}

/// All sets in the order of the panels.
pub(super) const SETS: [Set; 6] = [
    Set::YcsbIntegers,
    Set::Integers,
    Set::Strings(HOSTS),
    Set::Strings("repo_paths"),
    Set::Strings("nab_series_points"),
    Set::Strings("wordnet_lemmas"),
];

/// Names of hosts; their labels are reversed, so that they sort as the paper's e-mail addresses do.
const HOSTS: &str = "gov_hosts";

impl Set {
    /// The name in titles.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::YcsbIntegers => "63-bit integers",
            Self::Integers => "64-bit integers",
            Self::Strings(name) => name,
        }
    }
}

/// The kind of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ask {
    /// A key.
    Points,
    /// The paper's ranges, scaled as the set is.
    Ranges,
    /// Over integers: the paper's ranges as printed.
    PrintedRanges,
}

impl Ask {
    /// The word in titles.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Points => "points",
            Self::Ranges => "ranges",
            Self::PrintedRanges => "ranges, 2^37 as printed",
        }
    }
}

/// How the keys that queries are made from are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    /// All equally often.
    Uniform,
    /// The k-th in proportion to 1/k.
    Zipfian,
}

/// One panel's worth of questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Case {
    pub(super) set: Set,
    pub(super) ask: Ask,
    pub(super) choice: Choice,
}

impl Case {
    /// The title of a panel.
    pub(super) fn title(self) -> String {
        format!("{}, {}", self.set.name(), self.ask.name())
    }

    /// Draws the keys and the queries.
    ///
    /// # Errors
    /// As reading the set and drawing.
    pub(super) fn workload(self, session: &mut Session<'_>) -> Result<Workload> {
        let keys = keys(self.set, session)?;
        let count = session.query_count_or(OWN_QUERIES);
        // Zipf's law is over all the keys, so the pool has as many queries as there are keys.
        let pool = if self.choice == Choice::Zipfian { keys.len() } else { count };
        let source = match (self.set, self.ask) {
            (_, Ask::Points) => format!("half:points:{pool}:any"),
            (Set::Strings(_), _) => format!("half:lastbyte:{pool}:any"),
            (Set::YcsbIntegers | Set::Integers, ask) => {
                let scaled = if ask == Ask::Ranges { scale_bits(keys.len()) } else { 0 };
                let bits = PAPER_DISTANCE_BITS + scaled;
                format!("half:shift:{pool}:2^{bits}-2^{}:any", bits + 1)
            }
        };
        let mut workload = QuerySource::parse(&source)?.workload((*keys).clone(), session.seed())?;
        if self.choice == Choice::Zipfian {
            workload.queries = workload.queries.repeated_by_zipf(count, session.seed());
        }
        Ok(workload)
    }
}

/// The power of two that the paper's integers outnumber `key_count` by, to the nearest.
pub(super) fn scale_bits(key_count: usize) -> u32 {
    let ratio = (PAPER_INTEGERS / key_count.max(1)).max(1);
    // Up from three quarters of the next power.
    ratio.ilog2() + u32::from(2 * ratio >= 3 << ratio.ilog2())
}

/// The distances that ranges over the integers of this run have, for the page.
pub(super) fn distances(session: &Session<'_>) -> String {
    let count = session.key_count_or(OWN_INTEGERS, PAPER_INTEGERS);
    let bits = PAPER_DISTANCE_BITS + scale_bits(count);
    format!(
        "{count} integers, half of them in the filters: a factor of {:.0} below the paper; ranges are [K + 2^{bits}, K + \
         2^{}].",
        PAPER_INTEGERS as f64 / count as f64,
        bits + 1
    )
}

/// The keys of `set`, loaded once.
fn keys(set: Set, session: &mut Session<'_>) -> Result<Rc<Keys>> {
    session.once(format!("surf keys {}", set.name()), |session| match set {
        Set::YcsbIntegers | Set::Integers => {
            let count = session.key_count_or(OWN_INTEGERS, PAPER_INTEGERS);
            let spare_bits = u32::from(set == Set::YcsbIntegers);
            let keys = session.keys(&format!("uniform:{count}"))?;
            Ok(Keys::from_u64s(keys.iter().map(|key| key >> spare_bits).collect()))
        }
        Set::Strings(name) => {
            session.say(format!("keys {name}"));
            let set = real_sets().into_iter().find(|set| set.name() == name);
            let keys =
                set.ok_or_else(|| Error::invalid_input(format!("there is no set `{name}`")))?.load()?;
            Ok(if name == HOSTS { reversed_hosts(&keys) } else { keys })
        }
    })
}

/// `www.nasa.gov` becomes `gov.nasa.www`.
fn reversed_hosts(keys: &Keys) -> Keys {
    let Keys::Bytes(hosts) = keys else { return keys.clone() };
    let reversed = |host: &[u8]| host.rsplit(|byte| *byte == b'.').collect::<Vec<_>>().join(&b'.');
    let mut hosts: Vec<Vec<u8>> = hosts.iter().map(reversed).collect();
    hosts.sort_unstable();
    hosts.dedup();
    Keys::Bytes(hosts.iter().collect::<ByteColumn>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_follow_the_number_of_keys() {
        assert_eq!(scale_bits(OWN_INTEGERS), 8);
        assert_eq!(scale_bits(PAPER_INTEGERS), 0);
        assert_eq!(scale_bits(50_000_000), 1);
        assert_eq!(scale_bits(0), scale_bits(1));
    }

    #[test]
    fn hosts_sort_from_their_domain() {
        let hosts: ByteColumn = ["a.z.gov", "b.a.gov", "z.gov"].iter().collect();
        let Keys::Bytes(hosts) = reversed_hosts(&Keys::Bytes(hosts)) else { panic!("bytes stay bytes") };
        assert!(hosts.iter().eq([&b"gov.a.b"[..], b"gov.z", b"gov.z.a"]));
    }
}
