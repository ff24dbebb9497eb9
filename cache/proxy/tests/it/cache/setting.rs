//! A server with a table, and a proxy that caches it.

use lacuna_proxy::{CacheCounts, CacheSettings, Options, Proxy};
use lacuna_testkit::servers::Postgres;
use tokio::runtime::Runtime;

use crate::raw::{Raw, Received, V3_0, startup};
use crate::world::{eventually, psql};

/// A table of 100 rows: `id` and `customer` count from 1, and `note` is `n` with the number.
pub(crate) const TABLE: &str = "CREATE TABLE orders (id INT PRIMARY KEY, customer BIGINT, note TEXT, is_paid BOOL, \
    mark UUID, day DATE, price NUMERIC(10, 2)); \
    INSERT INTO orders SELECT n, n, 'n' || n, n % 2 = 0, lpad(n::text, 32, '0')::uuid, '2026-01-01'::date + n, n / 4.0 \
    FROM generate_series(1, 100) AS n; \
    CREATE ROLE reader LOGIN; CREATE ROLE other LOGIN; GRANT SELECT ON orders TO reader, other";

pub(crate) struct Setting {
    pub(crate) postgres: Postgres,
    pub(crate) proxy: Option<Proxy>,
    pub(crate) runtime: Runtime,
}

pub(crate) fn settings(postgres: &Postgres, columns: &str) -> CacheSettings {
    CacheSettings::new(postgres.url(), columns.parse().unwrap()).with_writers(["postgres".to_owned()])
}

pub(crate) fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// A server that has run `sql`; `None` if PostgreSQL is not installed and need not be.
pub(crate) fn server(sql: &str) -> Option<Postgres> {
    server_with(sql, &[])
}

/// The same with these settings of the server.
pub(crate) fn server_with(sql: &str, options: &[&str]) -> Option<Postgres> {
    let postgres = Postgres::start_with(options)?;
    eventually("the server takes sessions", || psql(&postgres.url(), &["-c", "SELECT 1"]).is_success);
    psql(&postgres.url(), &["-c", sql]).expect_success();
    Some(postgres)
}

pub(crate) fn start(
    runtime: &Runtime,
    postgres: &Postgres,
    settings: CacheSettings,
) -> lacuna_proxy::Result<Proxy> {
    let upstream = postgres.url().parse().unwrap();
    runtime.block_on(Options::new(upstream).with_cache(settings).start())
}

impl Setting {
    /// [`TABLE`], of which `customer` is registered.
    pub(crate) fn start() -> Option<Self> {
        Self::with(|settings| settings)
    }

    pub(crate) fn with(change: impl FnOnce(CacheSettings) -> CacheSettings) -> Option<Self> {
        Self::of(TABLE, "public.orders.customer", change)
    }

    pub(crate) fn of(
        sql: &str,
        columns: &str,
        change: impl FnOnce(CacheSettings) -> CacheSettings,
    ) -> Option<Self> {
        let postgres = server(sql)?;
        let runtime = runtime();
        let proxy = start(&runtime, &postgres, change(settings(&postgres, columns))).unwrap();
        let setting = Self { postgres, proxy: Some(proxy), runtime };
        setting.opens();
        Some(setting)
    }

    pub(crate) fn proxy(&self) -> &Proxy {
        self.proxy.as_ref().expect("it was not stopped")
    }

    pub(crate) fn counts(&self) -> CacheCounts {
        self.proxy().cache_counts().unwrap()
    }

    /// Waits until results are shown, but for what a statement holds that is on its way.
    pub(crate) fn opens(&self) {
        let is_held = |why: String| why.contains("has not ended for");
        eventually("the cache is open", || self.counts().closed.is_none_or(is_held));
    }

    /// Waits until nothing is shown because of this.
    pub(crate) fn closes(&self, why: &str) {
        eventually(why, || self.counts().closed.is_some_and(|closed| closed.contains(why)));
    }

    /// A session of `postgres` through the proxy.
    pub(crate) fn session(&self) -> Raw {
        Raw::login(self.proxy().address().port()).0
    }

    /// A session of another user, with these parameters besides.
    pub(crate) fn session_of(&self, user: &str, parameters: &[(&str, &str)]) -> Raw {
        login(self.proxy().address().port(), user, parameters)
    }

    /// A session past the proxy that may write nothing.
    pub(crate) fn direct(&self) -> Raw {
        login(self.server_port(), "reader", &[])
    }

    pub(crate) fn server_port(&self) -> u16 {
        self.postgres.url().rsplit([':', '/']).nth(1).unwrap().parse().unwrap()
    }

    /// Runs SQL as `postgres` through the proxy.
    pub(crate) fn run(&self, sql: &str) {
        run(&mut self.session(), sql);
    }

    /// What happens to the hits and misses of `step`.
    pub(crate) fn counted(&self, step: impl FnOnce()) -> (u64, u64) {
        let before = self.counts();
        step();
        let after = self.counts();
        (after.hits - before.hits, after.misses - before.misses)
    }
}

pub(crate) fn login(port: u16, user: &str, parameters: &[(&str, &str)]) -> Raw {
    let mut raw = Raw::connect(port);
    raw.send(&startup(V3_0, &[&[("user", user), ("database", "postgres")], parameters].concat()));
    let greeting = raw.until_ready();
    assert_eq!(greeting.last().unwrap().0, b'Z', "{greeting:?}");
    raw
}

pub(crate) fn run(raw: &mut Raw, sql: &str) -> Vec<Received> {
    raw.send(&crate::raw::query(sql));
    let answer = raw.until_ready();
    assert!(answer.iter().all(|(tag, _)| *tag != b'E'), "{sql}: {answer:?}");
    answer
}

/// The first value of the first row, as text.
pub(crate) fn value(answer: &[Received]) -> Option<String> {
    let (_, row) = answer.iter().find(|(tag, _)| *tag == b'D')?;
    let length = usize::try_from(u32::from_be_bytes(row[2..6].try_into().unwrap())).unwrap();
    Some(String::from_utf8(row[6..6 + length].to_vec()).unwrap())
}

/// The first value of what `sql` returns.
pub(crate) fn ask(raw: &mut Raw, sql: &str) -> Option<String> {
    value(&run(raw, sql))
}
