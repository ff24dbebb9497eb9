//! The settings of a dendrite, from the command line.

use std::path::PathBuf;
use std::sync::Arc;

use lacuna_cache::etcd::EtcdOptions;
use lacuna_cache::sql::{Compressed, DomainType, Hashed, Options, Policy, Schema, SqlValue};
use lacuna_cache_protocol::RangeTable;
use lacuna_cache_protocol::ports::{CacheServer, DataStore};
use lacuna_cache_protocol::{Error, Result};

use crate::commands::cache::{EtcdArgs, RedisArgs};
use crate::dendrite::redis::is_encrypted;

/// Maximum digits of a decimal.
const MAX_DIGITS: u8 = 38;

/// The settings of a dendrite.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) listen: String,
    pub(crate) address: Option<String>,
    pub(crate) metrics: Option<String>,
    pub(crate) store: String,
    /// As this dendrite and its clients call it.
    pub(crate) table: String,
    pub(crate) keys: Vec<String>,
    pub(crate) domains: Vec<String>,
    pub(crate) cuts: Vec<String>,
    pub(crate) caches: Vec<String>,
    pub(crate) logs: Vec<String>,
    pub(crate) redis: RedisArgs,
    pub(crate) policy: Policy,
    pub(crate) coordinator: String,
    /// With etcd.
    pub(crate) lease_s: u64,
    pub(crate) etcd: EtcdArgs,
    pub(crate) is_compressed: bool,
    pub(crate) is_hashed: bool,
    pub(crate) verify_hits: u8,
    pub(crate) has_watchdog: bool,
    pub(crate) secret_file: PathBuf,
}

impl Plan {
    /// The database and its cache servers, which keep the entries of this table apart from those of others by its shared name.
    pub(crate) fn options(&self, name: &str) -> Result<Options> {
        if self.store.starts_with("sqlite:") {
            return Err(Error::invalid_input(
                "an SQLite file serves one process; dendrites need --store postgres:// or mysql://",
            ));
        }
        if self.etcd.is_needed() && !self.is_leased_by_etcd() {
            let message = "certificates and users are for etcd: name it as --coordinator etcds://host:port";
            return Err(Error::invalid_input(message));
        }
        if self.coordinator != "store" && !self.is_leased_by_etcd() {
            return Err(Error::invalid_input(format!(
                "{} is not a coordinator: give `store`, or etcd://host:port,host:port (etcds:// if it is encrypted)",
                self.coordinator
            )));
        }
        // Missing files are reported before anything starts.
        self.etcd.added_to(EtcdOptions::new(&self.coordinator, name))?;
        if (self.policy == Policy::WriteBack) == self.logs.is_empty() {
            return Err(Error::invalid_input("--policy back and --log go together"));
        }
        if self.redis.is_needed() && !self.redis_servers().any(|url| is_encrypted(url)) {
            let message = "--redis-authority is for encrypted servers: name them as rediss://host:port";
            return Err(Error::invalid_input(message));
        }
        let mut options =
            Options::new(&self.store).with_policy(self.policy).with_verified_hits(self.verify_hits);
        if self.has_watchdog {
            options = options.with_watchdog();
        }
        let servers =
            self.caches.iter().map(|url| self.cache_server(url, name)).collect::<Result<Vec<_>>>()?;
        if self.is_hashed && servers.len() < 2 {
            return Err(Error::invalid_input(
                "--placement hash needs several cache servers: give --cache more than once",
            ));
        }
        if self.is_hashed {
            options = options.with_cache_server(Arc::new(Hashed::new(servers)?));
        } else {
            options = servers.into_iter().fold(options, Options::with_cache_server);
        }
        for url in &self.logs {
            options = options.with_log_server(Arc::new(self.redis.log(url, name)?));
        }
        Ok(options)
    }

    /// Results of another form need another namespace.
    fn cache_server(&self, url: &str, name: &str) -> Result<Arc<dyn CacheServer>> {
        if self.is_compressed {
            let server = self.redis.cache(url, &format!("{name}+lz4"))?;
            return Ok(Arc::new(Compressed::new(Arc::new(server))));
        }
        Ok(Arc::new(self.redis.cache(url, name)?))
    }

    /// The Redis servers that are reached with TLS, and how.
    pub(crate) fn encrypted_servers(&self) -> impl Iterator<Item = (&RedisArgs, &String)> {
        self.redis_servers().filter(|url| is_encrypted(url)).map(|url| (&self.redis, url))
    }

