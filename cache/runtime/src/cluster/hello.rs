//! The handshake: a common version, and keys that only peers with the secret can have.

use lacuna_cache_protocol::{Error, ErrorKind, Result};

use crate::cluster::fault::Fault;
use crate::cluster::frame::{malformed, reader};
use crate::cluster::message::Message;
use crate::cluster::noise::{Handshake, Opener, Sealer, Side};
use crate::cluster::secret::Secret;

const MAGIC: [u8; 8] = *b"LACUNAdp";
/// Versions that this code speaks.
pub(crate) const VERSIONS: (u16, u16) = (2, 2);
/// Features; none are defined yet.
const FEATURES: u64 = 0;
/// Bytes of a hello that are not encrypted: what both sides have to agree about.
const OPEN: usize = 20;
pub(crate) const HELLO: u8 = 1;
pub(crate) const CHALLENGE: u8 = 2;
pub(crate) const PROOF: u8 = 3;

/// The role of a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    Client,
    /// A dendrite that forwards requests, which are not forwarded again.
    Dendrite,
    /// An owner that leads requests over several ranges.
    Owner,
}

impl Role {
    const fn code(self) -> u8 {
        match self {
            Self::Client => 1,
            Self::Dendrite => 2,
            Self::Owner => 3,
        }
    }

    fn of(code: u8) -> Result<Self> {
        let roles = [Self::Client, Self::Dendrite, Self::Owner];
        roles.into_iter().find(|role| role.code() == code).ok_or_else(|| malformed("role"))
    }
}

/// The longest name of a collection in bytes: a hello is a frame of at most 1,024.
const MAX_NAME: usize = 900;

/// What a caller says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Introduction {
    pub(crate) role: Role,
    pub(crate) collection: String,
}

impl Introduction {
    fn to_bytes(&self) -> Result<Vec<u8>> {
        let name = self.collection.as_bytes();
        let length = u16::try_from(name.len()).ok().filter(|length| usize::from(*length) <= MAX_NAME);
        let length = length.ok_or_else(|| {
            Error::invalid_input(format!("the name of a collection is longer than {MAX_NAME} bytes"))
        })?;
        Ok([&[self.role.code()][..], &length.to_le_bytes(), name].concat())
    }

    /// Later versions may add bytes.
    fn read(bytes: &[u8]) -> Result<Self> {
        let mut reader = reader(bytes);
        let role = Role::of(reader.byte()?)?;
        let bytes = usize::from(u16::from_le_bytes(reader.fixed()?));
        if bytes > MAX_NAME {
            return Err(malformed("collection"));
        }
        let collection = str::from_utf8(reader.take(bytes)?).map_err(|_| malformed("collection"))?;
        Ok(Self { role, collection: collection.to_owned() })
    }
}

/// What is open in a hello.
fn open_part((lowest, highest): (u16, u16)) -> [u8; OPEN] {
    let mut open = [0; OPEN];
    open[..8].copy_from_slice(&MAGIC);
    open[8..10].copy_from_slice(&lowest.to_le_bytes());
    open[10..12].copy_from_slice(&highest.to_le_bytes());
    open[12..].copy_from_slice(&FEATURES.to_le_bytes());
    open
}

/// A caller that has said hello.
pub(crate) struct Calling(Handshake);

impl Calling {
    /// A caller, and the body of its hello.
    ///
    /// # Errors
    /// `InvalidInput` if the name of the collection is too long, `Unavailable` if the machine has no random bytes.
    pub(crate) fn begin(secret: &Secret, introduction: &Introduction) -> Result<(Self, Vec<u8>)> {
        let open = open_part(VERSIONS);
        let mut handshake = Handshake::new(Side::Caller, secret, &open)?;
        let hello = [&open[..], &handshake.write(&introduction.to_bytes()?)?].concat();
        Ok((Self(handshake), hello))
    }

    /// Both directions, if the frame is the challenge of a peer that knows the secret.
    ///
    /// # Errors
    /// As [`goodbye`] if it sent one, `Corrupt` for anything else, `InvalidInput` if it does not know the secret.
    pub(crate) fn finish(mut self, kind: u8, body: &[u8]) -> Result<(Sealer, Opener)> {
        if kind != CHALLENGE {
            return Err(goodbye(kind, body));
        }
        let said = self.0.read(body).ok_or_else(|| {
            Error::invalid_input(
                "the dendrite does not know the secret of this caller, or was changed on the way",
            )
        })?;
        let version = u16::from_le_bytes(reader(&said).fixed()?);
        if !(VERSIONS.0..=VERSIONS.1).contains(&version) {
            return Err(malformed("challenge"));
        }
        self.0.finish()
    }
}

