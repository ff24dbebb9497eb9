//! The lines of the front page do what they say.

use std::fs;
use std::path::Path;

use crate::support::Folder;

/// The command lines of README.md that start this binary, comments left out.
fn lines_of_readme() -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    let page = fs::read_to_string(page).expect("the checkout has a front page");
    let commands = page.lines().filter_map(|line| line.strip_prefix("$ lacuna "));
    commands.map(|line| line.split(" #").next().unwrap_or(line).to_owned()).collect()
}

#[test]
fn lines_of_the_front_page_run_in_order() {
    let folder = Folder::new();
    let lines = lines_of_readme();
    assert!(lines.len() >= 4, "{lines:?}");
    for line in lines {
        let shown = folder.lacuna(&line).done();
        assert!(!shown.is_empty(), "{line}");
    }
}
