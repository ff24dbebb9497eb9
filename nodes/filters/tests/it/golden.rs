//! Bytes between nodes must never change: one file with one message of each kind.

use lacuna_node_filters::{KeyId, LeaseUse, Message, NodeFilter, Slots, TableDelta, TableId, Version};

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/messages_v2.bin");
const OLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/messages_v1.bin");

const VERSION: Version =
    Version { incarnation: 0x0102_0304_0506_0708, sequence: 300, digest: 0x1112_1314_1516_1718 };

fn request(lease_use: LeaseUse) -> Message {
    Message::Request { number: 9, applied: VERSION, ring: 4, lease_use }
}

fn messages() -> Vec<Message> {
    let version = VERSION;
    let table = TableId(0x0102_0304_0506_0708_090A_0B0C_0D0E_0F10);
    let dead = vec![(KeyId::from_halves(6, 7), 77)];
    let delta = TableDelta { is_reset: true, open: None, keys: vec![3, 5], dead };
    let open = Slots::from_iter([0, 9, 70, 255]);
    let opening = TableDelta { open: Some(open), keys: vec![3], ..TableDelta::default() };
    let check = 0xDEAD_BEEF;
    vec![
        request(LeaseUse::None),
        request(LeaseUse::Answer),
        request(LeaseUse::Count),
        Message::Grant { number: 9, version, ring: 4, length: 3_000, catalog: 21 },
        Message::Delta { incarnation: 1, sequence: 301, tables: vec![(table, delta)] },
        Message::Delta { incarnation: 1, sequence: 302, tables: vec![(table, opening)] },
        Message::Applied(version),
        Message::Missing(version),
        Message::Gap(version),
        Message::AskCatalog,
        Message::Catalog { incarnation: 1, tables: vec![(table, 200)] },
        Message::AskChunk { table, sequence: u64::MAX, index: 2 },
        Message::Chunk {
            table,
            version,
            open,
            generation: 2,
            index: 1,
            count: 3,
            check,
            bytes: vec![1, 2, 3],
        },
        Message::AppliedAnd { applied: version, frame: Message::AskCatalog.to_bytes() },
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

fn kept(path: &str) -> Vec<Vec<u8>> {
    let bytes = std::fs::read(path).unwrap();
    let (mut rest, mut frames) = (&bytes[..], Vec::new());
    while let Some((len, tail)) = rest.split_first_chunk::<4>() {
        let (frame, tail) = tail.split_at(u32::from_le_bytes(*len) as usize);
        frames.push(frame.to_vec());
        rest = tail;
    }
    frames
}

#[test]
fn kept_messages_are_read() {
    let read: Vec<Message> = kept(PATH).iter().map(|frame| Message::from_bytes(frame).unwrap()).collect();
    assert_eq!(read, messages());
}

/// A node of that version knows of no slots, and would deny what streams into them.
#[test]
fn messages_of_version_1_are_as_lost() {
    let older = kept(OLDER);
    assert_eq!(older.len(), 12);
    for frame in older {
        let refused = Message::from_bytes(&frame).unwrap_err().to_string();
        assert!(refused.contains("version 1"), "{refused}");
    }
}

#[test]
fn unknown_bits_of_a_table_are_refused() {
    // After version, kind, incarnation, sequence and table.
    const AT: usize = 2 + 8 + 1 + 16;
    let tables = vec![(TableId(1), TableDelta::default())];
    let frame = Message::Delta { incarnation: 1, sequence: 1, tables }.to_bytes();
    let content = &frame[..frame.len() - 4];
    for bits in 0..=u8::MAX {
        let mut changed = content.to_vec();
        changed[AT] = bits;
        if bits & 2 != 0 {
            let rest = changed.split_off(AT + 1);
            changed.extend([0u8; 32]);
            changed.extend(rest);
        }
        changed.extend(crc32c::crc32c(&changed).to_le_bytes());
        assert_eq!(Message::from_bytes(&changed).is_ok(), bits <= 3, "{bits}");
    }
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
fn a_frame_in_a_frame_in_a_frame_is_refused() {
    let carried = |frame| Message::AppliedAnd { applied: VERSION, frame }.to_bytes();
    let once = carried(Message::AskCatalog.to_bytes());
    assert!(Message::from_bytes(&once).is_ok());
    assert!(Message::from_bytes(&carried(once)).is_err());
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
