//! An attacker between caller and dendrite: what it can read, and that its changes get it nothing.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use lacuna_cache_protocol::{ErrorKind, Policy};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

use crate::cluster::dendrites::{AT_MOST, Dendrites, TABLE, connected, places, secret, slot};

/// Text of a row that no other bytes hold.
const MARK: &str = "the content of a row that is for its readers alone";

/// What the attacker does to the bytes of one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trick {
    Pass,
    /// Flips a bit of this byte, counted from the beginning of the connection.
    Flip(u64),
    /// Sends everything up to this byte, then ends the direction.
    Truncate(u64),
    /// Sends the bytes from here on twice.
    Repeat(u64),
}

#[derive(Debug, Default)]
struct Heard {
    /// The bytes of each connection.
    to_called: Mutex<Vec<Vec<u8>>>,
    to_caller: Mutex<Vec<Vec<u8>>>,
    tricks: AtomicU64,
}

impl Heard {
    /// The number of a new connection.
    fn begin(&self) -> usize {
        self.to_caller.lock().unwrap_or_else(PoisonError::into_inner).push(Vec::new());
        let mut to_called = self.to_called.lock().unwrap_or_else(PoisonError::into_inner);
        to_called.push(Vec::new());
        to_called.len() - 1
    }
}

struct Middle {
    address: String,
    heard: Arc<Heard>,
}

impl Middle {
    /// Between callers and the dendrite at `target`; the first trick is for the caller's bytes.
    async fn before(target: &str, tricks: [Trick; 2]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, target) = (listener.local_addr().unwrap().to_string(), target.to_owned());
        let heard = Arc::<Heard>::default();
        let recorded = heard.clone();
        tokio::spawn(async move {
            while let Ok((caller, _)) = listener.accept().await {
                let Ok(called) = TcpStream::connect(&target).await else { continue };
                let ((a, b), (c, d)) = (caller.into_split(), called.into_split());
                let number = recorded.begin();
                tokio::spawn(pass(a, d, tricks[0], recorded.clone(), (true, number)));
                tokio::spawn(pass(c, b, tricks[1], recorded.clone(), (false, number)));
            }
        });
        Self { address, heard }
    }

    fn heard(&self) -> Vec<u8> {
        let both = [&self.heard.to_called, &self.heard.to_caller];
        both.map(|heard| heard.lock().unwrap_or_else(PoisonError::into_inner).concat()).concat()
    }
}

async fn pass(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    trick: Trick,
    heard: Arc<Heard>,
    (is_called, number): (bool, usize),
) {
    let (mut buffer, mut place) = (vec![0; 4_096], 0_u64);
    while let Ok(len @ 1..) = from.read(&mut buffer).await {
        let kept = if is_called { &heard.to_called } else { &heard.to_caller };
        kept.lock().unwrap_or_else(PoisonError::into_inner)[number].extend_from_slice(&buffer[..len]);
        let mut bytes = buffer[..len].to_vec();
        let end = place + len as u64;
        let at = |byte: u64| (place..end).contains(&byte).then(|| usize::try_from(byte - place).unwrap());
        let mut is_over = false;
        let done = match trick {
            Trick::Pass => false,
            Trick::Flip(byte) => at(byte).map(|at| bytes[at] ^= 4).is_some(),
            Trick::Truncate(byte) => at(byte).map(|at| (bytes.truncate(at), is_over = true)).is_some(),
            Trick::Repeat(byte) => at(byte).map(|at| bytes.extend_from_within(at..)).is_some(),
        };
        heard.tricks.fetch_add(u64::from(done), Ordering::Relaxed);
        place = end;
        if to.write_all(&bytes).await.is_err() || is_over {
            break;
        }
    }
}

/// The row of [`MARK`] goes to the dendrite, and back.
async fn write_and_read(dendrites: &Dendrites, middle: &Middle) {
    let client = connected(&[&middle.address]).await.with_patience(AT_MOST);
    let table = dendrites.table_of(&client).await;
    let row = [("id", 1.into()), ("place", 7.into()), ("name", MARK.into())];
    table.insert(row).await.unwrap();
    assert_eq!(table.get("place", 0..9).await.unwrap().len(), 1);
}

fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_observer_of_the_wire_sees_no_row_and_no_table() {
    let dendrites = Dendrites::open(1, Policy::WriteThrough).await;
    let middle = Middle::before(&dendrites.addresses[0], [Trick::Pass; 2]).await;
    // The bytes of a caller without encryption are found.
    let mut plain = TcpStream::connect(&middle.address).await.unwrap();
    plain.write_all(&[b"before ", MARK.as_bytes(), b" after"].concat()).await.unwrap();
    let start = Instant::now();
    while !holds(&middle.heard(), MARK.as_bytes()) {
        assert!(start.elapsed() < AT_MOST, "the observer records everything");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    drop(plain);
    let middle = Middle::before(&dendrites.addresses[0], [Trick::Pass; 2]).await;
    write_and_read(&dendrites, &middle).await;
    let heard = middle.heard();
    assert!(heard.len() > 2 * MARK.len(), "the row went over this wire, there and back");
    for part in [MARK.as_bytes(), &MARK.as_bytes()[..8], TABLE.as_bytes()] {
        assert!(!holds(&heard, part), "{}", String::from_utf8_lossy(part));
    }
    dendrites.stop().await;
}

/// Whatever is done to any byte of a connection, a caller gets right rows or an error, and a write happens once or not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_middle_that_flips_truncates_or_repeats_gets_nothing() {
    let dendrites = Dendrites::open(1, Policy::WriteThrough).await;
    let direct = dendrites.client().await;
    let direct = dendrites.table_of(&direct).await;
    direct.insert(slot(1, 1)).await.unwrap();
    // The handshake takes 106 bytes and a record of the caller, 78 bytes and a record of the called.
    let places_of_tricks = [0, 3, 4, 9, 24, 60, 100, 110, 111, 130, 150, 200];
    let mut refused = 0;
    for (number, byte) in (0..).zip(places_of_tricks.into_iter().cycle().take(72)) {
        let trick = [Trick::Flip(byte), Trick::Truncate(byte), Trick::Repeat(byte)][number / 24];
        let tricks = if number % 24 < 12 { [trick, Trick::Pass] } else { [Trick::Pass, trick] };
        let middle = Middle::before(&dendrites.addresses[0], tricks).await;
        let patience = Duration::from_millis(300);
        let client = lacuna_cache::cluster::Client::connect(&[&middle.address], secret(), TABLE).await;
        let Ok(client) = client else {
            refused += 1;
            continue;
        };
        let table = dendrites.table_of(&client.with_patience(patience)).await;
        let id = 100 + i64::try_from(number).unwrap();
        let written = table.insert(slot(id, 150)).await;
        let read = table.get("place", 0..9).await;
        if let Ok(rows) = &read {
            assert_eq!(places(rows), [1], "{tricks:?}");
        }
        let seen = direct.get("place", 150..=150).await.unwrap();
        let copies = seen.iter().filter(|row| row.integer("id").unwrap() == id).count();
        assert!(copies == 1 || copies == 0 && written.is_err(), "{tricks:?}: {written:?}");
        refused += usize::from(written.is_err() || read.is_err());
    }
    assert!(refused >= 40, "tricks are found: {refused} of 72");
    dendrites.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_is_played_again_does_nothing() {
    let dendrites = Dendrites::open(1, Policy::WriteThrough).await;
    let middle = Middle::before(&dendrites.addresses[0], [Trick::Pass; 2]).await;
    write_and_read(&dendrites, &middle).await;
    let before = dendrites.counts(0);
    let (said, once) =
        (middle.heard.to_called.lock().unwrap().clone(), middle.heard.to_caller.lock().unwrap().clone());
    // The hello alone and the rest after the challenge, as the caller sent it; and everything at once.
    for (number, (said, once)) in said.iter().zip(&once).flat_map(|both| [(0, both), (1, both)]) {
        let hello = 4 + usize::try_from(u32::from_le_bytes(*said.first_chunk().unwrap())).unwrap();
        let first = [hello, said.len()][number];
        let mut socket = TcpStream::connect(&dendrites.addresses[0]).await.unwrap();
        socket.write_all(&said[..first]).await.unwrap();
        drop(socket.peek(&mut [0]).await);
        drop(socket.write_all(&said[first..]).await);
        let mut heard = Vec::new();
        let ended = tokio::time::timeout(AT_MOST, socket.read_to_end(&mut heard)).await;
        let _ = ended.expect("the dendrite hangs up");
        assert!(heard.len() < once.len() && !holds(&heard, &once[once.len() - 40..]), "no answer of then");
    }
    let after = dendrites.counts(0);
    assert_eq!((after.reads, after.writes), (before.reads, before.writes), "nothing was carried out");
    dendrites.stop().await;
}

/// Strangers that stop in the middle of the handshake: more than there is room for, while honest callers come.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callers_that_stop_in_the_handshake_hold_nothing_for_long() {
    let dendrites = Dendrites::open(1, Policy::WriteThrough).await;
    let middle = Middle::before(&dendrites.addresses[0], [Trick::Pass; 2]).await;
    drop(connected(&[&middle.address]).await);
    let hello = middle.heard.to_called.lock().unwrap()[0][..90].to_vec();
    let mut strangers = Vec::new();
    for number in 0..400 {
        let mut socket = TcpStream::connect(&dendrites.addresses[0]).await.unwrap();
        // Nothing, a part of a hello, a whole one that is a copy.
        let said = [0, 30, hello.len()][number % 3];
        drop(socket.write_all(&hello[..said]).await);
        strangers.push(socket);
    }
    let start = Instant::now();
    let client = lacuna_cache::cluster::Client::connect(&dendrites.addresses, secret(), TABLE).await.unwrap();
    println!("an honest caller beside 400 strangers was let in after {:?}", start.elapsed());
    let table = dendrites.table_of(&client.with_patience(AT_MOST)).await;
    table.insert(slot(1, 1)).await.unwrap();
    for mut socket in strangers {
        let mut heard = Vec::new();
        let end = tokio::time::timeout(Duration::from_secs(20), socket.read_to_end(&mut heard)).await;
        let _ = end.expect("the dendrite hangs up on all of them");
    }
    assert_eq!(places(&table.get("place", 0..9).await.unwrap()), [1], "the honest one stays");
    dendrites.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_that_is_not_served_is_named_only_to_callers_with_the_secret() {
    let dendrites = Dendrites::open(1, Policy::WriteThrough).await;
    let middle = Middle::before(&dendrites.addresses[0], [Trick::Pass; 2]).await;
    let client = lacuna_cache::cluster::Client::connect(&[&middle.address], secret(), "another table").await;
    let why = client.unwrap_err();
    assert_eq!(why.kind(), ErrorKind::InvalidInput, "{why}");
    assert!(why.to_string().contains(&format!("served are: {TABLE}")), "{why}");
    assert!(!holds(&middle.heard(), TABLE.as_bytes()));
    dendrites.stop().await;
}