/// The open and the encrypted part of a hello. The versions of a caller are checked before anything else.
///
/// # Errors
/// `Corrupt` if this is not a hello, `Unsupported` if there is no common version.
pub(crate) fn check_hello(kind: u8, body: &[u8]) -> Result<(&[u8], &[u8])> {
    let is_hello = |open: &[u8]| kind == HELLO && open[..8] == MAGIC;
    let Some((open, noise)) = body.split_at_checked(OPEN).filter(|(open, _)| is_hello(open)) else {
        return Err(Error::corrupt("the peer does not speak the dendrite protocol"));
    };
    let mut reader = reader(&open[8..]);
    let (lowest, highest) = (u16::from_le_bytes(reader.fixed()?), u16::from_le_bytes(reader.fixed()?));
    if lowest > VERSIONS.1 || highest < VERSIONS.0 {
        let message = format!(
            "this dendrite speaks version {} of the protocol, the caller {lowest} to {highest}",
            VERSIONS.1
        );
        return Err(Error::unsupported(message));
    }
    Ok((open, noise))
}

/// What the called has after a hello.
#[derive(Debug)]
pub(crate) struct Called {
    /// A hello may be a copy of an earlier one: it is believed after the first record.
    pub(crate) introduction: Introduction,
    pub(crate) challenge: Vec<u8>,
    pub(crate) sealer: Sealer,
    pub(crate) opener: Opener,
}

impl Called {
    /// The answer to a hello.
    ///
    /// # Errors
    /// As [`check_hello`], `InvalidInput` if the caller does not know the secret.
    pub(crate) fn answer(secret: &Secret, kind: u8, body: &[u8]) -> Result<Self> {
        let (open, noise) = check_hello(kind, body)?;
        Self::answer_by(Handshake::new(Side::Called, secret, open)?, noise)
    }

    fn answer_by(mut handshake: Handshake, noise: &[u8]) -> Result<Self> {
        let said = handshake.read(noise).ok_or_else(|| {
            Error::invalid_input(
                "the caller does not know the secret of this dendrite, or was changed on the way",
            )
        })?;
        let introduction = Introduction::read(&said)?;
        let chosen = [&VERSIONS.1.to_le_bytes()[..], &FEATURES.to_le_bytes()].concat();
        let challenge = handshake.write(&chosen)?;
        let (sealer, opener) = handshake.finish()?;
        Ok(Self { introduction, challenge, sealer, opener })
    }
}

