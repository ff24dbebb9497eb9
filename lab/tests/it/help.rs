//! The help of each command teaches by examples, and those that take seconds run.

use crate::support::Folder;

/// Commands whose first two examples are small.
const COMMANDS: [&str; 2] = ["paper", "node-costs"];

#[test]
fn examples_run() {
    let folder = Folder::new();
    for command in COMMANDS {
        let help = folder.lacuna(&format!("{command} --help")).done();
        let examples: Vec<&str> =
            help.lines().filter_map(|line| line.strip_prefix("  lacuna-lab ")).collect();
        assert!(examples.len() >= 2, "{help}");
        for example in examples {
            assert!(!folder.lacuna(example).done().is_empty(), "{example}");
        }
    }
}

#[test]
fn commands_are_listed() {
    let help = Folder::new().lacuna("--help").done();
    for command in ["paper", "bars", "designer-grid", "node-costs"] {
        assert!(help.contains(&format!("\n  {command} ")), "{command} is not in\n{help}");
    }
}
