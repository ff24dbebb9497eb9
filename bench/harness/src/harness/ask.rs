//! The ways to ask many questions.

use super::barrier::Barrier;

/// Ranges in one call of a batch.
pub const BATCH: usize = 1_024;

/// Asks `passes * queries.len()` questions, each chosen by the answer before: after question i comes i + 1 if the
/// answer was "no" and i + 2 if it was "maybe". Returns how many answers were "maybe".
///
/// No question starts before the answer to the last one is known, whatever the processor would have guessed: this is
/// how long a caller waits that has nothing else to do. One barrier a question is in the loop; time it with
/// [`Rounds::add_serial`](super::Rounds::add_serial), which takes its cost off.
#[inline(always)]
pub fn dependent<Q: Copy>(queries: &[Q], passes: usize, mut ask: impl FnMut(Q) -> bool) -> usize {
    let barrier = Barrier::new();
    let (mut index, mut maybes) = (0, 0);
    for _ in 0..passes * queries.len() {
        let answer = usize::from(ask(queries[index]));
        maybes += answer;
        index += 1 + answer + barrier.wait();
        index = if index < queries.len() { index } else { 0 };
    }
    maybes
}

/// As [`dependent`] without the barrier: the order of the questions follows from the answers, but the processor may
/// guess an answer that comes out of a branch and start the next question early. An engine that branches on the answer
/// sees times between this and `dependent`.
#[inline(always)]
pub fn predicted<Q: Copy>(queries: &[Q], passes: usize, mut ask: impl FnMut(Q) -> bool) -> usize {
    let (mut index, mut maybes) = (0, 0);
    for _ in 0..passes * queries.len() {
        let answer = usize::from(ask(queries[index]));
        maybes += answer;
        index += 1 + answer;
        index = if index < queries.len() { index } else { 0 };
    }
    maybes
}

/// Asks every query `passes` times, one a call, in an order fixed before: the processor may overlap their cache misses
/// as far as it sees ahead. Returns how many answers were "maybe".
#[inline(always)]
pub fn independent<Q: Copy>(queries: &[Q], passes: usize, mut ask: impl FnMut(Q) -> bool) -> usize {
    let mut maybes = 0;
    for _ in 0..passes {
        for query in queries {
            maybes += usize::from(ask(*query));
        }
    }
    maybes
}

/// Asks every query `passes` times, [`BATCH`] ranges a call. Returns how many answers were "maybe"; counting them is
/// in the timed loop, at about a fiftieth of a nanosecond each.
#[inline(always)]
pub fn batched<Q: Copy>(queries: &[Q], passes: usize, mut ask_many: impl FnMut(&[Q], &mut [bool])) -> usize {
    let mut answers = [false; BATCH];
    let mut maybes = 0;
    for _ in 0..passes {
        for queries in queries.chunks(BATCH) {
            let answers = &mut answers[..queries.len()];
            ask_many(queries, answers);
            maybes += answers.iter().filter(|answer| **answer).count();
        }
    }
    maybes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn next_question_depends_on_the_answer() {
        let (mut waited, mut guessed) = (Vec::new(), Vec::new());
        let ask = |asked: &mut Vec<u64>, query| {
            asked.push(query);
            query == 1
        };
        assert_eq!(dependent(&[0, 1, 2, 3, 4], 1, |query| ask(&mut waited, query)), 1);
        assert_eq!(predicted(&[0, 1, 2, 3, 4], 1, |query| ask(&mut guessed, query)), 1);
        assert_eq!((&waited, &guessed), (&vec![0, 1, 3, 4, 0], &waited));
    }

    #[test]
    fn all_ways_count_alike() {
        let queries: Vec<u64> = (0..3_000).collect();
        let third = |query: u64| query.is_multiple_of(3);
        let many = |queries: &[u64], answers: &mut [bool]| {
            answers.iter_mut().zip(queries).for_each(|(answer, query)| *answer = third(*query));
        };
        assert_eq!(independent(&queries, 2, third), 2_000);
        assert_eq!(batched(&queries, 2, many), 2_000);
        assert_eq!(dependent(&queries, 2, |_| false), 0);
    }
}
