//! Bytes that must never change: one file for each family, key space and payload version, and digests of larger sets.

use std::path::Path;

use lacuna_base::hash::hash_bytes;
use lacuna_base::{Budget, BuildPlan, ByteColumn, Sealed, SortedKeys};
use lacuna_testkit::{Subject, demand, golden, golden_bytes_are_kept, golden_file_opens};

golden!(bloom_u64_v1, u64, "bloom", "tests/golden/bloom_u64_v1.lacuna");
golden!(bloom_bytes_v1, [u8], "bloom", "tests/golden/bloom_bytes_v1.lacuna");
golden!(blocked_bloom_u64_v1, u64, "blocked_bloom", "tests/golden/blocked_bloom_u64_v1.lacuna");
golden!(blocked_bloom_bytes_v1, [u8], "blocked_bloom", "tests/golden/blocked_bloom_bytes_v1.lacuna");
golden!(prefix_bloom_u64_v1, u64, "prefix_bloom", "tests/golden/prefix_bloom_u64_v1.lacuna");
golden!(prefix_bloom_bytes_v1, [u8], "prefix_bloom", "tests/golden/prefix_bloom_bytes_v1.lacuna");
golden!(bucketing_u64_v1, u64, "bucketing", "tests/golden/bucketing_u64_v1.lacuna");
golden!(bucketing_bytes_v1, [u8], "bucketing", "tests/golden/bucketing_bytes_v1.lacuna");
golden!(grafite_u64_v1, u64, "grafite", "tests/golden/grafite_u64_v1.lacuna");
golden!(grafite_bytes_v1, [u8], "grafite", "tests/golden/grafite_bytes_v1.lacuna");
golden!(ribbon_u64_v1, u64, "ribbon:block=2,planes=5,layer=1", "tests/golden/ribbon_u64_v1.lacuna");
golden!(ribbon_bytes_v1, [u8], "ribbon", "tests/golden/ribbon_bytes_v1.lacuna");
golden!(ribbon_cells_u64_v1, u64, "ribbon:cell=2", "tests/golden/ribbon_cells_u64_v1.lacuna");
golden!(
    ribbon_halves_u64_v1,
    u64,
    "ribbon:block=2,planes=5,layer=1,cell=4,near=50",
    "tests/golden/ribbon_halves_u64_v1.lacuna"
);
golden!(rencoder_u64_v1, u64, "rencoder", "tests/golden/rencoder_u64_v1.lacuna");
golden!(rencoder_bytes_v1, [u8], "rencoder", "tests/golden/rencoder_bytes_v1.lacuna");
golden!(surf_u64_v1, u64, "surf", "tests/golden/surf_u64_v1.lacuna");
golden!(surf_bytes_v1, [u8], "surf:cut", "tests/golden/surf_bytes_v1.lacuna");
golden!(proteus_u64_v1, u64, "proteus:trie=60,bloom=63", "tests/golden/proteus_u64_v1.lacuna");
golden!(proteus_bytes_v1, [u8], "proteus:trie=5,bloom=21", "tests/golden/proteus_bytes_v1.lacuna");
golden!(
    multi_prefix_bloom_u64_v1,
    u64,
    "multi_prefix_bloom:lengths=59+63,hashes=2+3",
    "tests/golden/multi_prefix_bloom_u64_v1.lacuna"
);
golden!(
    multi_prefix_bloom_bytes_v1,
    [u8],
    "multi_prefix_bloom:lengths=21+5,hashes=3+2",
    "tests/golden/multi_prefix_bloom_bytes_v1.lacuna"
);
golden!(place_trie_u64_v1, u64, "place_trie:edge=64,tail=3", "tests/golden/place_trie_u64_v1.lacuna");
golden!(place_trie_bytes_v1, [u8], "place_trie:edge=64,tail=3", "tests/golden/place_trie_bytes_v1.lacuna");
#[cfg(feature = "baselines")]
golden!(
    two_prefix_bloom_u64_v1,
    u64,
    "two_prefix_bloom:short=59,long=63",
    "tests/golden/two_prefix_bloom_u64_v1.lacuna"
);
#[cfg(feature = "baselines")]
golden!(
    two_prefix_bloom_bytes_v1,
    [u8],
    "two_prefix_bloom:short=9,long=21",
    "tests/golden/two_prefix_bloom_bytes_v1.lacuna"
);
#[cfg(feature = "baselines")]
golden!(
    rencoder_published_u64_v1,
    u64,
    "rencoder:published",
    "tests/golden/rencoder_published_u64_v1.lacuna"
);
#[cfg(feature = "baselines")]
golden!(
    rencoder_published_bytes_v1,
    [u8],
    "rencoder:published",
    "tests/golden/rencoder_published_bytes_v1.lacuna"
);
#[cfg(feature = "baselines")]
golden!(rosetta_u64_v1, u64, "rosetta", "tests/golden/rosetta_u64_v1.lacuna");
#[cfg(feature = "baselines")]
golden!(rosetta_bytes_v1, [u8], "rosetta", "tests/golden/rosetta_bytes_v1.lacuna");
golden!(snarf_u64_v1, u64, "snarf", "tests/golden/snarf_u64_v1.lacuna");
golden!(snarf_bytes_v1, [u8], "snarf", "tests/golden/snarf_bytes_v1.lacuna");
golden!(cuckoo_u64_v1, u64, "cuckoo", "tests/golden/cuckoo_u64_v1.lacuna");
golden!(cuckoo_bytes_v1, [u8], "cuckoo", "tests/golden/cuckoo_bytes_v1.lacuna");

