//! The two directions of a session.
//!
//! Each reads what has come, shows it to the follower and writes it: one read and one write for all messages that came
//! together. A direction that cannot write does not read, so a slow reader slows its writer down, and no other one:
//! both directions wait on their own. What the bytes mean is left to the protocol's follower ([`Followed`]).

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::time::{sleep, timeout};

use super::{code, farewell};
use crate::connection::Connection;
use crate::follow::{Following, TooLong};
use crate::shared::Shared;
use crate::wire::error_response;

/// Size of a direction's buffer at first, and at most: it grows while reads fill it.
const MIN_BUFFER: usize = 8 << 10;
const MAX_BUFFER: usize = 64 << 10;
/// How often a session that is to end is looked at.
const LOOK: Duration = Duration::from_millis(20);
/// How long the database may take to close a connection whose client has said goodbye.
const GRACE: Duration = Duration::from_secs(5);

/// Why a client's bytes are relayed no more, while the database's still are.
#[derive(Debug)]
pub(super) enum Done {
    /// The client sends no more.
    Sending,
    /// The database takes no more: the other direction finds out why, after it has relayed what is said last.
    Receiving,
}

/// Why a session ends.
#[derive(Debug)]
pub(crate) enum End {
    /// The client has gone, or said goodbye.
    Client,
    Upstream,
    TooLong(usize),
    /// What the client sends now cannot be made what it takes it for.
    Unfollowed,
    Shutdown,
    /// The proxy has left its server.
    Left,
}

/// What the relay has to know of a session, by the protocol that it speaks.
pub(crate) trait Followed {
    /// # Errors
    /// [`TooLong`]: the bytes must not be passed on.
    fn client_sent(&self, bytes: &[u8], now: Instant) -> Result<(), TooLong>;

    fn server_sent(&self, bytes: &[u8], now: Instant);

    /// Whether the client has said that it leaves.
    fn client_has_left(&self) -> bool;

    /// Whether a message of the proxy's own may be put after what the server has sent.
    fn may_interject(&self) -> bool;

    /// Whether the session is between two transactions, with nothing under way.
    fn is_idle(&self) -> bool;

    /// What the client is sent at the end.
    fn last_words(&self, shared: &Shared, end: &End) -> Option<Vec<u8>>;
}

impl Followed for Following<'_> {
    fn client_sent(&self, bytes: &[u8], now: Instant) -> Result<(), TooLong> {
        self.client_sent(bytes, now)
    }

    fn server_sent(&self, bytes: &[u8], now: Instant) {
        self.server_sent(bytes, now);
    }

    fn client_has_left(&self) -> bool {
        self.client_has_left()
    }

    fn may_interject(&self) -> bool {
        self.may_interject()
    }

    fn is_idle(&self) -> bool {
        self.is_idle()
    }

    fn last_words(&self, shared: &Shared, end: &End) -> Option<Vec<u8>> {
        last_words(shared, end)
    }
}

/// Relays until one side ends; `sent` are bytes that the database has sent already.
pub(crate) async fn run(
    shared: &Shared,
    client: Connection,
    upstream: Connection,
    sent: &[u8],
    following: &impl Followed,
) -> io::Result<()> {
    // Whether the client has received whole messages only, so that another may be sent.
    let is_in_step = AtomicBool::new(true);
    let (mut client_reader, mut client_writer) = tokio::io::split(client);
    let (mut upstream_reader, mut upstream_writer) = tokio::io::split(upstream);
    let end = {
        let up = to_upstream(&mut client_reader, &mut upstream_writer, following);
        let down = to_client(sent, &mut upstream_reader, &mut client_writer, following, &is_in_step);
        let closing = async {
            close_when_due(shared, following).await;
            End::Shutdown
        };
        until_end(following, up, down, closing).await
    };
    let client = client_reader.unsplit(client_writer);
    let may_speak = is_in_step.load(Ordering::Relaxed) && following.may_interject();
    let message = may_speak.then(|| following.last_words(shared, &end)).flatten();
    farewell(client, &message.unwrap_or_default()).await
}

