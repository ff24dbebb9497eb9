//! Work in pieces that need nothing of each other, on threads that end with it.

use std::panic::resume_unwind;
use std::thread::{Builder, scope};

/// What `piece` gives for each number below `count`, in order. Each piece but the first has a thread of its own, so a count of
/// up to 1 starts none; where the system refuses a thread, the caller's does its work.
///
/// # Panics
/// As `piece`, on whichever thread.
pub fn on_threads<T: Send>(count: usize, piece: impl Fn(usize) -> T + Sync) -> Vec<T> {
    if count <= 1 {
        return (0..count).map(piece).collect();
    }
    let piece = &piece;
    scope(|scope| {
        let start = |index| Builder::new().spawn_scoped(scope, move || piece(index)).ok();
        let started: Vec<_> = (1..count).map(start).collect();
        let first = piece(0);
        let rest = started.into_iter().zip(1..).map(|(thread, index)| match thread {
            Some(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            None => piece(index),
        });
        std::iter::once(first).chain(rest).collect()
    })
}

/// What `aside` gives on a thread of its own, and what `here` gives on the caller's meanwhile.
///
/// # Panics
/// As either.
pub fn on_two_threads<A: Send, H>(aside: impl Fn() -> A + Sync, here: impl FnOnce() -> H) -> (A, H) {
    let aside = &aside;
    scope(|scope| {
        let thread = Builder::new().spawn_scoped(scope, aside).ok();
        let found_here = here();
        let found_aside = match thread {
            Some(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            None => aside(),
        };
        (found_aside, found_here)
    })
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::thread::current;

    use super::*;

    #[test]
    fn pieces_come_in_order() {
        for count in [0, 1, 2, 9] {
            assert_eq!(
                on_threads(count, |index| index * index),
                (0..count).map(|i| i * i).collect::<Vec<_>>()
            );
        }
        assert_eq!(on_two_threads(|| 1, || 2), (1, 2));
    }

    #[test]
    fn one_piece_starts_no_thread() {
        let caller = current().id();
        assert_eq!(on_threads(1, |_| current().id()), [caller]);
        let ids = on_threads(3, |_| current().id());
        assert!(ids[0] == caller && ids[1] != caller && ids[2] != caller && ids[1] != ids[2]);
    }

    #[test]
    fn a_panic_reaches_the_caller() {
        for bad in 0..3 {
            let work = || on_threads(3, |index| assert!(index != bad, "piece {index}"));
            let panic = catch_unwind(AssertUnwindSafe(work)).expect_err("one piece panics");
            assert_eq!(panic.downcast_ref::<String>(), Some(&format!("piece {bad}")));
        }
        let aside = || on_two_threads(|| assert_eq!(1, 2), || ());
        assert!(catch_unwind(AssertUnwindSafe(aside)).is_err());
    }
}
