//! Messages and their bytes.

use lacuna_cache_protocol::{
    CallId, Command, Cut, Epoch, Form, Interval, LeaseMode, Notice, PeerCall, PeerId, PeerReply, Query,
    RangeId, RangeTable, Session, Value, Write,
};
use lacuna_cache_protocol::{Error, ErrorKind};

use crate::cluster::fault::Fault;
use crate::cluster::frame::{Frames, write_frame};
use crate::cluster::hello::{Role, Transcript, VERSIONS, hello, read_hello};
use crate::cluster::message::{How, Message, Terms};
use crate::cluster::noticed::{Listen, Noticed};
use crate::cluster::secret::{Secret, Side};

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");

fn secret() -> Secret {
    Secret::new(b"the secret of golden frames").unwrap()
}

fn table() -> RangeTable {
    RangeTable::new(1).split(0, Cut::Before(100.into())).unwrap()
}

/// One message of each kind, with the name of its golden file.
fn messages() -> Vec<(&'static str, Message)> {
    let ages = Interval::closed(18.into(), 22.into()).unwrap();
    let terms = Terms { within_ms: 5_000, may_redirect: true, version: 2 };
    let query = Query { fingerprint: 77, form: Form::First(10), ..Query::all(1, ages.clone()) };
    let touched = vec![(0, ages.clone()), (1, Interval::point(3.into())), (2, Interval::all())];
    let write = Write { touched: touched.clone(), command: Command::new(b"raise") };
    let peer = PeerId { range: RangeId(0), epoch: Epoch(9), session: Session(31) };
    let lock = PeerCall::Lock(LeaseMode::Exclusive, touched);
    let fault = Fault::new(&Error::unavailable("nobody is there"));
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
        ("write", Message::Write(8, terms, write)),
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
        ("bulk", Message::Bulk(12, terms, 600_000)),
        ("bulk_over", Message::BulkOver(13, 12, true)),
        ("bulk_given_up", Message::BulkOver(14, 12, false)),
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
        golden(
            name,
            &write_frame(kind, &body, Some(&mut secret().seal(Side::Caller, b"a transcript"))).unwrap(),
        );
        assert_eq!(Message::read(kind, &body).unwrap(), message);
    }
    let said = hello(Role::Client, VERSIONS, &[7; 32], "people");
    let (challenge, transcript) = Transcript::challenge(&secret(), &said, &[9; 32]);
    golden("hello", &write_frame(1, &said, None).unwrap());
    golden("challenge", &write_frame(2, &challenge, None).unwrap());
    golden("proof", &write_frame(3, &transcript.proof(&secret()), None).unwrap());
}

#[test]
fn a_peer_of_another_version_is_not_followed() {
    let said = hello(Role::Client, (2, 2), &[7; 32], "people");
    let refused = read_hello(1, &said).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
    assert!(refused.to_string().contains("version 1") && refused.to_string().contains("2 to 2"), "{refused}");
    // A dendrite of another version answers the hello with a goodbye; if it went on instead, the caller would not
    // follow.
    let said = hello(Role::Client, VERSIONS, &[7; 32], "people");
    let goodbye = Fault::new(&Error::unsupported("this dendrite speaks version 2 of the protocol"));
    let (kind, body) = Message::Goodbye(goodbye).to_frame();
    let refused = Transcript::of_challenge(&secret(), &said, kind, &body).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
    let (mut challenge, _) = Transcript::challenge(&secret(), &said, &[9; 32]);
    challenge[0] = 2;
    let transcript = [&said[..], &challenge[..42]].concat();
    let proof = secret().proof(Side::Called, &transcript);
    challenge[42..].copy_from_slice(&proof);
    assert!(
        Transcript::of_challenge(&secret(), &said, 2, &challenge).is_err(),
        "although it knows the secret"
    );
}

