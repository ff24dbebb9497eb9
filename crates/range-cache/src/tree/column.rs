//! One field of all nodes of a kind: node `n` has the slots from `n * N` on.

/// A flat array with `N` slots a node. Slots behind the length of a node hold something, but nothing that counts.
#[derive(Debug, Clone)]
pub(super) struct Column<T, const N: usize> {
    slots: Vec<T>,
}

impl<T, const N: usize> Default for Column<T, N> {
    fn default() -> Self {
        Self { slots: Vec::new() }
    }
}

impl<T: Clone, const N: usize> Column<T, N> {
    /// Appends a node whose slots hold copies of `filler`.
    pub(super) fn add_node(&mut self, filler: T) {
        self.slots.resize(self.slots.len() + N, filler);
    }

    #[inline(always)]
    pub(super) fn node(&self, node: u32) -> &[T; N] {
        let start = node as usize * N;
        self.slots[start..start + N].try_into().expect("a node has N slots")
    }

    #[inline(always)]
    pub(super) fn node_mut(&mut self, node: u32) -> &mut [T; N] {
        let start = node as usize * N;
        (&mut self.slots[start..start + N]).try_into().expect("a node has N slots")
    }

    /// Puts `value` at `place` of a node with `len` values and room for one more.
    #[inline]
    pub(super) fn insert(&mut self, node: u32, len: usize, place: usize, value: T) {
        let slots = &mut self.node_mut(node)[place..=len];
        slots.rotate_right(1);
        slots[0] = value;
    }

    /// Takes the value at `place` out of a node with `len` values; `filler` goes behind the rest.
    #[inline]
    pub(super) fn remove(&mut self, node: u32, len: usize, place: usize, filler: T) -> T {
        let slots = &mut self.node_mut(node)[place..len];
        slots.rotate_left(1);
        std::mem::replace(&mut slots[len - place - 1], filler)
    }

    /// Swaps `count` slots between two nodes.
    pub(super) fn swap(&mut self, from: (u32, usize), to: (u32, usize), count: usize) {
        let (from, to) = (from.0 as usize * N + from.1, to.0 as usize * N + to.1);
        (0..count).for_each(|slot| self.slots.swap(from + slot, to + slot));
    }

    /// Turns the first `len` slots of a node so that those from `from` on come first.
    pub(super) fn rotate(&mut self, node: u32, len: usize, from: usize) {
        self.node_mut(node)[..len].rotate_left(from);
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<T>()
    }
}
