//! Bytes that must never change: one file for each family, key space and payload version.

use lacuna_base::hash::hash_bytes;
use lacuna_base::{Budget, BuildPlan, ByteColumn, SortedKeys};
use lacuna_testkit::{Subject, demand, golden, golden_file_opens};

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
golden!(rencoder_u64_v1, u64, "rencoder", "tests/golden/rencoder_u64_v1.lacuna");
golden!(rencoder_bytes_v1, [u8], "rencoder", "tests/golden/rencoder_bytes_v1.lacuna");
golden!(surf_u64_v1, u64, "surf", "tests/golden/surf_u64_v1.lacuna");
golden!(surf_bytes_v1, [u8], "surf:cut", "tests/golden/surf_bytes_v1.lacuna");
golden!(proteus_u64_v1, u64, "proteus:trie=60,bloom=63", "tests/golden/proteus_u64_v1.lacuna");
golden!(proteus_bytes_v1, [u8], "proteus:trie=5,bloom=21", "tests/golden/proteus_bytes_v1.lacuna");
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
    let kept: &[(&str, u64, u64)] = &[
        ("bloom", 0x6DC6_57F6_096C_0774, 0x65F3_7FD1_1BFE_2DEE),
        ("blocked_bloom", 0x80F9_70C9_1D93_A8D5, 0x0939_9132_F41F_3923),
        ("prefix_bloom:bits=40", 0xE211_E689_D4B6_67CD, 0xED12_9E23_8211_B508),
        ("bucketing", 0xF68F_E6F9_CB80_DFCB, 0x875E_B583_86CE_30AF),
        ("bucketing:slice=2,heavy=9", 0x39C2_9496_87EC_D977, 0xA703_B303_0950_7E66),
        ("rencoder:ss", 0xFCFE_409A_8374_D9DD, 0x0319_A921_DDBF_AD17),
        ("surf:real=3,cut", 0x8A3D_975A_AF17_03AD, 0xB467_BB84_CF9A_7B6A),
        #[cfg(feature = "baselines")]
        ("rencoder:published,levels=6,round=2", 0x105A_EC09_D209_5995, 0xC3B3_BA8A_6EA5_043C),
        #[cfg(feature = "baselines")]
        ("rosetta", 0x6D5F_D86B_B340_2F71, 0xAFAA_9AD9_8104_94E7),
        #[cfg(feature = "baselines")]
        ("rosetta:published", 0x5C07_F231_6FF9_A6EC, 0xBF1D_5E71_852A_13B0),
        ("snarf", 0x3DE9_90E0_E025_57E7, 0x10DD_634D_AFBD_E945),
        ("cuckoo", 0x2C27_0459_58BE_CE8F, 0xF90F_D290_4000_B91E),
        ("cuckoo:bits=9", 0x9F76_F221_68A5_F545, 0x6947_BA71_F327_E964),
        ("snarf:block=9", 0x00CB_75BA_C3D0_9D3C, 0x1A01_1E2E_5647_26F9),
        ("proteus", 0xD74B_329C_3576_CF33, 0xEEA3_E321_D096_F3E6),
        ("proteus:trie=30,bloom=58", 0x0615_D79D_1600_6AC2, 0x8284_AEDC_702D_C7D4),
        ("proteus:trie=31,bloom=0", 0x660A_EE46_5CC2_BDF3, 0x5BD8_661B_4476_FC89),
        ("proteus:trie=0,bloom=99,probes=9", 0xA668_DB5B_0160_D486, 0xFD3B_0FAC_747E_206A),
        #[cfg(feature = "baselines")]
        ("two_prefix_bloom:short=34,long=60", 0xBBB5_1C6F_91FE_53CE, 0x0533_381F_DA52_D692),
        ("grafite", 0xF63D_57CE_3BDF_C58B, 0x1DCC_A8FB_EE2E_7B72),
        ("grafite:block=9,slice=2,heavy=9", 0x729C_3439_EB8A_DB8D, 0x21F1_A26D_18F2_8A6B),
    ];
    let found = kept.iter().map(|&(spec, _, _)| (spec, digest_of_integers(spec), digest_of_strings(spec)));
    let found: Vec<_> = found.collect();
    assert_eq!(found, kept, "the format changed; filters on disk would not open");
}

/// Cubes: runs of near keys first, wide gaps later.
fn integers() -> Vec<u64> {
    (0..2_000u64).map(|i| i * i * i * 977).collect()
}

fn digest_of_integers(spec: &str) -> u64 {
    let keys = integers();
    let plan = BuildPlan::<u64>::new(Budget::bits_per_key(12.5).expect("in range")).with_seed(9);
    let spec = lacuna_families::spec::<u64>(spec).expect("known");
    let sealed = spec.build(SortedKeys::integers(&keys).expect("ascending"), &plan).expect("fits");
    hash_bytes(sealed.as_bytes(), 0)
}

fn digest_of_strings(spec: &str) -> u64 {
    let keys: ByteColumn = integers().iter().map(|key| format!("golden/{key:020}/tail")).collect();
    let plan = BuildPlan::<[u8]>::new(Budget::bits_per_key(12.5).expect("in range")).with_seed(9);
    let spec = lacuna_families::spec::<[u8]>(spec).expect("known");
    let sealed = spec.build(SortedKeys::byte_strings(&keys).expect("ascending"), &plan).expect("fits");
    hash_bytes(sealed.as_bytes(), 0)
}
