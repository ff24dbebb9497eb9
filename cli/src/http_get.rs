//! A request to monitoring of another process.

use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1::handshake;
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// More than thousands of tables say.
const MAX_BYTES: usize = 16 << 20;

/// What a process answers at a path.
///
/// # Errors
/// Why it does not.
pub(crate) async fn get(address: &str, path: &str) -> Result<String, String> {
    let stream = TcpStream::connect(address).await.map_err(|why| why.to_string())?;
    let (mut sender, connection) = handshake(TokioIo::new(stream)).await.map_err(|why| why.to_string())?;
    let driving = tokio::spawn(connection);
    let request = Request::get(path).header("host", address).body(Empty::<Bytes>::new());
    let request = request.map_err(|why| why.to_string())?;
    let response = sender.send_request(request).await.map_err(|why| why.to_string())?;
    if response.status() != StatusCode::OK {
        return Err(format!("it answers {}", response.status()));
    }
    let body = Limited::new(response.into_body(), MAX_BYTES).collect().await;
    driving.abort();
    let bytes = body.map_err(|why| why.to_string())?.to_bytes();
    String::from_utf8(bytes.into()).map_err(|_| "its answer is not text".to_owned())
}
