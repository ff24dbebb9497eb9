//! Many ranges at once: their walks go down side by side, one level a round.
//!
//! While the ends of a range agree there is one path to follow, and each step ends with the address of a node that no
//! thread has touched yet. A walk prefetches that node and lets the others go first; when its turn comes again, the
//! node is in the cache.

use lacuna_succinct::arch::{Isa, Kernel, dispatch};
use lacuna_succinct::trie::{Step, shared_len};

use super::codec::Body;
use super::key::{IntegerKey, Lower, PathKey, StringKey, Upper};
use crate::integer::GROUP;

/// Both ends of a range, each with its "excluded"; there is no upper end without `hi`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ends<K> {
    pub(crate) lo: (K, bool),
    pub(crate) hi: Option<(K, bool)>,
    pub(crate) is_point: bool,
}

/// One range on its way down.
struct Walk<'a, K> {
    ends: &'a Ends<K>,
    /// The place of its answer.
    place: usize,
    /// Bytes that both ends share.
    shared: usize,
    node: u64,
    /// The leaf on the path, if it was met, and the bytes of its path.
    leaf: Option<(u64, usize)>,
}

/// The ends of each range of a group that the frame does not settle, at the place of its answer.
pub(crate) type Group<K> = [Option<Ends<K>>; GROUP];

/// The questions of one group.
struct AskGroup<'a, K> {
    body: &'a Body,
    bytes: &'a [u8],
    group: &'a Group<K>,
    answers: &'a mut [bool],
}

impl<K: PathKey> Kernel for AskGroup<'_, K> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Self { body, bytes, group, answers } = self;
        let mut walks = [const { None }; GROUP];
        for (place, (walk, ends)) in walks.iter_mut().zip(group).enumerate() {
            *walk = ends.as_ref().map(|ends| Walk::new(body, place, ends));
        }
        go_down(isa, body, bytes, &mut walks, answers);
        for walk in walks.iter().flatten() {
            answers[walk.place] = walk.finish(isa, body, bytes);
        }
    }
}

/// A key whose groups are asked by code that is compiled here and once, not for each owner of a filter's bytes.
pub(crate) trait GroupKey: PathKey + Sized {
    /// Answers one group.
    fn ask_group(body: &Body, bytes: &[u8], group: &Group<Self>, answers: &mut [bool]);
}

impl GroupKey for IntegerKey {
    fn ask_group(body: &Body, bytes: &[u8], group: &Group<Self>, answers: &mut [bool]) {
        dispatch(AskGroup { body, bytes, group, answers });
    }
}

impl GroupKey for StringKey<'_> {
    fn ask_group(body: &Body, bytes: &[u8], group: &Group<Self>, answers: &mut [bool]) {
        dispatch(AskGroup { body, bytes, group, answers });
    }
}

/// Asks many questions; `prepare` gives the ends of a range, or its answer if the frame knows it.
pub(crate) fn ask_many<R: Copy, K: GroupKey>(
    body: &Body,
    bytes: &[u8],
    ranges: &[R],
    answers: &mut [bool],
    prepare: impl Fn(R) -> Result<Ends<K>, bool>,
) {
    for (ranges, answers) in ranges.chunks(GROUP).zip(answers.chunks_mut(GROUP)) {
        let mut group = [const { None }; GROUP];
        for ((ends, &range), answer) in group.iter_mut().zip(ranges).zip(answers.iter_mut()) {
            match prepare(range) {
                Ok(open) => *ends = Some(open),
                Err(settled) => *answer = settled,
            }
        }
        K::ask_group(body, bytes, &group, answers);
    }
}

/// Takes all walks down to where their ends part; those that end before are answered and removed.
#[inline(always)]
fn go_down<I: Isa, K: PathKey>(
    isa: I,
    body: &Body,
    bytes: &[u8],
    walks: &mut [Option<Walk<'_, K>>; GROUP],
    answers: &mut [bool],
) {
    for depth in 0.. {
        let mut is_done = true;
        for walk in walks.iter_mut() {
            let Some(going) = walk.as_mut().filter(|walk| walk.leaf.is_none() && depth < walk.shared) else {
                continue;
            };
            match body.trie.step(isa, bytes, going.node, going.ends.lo.0.path()[depth]) {
                Step::Absent => {
                    answers[going.place] = false;
                    *walk = None;
                }
                Step::Leaf(slot) => {
                    going.leaf = Some((slot, depth + 1));
                    if body.suffixes.bits() > 0 {
                        body.trie.prefetch_value(bytes, body.trie.leaf(isa, bytes, slot));
                    }
                }
                Step::Node { child, .. } => {
                    going.node = child;
                    body.trie.prefetch_node(bytes, child);
                    is_done = false;
                }
            }
        }
        if is_done {
            return;
        }
    }
}

impl<'a, K: PathKey> Walk<'a, K> {
    #[inline(always)]
    fn new(body: &Body, place: usize, ends: &'a Ends<K>) -> Self {
        let lo = ends.lo.0.path();
        let shared = match &ends.hi {
            _ if ends.is_point => lo.len(),
            Some(hi) => shared_len(lo, hi.0.path()),
            None => 0,
        };
        Self { ends, place, shared, node: body.trie.root(), leaf: None }
    }

    #[inline(always)]
    fn finish<I: Isa>(&self, isa: I, body: &Body, bytes: &[u8]) -> bool {
        let lo = Lower { key: &self.ends.lo.0, is_excluded: self.ends.lo.1 };
        let hi = self.ends.hi.as_ref().map(|(key, is_excluded)| Upper { key, is_excluded: *is_excluded });
        match self.leaf {
            Some((slot, depth)) if self.ends.is_point => body.holds(isa, bytes, slot, lo.key, depth),
            Some((slot, depth)) => body.leaf_between(isa, bytes, slot, lo, hi, depth),
            None => body.any_between(isa, bytes, self.node, lo, hi, self.shared),
        }
    }
}
