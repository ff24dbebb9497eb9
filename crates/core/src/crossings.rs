//! Marks on rare paths, so that a test can assert that it walked them.
//!
//! A family calls [`cross`] where a query or a build takes a path that only unusual keys reach ("grafite: wrapped").
//! With debug assertions the name is noted for this thread; in a release build the call is empty.

#[cfg(debug_assertions)]
thread_local! {
    static CROSSED: std::cell::RefCell<std::collections::BTreeSet<&'static str>> =
        const { std::cell::RefCell::new(std::collections::BTreeSet::new()) };
}

/// Notes that this thread took the path `name`; does nothing in a release build.
#[inline(always)]
pub fn cross(name: &'static str) {
    #[cfg(debug_assertions)]
    CROSSED.with(|crossed| {
        crossed.borrow_mut().insert(name);
    });
    #[cfg(not(debug_assertions))]
    let _ = name;
}

/// The paths this thread has taken since [`forget_crossings`], in order of name; `None` in a release build.
pub fn crossed() -> Option<Vec<&'static str>> {
    #[cfg(debug_assertions)]
    return Some(CROSSED.with(|crossed| crossed.borrow().iter().copied().collect()));
    #[cfg(not(debug_assertions))]
    None
}

/// Forgets the paths noted so far on this thread.
pub fn forget_crossings() {
    #[cfg(debug_assertions)]
    CROSSED.with(|crossed| crossed.borrow_mut().clear());
}
