//! The moves of a cursor: down to a key, and from one key to the next.

use super::layout::Layout;
use crate::arch::{Isa, Kernel};

/// The path to the present key.
#[derive(Debug, Clone, Default)]
pub(super) struct Trace {
    pub(super) steps: Vec<Step>,
    pub(super) key: Vec<u8>,
}

/// One level of the path.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    node: u64,
    /// None: on the mark of the node.
    slot: Option<u64>,
}

/// Where a cursor goes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Move<'k> {
    First,
    Last,
    Seek(&'k [u8]),
    SeekBack(&'k [u8]),
    Step,
    StepBack,
}

/// Finds the leaf of a step.
pub(super) struct LeafOf<'a> {
    pub(super) layout: &'a Layout,
    pub(super) bytes: &'a [u8],
    pub(super) step: Step,
}

impl Kernel for LeafOf<'_> {
    type Output = u64;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> u64 {
        match self.step.slot {
            Some(slot) => self.layout.leaf(isa, self.bytes, slot),
            None => self.layout.mark_leaf(isa, self.bytes, self.step.node),
        }
    }
}

/// Moves along a trace.
pub(super) struct Go<'a> {
    pub(super) layout: &'a Layout,
    pub(super) bytes: &'a [u8],
    pub(super) trace: &'a mut Trace,
    pub(super) to: Move<'a>,
}

impl Kernel for Go<'_> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(mut self, isa: I) {
        match self.to {
            Move::Step => self.step(isa),
            Move::StepBack => self.step_back(isa),
            Move::First => self.start_over(|walk, root| walk.down_first(isa, root)),
            Move::Last => self.start_over(|walk, root| walk.down_last(isa, root)),
            Move::Seek(key) => self.start_over(|walk, root| walk.seek(isa, root, key)),
            Move::SeekBack(key) => self.start_over(|walk, root| walk.seek_back(isa, root, key)),
        }
    }
}

impl Go<'_> {
    #[inline(always)]
    fn start_over(&mut self, walk: impl FnOnce(&mut Self, u64)) {
        self.trace.steps.clear();
        self.trace.key.clear();
        if !self.layout.is_empty() {
            walk(self, self.layout.root());
        }
    }

    /// Enters `slot` of `node`; gives the node below, if there is one.
    #[inline(always)]
    fn enter<I: Isa>(&mut self, isa: I, node: u64, slot: u64) -> Option<u64> {
        self.trace.steps.push(Step { node, slot: Some(slot) });
        self.trace.key.push(self.layout.label(self.bytes, slot));
        let has_child = self.layout.has_child(self.bytes, slot);
        // Only damaged bytes lead deeper than the trie.
        let goes_on = has_child && self.trace.steps.len() < self.layout.levels();
        if goes_on { Some(self.layout.child(isa, self.bytes, slot)) } else { None }
    }

    fn down_first<I: Isa>(&mut self, isa: I, node: u64) {
        let mut below = Some(node);
        while let Some(node) = below {
            if self.layout.mark(self.bytes, node) {
                self.trace.steps.push(Step { node, slot: None });
                return;
            }
            let Some(slot) = self.layout.first_at_or_after(isa, self.bytes, node, 0) else { return };
            below = self.enter(isa, node, slot);
        }
    }

    fn down_last<I: Isa>(&mut self, isa: I, node: u64) {
        let mut below = Some(node);
        while let Some(node) = below {
            let Some(slot) = self.layout.last_before(isa, self.bytes, node, 256) else {
                if self.layout.mark(self.bytes, node) {
                    self.trace.steps.push(Step { node, slot: None });
                }
                return;
            };
            below = self.enter(isa, node, slot);
        }
    }

    fn seek<I: Isa>(&mut self, isa: I, root: u64, key: &[u8]) {
        let mut node = root;
        for (depth, &byte) in key.iter().enumerate() {
            let Some(slot) = self.layout.first_at_or_after(isa, self.bytes, node, u32::from(byte)) else {
                return self.step(isa);
            };
            let is_equal = self.layout.label(self.bytes, slot) == byte;
            match self.enter(isa, node, slot) {
                Some(below) if is_equal => node = below,
                Some(below) => return self.down_first(isa, below),
                // A leaf on the key's own path, and shorter, is before the key.
                None if is_equal && depth + 1 < key.len() => return self.step(isa),
                None => return,
            }
        }
        self.down_first(isa, node);
    }

    fn seek_back<I: Isa>(&mut self, isa: I, root: u64, key: &[u8]) {
        let mut node = root;
        for &byte in key {
            let Some(slot) = self.layout.last_before(isa, self.bytes, node, u32::from(byte) + 1) else {
                return self.rest_on_mark(isa, node);
            };
            let is_equal = self.layout.label(self.bytes, slot) == byte;
            match self.enter(isa, node, slot) {
                Some(below) if is_equal => node = below,
                Some(below) => return self.down_last(isa, below),
                None => return,
            }
        }
        self.rest_on_mark(isa, node);
    }

    /// Stands on the mark of `node`, or without one on the key before all of the node.
    fn rest_on_mark<I: Isa>(&mut self, isa: I, node: u64) {
        if self.layout.mark(self.bytes, node) {
            self.trace.steps.push(Step { node, slot: None });
        } else {
            self.step_back(isa);
        }
    }

    fn step<I: Isa>(&mut self, isa: I) {
        while let Some(Step { node, slot }) = self.trace.steps.pop() {
            let next = match slot {
                None => self.layout.first_at_or_after(isa, self.bytes, node, 0),
                Some(slot) => {
                    self.trace.key.pop();
                    self.layout.next_slot(self.bytes, slot)
                }
            };
            if let Some(next) = next {
                if let Some(below) = self.enter(isa, node, next) {
                    self.down_first(isa, below);
                }
                return;
            }
        }
    }

    fn step_back<I: Isa>(&mut self, isa: I) {
        while let Some(Step { node, slot }) = self.trace.steps.pop() {
            let Some(slot) = slot else { continue };
            self.trace.key.pop();
            match self.layout.previous_slot(self.bytes, slot) {
                Some(previous) => {
                    if let Some(below) = self.enter(isa, node, previous) {
                        self.down_last(isa, below);
                    }
                    return;
                }
                None if self.layout.mark(self.bytes, node) => {
                    return self.trace.steps.push(Step { node, slot: None });
                }
                None => (),
            }
        }
    }
}
