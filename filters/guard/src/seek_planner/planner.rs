//! The state machine: files go in with their filters, steps come out.

use std::collections::BinaryHeap;
use std::fmt;
use std::ops::Bound;

use lacuna_base::{DynFilter, KeyRange, KeySpace, SeekCandidate};

use super::entry::{Direction, Entry, Ties};

/// The next step of a seek; see [`SeekPlanner::step`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeekStep<R> {
    /// Open `file` and find its first key in the direction of the seek that lies at the bound or beyond it; then
    /// [`report`](SeekPlanner::report) the key, or that there is none.
    Open {
        /// The number it was added with.
        file: usize,
        /// Where to look; no key of the range is before it. Without a bound, the end of the file.
        at: Bound<R>,
    },
    /// `file` holds `key`, and no file holds one before it. Stop here, or report the key that follows in the file.
    Key {
        /// The number it was added with.
        file: usize,
        /// The next key.
        key: R,
    },
    /// No file holds a key that was not named.
    Done,
}

/// Plans a seek over any number of files.
///
/// Add every file of the seek, then ask for [`step`](Self::step)s and [`report`](Self::report) what each found;
/// [`seek`](Self::seek) does both for readers that can be called back. The number of a file is the caller's.
///
/// Keys are those of the filters. Where a codec maps several engine keys to one, compare the engine's own keys among the
/// files that share a key of the filter, under [`Ties::Every`].
///
/// ```
/// use lacuna_base::{Budget, BuildPlan, FilterSpec, SortedKeys, U64Range};
/// use lacuna_families::{Surf, SurfSpec};
/// use lacuna_guard::SeekPlanner;
/// use std::ops::Bound::Included;
///
/// let files = [vec![100u64 << 32, 900 << 32], vec![300 << 32, 400 << 32], vec![700 << 32]];
/// let plan = BuildPlan::<u64>::new(Budget::bits_per_key(64.0)?);
/// let mut planner = SeekPlanner::<u64>::forward(U64Range::new(200 << 32, u64::MAX).expect("in order"));
/// for (number, keys) in files.iter().enumerate() {
///     let sealed = SurfSpec::new().build(SortedKeys::integers(keys)?, &plan)?;
///     planner.add_seekable(number, &Surf::<u64, _>::open(sealed)?);
/// }
/// let found = planner.seek(|file, at| {
///     let Included(from) = at else { unreachable!("integers have closed ends") };
///     Ok::<_, lacuna_base::Error>(files[file].iter().copied().find(|&key| key >= from))
/// })?;
/// assert_eq!((found, planner.opened()), (Some((1, 300 << 32)), 1));
/// # Ok::<(), lacuna_base::Error>(())
/// ```
pub struct SeekPlanner<'r, K: KeySpace + ?Sized> {
    range: KeyRange<'r, K>,
    /// Where the seek starts, and where it ends.
    near: Bound<K::Owned>,
    far: Bound<K::Owned>,
    direction: Direction,
    ties: Ties,
    queue: BinaryHeap<Entry<K::Owned>>,
    opened: usize,
}

impl<K: KeySpace + ?Sized> fmt::Debug for SeekPlanner<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SeekPlanner")
            .field("range", &self.range)
            .field("direction", &self.direction)
            .field("queue", &self.queue)
            .field("opened", &self.opened)
            .finish_non_exhaustive()
    }
}

impl<'r, K: KeySpace + ?Sized> SeekPlanner<'r, K> {
    /// Seeks the keys of `range` from the smallest on; an open seek has a range without an upper end.
    pub fn forward(range: KeyRange<'r, K>) -> Self {
        Self::new(range, Direction::Forward)
    }

    /// Seeks the keys of `range` from the largest down. Over byte strings, give the range an upper end: beyond all
    /// strings no filter can be asked, and all files are opened.
    pub fn backward(range: KeyRange<'r, K>) -> Self {
        Self::new(range, Direction::Backward)
    }

    fn new(range: KeyRange<'r, K>, direction: Direction) -> Self {
        let (lo, hi) = K::ends(range);
        let bound = |key| match K::contains(range, K::shorten(key)) {
            true => Bound::Included(K::to_owned(key)),
            false => Bound::Excluded(K::to_owned(key)),
        };
        let (lo, hi) = (bound(lo), hi.map_or(Bound::Unbounded, bound));
        let (near, far) = match direction {
            Direction::Forward => (lo, hi),
            Direction::Backward => (hi, lo),
        };
        Self { range, near, far, direction, ties: Ties::Every, queue: BinaryHeap::new(), opened: 0 }
    }

