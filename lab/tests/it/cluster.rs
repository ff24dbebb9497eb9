//! `--cluster`: a script of the checkout measures; here one that only says what it was asked.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

use crate::support::Folder;

const COMMANDS: [&str; 2] = ["node-costs --cluster", "paper node-filters --cluster --quick --out there"];

fn write_program(folder: &Folder, name: &str, text: &str) {
    folder.write(name, text);
    fs::set_permissions(folder.path(name), fs::Permissions::from_mode(0o755)).expect("it is ours");
}

/// A folder that looks like a checkout, and a path with these programs alone.
fn checkout(programs: &[&str]) -> Folder {
    let folder = Folder::new();
    for name in ["nodes/cassandra", "deep/down", "path"] {
        fs::create_dir_all(folder.path(name)).expect("the folder takes folders");
    }
    write_program(&folder, "nodes/cassandra/bench", "#!/bin/sh\necho \"asked: $@\"\nexit 7\n");
    for program in programs {
        write_program(&folder, &format!("path/{program}"), "#!/bin/sh\n");
    }
    folder
}

fn run(folder: &Folder, line: &str) -> Output {
    Command::new(crate::BINARY)
        .args(line.split_whitespace())
        .current_dir(folder.path("deep/down"))
        .env("PATH", folder.path("path"))
        .output()
        .expect("the binary runs")
}

#[test]
fn a_cluster_needs_a_checkout() {
    for command in COMMANDS {
        let run = Folder::new().lacuna(command);
        assert!(run.sentence(2).contains("run this in a checkout of Lacuna"), "{run:?}");
    }
}

#[test]
fn a_cluster_needs_java_and_maven() {
    for (programs, missing) in [(&[][..], "`java`"), (&["java"][..], "`mvn`")] {
        for command in COMMANDS {
            let output = run(&checkout(programs), command);
            let told = String::from_utf8(output.stderr).expect("errors are text");
            assert_eq!(output.status.code(), Some(2), "{told}");
            assert!(told.contains(missing) && told.contains(".ci/java"), "{told}");
        }
    }
}

#[test]
fn the_checkouts_script_gets_the_words_and_ends_it() {
    let folder = checkout(&["java", "mvn"]);
    for (command, words) in COMMANDS.into_iter().zip(["asked: \n", "asked: paper --quick --out there\n"]) {
        let output = run(&folder, command);
        assert_eq!(output.status.code(), Some(7), "{output:?}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), words);
    }
}

/// Before they build anything, and without a word to where results go.
#[test]
fn the_real_scripts_refuse_what_they_do_not_know() {
    let scripts = concat!(env!("CARGO_MANIFEST_DIR"), "/../nodes/cassandra");
    for (line, told) in [
        ("bench nothing", "no part nothing"),
        ("bench paper nothing", "no part nothing"),
        ("bench paper --out", "--out wants a folder"),
        ("cluster many", "a number of nodes"),
        ("cluster 0", "a number of nodes"),
    ] {
        let mut words = line.split_whitespace();
        let script = format!("{scripts}/{}", words.next().expect("a script"));
        let run = Command::new(script).args(words).output().expect("it runs");
        let said = String::from_utf8(run.stderr).expect("errors are text");
        assert!(run.status.code() == Some(2) && said.contains(told), "{line}: {said}");
    }
}

#[test]
fn clusters_take_no_sizes_and_no_other_paper() {
    let folder = Folder::new();
    assert!(folder.lacuna("paper surf --cluster").sentence(2).contains("--cluster is for node-filters"));
    for line in [
        "node-costs --cluster --keys 20k",
        "paper node-filters --cluster --figure 6",
        "paper node-filters --quick",
    ] {
        assert_eq!(folder.lacuna(line).code, Some(2), "{line}");
    }
}
