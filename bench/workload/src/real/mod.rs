//! Eight public key sets, or twins of the same shape where the files are absent.
//!
//! Generated keys are easier than real ones: real ids come in runs, commits in bursts, paths share deep prefixes.
//! The files lie in the folder named by the environment variable `LACUNA_DATA`, else in `../shared/data` beside the
//! workspace; its page says where they come from. A machine without them still runs every test, on generated twins
//! that imitate the shape, and [`RealSet::note`] says so in one line.

mod twin_texts;
mod twins;

use std::env;
use std::path::{Path, PathBuf};

use lacuna_base::Result;

use crate::{KeyType, Keys, ReadOptions, read_keys};

/// A real key set, or its twin.
///
/// ```
/// for set in lacuna_workload::real_sets() {
///     let keys = set.load()?;
///     println!("{}: {} keys", set.note(), keys.len());
/// }
/// # Ok::<(), lacuna_workload::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct RealSet {
    known: &'static KnownSet,
    path: Option<PathBuf>,
}

#[derive(Debug)]
struct KnownSet {
    name: &'static str,
    file: &'static str,
    key_type: KeyType,
    twin: fn() -> Keys,
}

static SETS: [KnownSet; 8] = [
    KnownSet {
        name: "osm_node_ids",
        file: "osm_node_ids.u64",
        key_type: KeyType::U64,
        twin: twins::ids_in_runs,
    },
    KnownSet {
        name: "places_zorder",
        file: "places_zorder.u64",
        key_type: KeyType::U64,
        twin: twins::places,
    },
    KnownSet {
        name: "commit_times",
        file: "commit_times.u64",
        key_type: KeyType::U64,
        twin: twins::times_in_bursts,
    },
    KnownSet {
        name: "nab_values",
        file: "nab_values.txt.gz",
        key_type: KeyType::F64,
        twin: twins::measurements,
    },
    KnownSet {
        name: "gov_hosts",
        file: "gov_hosts.txt.gz",
        key_type: KeyType::Text,
        twin: twin_texts::hosts,
    },
    KnownSet {
        name: "repo_paths",
        file: "repo_paths.txt.gz",
        key_type: KeyType::Text,
        twin: twin_texts::paths,
    },
    KnownSet {
        name: "nab_series_points",
        file: "nab_series_points.txt.gz",
        key_type: KeyType::Text,
        twin: twin_texts::series_points,
    },
    KnownSet {
        name: "wordnet_lemmas",
        file: "wordnet_lemmas.txt.gz",
        key_type: KeyType::Text,
        twin: twin_texts::words,
    },
];

/// The folder of the real key files, if there is one: `LACUNA_DATA`, else `../shared/data` beside the workspace.
fn data_dir() -> Option<PathBuf> {
    let workspace = || Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    let folder = match env::var_os("LACUNA_DATA") {
        Some(folder) => PathBuf::from(folder),
        None => workspace()?.join("../shared/data"),
    };
    folder.is_dir().then_some(folder)
}

/// The eight sets, each from its file in the folder of data sets or as a twin.
pub fn real_sets() -> Vec<RealSet> {
    sets_in(data_dir().as_deref())
}

fn sets_in(folder: Option<&Path>) -> Vec<RealSet> {
    let file = |known: &KnownSet| folder.map(|folder| folder.join(known.file)).filter(|path| path.is_file());
    SETS.iter().map(|known| RealSet { known, path: file(known) }).collect()
}

impl RealSet {
    /// A short name, such as `osm_node_ids`.
    pub fn name(&self) -> &'static str {
        self.known.name
    }

    /// A description of the keys.
    pub fn key_type(&self) -> KeyType {
        self.known.key_type
    }

    /// The file, unless this is a twin.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Whether the file is absent and the keys are generated.
    pub fn is_twin(&self) -> bool {
        self.path.is_none()
    }

    /// One line that says which keys these are.
    pub fn note(&self) -> String {
        match &self.path {
            Some(path) => format!("{} from {}", self.known.name, path.display()),
            None => {
                format!(
                    "{} (generated twin: the file is absent, set LACUNA_DATA to its folder)",
                    self.known.name
                )
            }
        }
    }

    /// The keys.
    ///
    /// # Errors
    ///
    /// Errors of [`read_keys`] when the file is damaged; a twin never fails.
    pub fn load(&self) -> Result<Keys> {
        let options = ReadOptions { key_type: Some(self.known.key_type), sort: false };
        match &self.path {
            Some(path) => read_keys(path, &options, &mut |_| {}).map(|typed| typed.keys),
            None => Ok((self.known.twin)()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twins_are_sorted_and_large() {
        for set in sets_in(None) {
            let keys = set.load().unwrap();
            let sorted = match &keys {
                Keys::U64(keys) => keys.is_sorted_by(|left, right| left < right),
                Keys::Bytes(keys) => keys.iter().is_sorted_by(|left, right| left < right),
            };
            assert!(set.is_twin() && sorted && keys.len() >= 10_000, "{}: {} keys", set.name(), keys.len());
            assert_eq!(matches!(keys, Keys::Bytes(_)), set.key_type().is_bytes(), "{}", set.name());
            assert_eq!(keys, set.load().unwrap(), "{}", set.name());
        }
    }

    #[test]
    fn twin_of_ids_has_runs_and_gaps() {
        let Keys::U64(keys) = twins::ids_in_runs() else { panic!("ids are integers") };
        let mut gaps: Vec<u64> = keys.windows(2).map(|pair| pair[1] - pair[0]).collect();
        gaps.sort_unstable();
        assert!(gaps[gaps.len() / 2] <= 4 && gaps[gaps.len() - 1] > 1_000_000, "{} keys", keys.len());
    }
}
