//! Writing the levels of a trie as blocks: dense ones first, then sparse ones, then where their children are.

use super::builder::Levels;
use super::geometry::{
    BLOCK_SLOTS, COUNT_BYTES, DENSE_BYTES, GROUP_BLOCKS, GROUP_BYTES, GROUP_LEAF_BITS, GROUP_SHIFT, Geometry,
    HEADER_BYTES, LEAF_COUNT_BITS, Parts, SPARSE_BYTES,
};
use super::level::{Level, MARK, bits_from};
use super::shape::Divide;
use crate::bytes::{BitWriter, address, load_u32, load_u64};

/// Appends the trie of `levels` to `out`.
pub(super) fn encode(levels: &Levels, divide: Divide, out: &mut Vec<u8>) {
    let dense_levels = levels.shape.dense_levels(divide);
    let geometry = levels.shape.geometry(dense_levels, levels.value_bits);
    let parts = geometry.parts();
    let (dense, sparse) = levels.levels.split_at(dense_levels.min(levels.levels.len()));
    let start = out.len();
    out.reserve(parts.end);
    out.resize(start + parts.values, 0);
    let mut writer =
        Writer { out: &mut out[start..], geometry, parts, leaves: 0, group_leaves: 0, group_nodes: 0 };
    writer.header(levels.levels.len());
    let mut nodes = 0;
    for (place, level) in dense.iter().enumerate() {
        nodes = writer.dense_level(level, nodes, place == 0 && levels.shape.root_marked);
    }
    writer.sparse_levels(sparse);
    writer.children();
    let mut values = BitWriter::new(out);
    for level in &levels.levels {
        let words = level.values.words();
        let (last_bits, whole) = (level.values.len() % 64, level.values.len() / 64);
        words[..whole].iter().for_each(|&word| values.push(word, 64));
        if last_bits > 0 {
            values.push(words[whole], u32::try_from(last_bits).expect("below 64"));
        }
    }
    values.finish();
}

struct Writer<'a> {
    out: &'a mut [u8],
    geometry: Geometry,
    parts: Parts,
    /// Leaves written so far, and before the present group.
    leaves: u64,
    group_leaves: u64,
    /// Sparse nodes that start in the present group.
    group_nodes: u64,
}

