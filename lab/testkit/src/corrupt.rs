//! Damage: flipped bits, cut ends, and payloads that lie although their checksums hold.

use lacuna_base::{ENVELOPE_BYTES, Envelope, Sealed};
use lacuna_workload::Rng;

use crate::Fault;

/// A copy of `bytes` with bit `bit` flipped, counted from the lowest of the first byte.
///
/// ```
/// assert_eq!(lacuna_testkit::flipped(&[0, 0], 9), [0, 2]);
/// ```
///
/// # Panics
/// If there are fewer bits.
pub fn flipped(bytes: &[u8], bit: usize) -> Vec<u8> {
    let mut copy = bytes.to_vec();
    copy[bit / 8] ^= 1 << (bit % 8);
    copy
}

/// A sealed filter with another payload and checksums that fit it.
///
/// # Errors
/// A fault if the envelope of `bytes` does not open.
pub fn with_payload(bytes: &[u8], payload: &[u8]) -> Result<Sealed, Fault> {
    Ok(Sealed::assemble(&envelope_of(bytes)?, payload))
}

/// The envelope of sealed bytes.
///
/// # Errors
/// A fault if it does not open.
pub fn envelope_of(bytes: &[u8]) -> Result<Envelope, Fault> {
    let opened = Envelope::open(bytes);
    opened
        .map(|(envelope, _)| envelope)
        .map_err(|error| Fault::new(format!("the envelope does not open: {error}")))
}

/// A sealed filter damaged in one random way, with checksums that fit: only the family itself can notice.
///
/// # Errors
/// As [`envelope_of`].
pub fn lying_copy(bytes: &[u8], rng: &mut Rng) -> Result<Sealed, Fault> {
    let mut envelope = envelope_of(bytes)?;
    let mut payload = bytes[ENVELOPE_BYTES..].to_vec();
    match rng.below(4) {
        0 => lie_in_header(&mut envelope, rng),
        1 => resize(&mut payload, rng),
        2 => {
            lie_in_header(&mut envelope, rng);
            scribble(&mut payload, rng);
        }
        _ => scribble(&mut payload, rng),
    }
    Ok(Sealed::assemble(&envelope, &payload))
}

/// Numbers that break arithmetic.
fn nasty_number(rng: &mut Rng) -> u64 {
    match rng.below(5) {
        0 => 0,
        1 => u64::MAX - rng.below(3),
        2 => 1 << rng.below(64),
        3 => rng.below(300),
        _ => rng.next_u64(),
    }
}

fn lie_in_header(envelope: &mut Envelope, rng: &mut Rng) {
    match rng.below(3) {
        0 => envelope.key_count = nasty_number(rng),
        1 => envelope.smallest = nasty_number(rng).min(envelope.largest),
        _ => envelope.largest = nasty_number(rng).max(envelope.smallest),
    }
}

/// Overwrites the payload in one to four places, or all of it.
fn scribble(payload: &mut [u8], rng: &mut Rng) {
    if payload.is_empty() {
        return;
    }
    for _ in 0..=rng.below(4) {
        // Headers and footers of a payload steer everything else, so they are hit as often as the rest.
        let at = match rng.below(3) {
            0 => rng.index(payload.len().min(64)),
            1 => payload.len() - 1 - rng.index(payload.len().min(16)),
            _ => rng.index(payload.len()),
        };
        let number = nasty_number(rng).to_le_bytes();
        let len = number.len().min(payload.len() - at);
        payload[at..at + len].copy_from_slice(&number[..len]);
    }
    if rng.below(8) == 0 {
        let fill = [0x00, 0xFF, 0x55][rng.index(3)];
        let from = rng.index(payload.len());
        payload[from..].fill(fill);
    }
}

fn resize(payload: &mut Vec<u8>, rng: &mut Rng) {
    let longest = payload.len() + 200;
    payload.resize(rng.index(longest + 1), 0xA5);
}

#[cfg(test)]
mod tests {
    use lacuna_base::{CodecId, KeySpaceId, KeyType, KindId};

    use super::*;

    fn sealed() -> Sealed {
        let (kind, key_space, codec) = (KindId(0x8000), KeySpaceId::U64, CodecId::IDENTITY);
        let envelope = Envelope {
            kind,
            payload_version: 1,
            key_space,
            codec,
            key_type: KeyType::U64,
            key_count: 2,
            smallest: 3,
            largest: 9,
        };
        Sealed::assemble(&envelope, &[7; 100])
    }

    #[test]
    fn lies_have_fitting_checksums() {
        let (original, mut rng) = (sealed(), Rng::new(3));
        for round in 0..1_000 {
            let lie = lying_copy(original.as_bytes(), &mut rng).expect("the original opens");
            assert!(Envelope::open_verified(lie.as_bytes()).is_ok(), "round {round}, seed 3");
        }
    }

    #[test]
    fn most_lies_differ_from_the_truth() {
        let (original, mut rng) = (sealed(), Rng::new(4));
        let lies = (0..1_000).map(|_| lying_copy(original.as_bytes(), &mut rng).expect("the original opens"));
        let same = lies.filter(|lie| *lie == original).count();
        assert!(same < 200, "{same} of 1000 changed nothing, seed 4");
    }
}
