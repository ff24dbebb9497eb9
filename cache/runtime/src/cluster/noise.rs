//! Encrypted connections: the handshake `NNpsk0` of the Noise framework, and the records after it.
//!
//! Both sides mix the shared secret and fresh Diffie-Hellman keys into everything. The first message is already
//! encrypted under the secret, so a caller without it is refused before the called computes a key; the keys of
//! records are those of this connection alone, so records of the past stay closed to a thief of the secret.
//!
//! A *record* is a length (2 bytes), and that many encrypted bytes with a tag of 16. Its number is the nonce:
//! a record that is changed, repeated, left out or moved does not open. Frames are cut into records as they come;
//! `write` and `read` of 40 and 60 bytes in one batch are one record of 118 bytes.
//!
//! Cost: 18 bytes and one pass over the bytes for each record, at most 64 KiB.
//!
//! Perrin, "The Noise Protocol Framework", revision 34, sections 7.5, 9 and 11.4.

use std::fmt;
use std::sync::Arc;

use lacuna_cache_protocol::{Error, Result};
use snow::{Builder, HandshakeState, StatelessTransportState};

use crate::cluster::frame::malformed;
use crate::cluster::secret::Secret;

/// Curve, cipher and hash.
const PATTERN: &str = "Noise_NNpsk0_25519_ChaChaPoly_SHA256";
/// The longest message of Noise.
const LONGEST: usize = 65_535;
/// Of Poly1305.
const TAG_BYTES: usize = 16;
const LENGTH_BYTES: usize = 2;

/// A side of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Caller,
    Called,
}

/// A handshake in progress.
pub(crate) struct Handshake(HandshakeState);

impl Handshake {
    /// The beginning of a side; both have to say the same `prologue`.
    ///
    /// # Errors
    /// `Unavailable` if the machine has no random bytes.
    pub(crate) fn new(side: Side, secret: &Secret, prologue: &[u8]) -> Result<Self> {
        Self::begin(side, secret, prologue, None)
    }

    /// With a chosen key in place of a fresh one.
    pub(crate) fn begin(
        side: Side,
        secret: &Secret,
        prologue: &[u8],
        own: Option<&[u8; 32]>,
    ) -> Result<Self> {
        let pattern = PATTERN.parse().map_err(unready)?;
        let builder = Builder::new(pattern).prologue(prologue).map_err(unready)?;
        let mut builder = builder.psk(0, secret.key()).map_err(unready)?;
        if let Some(own) = own {
            builder = builder.fixed_ephemeral_key_for_testing_only(own);
        }
        let state = match side {
            Side::Caller => builder.build_initiator(),
            Side::Called => builder.build_responder(),
        };
        Ok(Self(state.map_err(unready)?))
    }

    /// The next message, with a payload.
    ///
    /// # Errors
    /// `Unavailable` if the machine has no random bytes.
    pub(crate) fn write(&mut self, payload: &[u8]) -> Result<Vec<u8>> {
        let mut message = vec![0; payload.len() + 64];
        let len = self.0.write_message(payload, &mut message).map_err(unready)?;
        message.truncate(len);
        Ok(message)
    }

    /// The payload of the next message; `None` if it was not sent by a peer that knows the secret and says the same
    /// prologue.
    pub(crate) fn read(&mut self, message: &[u8]) -> Option<Vec<u8>> {
        let mut payload = vec![0; message.len()];
        let len = self.0.read_message(message, &mut payload).ok()?;
        payload.truncate(len);
        Some(payload)
    }

    /// Both directions, once both messages were exchanged.
    ///
    /// # Errors
    /// `Unavailable` if they were not.
    pub(crate) fn finish(self) -> Result<(Sealer, Opener)> {
        let state = Arc::new(self.0.into_stateless_transport_mode().map_err(unready)?);
        let opener = Opener { state: state.clone(), next: 0, bytes: Vec::new() };
        Ok((Sealer { state, next: 0 }, opener))
    }
}

fn unready(why: snow::Error) -> Error {
    Error::unavailable(format!("the handshake cannot go on: {why}"))
}

/// Encrypts the outgoing direction.
pub(crate) struct Sealer {
    state: Arc<StatelessTransportState>,
    next: u64,
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sealer").field("next", &self.next).finish_non_exhaustive()
    }
}

impl Sealer {
    /// The records of these bytes.
    ///
    /// # Errors
    /// `Unavailable` if the numbers of records are used up.
    pub(crate) fn seal(&mut self, bytes: &[u8]) -> Result<Vec<u8>> {
        let mut records = Vec::with_capacity(bytes.len() + bytes.len().div_ceil(LONGEST) * 32);
        for piece in bytes.chunks(LONGEST - TAG_BYTES) {
            let start = records.len() + LENGTH_BYTES;
            let len = piece.len() + TAG_BYTES;
            let length = u16::try_from(len).expect("pieces are shorter than a record may be");
            records.extend_from_slice(&length.to_le_bytes());
            records.resize(start + len, 0);
            self.state.write_message(self.next, piece, &mut records[start..]).map_err(unready)?;
            self.next += 1;
        }
        Ok(records)
    }
}