impl Writer<'_> {
    fn header(&mut self, levels: usize) {
        let Geometry { dense_nodes, sparse_slots, leaves, value_bits } = self.geometry;
        let levels = u32::try_from(levels).expect("a key has fewer than 2^32 bytes");
        self.put(0, &dense_nodes.to_le_bytes());
        self.put(8, &sparse_slots.to_le_bytes());
        self.put(16, &leaves.to_le_bytes());
        self.put(24, &levels.to_le_bytes());
        self.put(28, &value_bits.to_le_bytes());
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        self.out[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// Writes the leaves before block `block`, the count of which stands at `count_at`.
    fn count_leaves(&mut self, block: u64, groups_at: usize, count_at: usize) {
        if block.is_multiple_of(1 << GROUP_SHIFT) {
            self.group_leaves = self.leaves;
            let group_at = groups_at + address(block >> GROUP_SHIFT) * GROUP_BYTES;
            self.put(group_at, &self.leaves.to_le_bytes());
        }
        let count = u32::try_from(self.leaves - self.group_leaves).expect("at most 15 * 257");
        self.put(count_at, &count.to_le_bytes());
    }

    /// Writes one dense level whose first node is node `node`; gives the node after its last.
    fn dense_level(&mut self, level: &Level, mut node: u64, root_marked: bool) -> u64 {
        let mut slot = 0;
        while slot < level.len() {
            let more_follow = slot + 1 < level.len() && !level.is_first(slot + 1);
            let marked = level.labels[slot] == MARK && (more_follow || root_marked);
            slot = self.dense_node(level, slot, node, marked);
            node += 1;
        }
        node
    }

    fn dense_node(&mut self, level: &Level, mut slot: usize, node: u64, marked: bool) -> usize {
        let at = self.parts.dense + address(node) * DENSE_BYTES;
        self.count_leaves(node, HEADER_BYTES, at);
        if marked {
            self.mark(node);
            slot += 1;
        }
        let (mut labels, mut children) = ([0_u64; 4], [0_u64; 4]);
        let mut is_inside = true;
        while is_inside && slot < level.len() {
            let label = usize::from(level.labels[slot]);
            labels[label / 64] |= 1 << (label % 64);
            children[label / 64] |= u64::from(level.has_child(slot)) << (label % 64);
            slot += 1;
            is_inside = !level.is_first(slot);
        }
        for (place, words) in [children, labels].as_flattened().iter().enumerate() {
            self.put(at + COUNT_BYTES + place * 8, &words.to_le_bytes());
        }
        let leaves = labels.iter().zip(&children).map(|(label, child)| (label & !child).count_ones());
        self.leaves += u64::from(leaves.sum::<u32>()) + u64::from(marked);
        slot
    }

    fn mark(&mut self, node: u64) {
        let bit = u64::from(GROUP_LEAF_BITS) + node % (1 << GROUP_SHIFT);
        let at = HEADER_BYTES + address(node >> GROUP_SHIFT) * GROUP_BYTES;
        let group = load_u64(self.out, at) | 1 << bit;
        self.put(at, &group.to_le_bytes());
    }

    /// Writes all sparse levels, one after the other.
    fn sparse_levels(&mut self, levels: &[Level]) {
        let mut slots = 0;
        for level in levels {
            let mut from = 0;
            while from < level.len() {
                let bit = address(slots % BLOCK_SLOTS);
                let count = (level.len() - from).min(64 - bit % 64);
                let at = self.sparse_block(slots / BLOCK_SLOTS);
                if bit == 0 {
                    self.count_nodes(slots / BLOCK_SLOTS);
                    self.count_leaves(slots / BLOCK_SLOTS, self.parts.sparse_groups, at);
                }
                self.sparse_slots(at, self.block_words(slots / BLOCK_SLOTS), bit, level, from..from + count);
                from += count;
                slots += count as u64;
            }
        }
    }

    /// Writes how many sparse nodes start in the group before `block`, if `block` is the first of the next one. No
    /// reader passes the last group, so it has no such number.
    fn count_nodes(&mut self, block: u64) {
        if block == 0 || !block.is_multiple_of(GROUP_BLOCKS) {
            return;
        }
        let at = self.parts.sparse_groups + address((block - 1) >> GROUP_SHIFT) * GROUP_BYTES;
        let group = load_u64(self.out, at) | self.group_nodes << GROUP_LEAF_BITS;
        self.put(at, &group.to_le_bytes());
        self.group_nodes = 0;
    }

    /// Writes slots of one level that stay within one word of a block.
    fn sparse_slots(
        &mut self,
        at: usize,
        words: usize,
        bit: usize,
        level: &Level,
        slots: std::ops::Range<usize>,
    ) {
        let kept = crate::bytes::low_mask(u32::try_from(slots.len()).expect("at most 64"));
        let child = bits_from(&level.child, slots.start) & kept;
        let first = bits_from(&level.first, slots.start) & kept;
        for (bits, bitmap) in [(child, 0), (first, words)] {
            let word_at = at + COUNT_BYTES + (bitmap + bit / 64) * 8;
            let word = load_u64(self.out, word_at) | bits << (bit % 64);
            self.put(word_at, &word.to_le_bytes());
        }
        self.leaves += slots.len() as u64 - u64::from(child.count_ones());
        self.group_nodes += u64::from(first.count_ones());
        self.put(at + COUNT_BYTES + words * 16 + bit, &level.labels[slots]);
    }

    fn sparse_block(&self, block: u64) -> usize {
        self.parts.sparse + address(block) * SPARSE_BYTES
    }

    /// Words of each bitmap of sparse block `block`.
    fn block_words(&self, block: u64) -> usize {
        if block + 1 < self.geometry.blocks() { 4 } else { address(self.geometry.last_block_words()) }
    }

    /// Writes for each block where its first child is, as a distance from the first child of its group.
    fn children(&mut self) {
        let mut starts = NodeStarts { block: 0, word: 0, nodes: 0 };
        let mut child = 1;
        for node in 0..self.geometry.dense_nodes {
            let at = self.parts.dense + address(node) * DENSE_BYTES;
            child = self.first_child(node, HEADER_BYTES, (at, 4), child, &mut starts);
        }
        for block in 0..self.geometry.blocks() {
            let at = (self.sparse_block(block), self.block_words(block));
            child = self.first_child(block, self.parts.sparse_groups, at, child, &mut starts);
        }
    }

    /// Notes the first child of a block, which is node `child`; gives the node after its last child.
    fn first_child(
        &mut self,
        block: u64,
        groups_at: usize,
        (at, words): (usize, usize),
        child: u64,
        starts: &mut NodeStarts,
    ) -> u64 {
        let target = match child.checked_sub(self.geometry.dense_nodes) {
            None => child * BLOCK_SLOTS,
            Some(sparse_node) => self.geometry.dense_nodes * BLOCK_SLOTS + starts.find(self, sparse_node),
        };
        let group_at = groups_at + address(block >> GROUP_SHIFT) * GROUP_BYTES + 8;
        if block.is_multiple_of(1 << GROUP_SHIFT) {
            self.put(group_at, &target.to_le_bytes());
        }
        let distance = target - load_u64(self.out, group_at);
        let distance = u32::try_from(distance).expect("at most 15 * 256 * 257 slots");
        let count = load_u32(self.out, at) | distance << LEAF_COUNT_BITS;
        self.put(at, &count.to_le_bytes());
        let children = (0..words).map(|word| load_u64(self.out, at + COUNT_BYTES + word * 8).count_ones());
        child + u64::from(children.sum::<u32>())
    }
}

/// Walks over the first slots of sparse nodes, forwards only.
struct NodeStarts {
    block: u64,
    word: usize,
    /// Nodes that start before the present word.
    nodes: u64,
}

impl NodeStarts {
    /// The sparse slot where node `node` starts; the end after the last one.
    fn find(&mut self, writer: &Writer<'_>, node: u64) -> u64 {
        while self.block < writer.geometry.blocks() {
            let (at, words) = (writer.sparse_block(self.block), writer.block_words(self.block));
            while self.word < words {
                let first = load_u64(writer.out, at + COUNT_BYTES + (words + self.word) * 8);
                let through = self.nodes + u64::from(first.count_ones());
                if node < through {
                    return self.block * BLOCK_SLOTS
                        + self.word as u64 * 64
                        + place_of_one(first, node - self.nodes);
                }
                self.nodes = through;
                self.word += 1;
            }
            (self.block, self.word) = (self.block + 1, 0);
        }
        writer.geometry.sparse_slots
    }
}

/// Place of the `rank`-th one of `word`.
fn place_of_one(mut word: u64, rank: u64) -> u64 {
    for _ in 0..rank {
        word &= word - 1;
    }
    u64::from(word.trailing_zeros())
}
