//! Callers that do not know the secret, or do not speak the protocol.

use std::sync::Arc;

use lacuna_cache::cluster::testing::PeerTransport;
use lacuna_cache::cluster::{Client, Net, Server};
use lacuna_cache::sql::{DomainType, Schema};
use lacuna_cache_protocol::{
    CallId, Epoch, ErrorKind, LeaseMode, PeerCall, PeerId, PeerReply, Policy, RangeId, Session,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::cluster::dendrites::{AT_MOST, Dendrites, SECRET, TABLE, refusal, schema, secret, slot};

/// What a dendrite says to these bytes until it hangs up.
async fn answer_to(address: &str, bytes: &[u8]) -> Vec<u8> {
    let mut socket = TcpStream::connect(address).await.unwrap();
    socket.write_all(bytes).await.unwrap();
    let mut heard = Vec::new();
    let reading = socket.read_to_end(&mut heard);
    // A connection that is reset has ended, too.
    let _ = tokio::time::timeout(AT_MOST, reading).await.expect("the dendrite hangs up");
    heard
}

fn frame(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut frame = u32::try_from(body.len() + 5).unwrap().to_le_bytes().to_vec();
    frame.push(kind);
    frame.extend_from_slice(body);
    frame.extend_from_slice(&crc32c::crc32c(&frame).to_le_bytes());
    frame
}

/// A hello of a caller that has no secret: what is open is right.
fn hello(lowest: u16, highest: u16) -> Vec<u8> {
    let versions = [lowest.to_le_bytes(), highest.to_le_bytes()].concat();
    frame(1, &[&b"LACUNAdp"[..], &versions, &[0; 8], &[7; 32], &[9; 24]].concat())
}

fn goodbye(heard: &[u8]) -> (u8, String) {
    let place = heard.windows(2).position(|pair| pair[0] == 5).unwrap();
    (heard[place + 1], String::from_utf8_lossy(&heard[place..]).into_owned())
}

#[tokio::test]
async fn another_secret_is_refused_on_both_sides() {
    let dendrites = Dendrites::open(1, Policy::WriteThrough).await;
    let refused = refusal(&dendrites.addresses, b"what no other program knows").await;
    assert_eq!(refused.kind(), ErrorKind::InvalidInput);
    assert!(refused.to_string().contains("secret"), "{refused}");
    // A caller that guesses learns that the guess is wrong, and not which tables there are.
    let (code, text) = goodbye(&answer_to(&dendrites.addresses[0], &hello(2, 2)).await);
    assert!(code == 1 && text.contains("does not know the secret") && !text.contains(TABLE), "{text}");
    dendrites.stop().await;
}

#[tokio::test]
async fn a_version_that_is_not_spoken_is_refused_by_name() {
    let dendrites = Dendrites::open(1, Policy::WriteThrough).await;
    for (lowest, highest) in [(0, 0), (1, 1), (3, 9)] {
        let (code, text) = goodbye(&answer_to(&dendrites.addresses[0], &hello(lowest, highest)).await);
        assert_eq!(code, 4, "unsupported");
        assert!(text.contains("version 2 ") && text.contains(&format!("{lowest} to {highest}")), "{text}");
    }
    dendrites.stop().await;
}

#[tokio::test]
async fn a_dendrite_of_another_version_is_reported_to_the_caller() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        let mut callers = Vec::new();
        loop {
            let (mut socket, _) = listener.accept().await.unwrap();
            let text = b"this dendrite speaks version 9";
            let body = [&[4, u8::try_from(text.len()).unwrap()][..], text].concat();
            socket.write_all(&frame(5, &body)).await.unwrap();
            callers.push(socket);
        }
    });
    let refused = refusal(&[address], SECRET).await;
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
    assert!(refused.to_string().contains("version 9"), "{refused}");
}

#[tokio::test]
async fn noise_closes_the_connection_and_nothing_else() {
    let dendrites = Dendrites::open(1, Policy::WriteThrough).await;
    let mut damaged = hello(2, 2);
    damaged[20] ^= 1;
    let noise = [
        b"GET / HTTP/1.1\r\n\r\n".to_vec(),
        vec![0; 64],
        vec![255; 64],
        damaged,
        frame(16, b"a read before any hello"),
        frame(1, b"LACUNAdp"),
        frame(1, &[0; 1_000]),
    ];
    for bytes in noise {
        let heard = answer_to(&dendrites.addresses[0], &bytes).await;
        assert!(heard.is_empty() || goodbye(&heard).0 == 5, "corrupt: {heard:?}");
    }
    let client = dendrites.client().await;
    dendrites.table_of(&client).await.insert(slot(1, 1)).await.unwrap();
    dendrites.stop().await;
}

