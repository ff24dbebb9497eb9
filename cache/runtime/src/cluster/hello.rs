//! The handshake: a common version, and a proof from both sides that they know the secret.

use lacuna_cache_protocol::{Error, ErrorKind, Result};

use crate::cluster::fault::Fault;
use crate::cluster::frame::{malformed, reader};
use crate::cluster::message::Message;
use crate::cluster::secret::{Seal, Secret, Side};

const MAGIC: [u8; 8] = *b"LACUNAdp";
/// Versions that this code speaks.
pub(crate) const VERSIONS: (u16, u16) = (1, 1);
/// Features; none are defined yet.
const FEATURES: u64 = 0;
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

/// The longest name of a collection in bytes.
const MAX_NAME: usize = 1_024;

/// The body of a hello to the dendrite of a collection.
pub(crate) fn hello(role: Role, versions: (u16, u16), random: &[u8; 32], collection: &str) -> Vec<u8> {
    let role = match role {
        Role::Client => 1,
        Role::Dendrite => 2,
        Role::Owner => 3,
    };
    let mut body = MAGIC.to_vec();
    body.extend_from_slice(&versions.0.to_le_bytes());
    body.extend_from_slice(&versions.1.to_le_bytes());
    body.extend_from_slice(&FEATURES.to_le_bytes());
    body.push(role);
    body.extend_from_slice(random);
    body.extend_from_slice(&u16::try_from(collection.len()).unwrap_or(u16::MAX).to_le_bytes());
    body.extend_from_slice(collection.as_bytes());
    body
}

/// The role of a caller and the collection that it asks about, if it speaks a version that this code does.
///
/// # Errors
/// `Corrupt` if this is not a hello, `Unsupported` if there is no common version.
pub(crate) fn read_hello(kind: u8, body: &[u8]) -> Result<(Role, String)> {
    let mut reader = reader(body);
    if kind != HELLO || reader.fixed::<8>()? != MAGIC {
        return Err(Error::corrupt("the peer does not speak the dendrite protocol"));
    }
    let (lowest, highest) = (u16::from_le_bytes(reader.fixed()?), u16::from_le_bytes(reader.fixed()?));
    if lowest > VERSIONS.1 || highest < VERSIONS.0 {
        let message = format!(
            "this dendrite speaks version {} of the protocol, the caller {lowest} to {highest}",
            VERSIONS.1
        );
        return Err(Error::unsupported(message));
    }
    reader.fixed::<8>()?;
    let role = match reader.byte()? {
        1 => Role::Client,
        2 => Role::Dendrite,
        3 => Role::Owner,
        _ => return Err(malformed("role")),
    };
    reader.fixed::<32>()?;
    let bytes = usize::from(u16::from_le_bytes(reader.fixed()?));
    if bytes > MAX_NAME {
        return Err(malformed("collection"));
    }
    let collection = str::from_utf8(reader.take(bytes)?).map_err(|_| malformed("collection"))?;
    Ok((role, collection.to_owned()))
}

/// The messages of both sides before the proofs.
#[derive(Debug)]
pub(crate) struct Transcript(Vec<u8>);

impl Transcript {
    /// The body of a challenge that answers a hello, and the transcript so far.
    pub(crate) fn challenge(secret: &Secret, hello: &[u8], random: &[u8; 32]) -> (Vec<u8>, Self) {
        let mut body = VERSIONS.1.to_le_bytes().to_vec();
        body.extend_from_slice(&FEATURES.to_le_bytes());
        body.extend_from_slice(random);
        let transcript = Self([hello, &body].concat());
        body.extend_from_slice(&secret.proof(Side::Called, &transcript.0));
        (body, transcript)
    }

    /// The transcript so far, if the server has proved that it knows the secret.
    ///
    /// # Errors
    /// As [`goodbye`] if it sent one, `Corrupt` for anything else, `InvalidInput` if it does not know the secret.
    pub(crate) fn of_challenge(secret: &Secret, hello: &[u8], kind: u8, body: &[u8]) -> Result<Self> {
        let Some((said, proof)) = body.split_last_chunk::<32>().filter(|_| kind == CHALLENGE) else {
            return Err(goodbye(kind, body));
        };
        let mut reader = reader(said);
        let version = u16::from_le_bytes(reader.fixed()?);
        if said.len() != 42 || !(VERSIONS.0..=VERSIONS.1).contains(&version) {
            return Err(malformed("challenge"));
        }
        let transcript = Self([hello, said].concat());
        if !secret.is_proof(Side::Called, &transcript.0, proof) {
            return Err(Error::invalid_input("the dendrite does not know the secret of this caller"));
        }
        Ok(transcript)
    }

    pub(crate) fn proof(&self, secret: &Secret) -> [u8; 32] {
        secret.proof(Side::Caller, &self.0)
    }

    /// # Errors
    /// `InvalidInput` if the caller does not know the secret.
    pub(crate) fn check_proof(&self, secret: &Secret, kind: u8, body: &[u8]) -> Result<()> {
        let is_proof = |proof: &[u8; 32]| secret.is_proof(Side::Caller, &self.0, proof);
        let proof: Option<&[u8; 32]> = body.try_into().ok();
        if kind == PROOF && proof.is_some_and(is_proof) {
            return Ok(());
        }
        Err(Error::invalid_input("the caller does not know the secret of this dendrite"))
    }

    /// The seal that tags the frames of a side.
    pub(crate) fn seal(&self, secret: &Secret, side: Side) -> Seal {
        secret.seal(side, &self.0)
    }
}

/// Why the other side ended the connection, or that it does not speak this protocol.
pub(crate) fn goodbye(kind: u8, body: &[u8]) -> Error {
    match Message::read(kind, body) {
        Ok(Message::Goodbye(Fault { kind, text })) => {
            // This text is not authenticated.
            Error::new(kind, format!("the dendrite closed the connection: {}", text.escape_debug()))
        }
        _ => Error::new(ErrorKind::Corrupt, "the address does not answer in the dendrite protocol"),
    }
}
