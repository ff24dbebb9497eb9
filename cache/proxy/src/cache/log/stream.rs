//! The log as the server sends it: a slot that ends with its connection, and what it decodes.
//!
//! The server sends the lines of a transaction once that has committed, in the order of commits, and says how far it has come
//! when it has nothing more. It repeats that only to a client that has confirmed what came before.

use std::time::{Duration, SystemTime};

use lacuna_base::{Error, Result};
use tokio::time::timeout;

use super::Log;
use super::account::Account;
use super::login::{self, broken, log_in, malformed, refused, until_ready};
use crate::connection::Connection;
use crate::upstream::Connector;
use crate::wire::{self, Fields, Inbox, Next};

/// Longest wait for a connection.
const PATIENCE: Duration = Duration::from_secs(5);
/// Longest wait for a slot: it begins when all transactions have ended that write at that moment.
const SLOT_PATIENCE: Duration = Duration::from_secs(600);
/// Bytes of the head of data: three numbers of eight bytes.
const DATA_HEAD: usize = 24;
/// Microseconds from 1970 to 2000, from when on the server counts.
const EPOCH_MICROS: u64 = 946_684_800_000_000;

/// A place in the log, in bytes from its beginning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Lsn(u64);

impl std::str::FromStr for Lsn {
    type Err = ();

    /// Reads `16/B374D848`.
    fn from_str(text: &str) -> Result<Self, ()> {
        let (high, low) = text.split_once('/').ok_or(())?;
        let half = |text| u32::from_str_radix(text, 16).map(u64::from).map_err(drop);
        Ok(Self(half(high)? << 32 | half(low)?))
    }
}

/// A connection that has a slot, and then its stream.
#[derive(Debug)]
pub(super) struct Stream {
    connection: Connection,
    inbox: Inbox,
    slot: String,
    position: Lsn,
}

/// What comes.
#[derive(Debug)]
pub(super) enum Item {
    Line(String),
    /// A line that is too long to be read.
    LongLine,
    /// How far the server has come: see [`Stream::position`]. It goes on saying so once that is confirmed.
    Position,
}

impl Stream {
    /// Connects, and makes a slot: every transaction that commits from now on will be in its stream. Says to `log` that it waits.
    ///
    /// # Errors
    /// `Unavailable` with what the server says.
    pub(super) async fn open(account: &Account, log: &Log) -> Result<Self> {
        let connector = Connector::new(account.upstream.clone().checked()?, PATIENCE)?;
        let mut connection = connector.connect().await.map_err(broken)?;
        let in_time = |_| Error::unavailable("the database does not answer a login for its log");
        timeout(PATIENCE, log_in(&mut connection, account)).await.map_err(in_time)??;
        let slot = name()?;
        log.waits("a slot in the log waits for open transactions to end");
        let make =
            format!("CREATE_REPLICATION_SLOT \"{slot}\" TEMPORARY LOGICAL test_decoding NOEXPORT_SNAPSHOT\0");
        login::send(&mut connection, &wire::message(b'Q', make.as_bytes())).await?;
        let late = |_| Error::unavailable("a slot in the log waits for transactions that do not end");
        timeout(SLOT_PATIENCE, until_ready(&mut connection)).await.map_err(late)??;
        Ok(Self { connection, inbox: Inbox::default(), slot, position: Lsn::default() })
    }

    /// Begins the stream.
    pub(super) async fn start(&mut self) -> Result<()> {
        // With `skip-empty-xacts` a transaction that has nothing but messages would have no last line.
        let start = format!(
            "START_REPLICATION SLOT \"{}\" LOGICAL 0/0 (\"skip-empty-xacts\" 'off', \"include-timestamp\" 'off')\0",
            self.slot
        );
        login::send(&mut self.connection, &wire::message(b'Q', start.as_bytes())).await?;
        match login::receive(&mut self.connection).await? {
            (b'W', _) => Ok(()),
            _ => Err(malformed()),
        }
    }

    /// The next that comes. May be dropped while it waits, and loses nothing.
    pub(super) async fn next(&mut self) -> Result<Item> {
        loop {
            match self.inbox.next() {
                Next::Whole(b'd', place) => {
                    if let Some(item) = self.item(&place)? {
                        return Ok(item);
                    }
                }
                Next::Whole(b'E', place) => return Err(refused(self.body(&place))),
                Next::Part { tag: b'd', is_first: true, .. } => return Ok(Item::LongLine),
                Next::Part { tag: b'd', .. } | Next::Whole(b'N' | b'S', _) => {}
                Next::Whole(..) | Next::Part { .. } | Next::Broken(_) => return Err(malformed()),
                Next::Nothing => {
                    if !self.inbox.read(&mut self.connection).await.map_err(broken)? {
                        return Err(Error::unavailable("the database has ended the stream of its log"));
                    }
                }
            }
        }
    }

    /// The slot's name.
    pub(super) fn slot(&self) -> &str {
        &self.slot
    }

    /// Everything that was committed before this place has come.
    pub(super) const fn position(&self) -> Lsn {
        self.position
    }

    /// Says how far this side has come, so that the server forgets what was before and says how far it comes.
    pub(super) async fn confirm(&mut self) -> Result<()> {
        let position = self.position.0.to_be_bytes();
        let micros = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_micros());
        let now = u64::try_from(micros).unwrap_or(0).saturating_sub(EPOCH_MICROS).to_be_bytes();
        let body = [&b"r"[..], &position, &position, &position, &now, b"\0"].concat();
        login::send(&mut self.connection, &wire::message(b'd', &body)).await
    }

    /// The body of a message without its header.
    fn body(&self, place: &std::ops::Range<usize>) -> &[u8] {
        self.inbox.bytes(place).get(5..).unwrap_or_default()
    }

    fn item(&mut self, place: &std::ops::Range<usize>) -> Result<Option<Item>> {
        let body = self.body(place);
        match body.first() {
            Some(b'w') => {
                let line = body.get(1 + DATA_HEAD..).ok_or_else(malformed)?;
                Ok(Some(String::from_utf8(line.to_vec()).map_or(Item::LongLine, Item::Line)))
            }
            Some(b'k') => {
                let mut fields = Fields::new(&body[1..]);
                let end = word(&mut fields).ok_or_else(malformed)?;
                self.position = self.position.max(Lsn(end));
                Ok(Some(Item::Position))
            }
            _ => Ok(None),
        }
    }
}

fn word(fields: &mut Fields<'_>) -> Option<u64> {
    fields.bytes(8)?.try_into().ok().map(u64::from_be_bytes)
}

/// A name that no other slot has.
fn name() -> Result<String> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|why| Error::unavailable(why.to_string()))?;
    Ok(format!("lacuna_proxy_{:016x}", u64::from_be_bytes(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_the_log_are_read() {
        let of = |text: &str| text.parse::<Lsn>();
        assert_eq!(of("16/B374D848"), Ok(Lsn(0x16_B374_D848)));
        assert!(of("0/FFFFFFFF").unwrap() < of("1/0").unwrap());
        assert!([of("16"), of("x/1"), of("1/100000000")].iter().all(Result::is_err));
    }
}
