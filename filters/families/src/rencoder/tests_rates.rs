//! Rates of the variants beside the paper's and beside each other.

use lacuna_workload::Rng;

use super::tests_kit::{build, empty_ranges, keys_of, positives, seal};

fn assert_rate(name: &str, positives: f64, queries: usize, bar: f64) {
    let expected = bar * queries as f64;
    let max = expected + 3.3 * expected.sqrt();
    assert!(expected >= 100.0, "{name}: too few queries for {bar}");
    assert!(positives <= max, "{name}: rate {}, bar {bar}", positives / queries as f64);
}

/// Table 2, ranges of 2 to 32 keys; `examples/rencoder_rates.rs` measures it with ten million keys.
#[test]
fn rates_are_at_most_the_papers() {
    let seed = 6;
    let keys = keys_of("uniform:200k", seed);
    let anywhere = empty_ranges(&keys, 200_000, seed, Rng::next_u64);
    let base = [(6.5, 0.5), (8.5, 0.25), (10.5, 0.1), (16.0, 0.01), (21.0, 0.001)];
    let selected = [(2.0, 0.5), (3.0, 0.25), (4.5, 0.1), (9.5, 0.01), (14.5, 0.001)];
    for (bits, paper) in base {
        let filter = build("rencoder", &keys, bits);
        assert_rate(&format!("base at {bits}"), positives(&*filter, &anywhere), anywhere.len(), paper);
    }
    for (bits, paper) in selected {
        let bar = 1.1 * f64::max(paper, 0.6185f64.powf(bits));
        let start = build("rencoder:ss", &keys, bits);
        assert_rate(&format!("SS at {bits}"), positives(&*start, &anywhere), anywhere.len(), bar);
        let end = seal("rencoder:se", &keys, bits, &anywhere[..2_000]);
        let end = crate::open::<u64, _>(end).expect("just sealed");
        assert_rate(&format!("SE at {bits}"), positives(&*end, &anywhere), anywhere.len(), bar);
    }
}

#[test]
fn one_base_serves_uniform_and_correlated_queries() {
    let seed = 7;
    let keys = keys_of("uniform:200k", seed);
    let anywhere = empty_ranges(&keys, 1_500_000, seed, Rng::next_u64);
    let behind = empty_ranges(&keys, 1_500_000, seed, |rng| keys[rng.index(keys.len())].saturating_add(32));
    for (bits, bar) in [(14.0, 0.02), (26.0, 1e-4)] {
        let filter = build("rencoder", &keys, bits);
        for (name, ranges) in [("anywhere", &anywhere), ("after keys", &behind)] {
            assert_rate(&format!("{name} at {bits}"), positives(&*filter, ranges), ranges.len(), bar);
        }
    }
}

#[test]
fn a_sample_pays_next_to_keys() {
    let seed = 8;
    let keys = keys_of("uniform:100k", seed);
    for degree in [1, 8, 32, 256, 1_024] {
        let near = |rng: &mut Rng| keys[rng.index(keys.len())].saturating_add(rng.between(1, degree));
        let ranges = empty_ranges(&keys, 100_000, seed, near);
        let sample = empty_ranges(&keys, 2_000, seed + 1, near);
        let base = positives(&*build("rencoder", &keys, 16.0), &ranges);
        let end = crate::open::<u64, _>(seal("rencoder:se", &keys, 16.0, &sample)).expect("just sealed");
        let end = positives(&*end, &ranges);
        assert!(end <= base, "degree {degree}: {end} with a sample, {base} without, seed {seed}");
    }
}

#[test]
fn a_base_without_sample_is_what_se_falls_back_to() {
    let keys = keys_of("uniform:5k", 1);
    let (base, end) = (seal("rencoder", &keys, 12.0, &[]), seal("rencoder:se", &keys, 12.0, &[]));
    assert!(base.payload()[17..] == end.payload()[17..], "only the variant differs");
}

#[test]
fn points_on_the_lowest_level_are_asked_as_the_paper_does() {
    let keys = keys_of("uniform:50k", 9);
    let (base, point) = (build("rencoder:k=2", &keys, 16.0), build("rencoder:po,k=2", &keys, 16.0));
    let mut rng = Rng::new(9);
    let absent: Vec<(u64, u64)> = (0..50_000).map(|_| rng.next_u64()).map(|key| (key, key)).collect();
    assert!(keys.iter().all(|&key| point.may_contain(key)));
    let (whole_path, leaf) = (positives(&*base, &absent), positives(&*point, &absent));
    assert!(whole_path * 20.0 < leaf, "{whole_path} with the whole path, {leaf} with the leaf alone");
    assert!(leaf <= point.rate_bound(1) * 50_000.0 * 1.1, "{leaf}, bound {}", point.rate_bound(1));
}

/// The base's few hash functions would let one point in four through.
#[test]
fn points_alone_are_denied_as_by_a_bloom_filter() {
    let seed = 13;
    let keys = keys_of("uniform:100k", seed);
    let mut rng = Rng::new(seed);
    let absent: Vec<(u64, u64)> = (0..400_000).map(|_| rng.next_u64()).map(|key| (key, key)).collect();
    for bits in [10.0, 14.0] {
        let bar = 1.5 * 0.6185f64.powf(bits);
        let points = positives(&*build("rencoder:po", &keys, bits), &absent);
        assert_rate(&format!("points at {bits}, seed {seed}"), points, absent.len(), bar);
    }
}

/// SS assumes queries far from all keys, which are few where keys crowd; a sample shows the real ones.
#[test]
fn a_sample_is_never_worse_than_none() {
    let seed = 14;
    let all = keys_of("clustered:100k", seed);
    let (keys, left_out): (Vec<u64>, Vec<u64>) = {
        let (kept, left) = all.iter().enumerate().partition::<Vec<_>, _>(|(place, _)| place % 2 == 0);
        let keys_only = |pairs: Vec<(usize, &u64)>| pairs.into_iter().map(|(_, key)| *key).collect();
        (keys_only(kept), keys_only(left))
    };
    let dense: Vec<u64> =
        keys.iter().map(|key| key >> 24).collect::<std::collections::BTreeSet<_>>().into_iter().collect();
    let near_dense = |rng: &mut Rng| left_out[rng.index(left_out.len())] >> 24;
    let near = |rng: &mut Rng| left_out[rng.index(left_out.len())];
    type Start<'a> = &'a dyn Fn(&mut Rng) -> u64;
    let starts: [(&str, &[u64], Start<'_>); 2] =
        [("clustered", &keys, &near), ("dense clusters", &dense, &near_dense)];
    for (name, keys, start) in starts {
        let ranges = empty_ranges(keys, 60_000, seed, start);
        let sample = empty_ranges(keys, 2_000, seed + 1, start);
        for bits in [14.0, 20.0, 24.0, 26.0] {
            let [base, ss] =
                ["rencoder", "rencoder:ss"].map(|spec| positives(&*build(spec, keys, bits), &ranges));
            let sampled = seal("rencoder:se", keys, bits, &sample);
            let se = positives(&*crate::open::<u64, _>(sampled).expect("just sealed"), &ranges);
            let max = 1.3 * base.min(ss);
            println!("{name} at {bits}: base {base}, ss {ss}, se {se}");
            assert!(
                se <= max + 4.0 * max.max(9.0).sqrt(),
                "{name} at {bits}: {se}, base {base}, SS {ss}, seed {seed}"
            );
        }
    }
}
