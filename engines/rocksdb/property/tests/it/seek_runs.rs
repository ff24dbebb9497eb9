//! Runs of tables that name the place of their next key, against their keys.

use std::collections::BTreeSet;
use std::sync::Arc;

use lacuna_base::SeekCandidate;
use lacuna_rocksdb_property::{Collector, SeekRun, SeekTable, TableGuard};
use lacuna_workload::Rng;

/// A key of a small universe: eight bytes, or a string.
fn draw(rng: &mut Rng, integers: bool) -> Vec<u8> {
    if integers {
        return (rng.below(5) << 40 | rng.below(200)).to_be_bytes().to_vec();
    }
    (0..=rng.index(4)).map(|_| [0, b'a', b'b', 0xFF][rng.index(4)]).collect()
}

/// Tables of neighbouring keys, some without a filter.
fn run(guard: &TableGuard, keys: &BTreeSet<Vec<u8>>, rng: &mut Rng) -> (SeekRun, usize) {
    let keys: Vec<&Vec<u8>> = keys.iter().collect();
    let tables = keys.chunks(1 + rng.index(60)).map(|keys| {
        let mut collector = Collector::new(guard, Some(1));
        keys.iter().for_each(|key| collector.add(Collector::PUT, key));
        let property = collector.finish().filter(|_| rng.below(4) > 0);
        let (smallest, largest) = (keys[0].clone(), keys[keys.len() - 1].clone());
        Arc::new(SeekTable::new(smallest, largest, property.as_deref(), guard.spec().codec()))
    });
    let mut tables: Vec<Arc<SeekTable>> = tables.collect();
    tables.reverse();
    let seekable = tables.iter().filter(|table| table.is_seekable()).count();
    (SeekRun::new(tables), seekable)
}

#[test]
fn no_key_lies_before_a_candidate() {
    let cases =
        [("surf@60 codec=fixed_be:8", true), ("surf@60", true), ("surf@60", false), ("bloom@9", false)];
    for (seed, (spec, integers)) in (1..).zip(cases) {
        let mut rng = Rng::new(seed);
        let guard = TableGuard::parse(spec).unwrap();
        let (mut seekable, mut named) = (0, 0);
        for _ in 0..60 {
            let keys: BTreeSet<_> = (0..1 + rng.below(150)).map(|_| draw(&mut rng, integers)).collect();
            let (run, tables) = run(&guard, &keys, &mut rng);
            seekable += tables;
            for _ in 0..100 {
                let (from, mut place) = (draw(&mut rng, integers), Vec::new());
                let case = format!("{spec}, seed {seed}, {from:?}");
                let next = keys.range(from.clone()..).next();
                match run.first_candidate(&from, &mut place) {
                    Some(_) => assert!(next.is_none_or(|key| place <= *key) && place >= from, "{case}"),
                    None => assert_eq!(next, None, "{case}"),
                }
                named += u64::from(next == Some(&place) && *next.unwrap() > from);
                let last = keys.range(..=from.clone()).next_back();
                match run.last_candidate(&from, &mut place) {
                    Some(found) => {
                        let is_below =
                            |key: &Vec<u8>| if found.is_excluded { *key < place } else { *key <= place };
                        assert!(last.is_none_or(is_below), "{case} backward");
                    }
                    None => assert_eq!(last, None, "{case} backward"),
                }
            }
        }
        assert_eq!(seekable > 60, spec.starts_with("surf"), "{spec}: {seekable} tables");
        assert!(named > 100, "{spec}: {named} keys were named before they were reached");
    }
}
