//! The promise on real keys: no family denies a key of any of the eight sets, or of its twin where a file is absent.
//!
//! A short run gives each family two of the sets, and each set a quarter of the families; a long one all of them.

use lacuna_families::FAMILIES;
use lacuna_testkit::effort;
use lacuna_workload::{Keys, RealSet, real_sets};

use crate::support::Folder;

/// The arguments that name the keys of `set`; a twin is written into the folder first.
fn key_arguments(set: &RealSet, folder: &Folder) -> Vec<String> {
    let (path, key_type) = match set.path() {
        Some(path) => (path.display().to_string(), set.key_type().name()),
        None => {
            println!("{}", set.note());
            write_twin(set, folder)
        }
    };
    ["--keys", &path, "--key-type", key_type].map(str::to_owned).to_vec()
}

fn write_twin(set: &RealSet, folder: &Folder) -> (String, &'static str) {
    match set.load().expect("a twin never fails") {
        Keys::U64(keys) => {
            folder.write_integers("twin.u64", &keys);
            ("twin.u64".to_owned(), "u64")
        }
        Keys::Bytes(keys) => {
            folder.write("twin.txt", keys.iter().flat_map(|key| [key, b"\n"].concat()).collect::<Vec<u8>>());
            ("twin.txt".to_owned(), "text")
        }
    }
}

#[test]
fn no_key_of_any_set_is_denied() {
    let share = effort::short_or_long(4, 1);
    for (at, set) in real_sets().into_iter().enumerate() {
        let folder = Folder::new();
        let keys = key_arguments(&set, &folder);
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        for family in FAMILIES.iter().skip(at % share).step_by(share).map(|family| family.kind.name()) {
            // On strings, 14 bits do not hold every trie; cut at a level, one of any size does.
            let spec = if family == "surf" { "surf:cut" } else { family };
            let build = ["build", "--filter", spec, "--bits-per-key", "14", "--out", "f"];
            folder.run(&[&build[..], &keys].concat(), "").done();
            let report =
                folder.run(&[&["verify", "f", "--bits-per-key", "14"], &keys[..]].concat(), "").done();
            let place = format!("{} with {}, seed 1:\n{report}", set.name(), family);
            for subject in ["keys", "points", "ranges", "batches", "budget"] {
                let holds = |line: &str| line.starts_with(&format!("{subject:8}  ok"));
                assert!(report.lines().any(holds), "{subject} of {place}");
            }
            assert_eq!(report.matches("none denied").count(), 2, "{place}");
            assert_eq!(report.matches("\nrate      ok").count(), 3, "{place}");
        }
    }
}
