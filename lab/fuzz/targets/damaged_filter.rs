//! A filter whose payload lies under checksums that hold: opening may fail, asking may answer anything, nothing panics.

#![no_main]

use std::sync::LazyLock;

use arbitrary::Arbitrary;
use lacuna_base::{ByteRange, DynFilter, ENVELOPE_BYTES, Envelope, KeySpaceId, Sealed};
use libfuzzer_sys::fuzz_target;

/// Every format's golden file, the damage starts from.
static SOUND: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../filters/families/tests/golden");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("the golden files stand in the checkout")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "lacuna"))
        .collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).expect("a readable file")).collect()
});

#[derive(Debug, Arbitrary)]
struct Input {
    file: u8,
    length: Option<u16>,
    key_count: Option<u64>,
    ends: Option<(u64, u64)>,
    edits: Vec<(u16, u8)>,
    integers: Vec<(u64, u64)>,
    strings: Vec<(Vec<u8>, Vec<u8>)>,
}

fuzz_target!(|input: Input| {
    let sound = &SOUND[usize::from(input.file) % SOUND.len()];
    let (envelope, sealed) = damage(sound, &input);
    match envelope.key_space {
        KeySpaceId::U64 => {
            if let Ok(filter) = lacuna_families::open::<u64, _>(sealed.into_bytes()) {
                lacuna_fuzz::ask_integers(&filter, &input.integers);
            }
        }
        KeySpaceId::Bytes => {
            if let Ok(filter) = lacuna_families::open::<[u8], _>(sealed.into_bytes()) {
                ask_strings(&filter, &input.strings);
            }
        }
    }
});

fn damage(sound: &[u8], input: &Input) -> (Envelope, Sealed) {
    let (mut envelope, payload) = Envelope::open(sound).expect("a golden file");
    debug_assert_eq!(payload.len(), sound.len() - ENVELOPE_BYTES);
    let mut payload = payload.to_vec();
    if let Some(length) = input.length {
        payload.resize(usize::from(length) % (2 * payload.len() + 1), 0xA5);
    }
    for &(place, value) in &input.edits {
        if let Some(length) = payload.len().checked_sub(1) {
            payload[usize::from(place) % (length + 1)] = value;
        }
    }
    envelope.key_count = input.key_count.unwrap_or(envelope.key_count);
    if let Some((one, other)) = input.ends {
        (envelope.smallest, envelope.largest) = (one.min(other), one.max(other));
    }
    (envelope, Sealed::assemble(&envelope, &payload))
}

fn ask_strings(filter: &DynFilter<[u8]>, ends: &[(Vec<u8>, Vec<u8>)]) {
    for (one, other) in ends {
        let _ = filter.may_contain(one);
        if let Some(range) = ByteRange::new(one.min(other), one.max(other)) {
            let _ = filter.may_contain_range(range);
        }
    }
}
