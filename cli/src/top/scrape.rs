//! Asks dendrites for their metrics, all at once.

use std::time::Duration;

use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1::handshake;
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::sample::Sample;

/// How long a dendrite may take.
const PATIENCE: Duration = Duration::from_secs(2);
/// More than thousands of tables say.
const MAX_BYTES: usize = 16 << 20;

/// What each dendrite said, in the order of `dendrites`, or why it did not.
pub(super) async fn all(dendrites: &[String]) -> Vec<Result<Sample, String>> {
    let mut asked = JoinSet::new();
    for (place, address) in dendrites.iter().cloned().enumerate() {
        asked.spawn(async move { (place, one(&address).await) });
    }
    let mut answers = asked.join_all().await;
    answers.sort_by_key(|(place, _)| *place);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

async fn one(address: &str) -> Result<Sample, String> {
    let text = timeout(PATIENCE, text(address)).await.map_err(|_| "no answer in time".to_owned())??;
    Sample::read(&text)
}

async fn text(address: &str) -> Result<String, String> {
    let stream = TcpStream::connect(address).await.map_err(|why| why.to_string())?;
    let (mut sender, connection) = handshake(TokioIo::new(stream)).await.map_err(|why| why.to_string())?;
    let driving = tokio::spawn(connection);
    let request = Request::get("/metrics").header("host", address).body(Empty::<Bytes>::new());
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
