//! `lacuna-lab designer-grid`: a run that was broken off goes on.

use std::fs;

use crate::support::Folder;

/// A cell of uniform keys and one of a real set.
const COMMAND: &str =
    "designer-grid --every 500 --key-count 2k --queries 300 --cells done.cells --out page.md";

fn read(folder: &Folder, name: &str) -> String {
    fs::read_to_string(folder.path(name)).expect("it was written")
}

#[test]
fn a_broken_run_goes_on_with_the_next_cell() {
    let folder = Folder::new();
    folder.lacuna(COMMAND).done();
    let (page, cells) = (read(&folder, "page.md"), read(&folder, "done.cells"));
    assert_eq!(cells.lines().count(), 3, "the command and two cells: {cells}");

    // What is there is taken as it is, what was broken off is measured again.
    let mut lines: Vec<String> = cells.lines().map(ToOwned::to_owned).collect();
    let forged: Vec<&str> = lines[1].split('\t').collect();
    lines[1] = [&forged[..3], &["0.123456"], &forged[4..]].concat().join("\t");
    let half = lines[2].len() / 2;
    lines[2].truncate(half);
    folder.write("done.cells", lines.join("\n"));
    folder.lacuna(COMMAND).done();
    let resumed = read(&folder, "page.md");
    assert!(resumed.contains("| 0.12346 |"), "{resumed}");
    assert_eq!(page.lines().last(), resumed.lines().last());
    assert_eq!(read(&folder, "done.cells").lines().last(), cells.lines().last());
}

#[test]
fn cells_of_another_run_are_not_mixed_in() {
    let folder = Folder::new();
    folder.write("done.cells", "lacuna-lab designer-grid --every 1 --key-count 1M --queries 20k --seed 1\n");
    let run = folder.lacuna(COMMAND);
    assert!(run.sentence(2).contains("another run"), "{run:?}");
    assert_eq!(folder.names(), ["done.cells"]);
}

#[test]
fn none_of_the_cells_is_no_choice() {
    let run = Folder::new().lacuna("designer-grid --every 0");
    assert!(run.sentence(2).contains("--every"), "{run:?}");
}

#[test]
fn a_page_without_a_folder_is_refused_before_any_work() {
    let run = Folder::new().lacuna("designer-grid --out nowhere/page.md");
    assert!(run.sentence(2).contains("nowhere"), "{run:?}");
}
