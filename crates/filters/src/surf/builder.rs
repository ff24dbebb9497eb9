//! Writes the trie in one pass over the keys, after one that counts it.

use lacuna_core::{Budget, BuildPlan, Position, Result, Sealed, SortedKeys, Window};
use lacuna_succinct::trie::{Divide, Levels};

use super::budget::{Design, design, for_each_branch};
use super::codec::{VERSION, write_header};
use super::key::{PathKey, PathList, Tails};
use super::spec::SurfSpec;
use crate::frame::{prefix_section_bytes, push_prefix_section, stored_prefix};
use crate::integer_build::envelope;
use crate::kind::Kind;

/// Integers that need no body: the envelope's smallest and largest key say everything.
pub(crate) const KEYS_WITHOUT_BODY: usize = 2;

/// Builds over integers, as strings of eight big-endian bytes.
pub(crate) fn build_u64(spec: SurfSpec, keys: SortedKeys<'_, u64>, plan: &BuildPlan<u64>) -> Result<Sealed> {
    let body = match keys.len() {
        ..=KEYS_WITHOUT_BODY => Vec::new(),
        _ => write_body(keys.column(), design_u64(spec, keys, plan)?),
    };
    let ends = (keys.first().unwrap_or(0), keys.last().unwrap_or(0));
    Ok(Sealed::assemble(&envelope::<u64>(Kind::Surf, VERSION, plan, keys.len(), ends), &body))
}

/// What will be written over integers.
pub(crate) fn design_u64(spec: SurfSpec, keys: SortedKeys<'_, u64>, plan: &BuildPlan<u64>) -> Result<Design> {
    design(spec, keys.column(), plan.seed(), plan.budget().payload_bytes(keys.len()), 0)
}

/// Builds over byte strings, which go in without the prefix that all of them share.
pub(crate) fn build_bytes(
    spec: SurfSpec,
    keys: SortedKeys<'_, [u8]>,
    plan: &BuildPlan<[u8]>,
) -> Result<Sealed> {
    let prefix = kept_prefix(keys, plan.budget());
    let mut payload = match keys.len() {
        0 => Vec::new(),
        _ => write_body(&Tails { keys, prefix_len: prefix.len() }, design_bytes(spec, keys, plan)?),
    };
    push_prefix_section(&mut payload, prefix);
    let ends = (window_of(keys.first(), prefix), window_of(keys.last(), prefix));
    Ok(Sealed::assemble(&envelope::<[u8]>(Kind::Surf, VERSION, plan, keys.len(), ends), &payload))
}

/// What will be written over byte strings.
pub(crate) fn design_bytes(
    spec: SurfSpec,
    keys: SortedKeys<'_, [u8]>,
    plan: &BuildPlan<[u8]>,
) -> Result<Design> {
    let prefix = kept_prefix(keys, plan.budget());
    let section_bytes = prefix_section_bytes(prefix);
    let most_bytes = plan.budget().payload_bytes(keys.len()) - section_bytes;
    design(spec, &Tails { keys, prefix_len: prefix.len() }, plan.seed(), most_bytes, section_bytes)
}

/// The common prefix that is stored beside the body.
pub(crate) fn kept_prefix<'a>(keys: SortedKeys<'a, [u8]>, budget: Budget) -> &'a [u8] {
    stored_prefix(keys, budget.payload_bytes(keys.len()))
}

/// What the window behind `prefix` reads of `key`.
pub(crate) fn window_of(key: Option<&[u8]>, prefix: &[u8]) -> u64 {
    match key.map(|key| Window::new(prefix).position(key)) {
        Some(Position::At(place)) => place,
        _ => 0,
    }
}

fn write_body(keys: &(impl PathList + ?Sized), design: Design) -> Vec<u8> {
    let mut out = Vec::with_capacity(design.body_bytes);
    if design.body_bytes == 0 {
        return out;
    }
    let suffixes = design.suffixes;
    let mut levels = Levels::new(suffixes.bits());
    for_each_branch(keys, |index, branch, shared_after| {
        let branch = match design.levels {
            None => Some(branch),
            Some(most) => branch.cut(most, shared_after),
        };
        if let Some(branch) = branch {
            let key = keys.key(index);
            let value = if suffixes.bits() == 0 { 0 } else { suffixes.of(&key, branch.depth) };
            levels.add(key.path(), branch, value);
        }
    });
    write_header(suffixes, design.levels.is_some(), &mut out);
    levels.encode(Divide::LeastSize, &mut out);
    debug_assert_eq!(out.len(), design.body_bytes);
    out
}
