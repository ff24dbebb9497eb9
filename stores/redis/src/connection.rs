//! One connection that all callers share, made anew after it broke.
//!
//! A call that was on its way when the connection broke is not sent again: nobody knows whether it happened.

use std::time::Duration;

use lacuna_core::{Error, Result};
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, RedisError, Value};
use tokio::sync::Mutex;

/// How long a server may take to be connected to, and to answer, unless it is said.
const PATIENCE: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(crate) struct Connection {
    client: Client,
    pub(crate) patience: Duration,
    open: Mutex<Option<MultiplexedConnection>>,
}

/// What a server answered.
pub(crate) enum Answer {
    Value(Value),
    /// Its memory is full.
    Full,
}

impl Connection {
    pub(crate) fn to(url: &str) -> Result<Self> {
        let client = Client::open(url).map_err(|error| Error::invalid_input(error.to_string()))?;
        Ok(Self { client, patience: PATIENCE, open: Mutex::new(None) })
    }

    async fn get(&self) -> Result<MultiplexedConnection> {
        let mut open = self.open.lock().await;
        if let Some(connection) = &*open {
            return Ok(connection.clone());
        }
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(self.patience))
            .set_response_timeout(Some(self.patience));
        let connected = self.client.get_multiplexed_async_connection_with_config(&config).await;
        let connection = connected.map_err(|error| unavailable(&error))?;
        *open = Some(connection.clone());
        Ok(connection)
    }

    /// Runs `command` on the connection; gives the connection up if it broke.
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
                if error.is_io_error() || error.is_connection_dropped() || error.is_timeout() {
                    *self.open.lock().await = None;
                }
                Err(unavailable(&error))
            }
        }
    }
}

fn unavailable(error: &RedisError) -> Error {
    Error::unavailable(error.to_string())
}
