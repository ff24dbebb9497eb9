//! Each rule of a seek, with filters whose candidates the test gives.

use lacuna_base::{ByteRange, Candidate, RangeFilter, SeekCandidate};
use lacuna_guard::{SeekPlanner, Ties};

/// A filter whose candidates the test gives.
#[derive(Debug)]
struct Named(Option<(Vec<u8>, bool)>);

impl RangeFilter<[u8]> for Named {
    fn may_contain_range(&self, _range: ByteRange<'_>) -> bool {
        true
    }
    fn key_count(&self) -> u64 {
        1
    }
    fn size_in_bytes(&self) -> usize {
        0
    }
    fn memory_bytes(&self) -> usize {
        0
    }
}

impl SeekCandidate<[u8]> for Named {
    fn first_candidate(&self, _from: &[u8], candidate: &mut Vec<u8>) -> Option<Candidate> {
        let (key, is_excluded) = self.0.as_ref()?;
        candidate.clone_from(key);
        Some(Candidate { is_certain: true, is_excluded: *is_excluded })
    }
    fn last_candidate(&self, from: &[u8], candidate: &mut Vec<u8>) -> Option<Candidate> {
        self.first_candidate(from, candidate)
    }
}

fn planner_of<'r>(
    planner: SeekPlanner<'r, [u8]>,
    ties: Ties,
    named: &[(&str, bool)],
) -> SeekPlanner<'r, [u8]> {
    let mut planner = planner.with_ties(ties);
    for (file, (key, is_excluded)) in named.iter().enumerate() {
        planner.add_seekable(file, &Named(Some((key.as_bytes().to_vec(), *is_excluded))));
    }
    planner
}

/// Files opened when every file's first key is the one given.
fn opened(mut planner: SeekPlanner<'_, [u8]>, keys: &[&str]) -> (Option<usize>, Vec<usize>) {
    let mut opened = Vec::new();
    let found = planner.seek(|file, _| {
        opened.push(file);
        Ok::<_, ()>(Some(keys[file].as_bytes().to_vec()))
    });
    (found.expect("reads do not fail").map(|(file, _)| file), opened)
}

fn range<'a>(lo: &'a str, hi: &'a str) -> ByteRange<'a> {
    ByteRange::new(lo.as_bytes(), hi.as_bytes()).expect("in order")
}

#[test]
fn nothing_is_read_without_a_candidate_in_range() {
    let planner =
        planner_of(SeekPlanner::forward(range("b", "d")), Ties::Every, &[("e", false), ("d0", false)]);
    assert_eq!(opened(planner, &["e", "d0"]), (None, vec![]));
    // Excluded, the keys are below: nothing from "b" on is.
    let planner =
        planner_of(SeekPlanner::backward(range("b", "d")), Ties::Every, &[("b", true), ("a", false)]);
    assert_eq!(opened(planner, &["a", "a"]), (None, vec![]));
}

#[test]
fn a_candidate_may_stand_for_a_later_key() {
    // The first file's candidate comes first and its key last.
    let planner = planner_of(
        SeekPlanner::forward(range("a", "z")),
        Ties::Every,
        &[("c", false), ("d", false), ("x", false)],
    );
    assert_eq!(opened(planner, &["cz", "dd", "x"]), (Some(0), vec![0]));
    let planner = planner_of(
        SeekPlanner::forward(range("a", "z")),
        Ties::Every,
        &[("c", false), ("d", false), ("x", false)],
    );
    assert_eq!(opened(planner, &["y", "dd", "x"]), (Some(1), vec![0, 1]));
}

#[test]
fn equal_candidates_are_opened_if_versions_matter() {
    let named = [("c", false), ("c", false), ("c0", false)];
    let forward = |ties| planner_of(SeekPlanner::forward(range("a", "z")), ties, &named);
    assert_eq!(opened(forward(Ties::Every), &["c", "c", "c0"]), (Some(0), vec![0, 1]));
    assert_eq!(opened(forward(Ties::Any), &["c", "c", "c0"]), (Some(0), vec![0]));
    // The first file's key was larger than its candidate, so the tie is still open.
    assert_eq!(opened(forward(Ties::Any), &["cc", "c", "c0"]), (Some(1), vec![0, 1]));
}

#[test]
fn an_excluded_candidate_never_ties() {
    let named = [("c", false), ("c", true)];
    let planner = planner_of(SeekPlanner::backward(range("a", "z")), Ties::Every, &named);
    assert_eq!(opened(planner, &["c", "b"]), (Some(0), vec![0]));
    let planner = planner_of(SeekPlanner::backward(range("a", "z")), Ties::Every, &named);
    assert_eq!(opened(planner, &["b0", "b"]), (Some(0), vec![0, 1]));
}

#[test]
fn a_failed_read_is_asked_for_again() {
    let mut planner = planner_of(SeekPlanner::forward(range("a", "z")), Ties::Every, &[("c", false)]);
    assert_eq!(planner.seek(|_, _| Err("the disk is gone")), Err("the disk is gone"));
    let found = planner.seek(|_, _| Ok::<_, &str>(Some(b"d".to_vec())));
    assert_eq!((found, planner.opened()), (Ok(Some((0, b"d".to_vec()))), 1));
}
