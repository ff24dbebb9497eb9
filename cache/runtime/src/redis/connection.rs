//! One connection that all callers share, made anew after it broke.
//!
//! A call that was in flight when the connection broke is not sent again: its outcome is unknown.
//!
//! A connection that is made anew may lead to another data set at the same address: a server that was started again from
//! an old dump, or a replica that was promoted and lacks the last writes. So each connection knows which life of which
//! data set it leads to ([`Link::server`]), and the fence names the one that it was set in.

use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use lacuna_cache_protocol::{Error, Result};
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, Cmd, ConnectionAddr, RedisError, Value};
use tokio::sync::Mutex;
use tokio::time::timeout;
use tracing::debug;

#[cfg(feature = "tls")]
use crate::redis::tls::RedisTls;

/// How URLs of servers with TLS begin.
const ENCRYPTED: &str = "rediss://";

#[derive(Debug)]
pub(crate) struct Connection {
    client: Client,
    /// Whether the URL asks for TLS.
    is_encrypted: bool,
    #[cfg(feature = "tls")]
    pub(crate) tls: Option<RedisTls>,
    /// How long the server may take to be connected to, and to answer.
    pub(crate) patience: Duration,
    open: RwLock<Option<Link>>,
    /// Held by the task that connects.
    connecting: Mutex<()>,
}

/// An open connection, which leads to one server as long as it lasts.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    to: MultiplexedConnection,
    /// Identifies the process of the server, and its data set since it last became the master.
    pub(crate) server: ServerId,
}

/// Another one after every start, promotion and change of the master.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ServerId(pub(crate) u64);

impl std::fmt::Display for ServerId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The answer of a server.
pub(crate) enum Answer {
    Value(Value),
    /// Its memory is full.
    Full,
}

impl Connection {
    pub(crate) fn to(url: &str, patience: Duration) -> Result<Self> {
        // The driver parses the URL; connections with TLS are made here.
        let rest = url.strip_prefix(ENCRYPTED);
        let plain = rest.map(|rest| format!("redis://{rest}"));
        let client = Client::open(plain.as_deref().unwrap_or(url));
        let client = client.map_err(|error| Error::invalid_input(error.to_string()))?;
        Ok(Self {
            client,
            is_encrypted: rest.is_some(),
            #[cfg(feature = "tls")]
            tls: None,
            patience,
            open: RwLock::default(),
            connecting: Mutex::default(),
        })
    }

    fn open(&self) -> Option<Link> {
        self.open.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the connection before it.
    fn set_open(&self, link: Option<Link>) -> Option<Link> {
        std::mem::replace(&mut *self.open.write().unwrap_or_else(PoisonError::into_inner), link)
    }

    /// The open connection, or a new one.
    ///
    /// # Errors
    /// `InvalidInput` if the server is given no time, `Unavailable` if it cannot be connected to.
    pub(crate) async fn link(&self) -> Result<Link> {
        if self.patience.as_millis() == 0 {
            let message =
                "a Redis server is given no time to answer: give `with_patience` at least a millisecond";
            return Err(Error::invalid_input(message));
        }
        match self.open() {
            Some(link) => Ok(link),
            None => timeout(self.patience, self.connect()).await.map_err(|_| self.late())?,
        }
    }

    async fn connect(&self) -> Result<Link> {
        let _turn = self.connecting.lock().await;
        if let Some(link) = self.open() {
            return Ok(link);
        }
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(self.patience))
            .set_response_timeout(Some(self.patience));
        let connection = if self.is_encrypted {
            self.connect_encrypted(config).await?
        } else {
            let connected = self.client.get_multiplexed_async_connection_with_config(&config).await;
            connected.map_err(|error| unavailable(&error))?
        };
        let server = identified(connection.clone()).await?;
        debug!(server = %self.address(), "connected to a Redis server");
        let link = Link { to: connection, server };
        drop(self.set_open(Some(link.clone())));
        Ok(link)
    }

    #[cfg(feature = "tls")]
    async fn connect_encrypted(&self, config: AsyncConnectionConfig) -> Result<MultiplexedConnection> {
        let tls = self.tls.as_ref().ok_or_else(|| {
            Error::invalid_input("rediss:// needs the certificate of the authority that signs the server's")
        })?;
        let about = self.client.get_connection_info();
        let stream = tls.connect(about.addr()).await?;
        let connected = MultiplexedConnection::new_with_config(about.redis_settings(), stream, config).await;
        let (connection, driver) = connected.map_err(|error| unavailable(&error))?;
        tokio::spawn(driver);
        Ok(connection)
    }

    #[cfg(not(feature = "tls"))]
    async fn connect_encrypted(&self, _: AsyncConnectionConfig) -> Result<MultiplexedConnection> {
        Err(Error::unsupported("rediss:// needs the feature `tls`"))
    }

