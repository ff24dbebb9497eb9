//! Workloads of two kinds of queries in turn.

use std::rc::Rc;

use crate::paper::TestBed;

/// The keys of `one` with its queries and those of `other` in turn; samples likewise.
pub(super) fn mixed(one: &TestBed, other: &TestBed) -> TestBed {
    TestBed {
        keys: Rc::clone(&one.keys),
        queries: in_turn(&one.queries, &other.queries),
        sample: in_turn(&one.sample, &other.sample),
    }
}

fn in_turn(one: &[(u64, u64)], other: &[(u64, u64)]) -> Rc<Vec<(u64, u64)>> {
    Rc::new(one.iter().zip(other).flat_map(|(one, other)| [*one, *other]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_take_turns() {
        let test_bed = |queries: &[(u64, u64)]| TestBed {
            keys: Rc::new(vec![9]),
            queries: Rc::new(queries.to_vec()),
            sample: Rc::new(Vec::new()),
        };
        let both = mixed(&test_bed(&[(1, 1), (2, 2)]), &test_bed(&[(3, 5), (4, 6)]));
        assert_eq!(*both.queries, [(1, 1), (3, 5), (2, 2), (4, 6)]);
    }
}
