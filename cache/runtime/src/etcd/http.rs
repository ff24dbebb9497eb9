//! One member of the cluster, called over HTTP/1.1.
//!
//! Connections are kept and reused, one request at a time on each.

use std::sync::{Arc, Mutex, PoisonError};

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use lacuna_cache_protocol::{Error, Result};
use serde_json::Value;
use tokio_rustls::rustls::ClientConfig;

use crate::tls;

/// More than the keys of a namespace ever take.
const MAX_BYTES: u64 = 64 << 20;

type Connection = SendRequest<Full<Bytes>>;

/// Why a request failed.
#[derive(Debug)]
pub(crate) enum Failed {
    /// It was never sent: nothing has happened.
    NotSent(Error),
    /// It may have been executed, or may be executed later.
    Unknown(Error),
    /// The member has refused it: status and message.
    Refused(StatusCode, String),
}

impl Failed {
    pub(crate) fn into_error(self) -> Error {
        match self {
            // The cause may be temporary or a setting; either way the range is not available now.
            Self::NotSent(error) | Self::Unknown(error) => Error::unavailable(error.to_string()),
            Self::Refused(status, message) => Error::unavailable(format!("etcd answers {status}: {message}")),
        }
    }
}

/// A member.
#[derive(Debug)]
pub(crate) struct Member {
    /// Host and port.
    authority: String,
    tls: Option<Arc<ClientConfig>>,
    idle: Mutex<Vec<Connection>>,
}

impl Member {
    pub(crate) const fn new(authority: String, tls: Option<Arc<ClientConfig>>) -> Self {
        Self { authority, tls, idle: Mutex::new(Vec::new()) }
    }

    /// The answer to one call of the JSON gateway.
    pub(crate) async fn call(&self, path: &str, body: &Value, token: Option<&str>) -> Result<Value, Failed> {
        let mut connection = self.connection().await.map_err(Failed::NotSent)?;
        let response = self.send(&mut connection, path, body, token).await?;
        let status = response.status();
        if response.body().size_hint().lower() > MAX_BYTES {
            return Err(Failed::Unknown(not_a_gateway()));
        }
        let bytes = response
            .into_body()
            .collect()
            .await
            .map_err(|error| Failed::Unknown(broken_connection(&error)))?;
        self.lock().push(connection);
        let answer: Value = serde_json::from_slice(&bytes.to_bytes()).unwrap_or(Value::Null);
        if !status.is_success() {
            let message = answer["error"].as_str().unwrap_or_default().to_owned();
            return Err(Failed::Refused(status, message));
        }
        // A stream, such as that of a renewed lease, begins with status 200 even if it then fails.
        if !answer["error"].is_null() {
            return Err(Failed::Refused(StatusCode::SERVICE_UNAVAILABLE, answer["error"].to_string()));
        }
        if answer.is_object() { Ok(answer) } else { Err(Failed::Unknown(not_a_gateway())) }
    }

    /// Whether a connection can be made; it is kept for the next call.
    ///
    /// # Errors
    /// As [`tls::connect`].
    pub(crate) async fn connection_is_sound(&self) -> Result<()> {
        let connection = self.connection().await?;
        self.lock().push(connection);
        Ok(())
    }

    /// A call with a streaming answer.
    pub(crate) async fn stream(
        &self,
        path: &str,
        body: &Value,
        token: Option<&str>,
    ) -> Result<Incoming, Failed> {
        let mut connection = self.connect().await.map_err(Failed::NotSent)?;
        Ok(self.send(&mut connection, path, body, token).await?.into_body())
    }

    async fn send(
        &self,
        connection: &mut Connection,
        path: &str,
        body: &Value,
        token: Option<&str>,
    ) -> Result<Response<Incoming>, Failed> {
        let mut request =
            Request::post(path).header("host", &self.authority).header("content-type", "application/json");
        if let Some(token) = token {
            request = request.header("authorization", token);
        }
        let request = request.body(Full::new(Bytes::from(body.to_string()))).map_err(|_| {
            Failed::NotSent(Error::unavailable("the token that etcd gave is not a valid header value"))
        })?;
        connection.send_request(request).await.map_err(|error| {
            let is_unsent = error.is_canceled();
            if is_unsent {
                Failed::NotSent(broken_connection(&error))
            } else {
                Failed::Unknown(broken_connection(&error))
            }
        })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn connection(&self) -> Result<Connection> {
        let idle = {
            let mut idle = self.lock();
            idle.retain(|connection| !connection.is_closed());
            idle.pop()
        };
        if let Some(mut connection) = idle
            && connection.ready().await.is_ok()
        {
            return Ok(connection);
        }
        self.connect().await
    }

    async fn connect(&self) -> Result<Connection> {
        let stream = tls::connect("etcd", &self.authority, self.tls.as_ref()).await?;
        let (sender, connection) =
            handshake(TokioIo::new(stream)).await.map_err(|error| broken_connection(&error))?;
        tokio::spawn(async move { drop(connection.await) });
        Ok(sender)
    }
}

fn broken_connection(error: &hyper::Error) -> Error {
    Error::unavailable(format!("the connection to etcd broke: {error}"))
}

fn not_a_gateway() -> Error {
    Error::unavailable("the endpoint is not an etcd JSON gateway: give the client URL")
}
