//! Says on a terminal what is being done; silent elsewhere.

use std::io::{IsTerminal, Write};

/// One line of a terminal, written again and again.
#[derive(Debug)]
pub(crate) struct Console {
    is_terminal: bool,
}

impl Console {
    pub(crate) fn new() -> Self {
        Self { is_terminal: std::io::stderr().is_terminal() }
    }

    /// Shows `text` in place of the line before.
    pub(crate) fn say(&mut self, text: &str) {
        if self.is_terminal {
            // A terminal that has gone away does not stop a measurement.
            let _ = write!(std::io::stderr(), "\r\x1b[2K{text}");
        }
    }

    /// Removes the line.
    pub(crate) fn clear(&mut self) {
        self.say("");
    }
}
