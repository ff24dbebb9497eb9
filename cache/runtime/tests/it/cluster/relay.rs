//! Something between a caller and a dendrite that can go silent or cut the line.

use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// What a relay does with what it hears.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mood {
    Passing,
    /// Nothing goes on, but nobody is told.
    Silent,
    /// Every line is cut.
    Cut,
}

pub(crate) struct Relay {
    pub(crate) address: String,
    mood: Arc<watch::Sender<Mood>>,
    held: Arc<watch::Sender<u64>>,
}

impl Relay {
    pub(crate) async fn to(target: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, target) = (listener.local_addr().unwrap().to_string(), target.to_owned());
        let mood = Arc::new(watch::Sender::new(Mood::Passing));
        let held = Arc::new(watch::Sender::new(0));
        let (moods, holds) = (mood.clone(), held.clone());
        tokio::spawn(async move {
            while let Ok((from, _)) = listener.accept().await {
                let Ok(to) = TcpStream::connect(&target).await else { continue };
                let ((a, b), (c, d)) = (from.into_split(), to.into_split());
                tokio::spawn(pass(a, d, moods.subscribe(), holds.clone()));
                tokio::spawn(pass(c, b, moods.subscribe(), holds.clone()));
            }
        });
        Self { address, mood, held }
    }

    pub(crate) fn set(&self, mood: Mood) {
        self.mood.send_replace(mood);
    }

    /// Waits until it was silent about something.
    #[allow(dead_code, reason = "not every test waits for it")]
    pub(crate) async fn holds_something_back(&self) {
        self.held.subscribe().wait_for(|held| *held > 0).await.unwrap();
    }
}

async fn pass(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut moods: watch::Receiver<Mood>,
    held: Arc<watch::Sender<u64>>,
) {
    let mut bytes = vec![0; 4_096];
    loop {
        let len = tokio::select! {
            _ = moods.wait_for(|mood| *mood == Mood::Cut) => return,
            len = from.read(&mut bytes) => len.unwrap_or(0),
        };
        if *moods.borrow() == Mood::Silent {
            held.send_modify(|held| *held += 1);
        }
        if len == 0 || moods.wait_for(|mood| *mood != Mood::Silent).await.is_err() {
            return;
        }
        if *moods.borrow() == Mood::Cut || to.write_all(&bytes[..len]).await.is_err() {
            return;
        }
    }
}
