//! The eight real key sets, or their twins.

use lacuna_workload::{Keys, QuerySource, count_empty, real_sets};

/// Name, number of keys as published, and whether the keys are byte strings.
const PUBLISHED: [(&str, usize, bool); 8] = [
    ("osm_node_ids", 213_035, false),
    ("places_zorder", 144_327, false),
    ("commit_times", 70_405, false),
    ("nab_values", 97_758, false),
    ("gov_hosts", 219_077, true),
    ("repo_paths", 32_604, true),
    ("nab_series_points", 365_509, true),
    ("wordnet_lemmas", 128_044, true),
];

#[test]
fn all_eight_sets_load() {
    let sets = real_sets();
    assert_eq!(sets.len(), PUBLISHED.len());
    for (set, (name, count, is_bytes)) in sets.iter().zip(PUBLISHED) {
        let keys = set.load().unwrap();
        if set.is_twin() {
            println!("{}", set.note());
        } else {
            assert_eq!(keys.len(), count, "{}", set.note());
        }
        assert_eq!(set.name(), name);
        assert_eq!(matches!(keys, Keys::Bytes(_)), is_bytes, "{name}");
    }
}

#[test]
fn workloads_exist_on_every_set() {
    for set in real_sets() {
        let keys = set.load().unwrap();
        for text in ["points:500", "heldout:500:1-4", "correlated:500:1-4:16", "lastbyte:500", "half:500"] {
            let workload = QuerySource::parse(text).unwrap().workload(keys.clone(), 1);
            let workload = workload.unwrap_or_else(|error| panic!("{}: {error}, seed 1", set.note()));
            let empty = count_empty(&workload.inserted, &workload.queries);
            assert_eq!(empty, 500, "{text} on {}, seed 1", set.note());
        }
    }
}
