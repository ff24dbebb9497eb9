//! `lacuna-lab frontier`: a small page has every filter, repeats from its seed, and is kept when the run is stopped.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use lacuna_lab::frontier::{Contender, Scale, contenders, run_scene, scenes};

use crate::support::Folder;

const SMALL: &str = "frontier --keys 3k --queries 500 --no-times";

#[test]
fn every_family_has_its_row() {
    let rows = contenders();
    for family in lacuna_families::FAMILIES {
        let name = family.kind.name();
        assert!(
            rows.iter().any(|row| row.name() == name || row.name().starts_with(&format!("{name}:"))),
            "{name}"
        );
    }
}

#[test]
fn a_small_page_repeats_from_its_seed() {
    let folder = Folder::new();
    let command = format!("{SMALL} --only clustered,ribbon,grafite,bucketing,auto,bloom,fastbloom");
    let page = folder.lacuna(&command).done();
    assert_eq!(page, folder.lacuna(&command).done());
    assert_ne!(page, folder.lacuna(&format!("{command} --seed 2")).done());
    for line in [
        "## clustered:3k, starts at keys that were taken out",
        "2,700 keys",
        "\n| ribbon | ",
        "\n| crate fastbloom | ",
        "\n| Memento | ",
    ] {
        assert!(page.contains(line), "{line} in\n{page}");
    }
    assert!(!page.contains("## uniform") && !page.contains("rosetta |"), "{page}");
}

#[test]
fn texts_are_asked_for_what_texts_are_asked_for() {
    let folder = Folder::new();
    let command =
        "frontier --keys 3k --queries 300 --no-times --only repo_paths,ribbon,surf,bloom,fastbloom,auto";
    let page = folder.lacuna(command).done();
    assert_eq!(page, folder.lacuna(command).done());
    for line in [
        "## repo_paths, starts at keys that were taken out",
        "| filter | 10: bits | the key | its last byte | up to the next key | time | 14: bits |",
        "\n| ribbon (place map) | ",
        "\n| surf:cut | ",
        "\n| bloom | ",
    ] {
        assert!(page.contains(line), "{line} in\n{page}");
    }
    let crate_of_others = page.lines().find(|line| line.starts_with("| crate fastbloom |")).unwrap();
    let cells: Vec<&str> = crate_of_others.split(" | ").collect();
    assert!(cells[2] != "-" && cells[3..6] == ["-", "-", "-"], "points alone: {crate_of_others}");
    assert!(!page.contains("## uniform"), "{page}");
}

#[test]
fn a_name_that_nothing_has_is_refused() {
    let run = Folder::new().lacuna("frontier --only nothing");
    assert!(run.sentence(2).contains("no such key set and no such filter"), "{run:?}");
}

#[test]
fn times_have_a_median_and_a_spread() {
    let scale = Scale { query_count: 300, seed: 1, with_times: true };
    let scene = &scenes(&["1k"])[0];
    let filters = [Contender::Ours("bloom"), Contender::FastBloom];
    let result = run_scene(scene, &filters, scale, &mut |_| {}, &|| false).unwrap();
    assert_eq!(result.rows.len(), 6);
    for row in &result.rows {
        let times = row.times.expect("it was timed").0;
        assert!(0.0 < times[1] && times[1] <= times[0] && times[0] <= times[2], "{row:?}");
    }
    assert_eq!((result.rows[1].rates[1], result.rows[1].rates[0].is_some()), (None, true), "points alone");
}

#[test]
fn a_stopped_run_keeps_what_is_done() {
    let scale = Scale { query_count: 300, seed: 1, with_times: false };
    let done = std::cell::Cell::new(0);
    let is_stopped = || {
        done.set(done.get() + 1);
        done.get() > 5
    };
    let result = run_scene(&scenes(&["1k"])[0], &contenders(), scale, &mut |_| {}, &is_stopped).unwrap();
    assert_eq!(result.rows.len(), 5);
}

#[test]
fn an_interrupt_leaves_a_page() {
    let folder = Folder::new();
    let mut command = Command::new(crate::BINARY);
    command.args(["frontier", "--keys", "20k", "--queries", "20k", "--only", "uniform", "--out"]);
    command.arg(folder.path("page.md")).stdout(Stdio::piped()).stderr(Stdio::piped());
    let run = command.spawn().unwrap();
    let start = Instant::now();
    // Ctrl-C is received before the page is begun.
    while folder.names().is_empty() {
        assert!(start.elapsed() < Duration::from_secs(60), "no page is begun");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap().success());
    let end = run.wait_with_output().unwrap();
    assert!(end.status.success(), "{end:?}");
    let page = std::fs::read_to_string(folder.path("page.md")).unwrap();
    assert!(page.contains("scenes are missing") && page.contains("| Memento |"), "{page}");
}
