//! Storage of nodes: one allocation, with numbers as pointers; freed numbers are reused.

use std::ops::{Index, IndexMut};

/// Nodes by number.
#[derive(Clone)]
pub(super) struct Arena<T> {
    nodes: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Arena<T> {
    fn default() -> Self {
        Self { nodes: Vec::new(), free: Vec::new() }
    }
}

impl<T> Arena<T> {
    /// Stores `node` and returns its number.
    pub(super) fn add(&mut self, node: T) -> u32 {
        if let Some(number) = self.free.pop() {
            self[number] = node;
            return number;
        }
        self.nodes.push(node);
        u32::try_from(self.nodes.len() - 1).expect("a tree has less than 2^32 nodes")
    }

    pub(super) fn give_back(&mut self, number: u32) {
        self.free.push(number);
    }

    /// Two different nodes at once.
    pub(super) fn pair(&mut self, first: u32, second: u32) -> (&mut T, &mut T) {
        let pair = self.nodes.get_disjoint_mut([first as usize, second as usize]);
        pair.expect("both nodes exist and differ").into()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<T>() + self.free.capacity() * size_of::<u32>()
    }
}

impl<T> Index<u32> for Arena<T> {
    type Output = T;
    #[inline(always)]
    fn index(&self, number: u32) -> &T {
        &self.nodes[number as usize]
    }
}

impl<T> IndexMut<u32> for Arena<T> {
    #[inline(always)]
    fn index_mut(&mut self, number: u32) -> &mut T {
        &mut self.nodes[number as usize]
    }
}
