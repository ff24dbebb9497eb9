//! A progress bar: on a terminal only, and only once the work has taken two seconds.
//!
//! It says what is done, how long it has taken, and how much is left where that is known. A small thread waits for the
//! two seconds and then shows the bar, so that work which reports nothing is shown too.

use std::io::{IsTerminal, stderr};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Delay before the bar appears.
const PATIENCE: Duration = Duration::from_secs(2);
/// Time between two pictures of a spinner.
const TICK: Duration = Duration::from_millis(200);

/// Work whose length is not known.
const SPINNER: &str = "{spinner} {wide_msg} {elapsed}";
/// Work on a number of bytes.
const BYTES: &str = "{msg} {wide_bar} {bytes}/{total_bytes}, {elapsed}, {eta} left";
/// Work in a number of steps.
const STEPS: &str = "{wide_bar} {pos}/{len}, {elapsed}, {eta} left: {msg}";

/// Work under way. Dropping it clears the bar.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    waiter: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Work whose length is not known.
    pub fn spinner(message: impl Into<String>) -> Self {
        Self::start(hidden(None, SPINNER), message.into())
    }

    /// Reading of `total` bytes.
    pub fn bytes(message: impl Into<String>, total: u64) -> Self {
        Self::start(hidden(Some(total), BYTES), message.into())
    }

    /// Work in `total` steps that take about as long each.
    pub fn steps(message: impl Into<String>, total: u64) -> Self {
        Self::start(hidden(Some(total), STEPS), message.into())
    }

    fn start(bar: ProgressBar, message: String) -> Self {
        bar.set_message(message);
        let waiter = stderr().is_terminal().then(|| show_later(bar.clone()));
        Self { bar, waiter }
    }

    /// Says what is being done now.
    pub fn say(&self, message: impl Into<String>) {
        self.bar.set_message(message.into());
    }

    /// Says how far the work is.
    pub fn set(&self, position: u64) {
        self.bar.set_position(position);
    }

    /// Says what is being done now, and how far that is.
    pub(crate) fn step(&self, message: impl Into<String>, position: u64, total: u64) {
        if self.bar.length() != Some(total) {
            self.bar.set_style(style(STEPS));
            self.bar.set_length(total);
            self.bar.reset_eta();
        }
        self.bar.set_message(message.into());
        self.bar.set_position(position);
    }

    /// Leaves a line above the bar, once there is one.
    pub(crate) fn note(&self, line: &str) {
        self.bar.println(line);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((end, waiter)) = self.waiter.take() {
            drop(end);
            // The thread only waits and shows; if it panicked, the work itself is still done.
            let _ = waiter.join();
        }
        self.bar.finish_and_clear();
    }
}

fn hidden(total: Option<u64>, template: &str) -> ProgressBar {
    ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden()).with_style(style(template))
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the template is well formed")
}

/// Shows the bar unless the other end is dropped before.
fn show_later(bar: ProgressBar) -> (Sender<()>, JoinHandle<()>) {
    let (end, ended) = channel();
    let waiter = thread::spawn(move || {
        if ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.enable_steady_tick(TICK);
        }
    });
    (end, waiter)
}
