//! Node filters between two processes over TCP: how any distributed store can use them.
//!
//! ```text
//! cargo run --release -p lacuna-node-filters --example two_processes
//! ```
//!
//! The program starts itself again as the second process, the *holder*. It keeps 10,000 keys, marks each write in its node
//! before it is visible, and acknowledges it when its node allows. The first process is the *coordinator*: it asks its
//! node before it asks the holder.
//!
//! A frame on the wire is four bytes of length, one byte that says whose it is (node filters or the store), and the frame
//! of the node. That is all a transport has to do: carry frames, whole or not at all. Each side reads in a thread of its
//! own and hands events to the one thread that owns the node.
//!
//! Four promises of the store's side are kept here, and have to be kept elsewhere: the clock goes on while the machine
//! sleeps, each life of a node has a name of its own, what a read finds is shown when the node allows, and a frame's length is
//! believed only up to what a frame can have.

use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant, SystemTime};

use lacuna_node_filters::{
    Asked, Barrier, CHUNK_BYTES, Config, Consistency, Decision, KeyId, Mode, Node, NodeId, Plan, Question,
    TableId,
};

const TABLE: TableId = TableId(1);
const COORDINATOR: NodeId = NodeId(1);
const HOLDER: NodeId = NodeId(2);
const KEYS: u64 = 10_000;
/// A frame holds a piece of a snapshot, or what was written in a moment.
const MAX_FRAME_BYTES: usize = 4 * CHUNK_BYTES;
/// Whose frame it is.
const OF_FILTERS: u8 = 0;
const OF_STORE: u8 = 1;

/// A node, its connection and its clock.
struct Process {
    node: Node,
    peer: NodeId,
    stream: TcpStream,
    frames: Receiver<(u8, Vec<u8>)>,
}

impl Process {
    fn new(id: NodeId, peer: NodeId, stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        let (sender, frames) = channel();
        let mut reader = stream.try_clone()?;
        std::thread::spawn(move || {
            while let Ok(frame) = read_frame(&mut reader) {
                if sender.send(frame).is_err() {
                    break;
                }
            }
        });
        let mut node = Node::new(id, Config::new(Mode::Safe), incarnation()?, now());
        node.set_ring(1, [COORDINATOR, HOLDER]);
        Ok(Self { node, peer, stream, frames })
    }

    /// Lets the node work for a moment; a frame of the store, if one came.
    fn work(&mut self) -> io::Result<Option<Vec<u8>>> {
        self.node.tick(now());
        self.carry()?;
        let mut of_store = None;
        match self.frames.recv_timeout(Duration::from_millis(5)) {
            Ok((OF_FILTERS, frame)) => self.node.receive(now(), self.peer, &frame),
            Ok((_, frame)) => of_store = Some(frame),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(io::ErrorKind::UnexpectedEof.into()),
        }
        self.carry()?;
        Ok(of_store)
    }

    /// Carries away what the node has to say.
    fn carry(&mut self) -> io::Result<()> {
        for (_, frame) in self.node.take_outbox() {
            write_frame(&mut self.stream, OF_FILTERS, &frame)?;
        }
        Ok(())
    }

    fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        write_frame(&mut self.stream, OF_STORE, frame)
    }
}

/// Milliseconds since the machine was started, those asleep included.
#[cfg(target_os = "linux")]
fn now() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    u64::try_from(now.tv_sec * 1_000 + now.tv_nsec / 1_000_000).expect("after the start")
}

/// The name of a life of this node: no other has begun in the same nanosecond. A store whose machines' clocks are set back
/// would count its starts in a file.
fn incarnation() -> io::Result<u64> {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_err(io::Error::other)?;
    u64::try_from(since.as_nanos()).map_err(io::Error::other)
}