#[tokio::test]
async fn an_address_that_is_taken_or_none_is_named() {
    let taken = Server::listen("127.0.0.1:0").await.unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let error = Server::listen(&address).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.to_string().contains(&address), "{error}");
    assert_eq!(Server::listen("nowhere").await.unwrap_err().kind(), ErrorKind::InvalidInput);
    let none = Client::connect(&["127.0.0.1:1"], secret(), TABLE).await.unwrap_err();
    assert_eq!(none.kind(), ErrorKind::Unavailable);
    assert_eq!(
        Client::connect(&[] as &[&str], secret(), TABLE).await.unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_that_its_owners_know_otherwise_is_not_read() {
    let dendrites = Dendrites::open(1, Policy::WriteThrough).await;
    dendrites.table_at(0).await.insert(slot(1, 50)).await.unwrap();
    // Here the first domain is the number, there it is the place.
    let other = Schema::new("slots", "id").with_domain("id", DomainType::Integer);
    let client = Arc::new(dendrites.client().await);
    let table = dendrites.cache.table_over(other, client).await.unwrap();
    let refused = table.get("id", 40..60).await.unwrap_err();
    assert!(
        refused.kind() == ErrorKind::InvalidInput && refused.to_string().contains("otherwise"),
        "{refused}"
    );
    dendrites.stop().await;
}

/// Calls between owners have the numbers of columns, which mean others then, or none.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dendrite_of_other_columns_than_the_ranges_were_cut_for_is_refused() {
    let dendrites = Dendrites::open(0, Policy::WriteThrough).await;
    let cut_for = schema().with_domain("name", DomainType::Text);
    let first = dendrites.try_dendrite_of(cut_for.clone(), "127.0.0.1:8").await.unwrap();
    let of_slots = || Schema::new(TABLE, "id");
    let others = [
        (
            "another order",
            of_slots().with_domain("name", DomainType::Text).with_domain("place", DomainType::Integer),
        ),
        (
            "another type",
            of_slots().with_domain("place", DomainType::Unsigned).with_domain("name", DomainType::Text),
        ),
        (
            "another column",
            of_slots().with_domain("place", DomainType::Integer).with_domain("id", DomainType::Integer),
        ),
        ("fewer", schema()),
        ("more", cut_for.clone().with_domain("id", DomainType::Integer)),
    ];
    for (about, other) in others {
        let refused = dendrites.try_dendrite_of(other, "127.0.0.1:9").await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Conflict, "{about}: {refused}");
        assert!(refused.to_string().contains("cut for 2 registered columns"), "{about}: {refused}");
        assert!(refused.to_string().contains("lacuna_cut"), "{about}: {refused}");
    }
    let again = dendrites.try_dendrite_of(cut_for, "127.0.0.1:9").await.unwrap();
    again.stop().await.unwrap();
    first.stop().await.unwrap();
    dendrites.stop().await;
}

/// One that was started before the ranges were cut anew, for example.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dendrites_of_other_columns_do_not_speak_to_each_other() {
    let dendrites = Dendrites::open(1, Policy::WriteThrough).await;
    let range = RangeId(1);
    dendrites.claim(0, range).await;
    let table = dendrites.dendrite(0).table();
    let peer = PeerId { range: RangeId(0), epoch: Epoch(1), session: Session(1) };
    let call = async |marks: &[u64], what: PeerCall| {
        let net = Net::new(secret(), TABLE);
        net.register(marks);
        net.peer(&dendrites.addresses[0], range, peer, CallId(1), what).await
    };
    let lock = PeerCall::Lock(LeaseMode::Shared, table.intervals(range));
    let refused = call(&[table.marks()[0] + 1], lock.clone()).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
    assert!(refused.to_string().contains("other columns"), "{refused}");
    assert!(matches!(call(table.marks(), lock).await, Ok(PeerReply::Held(_))));
    assert!(matches!(call(table.marks(), PeerCall::Release).await, Ok(PeerReply::Released)));
    dendrites.stop().await;
}