/// Both directions until the session is at its end, or `closing` is. A client that sends nothing more may still read.
pub(super) async fn until_end(
    following: &impl Followed,
    up: impl Future<Output = Result<Done, End>>,
    down: impl Future<Output = End>,
    closing: impl Future<Output = End>,
) -> End {
    tokio::pin!(up, down, closing);
    let mut done = None;
    loop {
        tokio::select! {
            ended = &mut up, if done.is_none() => match ended {
                Ok(Done::Sending) if following.client_has_left() => {
                    drop(timeout(GRACE, &mut down).await);
                    return End::Client;
                }
                Ok(is_done) => done = Some(is_done),
                Err(end) => return end,
            },
            end = &mut down => return if is_expected(&end, done.as_ref(), following) { End::Client } else { end },
            end = &mut closing => return end,
        }
    }
}

/// Whether the database has closed the connection because the client did, or said goodbye.
fn is_expected(end: &End, done: Option<&Done>, following: &impl Followed) -> bool {
    matches!(end, End::Upstream) && (matches!(done, Some(Done::Sending)) || following.client_has_left())
}

/// Returns when the session is to end: now, or between two transactions.
pub(super) async fn close_when_due(shared: &Shared, following: &impl Followed) {
    shared.end_of_serving().await;
    while shared.is_draining() && !following.is_idle() {
        sleep(LOOK).await;
    }
}

/// What a client of PostgreSQL is sent at the end.
pub(super) fn last_words(shared: &Shared, end: &End) -> Option<Vec<u8>> {
    let code = match end {
        End::TooLong(_) => code::MESSAGE_TOO_LONG,
        End::Shutdown => code::ADMIN_SHUTDOWN,
        End::Client | End::Upstream | End::Unfollowed | End::Left => code::CONNECTION_LOST,
    };
    sentence(shared, end).map(|sentence| error_response(code, &sentence))
}

/// Why a session ends, for its client.
pub(crate) fn sentence(shared: &Shared, end: &End) -> Option<String> {
    let sentence = match end {
        End::Client => return None,
        End::Upstream => "the connection of the proxy to the database was lost",
        End::TooLong(len) => {
            return Some(format!(
                "a message of {len} bytes is longer than the {} that the proxy takes",
                shared.options.max_message_bytes
            ));
        }
        End::Unfollowed => "the proxy cannot follow the messages of this session any further: connect again",
        End::Shutdown => "terminating connection because the proxy is stopped",
        End::Left => "the proxy has left this server, and another one takes its place: connect again",
    };
    Some(sentence.to_owned())
}

async fn to_upstream(
    client: &mut (impl AsyncRead + Unpin),
    upstream: &mut (impl AsyncWrite + Unpin),
    following: &impl Followed,
) -> Result<Done, End> {
    let mut buffer = vec![0; MIN_BUFFER];
    loop {
        let count = client.read(&mut buffer).await.map_err(|_| End::Client)?;
        if count == 0 {
            // The database reads the end after what it was sent, as it would without a proxy.
            drop(upstream.shutdown().await);
            return Ok(Done::Sending);
        }
        let checked = following.client_sent(&buffer[..count], Instant::now());
        checked.map_err(|TooLong(len)| End::TooLong(len))?;
        if pass(upstream, &buffer[..count]).await.is_err() {
            return Ok(Done::Receiving);
        }
        grow(&mut buffer, count);
    }
}

async fn to_client(
    sent: &[u8],
    upstream: &mut (impl AsyncRead + Unpin),
    client: &mut (impl AsyncWrite + Unpin),
    following: &impl Followed,
    is_in_step: &AtomicBool,
) -> End {
    let mut buffer = vec![0; MIN_BUFFER];
    let mut piece = sent;
    let mut count = 0;
    loop {
        if !piece.is_empty() {
            following.server_sent(piece, Instant::now());
            is_in_step.store(false, Ordering::Relaxed);
            if pass(client, piece).await.is_err() {
                return End::Client;
            }
            is_in_step.store(true, Ordering::Relaxed);
        }
        grow(&mut buffer, count);
        count = match upstream.read(&mut buffer).await {
            Ok(count) if count > 0 => count,
            _ => return End::Upstream,
        };
        piece = &buffer[..count];
    }
}

pub(super) async fn pass(to: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> io::Result<()> {
    to.write_all(bytes).await?;
    to.flush().await
}

/// Makes room for more if a read has filled the buffer.
fn grow(buffer: &mut Vec<u8>, count: usize) {
    if count == buffer.len() && count < MAX_BUFFER {
        buffer.resize(2 * count, 0);
    }
}