/// Decrypts the incoming direction.
pub(crate) struct Opener {
    state: Arc<StatelessTransportState>,
    next: u64,
    /// The beginning of a record.
    bytes: Vec<u8>,
}

impl fmt::Debug for Opener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opener").field("next", &self.next).finish_non_exhaustive()
    }
}

impl Opener {
    /// What the records hold that are complete with these received bytes. After an error the direction cannot be read
    /// further.
    ///
    /// # Errors
    /// `Corrupt` for a record that was not sent by the peer of the handshake as the next one.
    pub(crate) fn open(&mut self, received: &[u8]) -> Result<Vec<u8>> {
        self.bytes.extend_from_slice(received);
        let (mut opened, mut start) = (Vec::new(), 0);
        while let Some(length) = self.bytes[start..].first_chunk::<LENGTH_BYTES>() {
            let len = usize::from(u16::from_le_bytes(*length));
            if len < TAG_BYTES {
                return Err(malformed("length of a record"));
            }
            let record = start + LENGTH_BYTES;
            let Some(sealed) = self.bytes.get(record..record + len) else { break };
            let place = opened.len();
            opened.resize(place + len - TAG_BYTES, 0);
            let read = self.state.read_message(self.next, sealed, &mut opened[place..]);
            read.map_err(|_| Error::corrupt(CHANGED))?;
            (self.next, start) = (self.next + 1, record + len);
        }
        self.bytes.drain(..start);
        Ok(opened)
    }

    /// Whether the stream may end here.
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

const CHANGED: &str = "a record was not sent by a peer that knows the secret, or was changed on the way";

#[cfg(test)]
mod tests {
    use super::*;

    const PROLOGUE: &[u8] = b"a prologue";

    fn secret() -> Secret {
        Secret::new(b"a secret of tests").unwrap()
    }

    /// The caller's sealer and the called's opener.
    fn direction() -> (Sealer, Opener) {
        let mut caller = Handshake::new(Side::Caller, &secret(), PROLOGUE).unwrap();
        let mut called = Handshake::new(Side::Called, &secret(), PROLOGUE).unwrap();
        assert_eq!(called.read(&caller.write(b"one").unwrap()).unwrap(), b"one");
        assert_eq!(caller.read(&called.write(b"two").unwrap()).unwrap(), b"two");
        (caller.finish().unwrap().0, called.finish().unwrap().1)
    }

    #[test]
    fn bytes_come_back_however_the_stream_is_cut() {
        let (mut sealer, mut opener) = direction();
        let longest = LONGEST - TAG_BYTES;
        for (len, step) in
            [(0, 1), (1, 1), (1_000, 7), (longest, 9_000), (longest + 1, 9_000), (200_000, 65_000)]
        {
            let bytes: Vec<u8> = (0..=250).cycle().take(len).collect();
            let sealed = sealer.seal(&bytes).unwrap();
            let opened: Vec<u8> = sealed.chunks(step).flat_map(|piece| opener.open(piece).unwrap()).collect();
            assert!(opened == bytes && opener.is_empty(), "{len} bytes by {step}");
        }
    }

    #[test]
    fn any_flipped_bit_of_a_record_is_reported() {
        let (mut sealer, opener) = direction();
        let sealed = sealer.seal(b"a row of the table").unwrap();
        for bit in 0..sealed.len() * 8 {
            let mut changed = sealed.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            let mut opener = Opener { state: opener.state.clone(), next: 0, bytes: Vec::new() };
            // A longer length waits for bytes that never come; every other change is reported.
            let opened = opener.open(&changed);
            assert!(opened.is_err() || bit < 16 && opened.unwrap().is_empty(), "bit {bit}");
        }
    }

    #[test]
    fn repeated_moved_and_omitted_records_are_reported() {
        let (mut sealer, opener) = direction();
        let [a, b, c] = [b"a", b"b", b"c"].map(|bytes| sealer.seal(bytes).unwrap());
        for (stream, is_right) in [
            ([&a[..], &b, &c].concat(), true),
            ([&a[..], &a].concat(), false),
            ([&a[..], &c].concat(), false),
            ([&b[..], &a].concat(), false),
        ] {
            let mut opener = Opener { state: opener.state.clone(), next: 0, bytes: Vec::new() };
            assert_eq!(opener.open(&stream).is_ok(), is_right);
        }
    }

    #[test]
    fn other_secrets_and_prologues_end_the_handshake_at_its_first_message() {
        let mut caller = Handshake::new(Side::Caller, &secret(), PROLOGUE).unwrap();
        let first = caller.write(b"one").unwrap();
        let other = Secret::new(b"another secret of tests").unwrap();
        for (secret, prologue) in [(&other, PROLOGUE), (&secret(), b"another")] {
            assert!(Handshake::new(Side::Called, secret, prologue).unwrap().read(&first).is_none());
        }
        for bit in 0..first.len() * 8 {
            let mut changed = first.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            let mut called = Handshake::new(Side::Called, &secret(), PROLOGUE).unwrap();
            assert!(called.read(&changed).is_none(), "bit {bit}");
        }
    }
}
