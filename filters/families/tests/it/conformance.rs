//! Every family joins the suite with one line for each key space. `forced` names parameters so small that a handful of
//! keys walks the rare `paths`.

use lacuna_testkit::conformance;

conformance!(bloom_u64, u64, "bloom", forced = ["bloom:k=1"], paths = ["points: too many"]);
conformance!(bloom_bytes, [u8], "bloom", forced = ["bloom:k=1"]);
conformance!(blocked_bloom_u64, u64, "blocked_bloom", paths = ["points: too many"]);
conformance!(blocked_bloom_bytes, [u8], "blocked_bloom");
conformance!(prefix_bloom_u64, u64, "prefix_bloom", forced = ["prefix_bloom:bits=62", "prefix_bloom:bits=1"]);
conformance!(prefix_bloom_bytes, [u8], "prefix_bloom", forced = ["prefix_bloom:bits=6"]);
conformance!(
    bucketing_u64,
    u64,
    "bucketing",
    forced = [
        "bucketing:gap=1,slice=1,heavy=1",
        "bucketing:slice=0,heavy=2",
        "bucketing:gap=3",
        "bucketing:gap=6,slice=1,heavy=1",
        // The universes have strides of 2^20 and 2^56, too.
        "bucketing:gap=23,slice=1,heavy=1",
        "bucketing:gap=58,slice=1,heavy=1"
    ],
    paths = ["bucketing: shared buckets", "bucketing: gaps left out", "elias_fano: spilled"],
    ignores_seed = true
);
conformance!(
    bucketing_bytes,
    [u8],
    "bucketing",
    forced = ["bucketing:gap=9,slice=1,heavy=1"],
    ignores_seed = true
);
conformance!(
    grafite_u64,
    u64,
    "grafite",
    forced = ["grafite:block=1,slice=1,heavy=1", "grafite:block=2,slice=0,heavy=2"],
    paths = ["grafite: wrapped", "grafite: two blocks", "grafite: whole block", "elias_fano: spilled"]
);
conformance!(grafite_bytes, [u8], "grafite", forced = ["grafite:block=1,slice=1,heavy=1"]);
conformance!(
    ribbon_u64,
    u64,
    "ribbon",
    forced = [
        "ribbon:block=0,planes=3,window=2,layer=1",
        "ribbon:block=1,planes=2,window=1,layer=1",
        "ribbon:block=2,planes=2,window=2,layer=1",
        "ribbon:block=2,planes=6,window=1,layer=1",
        "ribbon:block=3,planes=17,window=3,layer=1",
        "ribbon:block=1,planes=1,window=32,layer=1"
    ],
    paths = [
        "ribbon: bumped",
        "ribbon: next layer",
        "ribbon: fits no layer",
        "ribbon: spill asked",
        "ribbon: several blocks",
        "ribbon: too many blocks"
    ]
);
conformance!(
    ribbon_cells_u64,
    u64,
    "ribbon:cell=9",
    forced = [
        "ribbon:block=1,planes=2,window=1,layer=1,cell=1",
        "ribbon:block=0,planes=3,window=2,layer=1,cell=2"
    ],
    paths = ["ribbon: spill asked", "ribbon: several blocks"]
);
conformance!(
    ribbon_halves_u64,
    u64,
    "ribbon:cell=20,near=50",
    forced = [
        "ribbon:cell=2,near=50",
        "ribbon:cell=21,near=30",
        "ribbon:block=1,planes=3,window=2,layer=1,cell=2,near=50"
    ],
    paths = ["ribbon: near half alone", "ribbon: far half asked"]
);
conformance!(ribbon_halves_bytes, [u8], "ribbon:cell=20,near=50", forced = ["ribbon:cell=2,near=50"]);
conformance!(
    ribbon_bytes,
    [u8],
    "ribbon",
    forced = ["ribbon:block=2,planes=3,window=2,layer=1", "ribbon:block=4,planes=20,window=1,layer=1"]
);
conformance!(
    rencoder_u64,
    u64,
    "rencoder",
    forced = [
        "rencoder:levels=4",
        "rencoder:levels=5,k=3",
        "rencoder:levels=6,k=1",
        "rencoder:levels=7,probes=1",
        "rencoder:round=3,levels=4"
    ],
    paths = ["rencoder: walked", "rencoder: tired"]
);
conformance!(
    rencoder_bytes,
    [u8],
    "rencoder",
    forced = ["rencoder:levels=4", "rencoder:levels=4,probes=3,k=1"],
    paths = ["rencoder: walked", "rencoder: tired"]
);
conformance!(rencoder_ss_u64, u64, "rencoder:ss", forced = ["rencoder:ss,levels=4,k=2"]);
conformance!(rencoder_ss_bytes, [u8], "rencoder:ss", forced = ["rencoder:ss,levels=4,k=2"]);
conformance!(rencoder_se_u64, u64, "rencoder:se", forced = ["rencoder:se,levels=4,k=2"]);
conformance!(rencoder_se_bytes, [u8], "rencoder:se");
conformance!(rencoder_po_u64, u64, "rencoder:po", forced = ["rencoder:po,levels=4,k=2"]);
conformance!(rencoder_po_bytes, [u8], "rencoder:po");
conformance!(rencoder_float_u64, u64, "rencoder:float", forced = ["rencoder:float,levels=4,k=2"]);
conformance!(rencoder_float_bytes, [u8], "rencoder:float", forced = ["rencoder:float,levels=4,k=2,round=1"]);
conformance!(surf_u64, u64, "surf", forced = ["surf:real=0", "surf:real=3,cut"], ignores_seed = true);
conformance!(surf_bytes, [u8], "surf", forced = ["surf:real=0", "surf:real=11,cut"], ignores_seed = true);
conformance!(surf_mixed_u64, u64, "surf:hash=5,real=4", forced = ["surf:hash=7", "surf:hash=3,real=2,cut"]);
conformance!(
    surf_mixed_bytes,
    [u8],
    "surf:hash=5,real=4",
    forced = ["surf:hash=7", "surf:hash=3,real=2,cut"]
);
conformance!(auto_u64, u64, "auto", chooses = true);
conformance!(auto_bytes, [u8], "auto", chooses = true);
conformance!(auto_robust_u64, u64, "auto:robust", chooses = true);
conformance!(auto_robust_bytes, [u8], "auto:robust", chooses = true);
#[cfg(feature = "baselines")]
conformance!(
    rencoder_published_u64,
    u64,
    "rencoder:published",
    forced = [
        "rencoder:published,levels=4,k=1",
        "rencoder:published,levels=5,k=3,round=3",
        "rencoder:published,levels=6,round=8",
        "rencoder:published,levels=7,probes=1"
    ],
    paths = ["rencoder published: tired"]
);
#[cfg(feature = "baselines")]
conformance!(
    rencoder_published_bytes,
    [u8],
    "rencoder:published",
    forced = ["rencoder:published,levels=4", "rencoder:published,levels=4,probes=3,k=1,round=4"]
);
#[cfg(feature = "baselines")]
conformance!(
    rosetta_u64,
    u64,
    "rosetta",
    forced = ["rosetta:probes=1", "rosetta:single,probes=9", "rosetta:published,probes=200"],
    paths = ["rosetta: tired"]
);
#[cfg(feature = "baselines")]
conformance!(rosetta_bytes, [u8], "rosetta", forced = ["rosetta:probes=3", "rosetta:published,probes=99"]);
conformance!(
    snarf_u64,
    u64,
    "snarf",
    forced = ["snarf:block=2", "snarf:block=3", "snarf:block=1024"],
    paths = ["snarf: knot", "snarf: exact", "snarf: wide positions"],
    ignores_seed = true
);
conformance!(
    snarf_bytes,
    [u8],
    "snarf",
    forced = ["snarf:block=2", "snarf:block=7"],
    paths = ["snarf: knot"],
    ignores_seed = true
);
conformance!(
    proteus_u64,
    u64,
    "proteus",
    forced = ["proteus:trie=62,bloom=64", "proteus:trie=0,bloom=62,probes=2", "proteus:trie=61,bloom=0"],
    paths = ["proteus: tired"]
);
conformance!(
    proteus_bytes,
    [u8],
    "proteus",
    forced = ["proteus:trie=7,bloom=13", "proteus:trie=66,bloom=77,probes=3", "proteus:trie=13,bloom=0"],
    paths = ["proteus: tired"]
);
conformance!(
    multi_prefix_bloom_u64,
    u64,
    "multi_prefix_bloom",
    forced = [
        "multi_prefix_bloom:lengths=62+64",
        "multi_prefix_bloom:lengths=61+64+1,probes=2",
        "multi_prefix_bloom:lengths=63,hashes=1"
    ],
    paths = ["multi_prefix_bloom: tired"]
);
conformance!(
    multi_prefix_bloom_bytes,
    [u8],
    "multi_prefix_bloom",
    forced = [
        "multi_prefix_bloom:lengths=7+13",
        "multi_prefix_bloom:lengths=77+66,probes=3",
        "multi_prefix_bloom:lengths=8+1,hashes=1+2"
    ],
    paths = ["multi_prefix_bloom: tired"]
);
conformance!(
    place_trie_u64,
    u64,
    "place_trie",
    forced = ["place_trie:edge=0", "place_trie:edge=2,tail=1", "place_trie:edge=512,tail=0"],
    ignores_seed = true
);
conformance!(
    place_trie_bytes,
    [u8],
    "place_trie",
    forced = ["place_trie:edge=0", "place_trie:edge=3,tail=2,map=40", "place_trie:edge=512,tail=0,map=50"],
    ignores_seed = true
);
#[cfg(feature = "baselines")]
conformance!(
    two_prefix_bloom_u64,
    u64,
    "two_prefix_bloom",
    forced = [
        "two_prefix_bloom:short=60,long=63",
        "two_prefix_bloom:short=1,long=62,probes=3",
        "two_prefix_bloom:short=62,long=64,share=90"
    ],
    paths = ["two_prefix_bloom: tired"]
);
#[cfg(feature = "baselines")]
conformance!(
    two_prefix_bloom_bytes,
    [u8],
    "two_prefix_bloom",
    forced = ["two_prefix_bloom:short=4,long=7", "two_prefix_bloom:short=9,long=33,share=10"]
);
conformance!(
    cuckoo_u64,
    u64,
    "cuckoo",
    forced = ["cuckoo:bits=4", "cuckoo:bits=7", "cuckoo:bits=17"],
    paths = ["points: too many"]
);
conformance!(cuckoo_bytes, [u8], "cuckoo", forced = ["cuckoo:bits=4", "cuckoo:bits=15"]);
