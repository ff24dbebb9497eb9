//! Key sets, and where ranges start.

use std::fmt;

use lacuna_base::Result;
use lacuna_workload::{KeySource, Keys, ReadOptions, real_sets};

/// Real sets of integers, or of what stands for them.
const REAL: [&str; 4] = ["osm_node_ids", "places_zorder", "commit_times", "nab_values"];

/// Real sets of texts, which filters see as byte strings.
const TEXTS: [&str; 4] = ["gov_hosts", "wordnet_lemmas", "nab_series_points", "repo_paths"];

/// Where ranges start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Starts {
    /// Anywhere between the smallest and the largest key.
    Anywhere,
    /// One to this many after a key.
    After(u64),
    /// Around a key that was taken out: they follow the law of the keys.
    HeldOut,
}

/// A key set and a law.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scene {
    /// A generator, or the name of a real set.
    pub keys: String,
    /// Where ranges start.
    pub starts: Starts,
}

/// All scenes; generated sets have `key_counts` keys, such as `1M`.
pub fn scenes(key_counts: &[&str]) -> Vec<Scene> {
    let of = |keys: &str, laws: &[Starts]| {
        let scene = |&starts: &Starts| Scene { keys: keys.to_owned(), starts };
        laws.iter().map(scene).collect::<Vec<_>>()
    };
    let uniform = [Starts::Anywhere, Starts::After(1 << 5), Starts::After(1 << 10), Starts::After(1 << 20)];
    let near = [Starts::HeldOut, Starts::After(1 << 10)];
    let generated = key_counts.iter().flat_map(|count| {
        [of(&format!("uniform:{count}"), &uniform), of(&format!("clustered:{count}"), &near)].concat()
    });
    let real = REAL.iter().flat_map(|name| of(name, &near));
    let texts = TEXTS.iter().flat_map(|name| of(name, &[Starts::HeldOut]));
    generated.chain(real).chain(texts).collect()
}

impl Scene {
    /// The set's name without its size.
    pub fn set(&self) -> &str {
        self.keys.split(':').next().unwrap_or_default()
    }

    /// All keys, before any is taken out.
    ///
    /// # Errors
    /// Those of reading a file.
    pub fn load(&self, seed: u64) -> Result<Keys> {
        match real_sets().into_iter().find(|set| set.name() == self.keys) {
            Some(set) => set.load(),
            None => KeySource::parse(&self.keys)?.load(&ReadOptions::default(), seed, &mut |_| {}),
        }
    }
}

impl fmt::Display for Scene {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, ", self.keys)?;
        match self.starts {
            Starts::Anywhere => f.write_str("starts anywhere"),
            Starts::After(degree) => write!(f, "starts 1 to {degree} after a key"),
            Starts::HeldOut => f.write_str("starts at keys that were taken out"),
        }
    }
}
