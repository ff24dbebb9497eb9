//! Failures, as one sentence on standard error and an exit code.

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::error::ErrorKind as UsageKind;
use lacuna_base::Error;

/// The result of a command.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// Exit code when something that a command was asked to prove does not hold.
const DOES_NOT_HOLD: u8 = 1;
/// Exit code for bad input: arguments, files and streams that cannot be used.
const BAD_INPUT: u8 = 2;

/// Arguments as clap names them where they are missing, and what may be given in their place.
const IN_PLACE: [(&str, &str); 3] =
    [("<LO>", "--batch FILE"), ("--upstream <URL>", "--config FILE"), ("--store <URL>", "--config FILE")];

/// Why a command ends early.
#[derive(Debug)]
pub enum Failure {
    /// Arguments that do not go together, or a request for help.
    Usage(clap::Error),
    /// Arguments, files or streams that cannot be used; also what cannot be read or written.
    BadInput(Error),
    /// A promise that was to be proved does not hold; the sentence says which.
    DoesNotHold(String),
    /// The failure has been reported; the process ends with this code.
    Exit(u8),
    /// The reader of the output has gone, as `head` does; there is nothing to report to it.
    ReaderGone,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::BadInput(error)
    }
}

impl From<clap::Error> for Failure {
    fn from(error: clap::Error) -> Self {
        Self::Usage(error)
    }
}

impl Failure {
    /// The failure of a write to standard output.
    pub(crate) fn from_output(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ReaderGone,
            _ => Self::BadInput(
                Error::unavailable(format!("the output cannot be written: {error}")).with_source(error),
            ),
        }
    }
}

/// The result of printing, without the failure that its reader has gone: for a command whose exit code is a verdict.
pub(crate) fn unless_reader_gone(printed: Result<()>) -> Result<()> {
    match printed {
        Err(Failure::ReaderGone) => Ok(()),
        other => other,
    }
}

/// Says what went wrong, if anything, and gives the exit code of the process.
pub(crate) fn exit_code(result: Result<()>) -> ExitCode {
    match result {
        Ok(()) | Err(Failure::ReaderGone) => ExitCode::SUCCESS,
        Err(Failure::DoesNotHold(sentence)) => {
            complain(&sentence);
            ExitCode::from(DOES_NOT_HOLD)
        }
        Err(Failure::Usage(error)) => usage_exit_code(&error),
        Err(Failure::Exit(code)) => ExitCode::from(code),
        Err(Failure::BadInput(error)) => {
            complain(&error.to_string());
            ExitCode::from(BAD_INPUT)
        }
    }
}

/// Prints help or the version, or one sentence about arguments that do not go together.
pub(crate) fn usage_exit_code(error: &clap::Error) -> ExitCode {
    match error.kind() {
        UsageKind::DisplayHelp
        | UsageKind::DisplayVersion
        | UsageKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            // If the help cannot be written, there is nothing else to do about it.
            let _ = error.print();
            ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(BAD_INPUT))
        }
        UsageKind::MissingRequiredArgument => {
            complain(&with_other_way(&usage_sentence(&error.to_string())));
            ExitCode::from(BAD_INPUT)
        }
        _ => {
            complain(&usage_sentence(&error.to_string()));
            ExitCode::from(BAD_INPUT)
        }
    }
}

/// The first paragraph of clap's message and its tip, on one line; the rest repeats the usage.
pub(crate) fn usage_sentence(message: &str) -> String {
    let mut paragraphs = message.split("\n\n").map(on_one_line);
    let problem = paragraphs.next().unwrap_or_default();
    let problem = problem.strip_prefix("error: ").unwrap_or(&problem);
    let tip = paragraphs.find_map(|paragraph| Some(paragraph.strip_prefix("tip: ")?.to_owned()));
    let tip = tip.map_or(String::new(), |tip| format!("; {tip}"));
    format!("{problem}{tip}; --help shows the arguments and an example")
}

/// The sentence about missing arguments, with what may be given in place of them.
fn with_other_way(sentence: &str) -> String {
    match IN_PLACE.iter().find(|(missing, _)| sentence.contains(*missing)) {
        Some((_, way)) => sentence.replacen("; --help", &format!("; or give {way}; --help"), 1),
        None => sentence.to_owned(),
    }
}

fn on_one_line(paragraph: &str) -> String {
    paragraph.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// One line on standard error, whatever stands in the sentence.
pub(crate) fn complain(sentence: &str) {
    let line: String = sentence.chars().map(|sign| if sign.is_control() { ' ' } else { sign }).collect();
    // A closed standard error cannot be reported anywhere.
    let _ = writeln!(io::stderr(), "lacuna: {line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_messages_become_one_sentence() {
        let message = "error: the following required arguments were not provided:\n  --keys <K>\n  --out <F>\n\n\
                       Usage: lacuna build --keys <K>\n\nFor more information, try '--help'.\n";
        assert_eq!(
            usage_sentence(message),
            "the following required arguments were not provided: --keys <K> --out <F>; \
             --help shows the arguments and an example"
        );
    }

    #[test]
    fn missing_arguments_name_the_other_way() {
        let sentence = "the following required arguments were not provided: <LO>; --help shows the arguments and an example";
        assert_eq!(
            with_other_way(sentence),
            "the following required arguments were not provided: <LO>; or give --batch FILE; \
             --help shows the arguments and an example"
        );
        let of_build =
            "the following required arguments were not provided: --keys <K>; --help shows the arguments";
        assert_eq!(with_other_way(of_build), of_build);
    }

    #[test]
    fn a_tip_stays() {
        let message = "error: unrecognized subcommand 'bulid'\n\n  tip: a similar subcommand exists: 'build'\n\n\
                       Usage: lacuna <COMMAND>\n";
        assert_eq!(
            usage_sentence(message),
            "unrecognized subcommand 'bulid'; a similar subcommand exists: 'build'; \
             --help shows the arguments and an example"
        );
    }

    #[test]
    fn a_reader_gone_is_no_failure() {
        let gone = Failure::from_output(io::Error::from(io::ErrorKind::BrokenPipe));
        assert!(matches!(gone, Failure::ReaderGone));
        let full = Failure::from_output(io::Error::from(io::ErrorKind::StorageFull));
        assert!(matches!(full, Failure::BadInput(_)));
    }
}
