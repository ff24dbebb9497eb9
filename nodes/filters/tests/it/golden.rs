//! Bytes between nodes must never change: one file with one message of each kind.

use lacuna_node_filters::{KeyId, LeaseUse, Message, NodeFilter, TableDelta, TableId, Version};

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/messages_v1.bin");

const VERSION: Version =
    Version { incarnation: 0x0102_0304_0506_0708, sequence: 300, digest: 0x1112_1314_1516_1718 };

fn request(lease_use: LeaseUse) -> Message {
    Message::Request { number: 9, applied: VERSION, ring: 4, lease_use }
}

fn messages() -> Vec<Message> {
    let version = VERSION;
    let table = TableId(0x0102_0304_0506_0708_090A_0B0C_0D0E_0F10);
    let delta = TableDelta { is_reset: true, keys: vec![3, 5], dead: vec![(KeyId::from_halves(6, 7), 77)] };
    let check = 0xDEAD_BEEF;
    vec![
        request(LeaseUse::None),
        request(LeaseUse::Answer),
        request(LeaseUse::Count),
        Message::Grant { number: 9, version, ring: 4, length: 3_000, catalog: 21 },
        Message::Delta { incarnation: 1, sequence: 301, tables: vec![(table, delta)] },
        Message::Applied(version),
        Message::Missing(version),
        Message::Gap(version),
        Message::AskCatalog,
        Message::Catalog { incarnation: 1, tables: vec![(table, 200)] },
        Message::AskChunk { table, sequence: u64::MAX, index: 2 },
        Message::Chunk { table, version, generation: 2, index: 1, count: 3, check, bytes: vec![1, 2, 3] },
    ]
}

#[test]
fn the_bytes_of_messages_are_kept() {
    let bytes: Vec<u8> = messages()
        .iter()
        .flat_map(|message| {
            let frame = message.to_bytes();
            [u32::try_from(frame.len()).unwrap().to_le_bytes().to_vec(), frame].concat()
        })
        .collect();
    if std::env::var_os("LACUNA_BLESS").is_some() {
        std::fs::write(PATH, &bytes).unwrap();
    }
    assert_eq!(
        bytes,
        std::fs::read(PATH).unwrap(),
        "the format changed; old and new nodes would not understand"
    );
}

#[test]
fn kept_messages_are_read() {
    let bytes = std::fs::read(PATH).unwrap();
    let (mut rest, mut read) = (&bytes[..], Vec::new());
    while let Some((len, tail)) = rest.split_first_chunk::<4>() {
        let (frame, tail) = tail.split_at(u32::from_le_bytes(*len) as usize);
        read.push(Message::from_bytes(frame).unwrap());
        rest = tail;
    }
    assert_eq!(read, messages());
}

#[test]
fn any_flipped_bit_and_any_cut_is_reported() {
    for message in messages() {
        let mut frame = message.to_bytes();
        for bit in 0..frame.len() * 8 {
            frame[bit / 8] ^= 1 << (bit % 8);
            assert!(Message::from_bytes(&frame).is_err(), "{message:?}, bit {bit}");
            frame[bit / 8] ^= 1 << (bit % 8);
        }
        assert!((0..frame.len()).all(|end| Message::from_bytes(&frame[..end]).is_err()));
    }
}

#[test]
fn unknown_uses_of_a_lease_are_refused() {
    let frame = request(LeaseUse::Count).to_bytes();
    let (content, _) = frame.split_at(frame.len() - 4);
    for lease_use in 0..=u8::MAX {
        let mut changed = content.to_vec();
        *changed.last_mut().unwrap() = lease_use;
        changed.extend(crc32c::crc32c(&changed).to_le_bytes());
        assert_eq!(Message::from_bytes(&changed).is_ok(), lease_use <= 2, "{lease_use}");
    }
}

#[test]
fn names_of_keys_are_fixed() {
    let id = KeyId::of_partition(b"sensor-1");
    let bucket = id.bucket(2, 77);
    let found = [id.hash(), id.check(), KeyId::of_hash(1, 2).hash()];
    let mut filter = NodeFilter::new(100, 0.01);
    assert!(filter.write(id) && filter.write(bucket) && !filter.write(id));
    assert_eq!(found, FIXED, "copies of other versions would not find keys: {found:#X?}");
}

/// XXH3-64 under the seeds of the format's page.
const FIXED: [u64; 3] = [0x3899_08D1_CC09_8D13, 0x007E_7AFC_7CAB_E067, 0xF2A2_54DC_76F9_869F];
