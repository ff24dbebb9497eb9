//! What dendrites do now, from their `/metrics`: looked at twice, the difference over the time between is shown.
//!
//! | file | idea |
//! | --- | --- |
//! | `scrape.rs` | asks the dendrites |
//! | `sample.rs` | what they said |
//! | `picture.rs` | the difference of two looks |
//! | `screen.rs` | as text of 80 columns |

mod picture;
mod sample;
mod scrape;
mod screen;

use std::io::{IsTerminal as _, stdout};
use std::time::{Duration, Instant};

use crate::errors::Result;
use crate::output::Output;
use crate::terminal::Screen;
use picture::Picture;
use screen::lines;

/// Looks every `interval`, `count` times.
pub(crate) fn run(dendrites: &[String], interval: Duration, count: u64) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| lacuna_base::Error::unavailable(error.to_string()))?;
    let screen = stdout().is_terminal().then(Screen::enter);
    let look = || (Instant::now(), runtime.block_on(scrape::all(dendrites)));
    let (mut when, mut before) = look();
    for _ in 0..count {
        std::thread::sleep(interval.saturating_sub(when.elapsed()));
        let (now, samples) = look();
        let picture = Picture::between(dendrites, &before, &samples, now - when);
        match &screen {
            Some(screen) => screen.draw(&lines(&picture))?,
            None => print_line(&picture)?,
        }
        (when, before) = (now, samples);
    }
    Ok(())
}

fn print_line(picture: &Picture) -> Result<()> {
    let mut output = Output::new();
    output.line(&picture.json().to_string())?;
    output.finish()
}
