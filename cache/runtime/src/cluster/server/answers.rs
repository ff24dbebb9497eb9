//! The way of answers to the caller of a connection.

use lacuna_cache_protocol::Error;
use tokio::sync::mpsc;

use super::IN_FLIGHT;
use super::answer::failed;
use crate::cluster::fault::Fault;
use crate::cluster::message::{How, Message};

/// Has room for [`IN_FLIGHT`] frames; a caller that does not read them gets no more.
#[derive(Debug, Clone)]
pub(super) struct Answers(mpsc::Sender<Vec<u8>>);

impl Answers {
    pub(super) fn channel() -> (Self, mpsc::Receiver<Vec<u8>>) {
        let (frames, from) = mpsc::channel(IN_FLIGHT as usize);
        (Self(frames), from)
    }

    /// Waits until the caller has closed the connection.
    pub(super) async fn closed(&self) {
        self.0.closed().await;
    }

    /// Sends a message, or in its place why it cannot be sent. The caller may have gone away.
    pub(super) async fn send(&self, message: Message) {
        if let Ok(frame) = message.to_bytes().or_else(|why| instead_of(&message, &why).to_bytes()) {
            drop(self.0.send(frame).await);
        }
    }
}

/// What a caller gets in the place of a message that goes beyond a limit of the format.
fn instead_of(message: &Message, why: &Error) -> Message {
    match message.answered() {
        Some(ticket) => failed(ticket, How::Unknown, why),
        None => Message::Goodbye(Fault::new(why)),
    }
}

#[cfg(test)]
mod tests {
    use lacuna_cache_protocol::{ErrorKind, Notice, RangeTable, Value};

    use super::*;
    use crate::cluster::frame::LONGEST;
    use crate::cluster::limits::MAX_DOMAINS;
    use crate::cluster::noticed::Noticed;

    async fn sent(message: Message) -> Message {
        let (answers, mut from) = Answers::channel();
        answers.send(message).await;
        let frame = from.recv().await.unwrap();
        Message::read(frame[4], &frame[5..frame.len() - 4]).unwrap()
    }

    #[tokio::test]
    async fn an_answer_that_no_frame_holds_is_replaced_by_the_reason() {
        let long = || vec![7; LONGEST];
        let notices = vec![Notice::SetAside(vec![(1, lacuna_cache_protocol::Command::new(&long()))])];
        let noticed = Noticed { journal: 1, next: 2, members: Vec::new(), notices };
        let values = vec![Value::new(&long()[..LONGEST / 2]); 2];
        let answers = [
            Message::Value(7, Value::new(&long())),
            Message::Values(7, values),
            Message::Notices(7, noticed),
            Message::Redirect(7, lacuna_cache_protocol::RangeId(0), "a".repeat(LONGEST), None),
        ];
        for answer in answers {
            let Message::Failed(7, How::Unknown, why) = sent(answer).await else { panic!("another answer") };
            assert_eq!(why.kind, ErrorKind::InvalidInput);
            assert!(why.text.contains(&LONGEST.to_string()), "{}", why.text);
        }
        assert_eq!(sent(Message::Done(8)).await, Message::Done(8));
    }

    #[tokio::test]
    async fn a_caller_that_cannot_be_welcomed_gets_the_reason() {
        let table = RangeTable::new(MAX_DOMAINS + 1);
        let Message::Goodbye(why) = sent(Message::Welcome { in_flight: 1, table }).await else {
            panic!("another message")
        };
        assert!(why.text.contains("1025 domains"), "{}", why.text);
    }
}
