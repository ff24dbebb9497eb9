//! A relay of TCP connections that holds bytes back: a network that is longer, or thinner, than the loopback.
//!
//! Each piece of a request waits `delay` before it is passed on, however many are on their way, so that a round trip
//! takes that much longer and pipelining stays what it is. With a bandwidth, all connections of a relay share it, each
//! direction separately: a piece is passed on when the line has carried everything before it.
//!
//! A relay passes everything on at once until `hold_back` is called, so that a cache can be warmed before.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// Bytes that are passed on at once.
const PIECE_BYTES: usize = 16 << 10;
/// Pieces of a connection that may be on their way.
const PIECES: usize = 256;

/// How bytes are held back.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Shape {
    /// How much longer a round trip takes.
    pub(crate) delay: Duration,
    /// Bytes a second each way; no limit if `None`.
    pub(crate) bandwidth: Option<u64>,
}

/// A relay; it ends, and its connections with it, when it is dropped.
#[derive(Debug)]
pub(crate) struct Relay {
    port: u16,
    task: JoinHandle<()>,
    holds_back: Arc<AtomicBool>,
}

impl Relay {
    /// Passes on what comes to a free port of this machine to `target`, another port of it; at once for now.
    ///
    /// # Errors
    /// If no port can be listened at.
    pub(crate) async fn start(target: u16, shape: Shape) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        let target = SocketAddr::from((Ipv4Addr::LOCALHOST, target));
        let holds_back = Arc::new(AtomicBool::new(false));
        let task = tokio::spawn(accept(listener, target, shape, holds_back.clone()));
        Ok(Self { port, task, holds_back })
    }

    /// From now on, bytes are held back, or passed on at once.
    pub(crate) fn hold_back(&self, holds_back: bool) {
        self.holds_back.store(holds_back, Ordering::Relaxed);
    }

    /// Where it listens.
    pub(crate) const fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, target: SocketAddr, shape: Shape, holds_back: Arc<AtomicBool>) {
    let line = |delay| Line::new(Shape { delay, ..shape }, holds_back.clone());
    let (there, back) = (line(shape.delay), line(Duration::ZERO));
    let mut connections = tokio::task::JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        let Ok(server) = TcpStream::connect(target).await else { continue };
        // Small requests must not wait for others.
        let _ = (client.set_nodelay(true), server.set_nodelay(true));
        let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
        connections.spawn(carry(from_client, to_server, there.clone()));
        connections.spawn(carry(from_server, to_client, back.clone()));
    }
}

/// Reads pieces, and has each written when it is due. This direction ends when either end closes it; the other follows.
async fn carry(mut from: OwnedReadHalf, to: OwnedWriteHalf, line: Line) {
    let (sender, pieces) = mpsc::channel(PIECES);
    let writer = tokio::spawn(write(pieces, to, line.clone()));
    let mut piece = vec![0; PIECE_BYTES];
    while let Ok(bytes @ 1..) = from.read(&mut piece).await {
        if sender.send((Instant::now() + line.delay(), piece[..bytes].to_vec())).await.is_err() {
            break;
        }
    }
    drop(sender);
    // It ends once what is on its way is written, or cannot be.
    let _ = writer.await;
}

async fn write(mut pieces: mpsc::Receiver<(Instant, Vec<u8>)>, mut to: OwnedWriteHalf, line: Line) {
    while let Some((due, piece)) = pieces.recv().await {
        let due = line.carried(due, piece.len());
        if due > Instant::now() {
            tokio::time::sleep_until(due).await;
        }
        if to.write_all(&piece).await.is_err() {
            return;
        }
    }
    let _ = to.shutdown().await;
}

/// One direction of a line that all connections share.
#[derive(Debug, Clone)]
struct Line {
    shape: Shape,
    holds_back: Arc<AtomicBool>,
    free: Arc<Mutex<Instant>>,
}

impl Line {
    fn new(shape: Shape, holds_back: Arc<AtomicBool>) -> Self {
        Self { shape, holds_back, free: Arc::new(Mutex::new(Instant::now())) }
    }

    fn holds_back(&self) -> bool {
        self.holds_back.load(Ordering::Relaxed)
    }

    /// How long a piece waits that comes now.
    fn delay(&self) -> Duration {
        if self.holds_back() { self.shape.delay } else { Duration::ZERO }
    }

    /// When the bytes that come at `due` are through.
    fn carried(&self, due: Instant, bytes: usize) -> Instant {
        let Some(bandwidth) = self.shape.bandwidth.filter(|_| self.holds_back()) else { return due };
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        *free = due.max(*free) + Duration::from_secs_f64(bytes as f64 / bandwidth as f64);
        *free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that gives back what it gets.
    async fn echo() -> u16 {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (mut from, mut to) = stream.into_split();
                tokio::spawn(async move { tokio::io::copy(&mut from, &mut to).await });
            }
        });
        port
    }

    async fn round_trip(stream: &mut TcpStream, bytes: usize) -> Duration {
        let start = Instant::now();
        let sent: Vec<u8> = (0..bytes).map(|place| u8::try_from(place % 251).unwrap()).collect();
        let mut got = vec![0; bytes];
        let (mut from, mut to) = stream.split();
        let (written, read) = tokio::join!(to.write_all(&sent), from.read_exact(&mut got));
        assert!(written.is_ok() && read.is_ok() && got == sent, "all bytes come back in order");
        start.elapsed()
    }

    #[tokio::test]
    async fn a_delay_lengthens_every_round_trip() {
        // Long enough for a machine that is busy with other things.
        let shape = Shape { delay: Duration::from_secs(2), bandwidth: None };
        let relay = Relay::start(echo().await, shape).await.unwrap();
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, relay.port())).await.unwrap();
        assert!(round_trip(&mut stream, 100).await < shape.delay, "nothing is held back yet");
        let shape = Shape { delay: Duration::from_millis(20), bandwidth: None };
        let relay = Relay::start(echo().await, shape).await.unwrap();
        relay.hold_back(true);
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, relay.port())).await.unwrap();
        for _ in 0..3 {
            assert!(round_trip(&mut stream, 100).await >= shape.delay);
        }
    }

    #[tokio::test]
    async fn connections_share_the_bandwidth() {
        let shape = Shape { delay: Duration::ZERO, bandwidth: Some(1 << 20) };
        let relay = Relay::start(echo().await, shape).await.unwrap();
        relay.hold_back(true);
        let mut streams = Vec::new();
        for _ in 0..2 {
            streams.push(TcpStream::connect((Ipv4Addr::LOCALHOST, relay.port())).await.unwrap());
        }
        let [first, second] = &mut streams[..] else { panic!("two were opened") };
        let start = Instant::now();
        tokio::join!(round_trip(first, 100 << 10), round_trip(second, 100 << 10));
        // 200 KiB each way at 1 MiB a second.
        assert!(start.elapsed() >= Duration::from_millis(190), "{:?}", start.elapsed());
    }
}
