//! The files for operators name what there is: units for systemd, and the container file.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::BINARY;

/// Where the files have the binary.
const INSTALLED: &str = "/usr/local/bin/lacuna";

const UNITS: [&str; 2] = ["lacuna-dendrite.service", "lacuna-proxy.service"];

/// The settings that a unit may have, by section.
const SETTINGS: [(&str, &[&str]); 3] = [
    ("Unit", &["Description", "Wants", "After"]),
    (
        "Service",
        &[
            "ExecStart",
            "ExecReload",
            "EnvironmentFile",
            "TimeoutStopSec",
            "Restart",
            "RestartSec",
            "User",
            "ProtectSystem",
            "ProtectHome",
            "PrivateTmp",
            "NoNewPrivileges",
            "RuntimeDirectory",
            "LimitNOFILE",
        ],
    ),
    ("Install", &["WantedBy"]),
];

/// The folder of the package, and that of the checkout.
fn folders() -> (&'static Path, &'static Path) {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    (package, package.parent().expect("the package is in a checkout"))
}

fn text_of(name: &str) -> String {
    let path: PathBuf = folders().0.join("contrib").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

/// Fails unless the binary has this command, with these options.
fn is_known(words: &[&str]) {
    let command = words.iter().take_while(|word| !word.starts_with('-'));
    let asked = Command::new(BINARY).args(command).arg("--help").output().unwrap();
    assert!(asked.status.success(), "no such command: {words:?}");
    let help = String::from_utf8_lossy(&asked.stdout);
    let known: Vec<&str> = help.split(|sign: char| sign.is_whitespace() || ",[]=".contains(sign)).collect();
    for option in words.iter().filter(|word| word.starts_with('-')) {
        assert!(known.contains(option), "{option} of {words:?} is not in\n{help}");
    }
}

/// Section, key and value of each line.
fn settings(unit: &str) -> Vec<(&str, &str, &str)> {
    let (mut section, mut settings) = ("", Vec::new());
    for line in unit.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(name) => section = name,
            None => {
                let (key, value) = line.split_once('=').unwrap_or_else(|| panic!("{line:?} sets nothing"));
                settings.push((section, key, value));
            }
        }
    }
    settings
}

/// What `systemd-analyze` says about a unit; `None` where there is none.
fn verified(folder: &Path, name: &str, unit: &str) -> Option<String> {
    let path = folder.join(name);
    std::fs::write(&path, unit.replace(INSTALLED, BINARY)).unwrap();
    let asked = Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(&path).output().ok()?;
    let said = String::from_utf8_lossy(&asked.stderr).into_owned();
    // Units that it names may be missing here.
    let about: Vec<&str> = said.lines().filter(|line| line.contains(name)).collect();
    Some(about.join("\n"))
}

#[test]
fn units_start_commands_that_there_are() {
    for name in UNITS {
        let text = text_of(name);
        let settings = settings(&text);
        for (section, key, value) in &settings {
            let known = SETTINGS.iter().find(|(known, _)| known == section);
            assert!(known.is_some_and(|(_, keys)| keys.contains(key)), "{name}: [{section}] {key}");
            assert!(!value.is_empty(), "{name}: {key}");
        }
        let starts: Vec<&str> =
            settings.iter().filter(|(_, key, _)| *key == "ExecStart").map(|(.., value)| *value).collect();
        let words: Vec<&str> = starts.iter().flat_map(|start| start.split_whitespace()).collect();
        assert!(starts.len() == 1 && words[0] == INSTALLED, "{name}: {starts:?}");
        is_known(&words[1..]);
    }
}

#[test]
fn units_are_such_as_systemd_takes() {
    let folder = tempfile::tempdir().unwrap();
    for name in UNITS {
        let unit = text_of(name);
        // One that is wrong shows whether units are verified here at all.
        let wrong = unit.replace("NoNewPrivileges", "NoNewPrivilege");
        match verified(folder.path(), name, &wrong) {
            Some(said) if said.contains("NoNewPrivilege") => {}
            other => return println!("not verified, as systemd-analyze does not do it here: {other:?}"),
        }
        assert_eq!(verified(folder.path(), name, &unit), Some(String::new()), "{name}");
    }
}

#[test]
fn the_container_file_copies_and_runs_what_there_is() {
    let (package, checkout) = folders();
    let text = text_of("Containerfile");
    let of = |instruction: &str| -> Vec<&str> {
        let given = text.lines().filter_map(|line| line.strip_prefix(instruction)?.strip_prefix(' '));
        given.collect()
    };
    for copied in of("COPY") {
        let words: Vec<&str> = copied.split_whitespace().collect();
        let (target, sources) = words.split_last().expect("it copies something");
        match sources[0].strip_prefix("--from=") {
            None => {
                let missing = sources.iter().find(|source| !checkout.join(source).exists());
                assert_eq!(missing, None, "{copied}");
            }
            Some(stage) => {
                assert!(of("FROM").iter().any(|from| from.ends_with(&format!(" AS {stage}"))), "{copied}");
                let built = format!("{}/target/release/lacuna", of("WORKDIR")[0]);
                assert_eq!((&sources[1..], *target), (&[built.as_str()][..], INSTALLED), "{copied}");
            }
        }
    }
    let build: Vec<&str> = of("RUN")[0].split_whitespace().collect();
    let after = |option: &str| build[build.iter().position(|word| *word == option).unwrap() + 1];
    let manifest = std::fs::read_to_string(package.join("Cargo.toml")).unwrap();
    assert!(manifest.contains(&format!("name = \"{}\"", after("-p"))), "{build:?}");
    for feature in after("--features").split(',') {
        assert!(manifest.contains(&format!("\n{feature} = [")), "{feature} is not a feature");
    }
    assert!(build.contains(&"--locked") && checkout.join("Cargo.lock").exists());
    let entry: Vec<String> = serde_json::from_str(of("ENTRYPOINT")[0]).unwrap();
    assert_eq!(entry, [INSTALLED]);
    let command: Vec<String> = serde_json::from_str(of("CMD")[0]).unwrap();
    is_known(&command.iter().map(String::as_str).collect::<Vec<_>>());
    // Examples in its comments.
    let examples: Vec<&str> = text
        .lines()
        .filter_map(|line| Some(line.strip_prefix("#   podman run ")?.split_once(" lacuna ")?.1))
        .collect();
    assert!(!examples.is_empty());
    for example in examples {
        is_known(&example.split_whitespace().collect::<Vec<_>>());
    }
}
