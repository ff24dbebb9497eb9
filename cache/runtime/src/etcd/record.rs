//! The values of keys, as texts that a person can read. See [`docs/format/range-cache-etcd.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/range-cache-etcd.md).
//!
//! Words separated by blanks; the first is the version: `1 4096 2 0 free` is a range whose last claim began at
//! epoch 4096, on cache server 2, and that was released.

use std::fmt::{self, Write as _};
use std::str::FromStr;

use lacuna_cache_protocol::{Cut, DomainId, Epoch, RangeId, RangeKey, RangeLoad, Recut};
use lacuna_cache_protocol::{Error, Result};

const VERSION: &str = "1";

/// A process that owns ranges; a random number, chosen when it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Holder(pub u64);

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The record of a range that remains without an owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RangeRecord {
    /// The first epoch of the last claim.
    pub(crate) epoch: Epoch,
    pub(crate) cache: usize,
    /// How long after the release routes to another cache server may still be used.
    pub(crate) routes_ms: u64,
    /// Whether the last owner had nothing left to apply.
    pub(crate) is_free: bool,
}

/// The owner of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owned {
    /// The process.
    pub holder: Holder,
    /// The epoch it was granted.
    pub epoch: Epoch,
    /// The cache server of the range, by its index in the list.
    pub cache: usize,
}

pub(crate) const TABLE: &str = "table";
pub(crate) const WISH: &str = "wish";

pub(crate) fn range_key(range: RangeId) -> String {
    format!("range/{}", range.0)
}

pub(crate) fn owner_key(range: RangeId) -> String {
    format!("owner/{}", range.0)
}

pub(crate) fn load_key(range: RangeId) -> String {
    format!("load/{}", range.0)
}

pub(crate) fn member_key(holder: Holder) -> String {
    format!("member/{holder}")
}

impl RangeRecord {
    pub(crate) fn write(&self) -> String {
        let state = if self.is_free { "free" } else { "taken" };
        format!("{VERSION} {} {} {} {state}", self.epoch.0, self.cache, self.routes_ms)
    }

    pub(crate) fn read(value: &[u8]) -> Result<Self> {
        let mut words = Words::of(value)?;
        let (epoch, cache, routes_ms) = (Epoch(words.number()?), words.number()?, words.number()?);
        let is_free = words.next()? == "free";
        Ok(Self { epoch, cache, routes_ms, is_free })
    }
}

impl Owned {
    pub(crate) fn write(&self) -> String {
        format!("{VERSION} {} {} {}", self.holder, self.epoch.0, self.cache)
    }

    pub(crate) fn read(value: &[u8]) -> Result<Self> {
        let mut words = Words::of(value)?;
        let holder = read_holder(words.next()?)?;
        Ok(Self { holder, epoch: Epoch(words.number()?), cache: words.number()? })
    }
}

pub(crate) fn read_holder(text: &str) -> Result<Holder> {
    u64::from_str_radix(text, 16).map(Holder).map_err(|_| malformed())
}

pub(crate) fn write_address(address: &str) -> String {
    format!("{VERSION} {address}")
}

pub(crate) fn read_address(value: &[u8]) -> Result<String> {
    Words::of(value)?.next().map(str::to_owned)
}

pub(crate) fn write_load(load: &RangeLoad) -> String {
    let middle = load.middle.as_ref();
    let cut = middle.map_or_else(|| "-".to_owned(), |(domain, cut)| write_cut(*domain, cut));
    format!("{VERSION} {} {cut}", load.requests)
}

pub(crate) fn read_load(value: &[u8]) -> Result<RangeLoad> {
    let mut words = Words::of(value)?;
    let requests = words.number()?;
    Ok(RangeLoad { requests, middle: words.cut()? })
}

pub(crate) fn write_wish(wish: &Recut) -> String {
    match wish {
        Recut::Split(range, domain, cut) => {
            format!("{VERSION} split {} {}", range.0, write_cut(*domain, cut))
        }
        Recut::Merge(lower, upper) => format!("{VERSION} merge {} {}", lower.0, upper.0),
    }
}

pub(crate) fn read_wish(value: &[u8]) -> Result<Recut> {
    let mut words = Words::of(value)?;
    match words.next()? {
        "split" => {
            let range = RangeId(words.number()?);
            let (domain, cut) = words.cut()?.ok_or_else(malformed)?;
            Ok(Recut::Split(range, domain, cut))
        }
        "merge" => Ok(Recut::Merge(RangeId(words.number()?), RangeId(words.number()?))),
        _ => Err(malformed()),
    }
}