/// Why the other side ended the connection, or that it does not speak this protocol.
pub(crate) fn goodbye(kind: u8, body: &[u8]) -> Error {
    match Message::read(kind, body) {
        Ok(Message::Goodbye(Fault { kind, text })) => {
            // This text may not be authenticated.
            Error::new(kind, format!("the dendrite closed the connection: {}", text.escape_debug()))
        }
        _ => Error::new(ErrorKind::Corrupt, "the address does not answer in the dendrite protocol"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret() -> Secret {
        Secret::new(b"the secret of golden frames").unwrap()
    }

    fn people() -> Introduction {
        Introduction { role: Role::Owner, collection: "people".to_owned() }
    }

    /// A hello for these versions, made by an honest caller of them.
    fn hello(versions: (u16, u16), introduction: &[u8]) -> (Handshake, Vec<u8>) {
        let open = open_part(versions);
        let mut handshake = Handshake::begin(Side::Caller, &secret(), &open, Some(&[7; 32])).unwrap();
        let noise = handshake.write(introduction).unwrap();
        (handshake, [&open[..], &noise].concat())
    }

    #[test]
    fn frames_of_the_handshake_are_what_they_were() {
        let golden = |name: &str, bytes: &[u8]| {
            let path = format!("{}/tests/golden/{name}.hex", env!("CARGO_MANIFEST_DIR"));
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>() + "\n";
            lacuna_testkit::golden_bytes_are_kept(path.as_ref(), hex.as_bytes()).unwrap();
        };
        let frame = |kind, body: &[u8]| crate::cluster::frame::write_frame(kind, body, 1_024).unwrap();
        let (caller, said) = hello(VERSIONS, &people().to_bytes().unwrap());
        golden("hello", &frame(HELLO, &said));
        let called = Handshake::begin(Side::Called, &secret(), &said[..OPEN], Some(&[9; 32])).unwrap();
        let called = Called::answer_by(called, &said[OPEN..]).unwrap();
        golden("challenge", &frame(CHALLENGE, &called.challenge));
        let (mut sealer, _) = Calling(caller).finish(CHALLENGE, &called.challenge).unwrap();
        golden("proof", &sealer.seal(&frame(PROOF, &[])).unwrap());
    }

    #[test]
    fn both_sides_have_keys_only_if_both_know_the_secret() {
        let other = Secret::new(b"another secret of 16 bytes").unwrap();
        let (calling, said) = Calling::begin(&secret(), &people()).unwrap();
        let refused = Called::answer(&other, HELLO, &said).unwrap_err();
        assert!(refused.kind() == ErrorKind::InvalidInput && refused.to_string().contains("secret"));
        let mut called = Called::answer(&secret(), HELLO, &said).unwrap();
        assert_eq!(called.introduction, people());
        let (mut sealer, mut opener) = calling.finish(CHALLENGE, &called.challenge).unwrap();
        assert_eq!(called.opener.open(&sealer.seal(b"there").unwrap()).unwrap(), b"there");
        assert_eq!(opener.open(&called.sealer.seal(b"back").unwrap()).unwrap(), b"back");
        // A repeated hello is answered under keys that its thief does not have.
        let mut again = Called::answer(&secret(), HELLO, &said).unwrap();
        assert!(again.opener.open(&sealer.seal(b"there").unwrap()).is_err());
        // A challenge of a peer that knows another secret, or of another connection.
        let (calling, _) = Calling::begin(&secret(), &people()).unwrap();
        let refused = calling.finish(CHALLENGE, &again.challenge).unwrap_err();
        assert!(refused.kind() == ErrorKind::InvalidInput && refused.to_string().contains("secret"));
    }

    #[test]
    fn any_flipped_bit_of_the_handshake_ends_it() {
        let (_, said) = Calling::begin(&secret(), &people()).unwrap();
        for bit in 0..said.len() * 8 {
            let mut changed = said.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(Called::answer(&secret(), HELLO, &changed).is_err(), "bit {bit} of the hello");
        }
        let length = Called::answer(&secret(), HELLO, &said).unwrap().challenge.len();
        for bit in 0..length * 8 {
            let (calling, said) = Calling::begin(&secret(), &people()).unwrap();
            let mut challenge = Called::answer(&secret(), HELLO, &said).unwrap().challenge;
            challenge[bit / 8] ^= 1 << (bit % 8);
            assert!(calling.finish(CHALLENGE, &challenge).is_err(), "bit {bit} of the challenge");
        }
    }

    #[test]
    fn newer_and_older_versions_are_refused_by_name() {
        for versions in [(3, 4), (1, 1)] {
            let error = Called::answer(&secret(), HELLO, &hello(versions, b"").1).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported);
            assert!(error.to_string().contains(&format!("{} to {}", versions.0, versions.1)), "{error}");
        }
        // A caller that speaks later versions, too, is accepted, whatever follows its introduction.
        let later = [&people().to_bytes().unwrap()[..], b"more"].concat();
        let called = Called::answer(&secret(), HELLO, &hello((2, 9), &later).1).unwrap();
        assert_eq!(called.introduction, people());
        // Versions that somebody changed on the way do not open.
        let mut lowered = hello((2, 9), &later).1;
        lowered[10..12].copy_from_slice(&3_u16.to_le_bytes());
        assert!(Called::answer(&secret(), HELLO, &lowered).is_err());
    }

    #[test]
    fn a_peer_of_another_version_is_not_followed() {
        let (calling, _) = Calling::begin(&secret(), &people()).unwrap();
        let text = Fault::new(&Error::unsupported("this dendrite speaks version 3 of the protocol"));
        let (kind, body) = Message::Goodbye(text).to_frame();
        let refused = calling.finish(kind, &body).err().unwrap();
        assert_eq!(refused.kind(), ErrorKind::Unsupported);
        let (calling, said) = Calling::begin(&secret(), &people()).unwrap();
        let mut called = Handshake::new(Side::Called, &secret(), &said[..OPEN]).unwrap();
        called.read(&said[OPEN..]).unwrap();
        let challenge = called.write(&[3; 10]).unwrap();
        assert!(calling.finish(CHALLENGE, &challenge).is_err(), "although it knows the secret");
    }

    #[test]
    fn introductions_that_make_no_sense_are_errors() {
        for bytes in [
            &b""[..],
            &[0, 0, 0],
            &[1, 5, 0, b'a'],
            &[1, 2, 0, 0xff, 0xff],
            &[&[1][..], &901_u16.to_le_bytes(), &[b'a'; 901]].concat(),
        ] {
            assert_eq!(Introduction::read(bytes).unwrap_err().kind(), ErrorKind::Corrupt, "{bytes:?}");
        }
        let long = Introduction { role: Role::Client, collection: "x".repeat(901) };
        assert_eq!(Calling::begin(&secret(), &long).err().unwrap().kind(), ErrorKind::InvalidInput);
    }
}