/// A writer chooses which of its two buckets a fingerprint stands in: here always the first that had room.
#[test]
fn cuckoo_u64_v1_in_another_order_opens() {
    let (open, verified) = (lacuna_families::open::<u64, _>, lacuna_families::open_verified::<u64, _>);
    let subject = Subject::<u64>::new("cuckoo", lacuna_families::spec::<u64>, open, verified);
    demand(golden_file_opens(&subject, "tests/golden/cuckoo_u64_v1_first_fit.lacuna"));
}

/// Five keys never fill a line or cross a slice; these do.
#[test]
fn the_bytes_of_two_thousand_keys_are_kept() {
    let specs = [
        "bloom",
        "blocked_bloom",
        "prefix_bloom:bits=40",
        "bucketing",
        "bucketing:slice=2,heavy=9",
        "rencoder:ss",
        "surf:real=3,cut",
        "snarf",
        "cuckoo",
        "cuckoo:bits=9",
        "snarf:block=9",
        "proteus",
        "proteus:trie=30,bloom=58",
        "proteus:trie=31,bloom=0",
        "proteus:trie=0,bloom=99,probes=9",
        "grafite",
        "grafite:block=9,slice=2,heavy=9",
        "ribbon",
        "ribbon:layer=1",
        "ribbon:block=6,planes=8,window=20,layer=1",
        "ribbon:cell=12",
        "ribbon:cell=20,near=50",
    ];
    digests_are_kept("tests/golden/two_thousand_keys.txt", &specs);
}

#[cfg(feature = "baselines")]
#[test]
fn the_bytes_of_two_thousand_keys_in_baselines_are_kept() {
    let specs = [
        "rencoder:published,levels=6,round=2",
        "rosetta",
        "rosetta:published",
        "two_prefix_bloom:short=34,long=60",
    ];
    digests_are_kept("tests/golden/two_thousand_keys_in_baselines.txt", &specs);
}

/// The digest of `ribbon:layer=1` is one of rows of both heights and of further layers.
#[test]
fn a_kept_ribbon_has_tall_rows_and_further_layers() {
    let sealed = sealed_integers("ribbon:layer=1");
    let payload = sealed.payload();
    let number = |at: usize| u32::from_le_bytes(*payload[at..].first_chunk().expect("a header"));
    // Buckets of each layer, and how many of them are tall.
    let layers: Vec<(u32, u32)> =
        (0..usize::from(payload[0])).map(|layer| (number(16 + 8 * layer), number(20 + 8 * layer))).collect();
    assert!(layers.len() > 1 && (1..layers[0].0).contains(&layers[0].1), "{layers:?}");
}

/// The file at `path` has a line for each of `specs`: the digests of its bytes over integers and over byte strings.
fn digests_are_kept(path: &str, specs: &[&str]) {
    let digest = |sealed: Sealed| hash_bytes(sealed.as_bytes(), 0);
    let line = |spec: &&str| {
        let (integers, strings) = (digest(sealed_integers(spec)), digest(sealed_strings(spec)));
        format!("{spec} {integers:016x} {strings:016x}\n")
    };
    let lines: String = specs.iter().map(line).collect();
    println!("{lines}");
    demand(golden_bytes_are_kept(Path::new(path), lines.as_bytes()));
}

/// Cubes: runs of near keys first, wide gaps later.
fn integers() -> Vec<u64> {
    (0..2_000u64).map(|i| i * i * i * 977).collect()
}

fn sealed_integers(spec: &str) -> Sealed {
    let keys = integers();
    let plan = BuildPlan::<u64>::new(Budget::bits_per_key(12.5).expect("in range")).with_seed(9);
    let spec = lacuna_families::spec::<u64>(spec).expect("known");
    spec.build(SortedKeys::integers(&keys).expect("ascending"), &plan).expect("fits")
}

fn sealed_strings(spec: &str) -> Sealed {
    let keys: ByteColumn = integers().iter().map(|key| format!("golden/{key:020}/tail")).collect();
    let plan = BuildPlan::<[u8]>::new(Budget::bits_per_key(12.5).expect("in range")).with_seed(9);
    let spec = lacuna_families::spec::<[u8]>(spec).expect("known");
    spec.build(SortedKeys::byte_strings(&keys).expect("ascending"), &plan).expect("fits")
}