    /// Sets what happens to candidates that equal a confirmed key; by default every one is opened. Set this before
    /// files are added.
    #[must_use]
    pub fn with_ties(mut self, ties: Ties) -> Self {
        self.ties = ties;
        self
    }

    /// Adds a file about which nothing is known: it will be opened.
    pub fn add(&mut self, file: usize) {
        self.wait(file, self.near.clone());
    }

    /// Adds a file whose filter names no candidates: it will be opened unless the filter denies the range.
    pub fn add_filtered(&mut self, file: usize, filter: &DynFilter<K>) {
        if filter.may_contain_range(self.range) {
            self.add(file);
        }
    }

    /// Adds a file whose filter names candidates: it will be opened when its turn comes.
    pub fn add_seekable(&mut self, file: usize, filter: &(impl SeekCandidate<K> + ?Sized)) {
        if !filter.may_contain_range(self.range) {
            return;
        }
        let (Bound::Included(near) | Bound::Excluded(near)) = &self.near else { return self.add(file) };
        let mut key = near.clone();
        let found = match self.direction {
            Direction::Forward => filter.first_candidate(K::borrow(near), &mut key),
            Direction::Backward => filter.last_candidate(K::borrow(near), &mut key),
        };
        let Some(candidate) = found else { return };
        let place = if candidate.is_excluded { Bound::Excluded(key) } else { Bound::Included(key) };
        let is_before = self.direction.compare_places(&place, &self.near).is_lt();
        self.wait(file, if is_before { self.near.clone() } else { place });
    }

    fn wait(&mut self, file: usize, place: Bound<K::Owned>) {
        if !self.direction.is_behind(&place, &self.far) {
            self.push(file, place, false);
        }
    }

    fn push(&mut self, file: usize, place: Bound<K::Owned>, is_open: bool) {
        self.queue.push(Entry { file, place, is_open, direction: self.direction, ties: self.ties });
    }

    /// The next step. It stays the same until its outcome is [`report`](Self::report)ed.
    pub fn step(&self) -> SeekStep<K::Ref<'_>> {
        let Some(Entry { file, place, is_open, .. }) = self.queue.peek() else { return SeekStep::Done };
        match place {
            Bound::Included(key) if *is_open => SeekStep::Key { file: *file, key: K::borrow(key) },
            at => SeekStep::Open { file: *file, at: at.as_ref().map(K::borrow) },
        }
    }

    /// Reports where the file of the last [`step`](Self::step) stands: at `key`, its first key at the bound of a
    /// [`SeekStep::Open`], or the one that follows the key of a [`SeekStep::Key`]; `None`, or a key outside of the
    /// range: the file has no more.
    pub fn report(&mut self, key: Option<K::Ref<'_>>) {
        let Some(Entry { file, is_open, .. }) = self.queue.pop() else { return };
        self.opened += usize::from(!is_open);
        if let Some(key) = key.filter(|&key| K::contains(self.range, key)) {
            self.push(file, Bound::Included(K::to_owned(key)), true);
        }
    }

    /// Opens files with `read` until the first key of the range is known: the file that holds it, and the key; `None` if
    /// there is none. `read` is given a file and a bound and gives the file's first key there. Called again it gives the
    /// same key, until a [`report`](Self::report) says how that file goes on.
    ///
    /// # Errors
    /// Those of `read`; the same file is opened again when called again.
    pub fn seek<E>(
        &mut self,
        mut read: impl FnMut(usize, Bound<K::Ref<'_>>) -> Result<Option<K::Owned>, E>,
    ) -> Result<Option<(usize, K::Owned)>, E> {
        loop {
            let found = match self.step() {
                SeekStep::Open { file, at } => read(file, at)?,
                SeekStep::Key { file, key } => return Ok(Some((file, K::to_owned(key)))),
                SeekStep::Done => return Ok(None),
            };
            self.report(found.as_ref().map(K::borrow));
        }
    }

    /// Files opened so far.
    pub fn opened(&self) -> usize {
        self.opened
    }
}
