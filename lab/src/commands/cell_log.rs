//! The file of `--cells`: what is done of a grid, so that a run which was broken off can be resumed.
//!
//! The first line is the command, every other one a cell. Each is on the disk before the next cell starts.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use crate::designer_grid::{Cell, Outcome, from_line, to_line};
use lacuna_base::{Error, Result};

/// Cells that are done, by a file if there is one.
#[derive(Debug)]
pub(super) struct CellLog {
    file: Option<File>,
    done: Vec<(Cell, Option<Outcome>)>,
}

impl CellLog {
    /// Takes over what `path` holds of the run of `command`, and will append to it; without a path nothing is kept.
    ///
    /// # Errors
    /// `InvalidInput` if the file is of another command, or cannot be read and written.
    pub(super) fn open(path: Option<&Path>, command: &str) -> Result<Self> {
        let Some(path) = path else { return Ok(Self { file: None, done: Vec::new() }) };
        let refused = |error: std::io::Error| {
            Error::invalid_input(format!("{} cannot keep cells: {error}", path.display())).with_source(error)
        };
        let text = match fs::read_to_string(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            read => read.map_err(refused)?,
        };
        // A line that was broken off does not end, and is measured again.
        let mut lines = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
        let other = lines.next().filter(|first| *first != command);
        if let Some(other) = other {
            let path = path.display();
            return Err(Error::invalid_input(format!("{path} holds cells of another run, `{other}`")));
        }
        let done: Vec<(Cell, Option<Outcome>)> = lines.filter_map(from_line).collect();
        let mut log = Self { file: Some(File::create(path).map_err(refused)?), done: Vec::new() };
        log.write(command)?;
        done.into_iter().try_for_each(|(cell, outcome)| log.push(cell, outcome))?;
        Ok(log)
    }

    /// What came out of `cell`, if it is done.
    pub(super) fn get(&self, cell: &Cell) -> Option<&Option<Outcome>> {
        self.done.iter().find(|(done, _)| done == cell).map(|(_, outcome)| outcome)
    }

    /// Notes a cell that is done.
    ///
    /// # Errors
    /// `Unavailable` if the disk does not take it.
    pub(super) fn push(&mut self, cell: Cell, outcome: Option<Outcome>) -> Result<()> {
        self.write(&to_line(&cell, outcome.as_ref()))?;
        self.done.push((cell, outcome));
        Ok(())
    }

    fn write(&mut self, line: &str) -> Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let written = file.write_all(format!("{line}\n").as_bytes()).and_then(|()| file.sync_data());
        written
            .map_err(|error| Error::unavailable(format!("a cell cannot be kept: {error}")).with_source(error))
    }
}
