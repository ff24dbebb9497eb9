//! Standard output: aligned pairs for people, and numbers as people read them.

use std::io::{self, BufWriter, StdoutLock, Write};

pub use lacuna_bench::report::with_commas;

use crate::errors::{Failure, Result, unless_reader_gone};

/// Buffered standard output whose failures are [`Failure`]s. [`finish`](Self::finish) hands over what is left.
#[derive(Debug)]
pub struct Output {
    writer: BufWriter<StdoutLock<'static>>,
    /// Whether what has no reader is left out in place of being a failure.
    needs_no_reader: bool,
}

impl Default for Output {
    fn default() -> Self {
        Self::new()
    }
}

impl Output {
    /// Locks standard output.
    pub fn new() -> Self {
        Self { writer: BufWriter::new(io::stdout().lock()), needs_no_reader: false }
    }

    /// Goes on without a reader: for a command whose exit code is a verdict.
    #[must_use]
    pub(crate) fn without_need_of_a_reader(self) -> Self {
        Self { needs_no_reader: true, ..self }
    }

    /// The result of printing.
    fn printed(&self, printed: io::Result<()>) -> Result<()> {
        let printed = printed.map_err(Failure::from_output);
        if self.needs_no_reader { unless_reader_gone(printed) } else { printed }
    }

    /// Prints one line.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn line(&mut self, line: &str) -> Result<()> {
        let printed = writeln!(self.writer, "{line}");
        self.printed(printed)
    }

    /// Prints lines that end themselves.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn text(&mut self, text: &str) -> Result<()> {
        let printed = self.writer.write_all(text.as_bytes());
        self.printed(printed)
    }

    /// Writes bytes as they are.
    ///
    /// # Errors
    /// If they cannot be written.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        let printed = self.writer.write_all(bytes);
        self.printed(printed)
    }

    /// Prints pairs of a label and a text, the texts below each other.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn pairs(&mut self, pairs: &[(&str, String)]) -> Result<()> {
        let width = pairs.iter().map(|(label, _)| label.len()).max().unwrap_or(0);
        pairs.iter().try_for_each(|(label, text)| self.line(&format!("{label:width$}  {text}")))
    }

    /// Hands over what is buffered.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn flush(&mut self) -> Result<()> {
        let printed = self.writer.flush();
        self.printed(printed)
    }

    /// Ends the output.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self) -> Result<()> {
        self.flush()
    }
}

/// A count of things as a number for [`with_commas`].
pub(crate) fn counted(count: usize) -> String {
    with_commas(count as u64)
}

/// A share of queries with two significant digits: `0.0034`, `1.2e-6`.
pub(crate) fn rate(rate: f64) -> String {
    if rate == 0.0 || rate == 1.0 {
        format!("{rate}")
    } else if rate < 1e-4 {
        format!("{rate:.1e}")
    } else {
        #[expect(clippy::cast_possible_truncation, reason = "a rate of 1e-4 to 1 gives 0 to 3")]
        let leading_zeros = ((-rate.log10()).ceil() - 1.0).max(0.0) as usize;
        format!("{rate:.0$}", leading_zeros + 2)
    }
}

/// Range lengths, in keys, whose stated rate bound is printed.
pub(crate) const SHOWN_LENGTHS: [u64; 3] = [1, 32, 1024];

/// The stated bounds of ranges of `lengths` keys.
pub(crate) fn rate_bounds(lengths: &[u64], bounds: &[f64]) -> String {
    if bounds.iter().all(|&bound| bound == 0.0) {
        return "0, exact: every key is stored".to_owned();
    }
    let shown: Vec<String> = lengths
        .iter()
        .zip(bounds)
        .map(|(&length, &stated)| {
            format!("{} for {} key{}", bound(stated), with_commas(length), if length == 1 { "" } else { "s" })
        })
        .collect();
    shown.join(", ")
}

/// Payload bits per key, or that there is no key to share them.
pub(crate) fn bits_per_key(payload_bytes: usize, key_count: usize) -> String {
    match key_count {
        0 => "none".to_owned(),
        _ => format!("{:.2}", payload_bytes as f64 * 8.0 / key_count as f64),
    }
}

/// A stated bound, or that there is none.
pub(crate) fn bound(bound: f64) -> String {
    if bound >= 1.0 { "none".to_owned() } else { rate(bound) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_keep_two_digits() {
        let cases =
            [(0.0, "0"), (1.0, "1"), (0.5, "0.50"), (0.0345, "0.035"), (0.00012, "0.00012"), (0.1, "0.10")];
        for (value, shown) in cases {
            assert_eq!(rate(value), shown);
        }
        assert_eq!(rate(1.234e-6), "1.2e-6");
    }

    #[test]
    fn a_bound_of_one_promises_nothing() {
        assert_eq!(bound(1.0), "none");
        assert_eq!(bound(0.25), "0.25");
    }

    #[test]
    fn bounds_of_zero_are_exact() {
        assert_eq!(rate_bounds(&[1, 32], &[0.0, 0.0]), "0, exact: every key is stored");
        assert_eq!(rate_bounds(&[1, 32], &[0.0, 0.5]), "0 for 1 key, 0.50 for 32 keys");
    }
}
