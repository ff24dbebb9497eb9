//! For fuzzing: no bytes cause a panic, and a message that was read is written back to the same message.

use crate::cluster::frame::Frames;
use crate::cluster::hello::check_hello;
use crate::cluster::message::Message;

/// Reads `bytes` as a stream, as a message and as a hello.
///
/// # Panics
/// If a message that was read does not come back from its own bytes.
#[doc(hidden)]
pub fn look_at(bytes: &[u8]) {
    let mut frames = Frames::default();
    for piece in bytes.chunks(97) {
        frames.push(piece);
        while let Ok(Some((kind, body))) = frames.next() {
            let (_, _) = (Message::read(kind, body).is_ok(), check_hello(kind, body).is_ok());
        }
    }
    let Some((kind, body)) = bytes.split_first() else { return };
    if let Ok(message) = Message::read(*kind, body) {
        let (kind, body) = message.to_frame();
        assert_eq!(Message::read(kind, &body).expect("just written"), message);
    }
    drop(check_hello(*kind, body));
}
