//! Twins of the real text sets: invented words, hosts, paths and series from a fixed seed.

use crate::{Keys, Rng, ZipfRanks};

const SYLLABLES: [&str; 24] = [
    "ba", "ce", "di", "fo", "gra", "ha", "in", "ker", "lo", "mi", "nor", "pe", "qui", "ra", "sto", "ti",
    "un", "ver", "wa", "xen", "yo", "za", "tion", "er",
];

/// Words and expressions of one to three words.
pub(super) fn words() -> Keys {
    let mut rng = Rng::new(5);
    let expression = |rng: &mut Rng| {
        let parts: Vec<String> = (0..=rng.below(3)).map(|_| word(rng)).collect();
        parts.join(" ")
    };
    Keys::from_byte_strings((0..40_000).map(|_| expression(&mut rng)).collect::<Vec<_>>())
}

/// Host names: many below few domains.
pub(super) fn hosts() -> Keys {
    let mut rng = Rng::new(6);
    let domains: Vec<String> = (0..2_000).map(|_| format!("{}.gov", word(&mut rng))).collect();
    let host = |rng: &mut Rng| {
        let label = ["www", "mail", "vpn", "api", "dev"][rng.index(5)];
        format!("{label}{}-{}.{}", rng.below(20), word(rng), popular(&domains, rng))
    };
    Keys::from_byte_strings((0..50_000).map(|_| host(&mut rng)).collect::<Vec<_>>())
}

/// File paths: names in a tree of folders, so that neighbours share deep prefixes.
pub(super) fn paths() -> Keys {
    let mut rng = Rng::new(7);
    let mut folders: Vec<String> = (0..8).map(|_| format!("{}/{}", word(&mut rng), word(&mut rng))).collect();
    while folders.len() < 2_000 {
        let deeper = format!("{}/{}", folders[rng.index(folders.len())], word(&mut rng));
        folders.push(deeper);
    }
    let path = |rng: &mut Rng| {
        let ending = ["rs", "cc", "h", "java", "md", "txt"][rng.index(6)];
        format!("{}/{}_{}.{ending}", popular(&folders, rng), word(rng), word(rng))
    };
    Keys::from_byte_strings((0..30_000).map(|_| path(&mut rng)).collect::<Vec<_>>())
}

/// Keys `group/series|time`: one point each five minutes for a week.
pub(super) fn series_points() -> Keys {
    let mut rng = Rng::new(8);
    let series: Vec<String> =
        (0..40).map(|_| format!("real{}/{}_{}", word(&mut rng), word(&mut rng), word(&mut rng))).collect();
    let points = series.iter().flat_map(|name| {
        (0..2_016).map(move |step| {
            let (day, minute) = (14 + step / 288, step % 288 * 5);
            format!("{name}|2014-02-{day}T{:02}:{:02}:00", minute / 60, minute % 60)
        })
    });
    Keys::from_byte_strings(points)
}

fn word(rng: &mut Rng) -> String {
    (0..2 + rng.below(3)).map(|_| SYLLABLES[rng.index(SYLLABLES.len())]).collect()
}

/// One of `names`, the first far more often than the last.
fn popular<'a>(names: &'a [String], rng: &mut Rng) -> &'a str {
    let rank = ZipfRanks::new(names.len() as u64).draw(rng);
    &names[usize::try_from(rank - 1).expect("the rank is at most the number of names")]
}