/// `0<6162`: in domain 0, before the key with these bytes; `>` is after it.
fn write_cut(domain: DomainId, cut: &Cut<RangeKey>) -> String {
    let sign = if matches!(cut, Cut::After(_)) { '>' } else { '<' };
    let mut text = format!("{domain}{sign}");
    for byte in cut.value().map_or(&[][..], RangeKey::as_bytes) {
        write!(text, "{byte:02x}").expect("a text takes every byte");
    }
    text
}

fn read_cut(text: &str) -> Option<(DomainId, Cut<RangeKey>)> {
    let at = text.find(['<', '>'])?;
    let (domain, hex) = (text[..at].parse().ok()?, &text.as_bytes()[at + 1..]);
    if !hex.len().is_multiple_of(2) {
        return None;
    }
    let pairs = hex.chunks(2).map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok());
    let key = RangeKey::from_bytes(&pairs.collect::<Option<Vec<u8>>>()?);
    let is_behind = text.as_bytes()[at] == b'>';
    Some((domain, if is_behind { Cut::After(key) } else { Cut::Before(key) }))
}

struct Words<'a>(std::str::Split<'a, char>);

impl<'a> Words<'a> {
    fn of(value: &'a [u8]) -> Result<Self> {
        let mut words = Self(str::from_utf8(value).map_err(|_| malformed())?.split(' '));
        match words.next()? {
            VERSION => Ok(words),
            _ => Err(Error::unsupported("a key in etcd was written by a newer version")),
        }
    }

    fn next(&mut self) -> Result<&'a str> {
        self.0.next().ok_or_else(malformed)
    }

    fn number<T: FromStr>(&mut self) -> Result<T> {
        self.next()?.parse().map_err(|_| malformed())
    }

    fn cut(&mut self) -> Result<Option<(DomainId, Cut<RangeKey>)>> {
        match self.next()? {
            "-" => Ok(None),
            text => read_cut(text).map(Some).ok_or_else(malformed),
        }
    }
}

fn malformed() -> Error {
    Error::corrupt(
        "a key in etcd has a value that no dendrite writes: is the namespace shared with another program?",
    )
}

#[cfg(test)]
mod tests {
    use lacuna_cache_protocol::ErrorKind;

    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let record = RangeRecord { epoch: Epoch(4_096), cache: 2, routes_ms: 0, is_free: true };
        assert_eq!(record.write(), "1 4096 2 0 free");
        assert_eq!(RangeRecord::read(b"1 4096 2 0 free").unwrap(), record);
        let owned = Owned { holder: Holder(255), epoch: Epoch(4_096), cache: 2 };
        assert_eq!(owned.write(), "1 00000000000000ff 4096 2");
        assert_eq!(Owned::read(owned.write().as_bytes()).unwrap(), owned);
        assert_eq!(read_address(write_address("a:1").as_bytes()).unwrap(), "a:1");
        let cut = Cut::After(RangeKey::from_bytes(b"ab"));
        let load = RangeLoad { requests: 7, middle: Some((3, cut.clone())) };
        assert_eq!(write_load(&load), "1 7 3>6162");
        assert_eq!(read_load(b"1 7 3>6162").unwrap(), load);
        assert_eq!(read_load(b"1 7 -").unwrap().middle, None);
        for wish in [Recut::Split(RangeId(4), 3, cut), Recut::Merge(RangeId(1), RangeId(2))] {
            assert_eq!(read_wish(write_wish(&wish).as_bytes()).unwrap(), wish);
        }
    }

    #[test]
    fn what_nobody_writes_is_refused() {
        for value in [&b""[..], b"2 4096 2 0 free", b"1 -5 2 0 free", b"1 4096", b"1 \xff"] {
            let kind = RangeRecord::read(value).unwrap_err().kind();
            assert!(matches!(kind, ErrorKind::Corrupt | ErrorKind::Unsupported), "{value:?}");
        }
        for value in [&b"1 split 1"[..], b"1 split 1 -", b"1 split 1 0<6", b"1 split 1 0<zz", b"1 join 1 2"] {
            assert!(read_wish(value).is_err(), "{value:?}");
        }
    }
}
