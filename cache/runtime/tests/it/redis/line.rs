//! A line to a server that stops or breaks at a place of its answers.

use lacuna_testkit::servers::Redis;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Passes one connection on, until the end of the test.
pub(super) struct Line {
    pub(super) url: String,
    /// Ready once the answers have stopped.
    pub(super) has_stopped: oneshot::Receiver<()>,
    /// Lets the answers go on.
    pub(super) go_on: oneshot::Sender<()>,
}

/// A line on which the answers stop after this number of bytes, until they are to go on.
pub(super) async fn that_stops_after(answer_bytes: u64, server: &Redis) -> Line {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = url_of(&listener);
    let target = address(server);
    let ((stops, has_stopped), (go_on, goes_on)) = (oneshot::channel(), oneshot::channel::<()>());
    tokio::spawn(async move {
        let (mut answers, mut to_caller, _) = joined(&listener, &target).await;
        let mut first = (&mut answers).take(answer_bytes);
        tokio::io::copy(&mut first, &mut to_caller).await.unwrap();
        stops.send(()).unwrap();
        goes_on.await.unwrap();
        // The caller may leave before the server does.
        drop(tokio::io::copy(&mut answers, &mut to_caller).await);
    });
    Line { url, has_stopped, go_on }
}

/// A line that breaks after the first answer that comes once it was armed. That answer arrives.
pub(super) async fn that_breaks_once_armed(server: &Redis) -> (String, oneshot::Sender<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = url_of(&listener);
    let target = address(server);
    let (arm, mut armed) = oneshot::channel();
    tokio::spawn(async move {
        let (mut answers, mut to_caller, questions) = joined(&listener, &target).await;
        let mut bytes = vec![0; 64 << 10];
        let mut is_broken = false;
        while !is_broken {
            let len = answers.read(&mut bytes).await.unwrap();
            is_broken = len == 0 || armed.try_recv().is_ok();
            if is_broken {
                // Before the caller has the answer: its next question does not arrive.
                questions.abort();
            }
            to_caller.write_all(&bytes[..len]).await.unwrap();
        }
    });
    (url, arm)
}

fn url_of(listener: &TcpListener) -> String {
    format!("redis://{}", listener.local_addr().unwrap())
}

fn address(server: &Redis) -> String {
    server.url().trim_start_matches("redis://").to_owned()
}

/// The first connection: the answers of the server, where they belong, and the task that passes the questions on.
async fn joined(
    listener: &TcpListener,
    target: &str,
) -> (OwnedReadHalf, OwnedWriteHalf, JoinHandle<std::io::Result<u64>>) {
    let (caller, _) = listener.accept().await.unwrap();
    let server = TcpStream::connect(target).await.unwrap();
    let ((mut questions, to_caller), (answers, mut to_server)) = (caller.into_split(), server.into_split());
    let questions = tokio::spawn(async move { tokio::io::copy(&mut questions, &mut to_server).await });
    (answers, to_caller, questions)
}