    fn redis_servers(&self) -> impl Iterator<Item = &String> {
        self.caches.iter().chain(&self.logs)
    }

    /// The number of cache servers that hold results.
    fn places(&self) -> usize {
        if self.is_hashed { 1 } else { self.caches.len() }
    }

    /// Ranges leased through etcd, under the shared name of the table. While etcd does not answer, owners without buffered writes
    /// go on against the store.
    ///
    /// # Errors
    /// `InvalidInput` if a file is missing, or the password of a user.
    pub(crate) fn etcd(
        &self,
        name: &str,
        address: &str,
        cuts: RangeTable,
        store: Arc<dyn DataStore>,
    ) -> Result<EtcdOptions> {
        let options = EtcdOptions::new(&self.coordinator, name).with_address(address).with_range_table(cuts);
        let options = options
            .with_lease_s(self.lease_s)
            .with_cache_servers(self.places())
            .with_fences_of(store)
            .without_foreign_routes();
        let options = self.etcd.added_to(options)?;
        Ok(if self.policy == Policy::WriteBack { options } else { options.with_uncached_fallback() })
    }

    pub(crate) fn is_leased_by_etcd(&self) -> bool {
        ["etcd://", "etcds://"].iter().any(|scheme| self.coordinator.starts_with(scheme))
    }

    /// The table and its domains.
    pub(crate) fn schema(&self) -> Result<Schema> {
        let schema = Schema::with_keys(&self.table, self.keys.iter().map(String::as_str));
        self.domains.iter().try_fold(schema, |schema, domain| {
            let (column, domain_type) = parsed(domain)?;
            Ok(schema.with_domain(column, domain_type))
        })
    }

    /// The ranges of the table, if it has not been cut before.
    pub(crate) fn cut(&self, schema: &Schema) -> Result<RangeTable> {
        let domain = self.domains.first().ok_or_else(|| Error::invalid_input("a domain is needed"))?;
        let (_, domain_type) = parsed(domain)?;
        let values =
            self.cuts.iter().map(|cut| value(domain_type, cut)).collect::<Result<Vec<SqlValue>>>()?;
        schema.cut_before(&values)
    }
}

fn parsed(domain: &str) -> Result<(&str, DomainType)> {
    let (column, name) = domain.rsplit_once(':').unwrap_or((domain, ""));
    let domain_type = match name {
        "integer" => DomainType::Integer,
        "unsigned" => DomainType::Unsigned,
        "float" => DomainType::Float,
        "text" => DomainType::Text,
        "date" => DomainType::Date,
        "timestamp" => DomainType::Timestamp,
        "bool" => DomainType::Bool,
        "uuid" => DomainType::Uuid,
        "bytes" => DomainType::Bytes,
        _ => decimal(name).ok_or_else(|| {
            let types = "integer, unsigned, decimal(DIGITS AFTER THE POINT), float, text, date, timestamp, bool, uuid or bytes";
            Error::invalid_input(format!("{domain} is not a domain: give COLUMN:TYPE with {types}"))
        })?,
    };
    Ok((column, domain_type))
}

/// `decimal(2)` are numbers like 12.50.
fn decimal(name: &str) -> Option<DomainType> {
    let scale = name.strip_prefix("decimal(")?.strip_suffix(')')?.parse::<u8>().ok()?;
    (scale <= MAX_DIGITS).then_some(DomainType::Decimal { scale })
}

fn value(domain: DomainType, text: &str) -> Result<SqlValue> {
    let none = |example: &str| {
        Error::invalid_input(format!(
            "{text} is not a value of the type {domain}, which is written like {example}"
        ))
    };
    Ok(match domain {
        DomainType::Text => text.into(),
        DomainType::Float => text.parse::<f64>().map_err(|_| none("1.5"))?.into(),
        DomainType::Decimal { scale } => decimal_of(text, scale).ok_or_else(|| none(&example(scale)))?,
        DomainType::Date => day(text).ok_or_else(|| none("2024-02-29"))?,
        DomainType::Timestamp => {
            text.parse::<i64>().map_err(|_| none("0, microseconds since 1970 UTC"))?.into()
        }
        DomainType::Integer => text.parse::<i64>().map_err(|_| none("42"))?.into(),
        DomainType::Unsigned => text.parse::<u64>().map_err(|_| none("42"))?.into(),
        DomainType::Bool => text.parse::<bool>().map_err(|_| none("true"))?.into(),
        DomainType::Uuid => SqlValue::uuid(text).map_err(|_| none("550e8400-e29b-41d4-a716-446655440000"))?,
        DomainType::Bytes => hex(text).ok_or_else(|| none("00ff"))?.into(),
    })
}