fn read_frame(stream: &mut TcpStream) -> io::Result<(u8, Vec<u8>)> {
    let mut head = [0; 5];
    stream.read_exact(&mut head)?;
    let [a, b, c, d, whose] = head;
    let len = u32::from_le_bytes([a, b, c, d]) as usize;
    if len > MAX_FRAME_BYTES {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut frame = vec![0; len];
    stream.read_exact(&mut frame)?;
    Ok((whose, frame))
}

fn write_frame(stream: &mut TcpStream, whose: u8, frame: &[u8]) -> io::Result<()> {
    let len = u32::try_from(frame.len()).map_err(io::Error::other)?;
    stream.write_all(&[&len.to_le_bytes()[..], &[whose], frame].concat())
}

fn partition(key: u64) -> KeyId {
    KeyId::of_partition(&key.to_le_bytes())
}

/// Requests of this little store: `r` and a key, `w` and a key; answers: one byte.
fn request(kind: u8, key: u64) -> Vec<u8> {
    [&[kind], &key.to_le_bytes()[..]].concat()
}

/// What an answer to the coordinator waits for.
enum Wait {
    Acknowledged(Barrier),
    Revealed(u64),
}

impl Wait {
    fn is_over(&self, node: &Node) -> bool {
        match self {
            Self::Acknowledged(barrier) => node.may_acknowledge(now(), *barrier),
            Self::Revealed(key) => node.may_reveal(now(), TABLE, partition(*key)),
        }
    }
}

/// The second process: holds even keys below 2 * KEYS.
pub(crate) fn hold(address: &str) -> io::Result<()> {
    let mut process = Process::new(HOLDER, COORDINATOR, TcpStream::connect(address)?)?;
    let mut store: BTreeSet<u64> = (0..KEYS).map(|key| key * 2).collect();
    process.node.create_table(TABLE, KEYS, 0.01, None);
    store.iter().for_each(|&key| process.node.load(TABLE, partition(key), None));
    process.node.set_ready(TABLE);
    let mut held: Vec<(Wait, u8)> = Vec::new();
    loop {
        let Ok(frame) = process.work() else { return Ok(()) };
        if let Some([kind, key @ ..]) = frame.as_deref()
            && let Ok(key) = key.try_into().map(u64::from_le_bytes)
        {
            if *kind == b'w' {
                // First the filter, then the data, then, when the coordinator's node knows, the acknowledgement.
                held.push((Wait::Acknowledged(process.node.write(TABLE, partition(key), None)), b'k'));
                store.insert(key);
                process.node.flush(now());
                process.carry()?;
            } else {
                held.push((Wait::Revealed(key), u8::from(store.contains(&key))));
            }
        }
        let (free, waiting): (Vec<_>, Vec<_>) =
            held.into_iter().partition(|(wait, _)| wait.is_over(&process.node));
        held = waiting;
        free.iter().try_for_each(|(_, answer)| process.send(&[*answer]))?;
    }
}

/// The first process: asks its node, then the holder.
struct Coordinator {
    process: Process,
    asked_remotely: u64,
}

impl Coordinator {
    fn remote(&mut self, request: &[u8]) -> io::Result<Vec<u8>> {
        self.process.send(request)?;
        loop {
            if let Some(answer) = self.process.work()? {
                return Ok(answer);
            }
        }
    }

    fn decide(&mut self, key: u64) -> Decision {
        let asked = Asked { partition: partition(key), slice: None, replicas: &[HOLDER] };
        let question = Question {
            table: TABLE,
            plan: Plan::Partitions,
            consistency: Consistency::One,
            is_first_page: true,
            is_available: true,
            keys: &[asked],
        };
        self.process.node.decide(now(), &question)
    }

    fn read(&mut self, key: u64) -> io::Result<bool> {
        let decision = self.decide(key);
        if decision == Decision::Empty {
            return Ok(false);
        }
        self.asked_remotely += 1;
        let found = self.remote(&request(b'r', key))? == [1];
        self.process.node.found(decision, found);
        Ok(found)
    }
}

pub(crate) fn coordinate(start_holder: impl FnOnce(&str) -> io::Result<Child>) -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?.to_string();
    let mut holder = start_holder(&address)?;
    let process = Process::new(COORDINATOR, HOLDER, listener.accept()?.0)?;
    let mut coordinator = Coordinator { process, asked_remotely: 0 };
    while (1..40).step_by(2).all(|key| coordinator.decide(key) != Decision::Empty) {
        coordinator.process.work()?;
    }
    println!("the filter of {KEYS} keys is here");

    let absent = (0..1_000).filter(|key| !coordinator.read(key * 2 + 1).unwrap_or(true)).count();
    println!(
        "1,000 absent keys: {absent} reads found nothing, {} of them asked the holder",
        coordinator.asked_remotely
    );
    assert!(absent == 1_000 && coordinator.asked_remotely < 500);

    let start = Instant::now();
    for key in (1..200).step_by(2) {
        coordinator.remote(&request(b'w', key))?;
        assert!(coordinator.read(key)?, "key {key} was acknowledged");
    }
    println!(
        "100 new keys were each found right after their acknowledgement, {:.1?} a pair",
        start.elapsed() / 100
    );
    coordinator.process.stream.shutdown(Shutdown::Both)?;
    holder.wait()?;
    Ok(())
}

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments[..] {
        [role, address] if role == "hold" => hold(address),
        _ => coordinate(|address| Command::new(std::env::current_exe()?).args(["hold", address]).spawn()),
    }
}
