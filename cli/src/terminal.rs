//! Text of at most 80 columns that is drawn again and again on a terminal, which is left as it was.

use std::fmt::Write as _;
use std::io::{Write as _, stdout};

use crate::errors::{Failure, Result};
use crate::interrupt::{BeforeEnd, before_end};

/// The screen of full-screen programs, without a cursor.
const ENTER: &str = "\x1b[?1049h\x1b[?25l";
/// What was there before, with its cursor.
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";
/// To the upper left corner.
const HOME: &str = "\x1b[H";
/// The rest of the line, and of the screen, is empty.
const CLEAR_LINE: &str = "\x1b[K\r\n";
const CLEAR_REST: &str = "\x1b[J";
const BOLD: &str = "\x1b[1m";
const PLAIN: &str = "\x1b[0m";

/// Columns of the smallest terminal.
pub(crate) const WIDTH: usize = 80;

/// A terminal that is left as it was, also after Ctrl-C.
#[derive(Debug)]
pub(crate) struct Screen(Option<BeforeEnd>);

impl Screen {
    pub(crate) fn enter() -> Self {
        let settled = before_end(|| show(LEAVE));
        show(ENTER);
        Self(Some(settled))
    }

    pub(crate) fn draw(&self, lines: &[Line]) -> Result<()> {
        let mut text = HOME.to_owned();
        for line in lines {
            let (on, off) = if line.is_title { (BOLD, PLAIN) } else { ("", "") };
            let _ = write!(text, "{on}{}{off}{CLEAR_LINE}", line.text);
        }
        text.push_str(CLEAR_REST);
        let mut out = stdout().lock();
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Failure::from_output)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        if let Some(settled) = self.0.take() {
            settled.settle(|| show(LEAVE));
        }
    }
}

/// A terminal that has gone away needs nothing.
fn show(text: &str) {
    let mut out = stdout().lock();
    drop(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
}

/// A line of a screen.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) text: String,
    is_title: bool,
}

impl Line {
    /// What a terminal would obey is shown as a question mark, and what does not fit is left out.
    pub(crate) fn new(text: &str, is_title: bool) -> Self {
        let text = text.chars().map(|letter| if letter.is_control() { '?' } else { letter });
        Self { text: text.take(WIDTH).collect(), is_title }
    }
}

/// At most `max` letters, the last of which says that there are more.
pub(crate) fn cut(name: &str, max: usize) -> String {
    if name.chars().count() <= max {
        return name.to_owned();
    }
    name.chars().take(max - 1).chain(['~']).collect()
}

pub(crate) fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{:.1}%", 100.0 * share))
}

/// Three digits and a unit: 7, 1.2k, 45.1M.
pub(crate) fn short(number: f64) -> String {
    let units = ["", "k", "M", "G", "T"];
    let mut scaled = number;
    for unit in units {
        if scaled < 999.5 || unit == "T" {
            let digits = usize::from(scaled < 99.95 && (!unit.is_empty() || scaled.fract() > 0.049));
            return format!("{scaled:.digits$}{unit}");
        }
        scaled /= 1_000.0;
    }
    unreachable!("the last unit ends the search")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let shown = [0.0, 7.0, 7.25, 99.96, 999.4, 1_234.0, 45_123_000.0, 1e15].map(short);
        assert_eq!(shown, ["0", "7", "7.2", "100", "999", "1.2k", "45.1M", "1000T"]);
    }
}
