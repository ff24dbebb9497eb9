//! The trie over the most common prefixes, as it is built.

use std::collections::BinaryHeap;
use std::ops::Range;

use super::{MAX_LABEL, NODE_LOG2};
use crate::columns::SortedKeys;
use crate::window::Window;

/// Fewest keys below a node: the frequencies of fewer say little.
const MIN_KEYS: usize = 12;
/// Most next bytes of a node: each needs a unit of the 256.
const MAX_CHILDREN: usize = 120;

/// A node: what its strings go on with, and where.
struct Node {
    label: Vec<u8>,
    /// Whether a key ends after the label.
    ends: usize,
    children: Vec<Child>,
}

struct Child {
    byte: u8,
    count: usize,
    node: Option<usize>,
}

/// The keys that share their first `depth` bytes, as a child of a node; the largest group is divided first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Group {
    count: usize,
    /// Ties: the earlier group first.
    first: std::cmp::Reverse<usize>,
    depth: usize,
    parent: Option<(usize, usize)>,
}

/// The nodes in order of their making.
pub(super) struct Trie(Vec<Node>);

impl Trie {
    /// The trie of at most `max_bytes` over `keys`, of which there is one or more.
    pub(super) fn of(keys: SortedKeys<'_, [u8]>, max_bytes: usize) -> Self {
        let mut nodes = Vec::new();
        let mut left = max_bytes;
        let mut groups = BinaryHeap::new();
        groups.push(Group { count: keys.len(), first: std::cmp::Reverse(0), depth: 0, parent: None });
        while let Some(group) = groups.pop() {
            let first = group.first.0;
            let (node, ranges) = divide(keys, first..first + group.count, group.depth);
            let link_bytes = if group.parent.is_some() { 3 } else { 0 };
            let bytes = 3 + node.label.len() + 2 * node.children.len() + link_bytes;
            if bytes > left || node.children.len() > MAX_CHILDREN {
                continue;
            }
            left -= bytes;
            let depth = group.depth + node.label.len() + 1;
            for (child, range) in ranges.into_iter().enumerate().filter(|(_, range)| range.len() >= MIN_KEYS)
            {
                let parent = Some((nodes.len(), child));
                groups.push(Group {
                    count: range.len(),
                    first: std::cmp::Reverse(range.start),
                    depth,
                    parent,
                });
            }
            if let Some((parent, child)) = group.parent {
                let number = nodes.len();
                let parent: &mut Node = &mut nodes[parent];
                parent.children[child].node = Some(number);
            }
            nodes.push(node);
        }
        Self(nodes)
    }

    /// The bytes of the nodes, the root first. Without a node: one that leaves all to the rows.
    pub(super) fn encode(&self) -> Vec<u8> {
        if self.0.is_empty() {
            return vec![0; 3];
        }
        let sizes = self.0.iter().map(Node::encoded_len);
        let offsets: Vec<usize> =
            sizes.scan(0, |end, size| Some(std::mem::replace(end, *end + size))).collect();
        let mut bytes = Vec::new();
        self.0.iter().for_each(|node| node.encode(&offsets, &mut bytes));
        bytes
    }
}

/// The node for the keys `range`, which share `depth` bytes, and the keys of each child.
fn divide(keys: SortedKeys<'_, [u8]>, range: Range<usize>, depth: usize) -> (Node, Vec<Range<usize>>) {
    let (first, last) = (keys.get(range.start), keys.get(range.end - 1));
    let shared = Window::common_prefix_len(first, last);
    let depth_after = shared.min(depth + MAX_LABEL);
    let mut start = range.start + usize::from(first.len() == depth_after);
    let ends = start - range.start;
    let (mut children, mut ranges) = (Vec::new(), Vec::new());
    while start < range.end {
        let byte = keys.get(start)[depth_after];
        let end = end_of(keys, start..range.end, |key| key[depth_after] <= byte);
        children.push(Child { byte, count: end - start, node: None });
        ranges.push(start..end);
        start = end;
    }
    (Node { label: first[depth..depth_after].to_vec(), ends, children }, ranges)
}

/// The end of the first keys of `range` that fulfil `is_in`.
fn end_of(keys: SortedKeys<'_, [u8]>, range: Range<usize>, is_in: impl Fn(&[u8]) -> bool) -> usize {
    let (mut start, mut end) = (range.start, range.end);
    while start < end {
        let middle = start.midpoint(end);
        if is_in(keys.get(middle)) { start = middle + 1 } else { end = middle }
    }
    start
}

impl Node {
    fn deep(&self) -> impl Iterator<Item = (usize, usize)> {
        self.children.iter().enumerate().filter_map(|(child, Child { node, .. })| Some((child, (*node)?)))
    }

    fn encoded_len(&self) -> usize {
        3 + self.label.len() + 2 * self.children.len() + 3 * self.deep().count()
    }

    fn encode(&self, offsets: &[usize], bytes: &mut Vec<u8>) {
        let byte = |number: usize| u8::try_from(number).expect("at most 255");
        bytes.push(byte(self.label.len()));
        bytes.extend_from_slice(&self.label);
        bytes.push(byte(self.children.len()));
        bytes.extend(self.children.iter().map(|child| child.byte));
        bytes.extend(self.starts().map(byte));
        bytes.push(byte(self.deep().count()));
        for (child, node) in self.deep() {
            bytes.push(byte(child));
            let offset = u16::try_from(offsets[node]).expect("a map has at most MAX_BYTES bytes");
            bytes.extend_from_slice(&offset.to_le_bytes());
        }
    }

    /// The first unit of each child: one unit for each symbol, the others by frequency.
    fn starts(&self) -> impl Iterator<Item = usize> {
        let spare = (1 << NODE_LOG2) - (self.children.len() + 1);
        let total = self.ends + self.children.iter().map(|child| child.count).sum::<usize>();
        let mut before = self.ends;
        self.children.iter().enumerate().map(move |(index, child)| {
            let start = index + 1 + spare * before / total;
            before += child.count;
            start
        })
    }
}
