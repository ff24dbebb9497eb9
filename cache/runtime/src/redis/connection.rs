//! One connection that all callers share, made anew after it broke.
//!
//! A call that was in flight when the connection broke is not sent again: its outcome is unknown.

use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use lacuna_cache_protocol::{Error, Result};
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, Cmd, RedisError, Value};
use tokio::sync::Mutex;
use tokio::time::timeout;

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
    open: RwLock<Option<MultiplexedConnection>>,
    /// Held by the task that connects.
    connecting: Mutex<()>,
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

    fn open(&self) -> Option<MultiplexedConnection> {
        self.open.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_open(&self, connection: Option<MultiplexedConnection>) {
        *self.open.write().unwrap_or_else(PoisonError::into_inner) = connection;
    }

    async fn get(&self) -> Result<MultiplexedConnection> {
        match self.open() {
            Some(connection) => Ok(connection),
            None => timeout(self.patience, self.connect()).await.map_err(|_| self.late())?,
        }
    }

    async fn connect(&self) -> Result<MultiplexedConnection> {
        let _turn = self.connecting.lock().await;
        if let Some(connection) = self.open() {
            return Ok(connection);
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
        self.set_open(Some(connection.clone()));
        Ok(connection)
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
        timeout(self.patience, self.hit(&redis::cmd("PING"))).await.map_err(|_| self.late())?.map(drop)
    }

    /// Runs the commands of a hit. A slow server keeps its connection: scripts find out whether it is lost.
    pub(crate) async fn hit(&self, command: &Cmd) -> Result<Value> {
        let mut connection = self.get().await?;
        let answered = connection.send_packed_command(command).await.and_then(Value::extract_error);
        answered.map_err(|error| {
            self.give_up_if(is_broken(&error) && !error.is_timeout());
            unavailable(&error)
        })
    }

    /// Runs `command` on the connection; drops the connection if it broke.
    pub(crate) async fn run<F>(&self, command: impl FnOnce(MultiplexedConnection) -> F) -> Result<Answer>
    where
        F: Future<Output = Result<Value, RedisError>>,
    {
        let connection = self.get().await?;
        match command(connection).await {
            Ok(value) => Ok(Answer::Value(value)),
            Err(error)
                if error.code() == Some("OOM") || error.to_string().contains("OOM command not allowed") =>
            {
                Ok(Answer::Full)
            }
            Err(error) => {
                self.give_up_if(is_broken(&error));
                Err(unavailable(&error))
            }
        }
    }

    fn late(&self) -> Error {
        let also = if self.is_encrypted { ", or does not speak TLS there" } else { "" };
        Error::unavailable(format!("a Redis server did not accept a connection in time{also}"))
    }

    fn give_up_if(&self, is_broken: bool) {
        if is_broken {
            self.set_open(None);
        }
    }
}

fn is_broken(error: &RedisError) -> bool {
    error.is_io_error() || error.is_connection_dropped() || error.is_timeout()
}

fn unavailable(error: &RedisError) -> Error {
    Error::unavailable(error.to_string())
}
