//! The tree compared with a vector, with nodes so small that every step splits, lends or merges.

use std::ops::Bound::{self, Excluded, Included, Unbounded};

use lacuna_workload::Rng;
use proptest::prelude::*;

use super::node::Node;
use super::{Entry, IntervalTree};
use crate::interval::{Cut, Interval};

/// All entries, in no order.
#[derive(Debug, Default)]
struct Model(Vec<(Interval<u16>, u8)>);

impl Model {
    fn matching(&self, matches: impl Fn(&Interval<u16>) -> bool) -> Vec<(Interval<u16>, u8)> {
        let mut found: Vec<_> = self.0.iter().filter(|(interval, _)| matches(interval)).cloned().collect();
        found.sort();
        found
    }
}

fn listed<'a>(entries: impl Iterator<Item = Entry<'a, u16, u8>>) -> Vec<(Interval<u16>, u8)> {
    entries.map(|entry| (entry.interval(), entry.value)).collect()
}

fn agree<const N: usize>(tree: &IntervalTree<u16, u8, N>, model: &Model, query: &Interval<u16>) {
    assert_eq!(
        listed(tree.overlapping(query)),
        model.matching(|interval| interval.overlaps(query)),
        "{query:?}"
    );
    assert_eq!(listed(tree.covering(query)), model.matching(|interval| interval.covers(query)), "{query:?}");
    assert_eq!(listed(tree.inside(query)), model.matching(|interval| query.covers(interval)), "{query:?}");
}

/// Checks that every separator, reach and length is as the module page says.
fn check<const N: usize>(tree: &IntervalTree<u16, u8, N>) {
    fn below<const N: usize>(
        tree: &IntervalTree<u16, u8, N>,
        node: u32,
        level: usize,
    ) -> Vec<(Interval<u16>, u8)> {
        if level == tree.height {
            let rows = tree.leaves[node].rows();
            return (0..rows.len()).map(|row| rows.entry(row)).map(|e| (e.interval, e.value)).collect();
        }
        let rows = tree.inners[node].rows();
        let mut all = Vec::new();
        for row in 0..rows.len() {
            let child = tree.inners[node].child(row);
            let child_len = if level + 1 == tree.height {
                tree.leaves[child].rows().len()
            } else {
                tree.inners[child].rows().len()
            };
            assert!(child_len >= (N / 4).max(2), "a child of {child_len} rows");
            let entries = below(tree, child, level + 1);
            let separator = rows.entry(row);
            let separator = (separator.interval, separator.value);
            if row > 0 {
                assert!(all.last().is_some_and(|last| *last < separator) && separator <= entries[0]);
            }
            let reach: &Cut<u16> = entries.iter().map(|(interval, _)| interval.hi()).max().unwrap();
            assert_eq!(&tree.inners[node].ends()[row], reach);
            all.extend(entries);
        }
        all
    }
    let all = if tree.is_empty() { Vec::new() } else { below(tree, tree.root, 0) };
    assert_eq!(all.len(), tree.len());
    assert!(all.is_sorted());
}

fn bound() -> impl Strategy<Value = Bound<u16>> {
    prop_oneof![4 => (0u16..60).prop_map(Included), 2 => (0u16..60).prop_map(Excluded), 1 => Just(Unbounded)]
}

fn interval() -> impl Strategy<Value = Interval<u16>> {
    (bound(), bound()).prop_filter_map("not empty", |(lo, hi)| Interval::new(lo, hi))
}

/// Runs a script of insertions and removals, and compares after each.
fn run<const N: usize>(steps: &[(bool, Interval<u16>, u8)], queries: &[Interval<u16>]) {
    let (mut tree, mut model) = (IntervalTree::<u16, u8, N>::new(), Model::default());
    for (step, (insert, interval, value)) in steps.iter().enumerate() {
        let place = model.0.iter().position(|entry| entry == &(*interval, *value));
        if *insert {
            assert_eq!(tree.insert(*interval, *value), place.is_none());
            if place.is_none() {
                model.0.push((*interval, *value));
            }
        } else {
            assert_eq!(tree.remove(interval, *value), place.is_some());
            place.map(|place| model.0.swap_remove(place));
        }
        assert_eq!(tree.contains(interval, *value), *insert);
        check(&tree);
        agree(&tree, &model, &queries[step % queries.len()]);
    }
    assert_eq!(listed(tree.iter()), model.matching(|_| true));
    for query in queries {
        agree(&tree, &model, query);
    }
    for (interval, value) in model.0.drain(..) {
        assert!(tree.remove(&interval, value));
        check(&tree);
    }
    assert!(tree.is_empty() && tree.iter().next().is_none());
}

proptest! {
    #[test]
    fn it_answers_as_a_vector_does(
        steps in prop::collection::vec((prop::bool::weighted(0.6), interval(), 0u8..2), 0..200),
        queries in prop::collection::vec(interval(), 1..20),
    ) {
        run::<4>(&steps, &queries);
        run::<8>(&steps, &queries);
        run::<32>(&steps, &queries);
    }
}

#[test]
fn every_order_of_insertion_and_removal_keeps_its_shape() {
    for seed in 0..30 {
        let mut rng = Rng::new(seed);
        let mut entries: Vec<(Interval<u16>, u8)> = (0..400)
            .map(|n| {
                (
                    Interval::closed(n / 2, n / 2 + u16::try_from(rng.below(1 + u64::from(n))).unwrap())
                        .unwrap(),
                    0,
                )
            })
            .enumerate()
            .map(|(n, (interval, _))| (interval, u8::try_from(n % 200).unwrap()))
            .collect();
        let shuffle = |entries: &mut Vec<_>, rng: &mut Rng| {
            (1..entries.len()).for_each(|last| entries.swap(last, rng.index(last + 1)));
        };
        if seed % 3 > 0 {
            shuffle(&mut entries, &mut rng);
        }
        let (mut tree, mut model) = (IntervalTree::<u16, u8, 4>::new(), Model::default());
        for &(interval, value) in &entries {
            if tree.insert(interval, value) {
                model.0.push((interval, value));
            }
        }
        check(&tree);
        if seed % 2 > 0 {
            shuffle(&mut entries, &mut rng);
        }
        for (count, (interval, value)) in entries.iter().enumerate() {
            let place = model.0.iter().position(|entry| entry == &(*interval, *value));
            assert_eq!(tree.remove(interval, *value), place.is_some(), "seed {seed}");
            place.map(|place| model.0.swap_remove(place));
            if count % 16 == 0 {
                check(&tree);
                agree(&tree, &model, interval);
            }
        }
    }
}

#[test]
fn one_interval_may_stand_many_times() {
    let mut tree: IntervalTree<u64, u32> = IntervalTree::new();
    assert!((0..10_000).all(|value| tree.insert(Interval::all(), value)));
    assert!(!tree.insert(Interval::all(), 77));
    assert_eq!(tree.overlapping(&Interval::point(5)).count(), 10_000);
    assert!((0..10_000).rev().all(|value| tree.remove(&Interval::all(), value)));
    assert!(tree.is_empty());
}

#[test]
fn an_empty_tree_has_no_answer_and_no_memory() {
    let mut tree: IntervalTree<u64, u32> = IntervalTree::new();
    assert_eq!(tree.memory_bytes(), size_of::<IntervalTree<u64, u32>>());
    assert!(!tree.remove(&Interval::point(5), 1));
    assert_eq!(tree.overlapping(&Interval::all()).count(), 0);
    assert_eq!(tree.covering(&Interval::point(1)).count(), 0);
}