#[test]
fn cut_and_lengthened_bodies_are_errors() {
    for (name, message) in messages() {
        let (kind, body) = message.to_frame();
        let has_open_end = matches!(message, Message::Value(..) | Message::Write(..));
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

#[test]
fn both_sides_prove_that_they_know_the_secret() {
    let other = Secret::new(b"another secret of 16 bytes").unwrap();
    let said = hello(Role::Owner, VERSIONS, &[1; 32], "people");
    assert_eq!(read_hello(1, &said).unwrap(), (Role::Owner, "people".to_owned()));
    let (challenge, called) = Transcript::challenge(&secret(), &said, &[2; 32]);
    let caller = Transcript::of_challenge(&secret(), &said, 2, &challenge).unwrap();
    called.check_proof(&secret(), 3, &caller.proof(&secret())).unwrap();
    let refused = Transcript::of_challenge(&other, &said, 2, &challenge).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidInput, "the called does not know the caller's secret");
    assert!(called.check_proof(&secret(), 3, &caller.proof(&other)).is_err());
    // A proof of one side is not valid for the other side, nor for another connection.
    assert!(called.check_proof(&secret(), 3, challenge.last_chunk::<32>().unwrap()).is_err());
    let (_, elsewhere) = Transcript::challenge(&secret(), &said, &[3; 32]);
    assert!(elsewhere.check_proof(&secret(), 3, &caller.proof(&secret())).is_err());
}

#[test]
fn whoever_changes_the_first_words_is_found_out() {
    let said = hello(Role::Client, VERSIONS, &[1; 32], "people");
    for bit in 0..said.len() * 8 {
        let mut changed = said.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        let (challenge, _) = Transcript::challenge(&secret(), &changed, &[2; 32]);
        assert!(Transcript::of_challenge(&secret(), &said, 2, &challenge).is_err(), "bit {bit} of the hello");
    }
    let (challenge, _) = Transcript::challenge(&secret(), &said, &[2; 32]);
    for bit in 0..challenge.len() * 8 {
        let mut changed = challenge.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert!(
            Transcript::of_challenge(&secret(), &said, 2, &changed).is_err(),
            "bit {bit} of the challenge"
        );
    }
}

#[test]
fn newer_and_older_versions_are_refused_by_name() {
    for versions in [(2, 3), (0, 0)] {
        let error = read_hello(1, &hello(Role::Client, versions, &[1; 32], "people")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains(&format!("{} to {}", versions.0, versions.1)), "{error}");
    }
    for name in [1_025, u16::MAX] {
        let mut long = hello(Role::Client, VERSIONS, &[1; 32], &"x".repeat(usize::from(name)));
        assert_eq!(read_hello(1, &long).unwrap_err().kind(), ErrorKind::Corrupt, "a name of {name} bytes");
        long.truncate(60);
        assert_eq!(read_hello(1, &long).unwrap_err().kind(), ErrorKind::Corrupt, "a name that ends early");
    }
    // A caller that speaks later versions, too, is accepted, whatever follows its hello.
    let later = [&hello(Role::Client, (1, 9), &[1; 32], "people")[..], b"more"].concat();
    assert_eq!(read_hello(1, &later).unwrap(), (Role::Client, "people".to_owned()));
}

#[test]
fn a_goodbye_before_the_proof_is_heard_without_a_tag() {
    let (kind, body) = Message::Goodbye(Fault::new(&Error::invalid_input("no"))).to_frame();
    let frame = write_frame(kind, &body, None).unwrap();
    let seal = || secret().seal(Side::Called, b"words");
    for step in [1, 3, frame.len()] {
        let mut frames = Frames::default();
        (frames.seal, frames.may_be_goodbye) = (Some(seal()), true);
        let mut heard = false;
        for piece in frame.chunks(step) {
            frames.push(piece);
            heard |= frames.next().unwrap().is_some_and(|(kind, _)| kind == 5);
        }
        assert!(heard);
    }
    let (kind, body) = Message::Done(1).to_frame();
    let mut frames = Frames::default();
    (frames.seal, frames.may_be_goodbye) = (Some(seal()), true);
    frames.push(&write_frame(kind, &body, None).unwrap());
    frames.push(&[0; 16]);
    assert!(frames.next().is_err(), "nothing else is believed without a tag");
}
