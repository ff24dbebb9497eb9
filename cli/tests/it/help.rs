//! The help teaches by examples, and every example runs.

use std::env;
use std::path::Path;
use std::process::Command;

use crate::support::Folder;

/// Commands in an order in which each finds the files that the earlier ones wrote.
const COMMANDS: [&[&str]; 7] =
    [&[], &["build"], &["query"], &["inspect"], &["verify"], &["bench", "filters"], &["bench", "engine"]];

/// The example lines of a help text; a backslash at the end joins a line with the next.
fn examples(help: &str) -> Vec<String> {
    let joined = help.replace("\\\n", " ");
    let lines = joined.lines().filter_map(|line| line.strip_prefix("  "));
    lines
        .filter(|line| line.starts_with("lacuna ") || line.contains("| lacuna "))
        .map(str::to_owned)
        .collect()
}

/// The folder of the binary first in the path, so that `lacuna` in a shell is ours.
fn path() -> String {
    let folder = Path::new(env!("CARGO_BIN_EXE_lacuna")).parent().expect("a binary lies in a folder");
    format!("{}:{}", folder.display(), env::var("PATH").unwrap_or_default())
}

#[test]
fn every_example_runs() {
    let folder = Folder::new();
    folder.write("words.txt", (1000..3000).map(|word| format!("word{word}\n")).collect::<String>());
    folder.write(
        "temperatures.txt",
        (0..2_000).map(|step| format!("{}\n", 31.5 - f64::from(step) * 0.03)).collect::<String>(),
    );
    for command in COMMANDS {
        let help = folder.run(&[command, &["--help"]].concat(), "").done();
        let examples = examples(&help);
        assert!(examples.len() >= 2, "{command:?} has {} examples in\n{help}", examples.len());
        for example in examples {
            let run = Command::new("sh")
                .args(["-c", &example])
                .env("PATH", path())
                .current_dir(folder.root())
                .output();
            let run = run.expect("a shell runs");
            let said = String::from_utf8_lossy(&run.stderr);
            assert!(run.status.success() && said.is_empty() && !run.stdout.is_empty(), "{example}\n{said}");
        }
    }
}

#[test]
fn every_command_is_listed() {
    let help = Folder::new().lacuna("--help").done();
    for command in ["build", "query", "inspect", "verify", "bench", "demo", "cache", "proxy"] {
        assert!(help.contains(&format!("\n  {command} ")), "{command} is not in\n{help}");
    }
}

#[test]
fn the_version_is_printed() {
    let version = Folder::new().lacuna("--version").done();
    assert!(version.starts_with(&format!("lacuna {}", env!("CARGO_PKG_VERSION"))), "{version}");
    if Path::new(env!("CARGO_MANIFEST_DIR")).join("../.git").exists() {
        assert!(version.contains("(commit "), "{version}");
    }
    for (feature, is_on) in [("csv", cfg!(feature = "csv")), ("terminal", cfg!(feature = "terminal"))] {
        assert_eq!(version.contains(feature), is_on, "{version}");
    }
}

#[test]
fn no_command_shows_the_help() {
    let run = Folder::new().lacuna("");
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("Examples:"), "{}", run.stderr);
}
