//! Marks on rare paths, so that a test can assert that it walked them.
//!
//! A family calls [`cross`] where a query or a build takes a path that only unusual keys reach ("grafite: wrapped").
//! With debug assertions the name is noted for this thread; in a release build the call is empty.

#[cfg(debug_assertions)]
use noted::CROSSED;

#[cfg(debug_assertions)]
mod noted {
    use std::cell::RefCell;

    /// Names noted on a thread, without an allocation: queries are tested for making none.
    #[derive(Clone, Copy)]
    pub(super) struct Names {
        names: [&'static str; Self::MAX],
        count: usize,
    }

    impl Names {
        /// More names than all families together have.
        const MAX: usize = 128;

        pub(super) const NONE: Self = Self { names: [""; Self::MAX], count: 0 };

        pub(super) fn note(&mut self, name: &'static str) {
            if !self.as_slice().contains(&name) && self.count < Self::MAX {
                self.names[self.count] = name;
                self.count += 1;
            }
        }

        pub(super) fn as_slice(&self) -> &[&'static str] {
            &self.names[..self.count]
        }
    }

    thread_local! {
        pub(super) static CROSSED: RefCell<Names> = const { RefCell::new(Names::NONE) };
    }
}

/// Notes that this thread took the path `name`; does nothing in a release build.
#[inline(always)]
pub fn cross(name: &'static str) {
    #[cfg(debug_assertions)]
    CROSSED.with(|crossed| crossed.borrow_mut().note(name));
    #[cfg(not(debug_assertions))]
    let _ = name;
}

/// The paths this thread has taken since [`forget_crossings`], in order of name; `None` in a release build.
pub fn crossed() -> Option<Vec<&'static str>> {
    #[cfg(debug_assertions)]
    return Some(CROSSED.with(|crossed| {
        let mut names = crossed.borrow().as_slice().to_vec();
        names.sort_unstable();
        names
    }));
    #[cfg(not(debug_assertions))]
    None
}

/// Forgets the paths noted so far on this thread.
pub fn forget_crossings() {
    #[cfg(debug_assertions)]
    CROSSED.with(|crossed| *crossed.borrow_mut() = noted::Names::NONE);
}
