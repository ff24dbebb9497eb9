//! Messages and their bytes.

use lacuna_cache_protocol::{
    CallId, Command, Cut, Epoch, Form, Interval, LeaseMode, Notice, PeerCall, PeerId, PeerReply, Query,
    RangeId, RangeTable, Session, Stamps, Value, Write,
};
use lacuna_cache_protocol::{Error, ErrorKind};

use crate::cluster::fault::Fault;
use crate::cluster::frame::{LONGEST, write_frame};
use crate::cluster::message::{How, Message, Terms};
use crate::cluster::noticed::{Listen, Noticed};

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");

fn table() -> RangeTable {
    RangeTable::new(1).split(0, Cut::Before(100.into())).unwrap()
}

/// One message of each kind, with the name of its golden file.
fn messages() -> Vec<(&'static str, Message)> {
    let ages = Interval::closed(18.into(), 22.into()).unwrap();
    let terms = Terms { within_ms: 5_000, may_redirect: true, version: 2 };
    let query = Query { fingerprint: 77, form: Form::First(10), ..Query::all(1, ages.clone()) };
    let (question, stamps) = (Some([9][..].into()), Stamps::new(b"one of them"));
    let joined = Query { question, stamps, ..query.clone() };
    let touched = vec![(0, ages.clone()), (1, Interval::point(3.into())), (2, Interval::all())];
    let write = Write { touched: touched.clone(), command: Command::new(b"raise") };
    let peer = PeerId { range: RangeId(0), epoch: Epoch(9), session: Session(31) };
    let lock = PeerCall::Lock(LeaseMode::Exclusive, touched);
    let fault = Fault::new(&Error::unavailable("no dendrite is there"));
    let (low, high) = (Interval::point(5.into()), Interval::closed(7.into(), 9.into()).unwrap());
    let notices = vec![
        Notice::MayBeMissing,
        Notice::SetAside(vec![(70, Command::new(b"raise")), (71, Command::new(b""))]),
        Notice::BufferedWritesLost,
        Notice::WritingThrough,
        Notice::BypassDetected(vec![(1, low.clone())]),
    ];
    let noticed = Noticed { journal: 99, next: 8, members: vec!["10.0.0.8:7400".to_owned()], notices };
    vec![
        ("welcome", Message::Welcome { in_flight: 256, table: table() }),
        ("goodbye", Message::Goodbye(Fault::new(&Error::unsupported("another version")))),
        ("read", Message::Read(7, terms, Query::all(0, ages))),
        ("read_first", Message::Read(300, Terms { may_redirect: false, ..terms }, query)),
        ("read_joined", Message::Read(301, terms, joined)),
        ("write", Message::Write(8, terms, write.clone())),
        ("lock", Message::Peer(9, RangeId(1), peer, CallId(70_000), lock)),
        ("release", Message::Peer(10, RangeId(1), peer, CallId(70_001), PeerCall::Release)),
        ("value", Message::Value(7, Value::new(b"rows"))),
        ("done", Message::Done(8)),
        ("failed", Message::Failed(8, How::Unknown, fault)),
        ("redirect", Message::Redirect(7, RangeId(1), "10.0.0.8:7400".to_owned(), Some(table()))),
        ("redirect_known", Message::Redirect(7, RangeId(1), "10.0.0.8:7400".to_owned(), None)),
        ("held", Message::Held(9, PeerReply::Held(Epoch(12)))),
        ("released", Message::Held(10, PeerReply::Released)),
        ("read_all", Message::ReadAll(11, terms, vec![Query::all(0, low), Query::all(1, high)])),
        ("hold", Message::Hold(12, terms, 600_000, write.clone())),
        ("hold_over", Message::HoldOver(13, 12, true)),
        ("hold_given_up", Message::HoldOver(14, 12, false)),
        ("listen", Message::Listen(15, Listen { within_ms: 2_000, journal: 99, next: 3, age_ms: 70_000 })),
        ("values", Message::Values(11, vec![Value::new(b"rows"), Value::new(b"")])),
        ("held_all", Message::HeldAll(12, vec![(RangeId(0), Epoch(9)), (RangeId(1), Epoch(300))])),
        ("notices", Message::Notices(15, noticed)),
    ]
}

#[test]
fn frames_are_what_they_were() {
    let golden = |name: &str, frame: &[u8]| {
        let path = format!("{GOLDEN}/{name}.hex");
        let hex: String = frame.iter().map(|byte| format!("{byte:02x}")).collect::<String>() + "\n";
        let kept = lacuna_testkit::golden_bytes_are_kept(path.as_ref(), hex.as_bytes());
        kept.unwrap();
    };
    for (name, message) in messages() {
        let (kind, body) = message.to_frame();
        golden(name, &write_frame(kind, &body, LONGEST).unwrap());
        assert_eq!(Message::read(kind, &body).unwrap(), message);
    }
}

#[test]
fn stamps_arrive_as_they_were_sent() {
    let stamped = |message: &Message| match message {
        Message::Read(_, _, query) => query.stamps.as_bytes().to_vec(),
        _ => Vec::new(),
    };
    let sent: Vec<Vec<u8>> = messages().iter().map(|(_, message)| stamped(message)).collect();
    assert!(sent.iter().any(|stamps| !stamps.is_empty()));
    for ((name, message), sent) in messages().iter().zip(sent) {
        let (kind, body) = message.to_frame();
        assert_eq!(stamped(&Message::read(kind, &body).unwrap()), sent, "{name}");
    }
}

#[test]
fn cut_and_lengthened_bodies_are_errors() {
    for (name, message) in messages() {
        let (kind, body) = message.to_frame();
        let has_open_end = matches!(message, Message::Value(..) | Message::Write(..) | Message::Hold(..));
        for len in 0..body.len() {
            // A value is the rest of the message, and so is a command.
            let cut = Message::read(kind, &body[..len]);
            assert!(cut.is_err() || has_open_end, "{name} cut to {len}: {cut:?}");
        }
        let longer = Message::read(kind, &[&body[..], &[0]].concat());
        assert!(longer.is_err() || has_open_end, "{name}: {longer:?}");
    }
}

#[test]
fn damaged_bodies_never_come_back_as_something_that_cannot_be_written() {
    for (name, message) in messages() {
        let (kind, body) = message.to_frame();
        for bit in 0..body.len() * 8 {
            let mut damaged = body.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            crate::cluster::look::look_at(&[&[kind], &damaged[..]].concat());
            if let Ok(read) = Message::read(kind, &damaged) {
                assert_ne!(read, message, "{name}, bit {bit}");
            }
        }
    }
}

#[test]
fn unknown_kinds_are_errors() {
    for kind in (0..=255u8)
        .filter(|kind| ![4, 5, 16, 17, 18, 19, 20, 21, 22, 32, 33, 34, 35, 36, 37, 38, 39].contains(kind))
    {
        assert_eq!(Message::read(kind, &[1, 1, 1]).unwrap_err().kind(), ErrorKind::Corrupt);
    }
}
