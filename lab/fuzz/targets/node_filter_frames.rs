//! Messages about other nodes' filters, from any bytes under checksums that hold: they are read or refused; a message
//! that is read is written back to the same, and a node that takes them goes on.

#![no_main]

use arbitrary::Arbitrary;
use lacuna_node_filters::{Buckets, Config, KeyId, Message, Mode, Node, NodeId, TableId};
use libfuzzer_sys::fuzz_target;

const TABLE: TableId = TableId(7);
const IDS: [NodeId; 2] = [NodeId(1), NodeId(2)];

#[derive(Debug, Arbitrary)]
struct Input {
    mode: u8,
    /// The kind and the body of each message, and the time before it.
    heard: Vec<(u8, Vec<u8>, u8)>,
}

fuzz_target!(|input: Input| {
    let mode = [Mode::Shadow, Mode::Eventual, Mode::Safe][usize::from(input.mode % 3)];
    let mut node = Node::new(IDS[0], Config { max_copy_bytes: 1 << 20, ..Config::new(mode) }, 1, 0);
    node.set_ring(1, IDS);
    node.create_table(TABLE, 100, 0.01, Buckets::new(4, 1, 2).ok());
    node.set_ready(TABLE);
    let mut now = 10_000;
    for (kind, body, wait) in input.heard {
        now += u64::from(wait);
        node.write(TABLE, KeyId::of_partition(&body), Some(now));
        node.tick(now);
        let frame = frame_of(1 + kind % 12, &body);
        if let Ok(message) = Message::from_bytes(&frame) {
            assert_eq!(Message::from_bytes(&message.to_bytes()).expect("a message that was read"), message);
        }
        node.receive(now, IDS[1], &frame);
        for (_, said) in node.take_outbox() {
            Message::from_bytes(&said).expect("a node says what can be read");
        }
    }
});

fn frame_of(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut frame = [&[2, kind], body].concat();
    let check = crc32c::crc32c(&frame);
    frame.extend(check.to_le_bytes());
    frame
}
