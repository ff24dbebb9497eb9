//! A MariaDB server with a proxy before it.

use lacuna_proxy::{Options, Proxy};
use lacuna_testkit::servers::MariaDb;
use tokio::runtime::Runtime;

use super::raw::{ERROR, Raw};
use crate::world::eventually;

/// A table of 100 rows: `id` and `customer` count from 1, and `note` is `n` with the number.
pub(super) const ORDERS: [&str; 2] = [
    "CREATE TABLE orders (id INT PRIMARY KEY, customer BIGINT, note VARCHAR(40))",
    "INSERT INTO orders SELECT seq, seq, CONCAT('n', seq) FROM seq_1_to_100",
];

/// The server, the proxy, and the threads that run the proxy.
pub(super) struct World {
    pub(super) mariadb: MariaDb,
    pub(super) proxy: Option<Proxy>,
    pub(super) runtime: Runtime,
}

impl World {
    /// With the proxy's defaults; `None` if MariaDB is not installed and need not be.
    pub(super) fn start() -> Option<Self> {
        Self::with(|options| options)
    }

    pub(super) fn with(change: impl FnOnce(Options) -> Options) -> Option<Self> {
        let mariadb = MariaDb::start()?;
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let options = Options::new(mariadb.url().parse().unwrap());
        let proxy = runtime.block_on(change(options).start()).unwrap();
        let world = Self { mariadb, proxy: Some(proxy), runtime };
        world.wait_for_server();
        // A session in the thread of another one numbers its statements from where that one ended.
        world.admin(&["SET GLOBAL thread_cache_size = 0"]);
        Some(world)
    }

    /// A server listens before it takes sessions.
    pub(super) fn wait_for_server(&self) {
        let port = self.mariadb.port();
        eventually("the server takes sessions", || Raw::try_login(port, Raw::OLD).is_some());
    }

    pub(super) fn proxy(&self) -> &Proxy {
        self.proxy.as_ref().expect("it was not stopped")
    }

    /// Where the proxy is.
    pub(super) fn port(&self) -> u16 {
        self.proxy().address().port()
    }

    pub(super) fn url(&self) -> String {
        format!("mysql://root@127.0.0.1:{}/test", self.port())
    }

    /// Runs statements at the server, past the proxy; the messages of the last answer.
    pub(super) fn admin(&self, statements: &[&str]) -> Vec<Vec<u8>> {
        let mut raw = Raw::login(self.mariadb.port(), Raw::OLD);
        let mut answer = Vec::new();
        for statement in statements {
            answer = raw.query(statement).into_iter().map(|(_, body)| body).collect();
            assert!(answer.iter().all(|body: &Vec<u8>| body[0] != ERROR), "{statement}: {answer:?}");
        }
        answer
    }
}