    /// Speaks TLS from now on.
    ///
    /// # Errors
    /// `InvalidInput` if the URL does not ask for it.
    #[cfg(feature = "tls")]
    pub(crate) fn encrypt(&mut self, tls: RedisTls) -> Result<()> {
        if !self.is_encrypted {
            return Err(Error::invalid_input(
                "the URL is not encrypted, so certificates are not used: give rediss://HOST:PORT",
            ));
        }
        self.tls = Some(tls);
        Ok(())
    }

    /// Asks the server for a sign of life.
    pub(crate) async fn ping(&self) -> Result<()> {
        let answered = async { self.hit(self.link().await?, &redis::cmd("PING")).await };
        timeout(self.patience, answered).await.map_err(|_| self.late())?.map(drop)
    }

    /// Runs the commands of a hit. A slow server keeps its connection: scripts find out whether it is lost.
    pub(crate) async fn hit(&self, mut link: Link, command: &Cmd) -> Result<Value> {
        let answered = link.to.send_packed_command(command).await.and_then(Value::extract_error);
        answered.map_err(|error| {
            self.give_up_if(is_broken(&error) && !error.is_timeout(), &error);
            unavailable(&error)
        })
    }

    /// Runs `command` on the connection; drops the connection if it broke.
    pub(crate) async fn run<F>(
        &self,
        link: Link,
        command: impl FnOnce(MultiplexedConnection) -> F,
    ) -> Result<Answer>
    where
        F: Future<Output = Result<Value, RedisError>>,
    {
        match command(link.to).await {
            Ok(value) => Ok(Answer::Value(value)),
            Err(error)
                if error.code() == Some("OOM") || error.to_string().contains("OOM command not allowed") =>
            {
                Ok(Answer::Full)
            }
            Err(error) => {
                self.give_up_if(is_broken(&error), &error);
                Err(unavailable(&error))
            }
        }
    }

    fn late(&self) -> Error {
        let also = if self.is_encrypted { ", or does not speak TLS there" } else { "" };
        Error::unavailable(format!("a Redis server did not accept a connection in time{also}"))
    }

    fn give_up_if(&self, is_broken: bool, why: &RedisError) {
        // Other callers find out, too.
        if is_broken && self.set_open(None).is_some() {
            debug!(server = %self.address(), %why, "the connection to a Redis server was given up");
        }
    }

    /// Where the server is, without the user and password of its URL.
    fn address(&self) -> &ConnectionAddr {
        self.client.get_connection_info().addr()
    }
}

/// A master that became a replica is left, too: if it is promoted later, it has the data of another.
fn is_broken(error: &RedisError) -> bool {
    error.is_io_error()
        || error.is_connection_dropped()
        || error.is_timeout()
        || error.kind() == redis::ErrorKind::Server(redis::ServerErrorKind::ReadOnly)
}

/// Asks the server who it is.
async fn identified(mut connection: MultiplexedConnection) -> Result<ServerId> {
    let mut told = String::new();
    for section in ["server", "replication"] {
        let mut info = redis::cmd("INFO");
        info.arg(section);
        let part: String = info.query_async(&mut connection).await.map_err(|error| unavailable(&error))?;
        told.push_str(&part);
        told.push('\n');
    }
    server_id(&told)
}

/// The identity in the words of `INFO`.
fn server_id(told: &str) -> Result<ServerId> {
    let word = |name: &str| told.lines().find_map(|line| line.trim_end().strip_prefix(name));
    if word("role:").is_some_and(|role| role != "master") {
        return Err(Error::unavailable("the Redis server is a replica: give the address of its master"));
    }
    let process = word("run_id:").ok_or_else(|| {
        Error::unsupported(
            "the server does not say which process it is (run_id in INFO), so that results of an older data set could not \
             be told from its own: use Redis or Valkey without a proxy between",
        )
    })?;
    let data = word("master_replid:").unwrap_or_default();
    Ok(ServerId(lacuna_base::hash::hash_bytes(format!("{process} {data}").as_bytes(), 0)))
}

fn unavailable(error: &RedisError) -> Error {
    Error::unavailable(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_process_or_another_data_set_is_another_server() {
        let told = |process: &str, data: &str| {
            format!(
                "# Server\r\nrun_id:{process}\r\nport:1\r\n\n# Replication\r\nrole:master\r\nmaster_replid:{data}\r\n"
            )
        };
        let id = |process, data| server_id(&told(process, data)).unwrap();
        assert_eq!(id("a", "b"), id("a", "b"));
        assert!(id("a", "b") != id("c", "b") && id("a", "b") != id("a", "c") && id("a", "b") != id("b", "a"));
        assert_eq!(ServerId(7).to_string(), "0000000000000007");
        let replica = told("a", "b").replace("master\r", "slave\r");
        assert!(server_id(&replica).unwrap_err().to_string().contains("its master"));
        let why = server_id("# Server\r\n").unwrap_err();
        assert_eq!(why.kind(), lacuna_cache_protocol::ErrorKind::Unsupported);
    }
}
