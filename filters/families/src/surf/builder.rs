//! Writes the trie in one pass over the keys, after one that counts it.

use lacuna_base::{Budget, BuildPlan, Position, Result, Sealed, SortedKeys, Window};
use lacuna_succinct::trie::{Divide, Levels};

use super::budget::{Design, design, for_each_branch};
use super::codec::{VERSION, write_header};
use super::key::{PathKey, PathList, Tails};
use super::spec::SurfSpec;
use crate::family::FilterFamily as _;
use crate::frame::{push_window_section, window_for, window_section_bytes};
use crate::integer_build::envelope;

/// Integers that need no body: the envelope's smallest and largest key say everything.
pub(crate) const KEYS_WITHOUT_BODY: usize = 2;

/// Builds over integers, as strings of eight big-endian bytes.
pub(crate) fn build_u64(spec: SurfSpec, keys: SortedKeys<'_, u64>, plan: &BuildPlan<u64>) -> Result<Sealed> {
    let body = match keys.len() {
        ..=KEYS_WITHOUT_BODY => Vec::new(),
        _ => write_body(keys.column(), design_u64(spec, keys, plan)?),
    };
    let ends = (keys.first().unwrap_or(0), keys.last().unwrap_or(0));
    Ok(Sealed::assemble(&envelope::<u64>(SurfSpec::KIND, VERSION, plan, keys.len(), ends), &body))
}

/// The design that will be written over integers.
pub(crate) fn design_u64(spec: SurfSpec, keys: SortedKeys<'_, u64>, plan: &BuildPlan<u64>) -> Result<Design> {
    design(spec, keys.column(), plan.seed(), plan.budget().payload_bytes(keys.len()), 0)
}

/// Builds over byte strings, which go in without the prefix that all of them share.
pub(crate) fn build_bytes(
    spec: SurfSpec,
    keys: SortedKeys<'_, [u8]>,
    plan: &BuildPlan<[u8]>,
) -> Result<Sealed> {
    let window = kept_window(keys, plan.budget());
    let mut payload = match keys.len() {
        0 => Vec::new(),
        _ => {
            let prefix_len = window.prefix().len();
            write_body(&Tails { keys, prefix_len }, design_bytes(spec, keys, plan)?)
        }
    };
    push_window_section(&mut payload, window);
    let ends = (place_of(keys.first(), window), place_of(keys.last(), window));
    Ok(Sealed::assemble(&envelope::<[u8]>(SurfSpec::KIND, VERSION, plan, keys.len(), ends), &payload))
}

/// The design that will be written over byte strings.
pub(crate) fn design_bytes(
    spec: SurfSpec,
    keys: SortedKeys<'_, [u8]>,
    plan: &BuildPlan<[u8]>,
) -> Result<Design> {
    let window = kept_window(keys, plan.budget());
    let section_bytes = window_section_bytes(window);
    let max_bytes = plan.budget().payload_bytes(keys.len()) - section_bytes;
    design(spec, &Tails { keys, prefix_len: window.prefix().len() }, plan.seed(), max_bytes, section_bytes)
}

/// The window that is stored beside the body.
pub(crate) fn kept_window<'a>(keys: SortedKeys<'a, [u8]>, budget: Budget) -> Window<'a> {
    window_for(keys, budget.payload_bytes(keys.len()) / 4)
}

/// The integer that `window` reads of `key`.
pub(crate) fn place_of(key: Option<&[u8]>, window: Window<'_>) -> u64 {
    match key.map(|key| window.position(key)) {
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
            Some(max) => branch.cut(max, shared_after),
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
