//! A folder of its own for every test, and the binary run in it.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use tempfile::TempDir;

/// What a run of the binary printed, and how it ended.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// Standard output of a run that must have worked and said nothing else.
    #[track_caller]
    pub(crate) fn done(self) -> String {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""), "stdout: {}", self.stdout);
        self.stdout
    }

    /// The one sentence of a run that must have failed with `code`.
    #[track_caller]
    pub(crate) fn sentence(&self, code: i32) -> String {
        assert_eq!(self.code, Some(code), "{self:?}");
        let line = self.stderr.strip_suffix('\n').expect("the sentence ends its line");
        assert!(line.starts_with("lacuna: ") && !line.contains('\n'), "not one sentence: {line}");
        for debug in ["Error {", "panicked", "Some(", "kind:", "backtrace", "error: "] {
            assert!(!line.contains(debug), "`{debug}` in: {line}");
        }
        line.to_owned()
    }
}

/// A folder that disappears with the test.
pub(crate) struct Folder {
    folder: TempDir,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder can be made") }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn root(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).expect("the folder takes files");
    }

    /// Integers as a `.u64` file.
    pub(crate) fn write_integers(&self, name: &str, keys: &[u64]) {
        self.write(name, keys.iter().flat_map(|key| key.to_le_bytes()).collect::<Vec<u8>>());
    }

    /// Names in the folder, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.root()).expect("the folder is there");
        let entries = entries.map(|entry| entry.expect("the folder can be read"));
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Runs `lacuna` with the words of `line` in the folder.
    pub(crate) fn lacuna(&self, line: &str) -> Run {
        self.run(&line.split_whitespace().collect::<Vec<_>>(), "")
    }

    /// Runs `lacuna` with `args` and `input` in the folder.
    pub(crate) fn run(&self, args: &[&str], input: &str) -> Run {
        self.run_binary(crate::BINARY.as_ref(), args, input)
    }

    /// Runs another build of `lacuna` in the folder.
    pub(crate) fn run_binary(&self, binary: &OsStr, args: &[&str], input: &str) -> Run {
        let mut command = Command::new(binary);
        let output = command.args(args).current_dir(self.root()).write_stdin(input).output();
        let output = output.expect("the binary runs");
        Run {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("output is text"),
            stderr: String::from_utf8(output.stderr).expect("errors are text"),
        }
    }
}