/// Bytes in hexadecimal digits.
fn hex(text: &str) -> Option<Vec<u8>> {
    let pair = |pair: &[u8]| match pair {
        [a, b] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => {
            u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok()
        }
        _ => None,
    };
    text.as_bytes().chunks(2).map(pair).collect()
}

/// The decimal in `text`, if it has no more digits after the point than the domain.
fn decimal_of(text: &str, max: u8) -> Option<SqlValue> {
    let value = SqlValue::decimal(text).ok()?;
    matches!(value, SqlValue::Decimal { scale, .. } if scale <= max).then_some(value)
}

/// A one, with digits after the point.
fn example(scale: u8) -> String {
    if scale == 0 { "1".to_owned() } else { format!("1.{:0<width$}", 5, width = usize::from(scale)) }
}

/// `2024-02-29`; years before 1 and after 9999 have as many digits as they need.
fn day(text: &str) -> Option<SqlValue> {
    let (before_the_day, day) = text.rsplit_once('-')?;
    let (year, month) = before_the_day.rsplit_once('-')?;
    let is_two_digits = |part: &str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
    if !is_two_digits(month) || !is_two_digits(day) {
        return None;
    }
    SqlValue::date(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?).ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed test panics")]
mod tests {
    use super::*;

    fn said(domain: &str, text: &str) -> Result<SqlValue> {
        parsed(domain).and_then(|(_, domain)| value(domain, text))
    }

    #[test]
    fn values_are_of_the_type_of_their_domain() {
        let right = [
            ("price:decimal(2)", "12.50", SqlValue::decimal("12.50").unwrap()),
            ("price:decimal(2)", "-7", SqlValue::decimal("-7").unwrap()),
            ("price:decimal(0)", "7", SqlValue::decimal("7").unwrap()),
            ("day:date", "2024-02-29", SqlValue::date(2024, 2, 29).unwrap()),
            ("day:date", "-0043-03-15", SqlValue::date(-43, 3, 15).unwrap()),
            ("a:b:integer", "-3", (-3).into()),
            ("at:timestamp", "1714521600000000", 1_714_521_600_000_000_i64.into()),
            ("size:float", "1e3", 1e3.into()),
            ("name:text", "2024-02-30", "2024-02-30".into()),
            ("id:unsigned", "18446744073709551615", u64::MAX.into()),
            ("is_open:bool", "true", true.into()),
            ("id:uuid", "00000000-0000-0000-0000-00000000000a", 10_u128.to_be_bytes().into()),
            ("hash:bytes", "00fF", vec![0, 255].into()),
        ];
        for (domain, text, expected) in right {
            assert_eq!(said(domain, text).unwrap(), expected, "{domain} {text}");
        }
        assert_eq!(parsed("a:b:integer").unwrap().0, "a:b");
    }

    #[test]
    fn other_values_are_refused_with_an_example() {
        let wrong = [
            ("price:decimal(2)", "12.505", "1.50"),
            ("price:decimal(2)", "1e3", "1.50"),
            ("price:decimal(0)", "1.5", "like 1"),
            ("day:date", "2023-02-29", "2024-02-29"),
            ("day:date", "2024-2-9", "2024-02-29"),
            ("day:date", "20240229", "2024-02-29"),
            ("day:date", "2024-02-+9", "2024-02-29"),
            ("id:integer", "1.5", "42"),
            ("id:uuid", "a", "550e8400"),
            ("hash:bytes", "0", "00ff"),
            ("is_open:bool", "1", "true"),
            ("at:timestamp", "2024-02-29", "microseconds"),
        ];
        for (domain, text, example) in wrong {
            let why = said(domain, text).unwrap_err().to_string();
            assert!(why.contains(text) && why.contains(example), "{domain} {text}: {why}");
        }
        for domain in
            ["price:decimal", "price:decimal()", "price:decimal(39)", "price:decimal(-1)", "day", "day:time"]
        {
            let why = parsed(domain).unwrap_err().to_string();
            assert!(why.contains(domain) && why.contains("decimal(DIGITS"), "{why}");
        }
    }
}
