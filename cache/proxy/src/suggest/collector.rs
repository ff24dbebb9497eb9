//! The task that reads what sessions have seen.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::sleep;

use super::Suggestions;

/// Pause between two looks: sessions need not wake anything.
const PAUSE: Duration = Duration::from_millis(50);

/// Reads until it is dropped.
#[derive(Debug)]
pub(crate) struct Collector {
    task: JoinHandle<()>,
}

impl Collector {
    pub(super) fn start(suggestions: Arc<Suggestions>) -> Self {
        let task = tokio::spawn(async move {
            loop {
                sleep(PAUSE).await;
                let suggestions = suggestions.clone();
                // Off the threads that relay: a thousand statements take some milliseconds.
                drop(spawn_blocking(move || suggestions.learn()).await);
            }
        });
        Self { task }
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.task.abort();
    }
}
