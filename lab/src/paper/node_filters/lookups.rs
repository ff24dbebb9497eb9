//! Figures 6 to 8 and 10 to 13: what lookups of present, deleted and absent keys take.

use std::rc::Rc;

use lacuna_base::Result;

use super::cluster::{Effort, ModelCluster, NODES, State, Way, number};
use super::printed::{
    Printed, ROWS, SHARES, SIZES, TABLE_2, TABLE_3, TABLE_4, TABLE_6, TABLE_7, TABLE_8, TABLE_9,
};
use crate::paper::{Axis, Claim, Finding, Line, Plot, Session};

/// Partitions in each state.
const OWN_KEYS: usize = 60_000;
/// Queries at each point of a line.
const OWN_QUERIES: usize = 20_000;
const WAYS: [(&str, Way); 3] =
    [("Default", Way::Default), ("Node Bloom", Way::NodeBloom), ("Node Cuckoo", Way::NodeCuckoo)];
/// Within one node there is no other node to ask, only the filter beside its files.
const LOCAL_WAYS: [(&str, Way); 2] = [("Bloom", Way::Default), ("Cuckoo", Way::NodeCuckoo)];

/// A table of the paper and how it is counted.
struct Sweep<'a> {
    /// What the axis counts; a number goes before it.
    x: &'static str,
    xs: &'a [f64],
    ways: &'a [(&'static str, Way)],
    /// The table, and its unit.
    printed: &'a [Printed],
    unit: &'static str,
    /// What the percentages are made of.
    counts: fn(Effort) -> u64,
}

fn requests(effort: Effort) -> u64 {
    effort.requests
}

fn reads(effort: Effort) -> u64 {
    effort.reads
}

/// Figure 6.
pub(super) fn deleted_share(session: &mut Session<'_>) -> Result<Finding> {
    let sweep = Sweep { x: "% of queries for deleted keys", printed: &TABLE_2, ..LOCAL };
    mixed(session, &sweep, [State::Deleted, State::Present])
}

/// Figure 8.
pub(super) fn positive_share(session: &mut Session<'_>) -> Result<Finding> {
    let sweep = Sweep { x: "% of queries for present keys", printed: &TABLE_4, ..LOCAL };
    mixed(session, &sweep, [State::Present, State::Absent])
}

/// Figure 10.
pub(super) fn absent_remote(session: &mut Session<'_>) -> Result<Finding> {
    let sweep = Sweep { printed: &TABLE_6, unit: "milliseconds", counts: requests, ..REMOTE };
    remote(session, &sweep, State::Absent)
}

/// Figure 11.
pub(super) fn deleted_remote(session: &mut Session<'_>) -> Result<Finding> {
    remote(session, &Sweep { printed: &TABLE_7, ..REMOTE }, State::Deleted)
}

/// Figure 13.
pub(super) fn present_remote(session: &mut Session<'_>) -> Result<Finding> {
    remote(session, &Sweep { printed: &TABLE_9, ..REMOTE }, State::Present)
}

/// Figure 7.
pub(super) fn deleted_by_size(session: &mut Session<'_>) -> Result<Finding> {
    by_size(session, &Sweep { x: SIZE, xs: &SIZES, printed: &TABLE_3, ..LOCAL }, false)
}

/// Figure 12.
pub(super) fn deleted_remote_by_size(session: &mut Session<'_>) -> Result<Finding> {
    by_size(session, &Sweep { x: SIZE, xs: &SIZES[..5], printed: &TABLE_8, ..REMOTE }, true)
}

const SIZE: &str = "GB of the paper's data";
const LOCAL: Sweep<'_> =
    Sweep { x: "", xs: &SHARES, ways: &LOCAL_WAYS, printed: &[], unit: "seconds", counts: reads };
const REMOTE: Sweep<'_> = Sweep { x: "% of queries for keys at other nodes", ways: &WAYS, ..LOCAL };

/// The first `x` percent of the queries are of keys in the first state, the others of keys in the second, all at the coordinator.
fn mixed(session: &mut Session<'_>, sweep: &Sweep<'_>, states: [State; 2]) -> Result<Finding> {
    shares(session, sweep, |cluster, x, query| {
        cluster.draw(states[usize::from(query % 100 >= x)], false, query)
    })
}

/// `x` percent of the queries are of keys at other nodes.
fn remote(session: &mut Session<'_>, sweep: &Sweep<'_>, state: State) -> Result<Finding> {
    shares(session, sweep, |cluster, x, query| cluster.draw(state, query % 100 < x, query))
}

fn shares(
    session: &mut Session<'_>,
    sweep: &Sweep<'_>,
    draw: impl Fn(&ModelCluster, u64, u64) -> u64,
) -> Result<Finding> {
    let cluster = cluster(session)?;
    let queries = session.query_count_or(OWN_QUERIES).next_multiple_of(100) as u64;
    let efforts = efforts(sweep, |way, x, effort| {
        #[expect(clippy::cast_possible_truncation, reason = "0 to 100")]
        (0..queries).for_each(|query| cluster.ask(way, draw(&cluster, x as u64, query), effort));
    });
    let note = format!("{queries} queries at each point.");
    Ok(finding(
        sweep,
        &efforts,
        ("partitions per 100 queries", queries as f64 / 100.0),
        vec![scale(&cluster), note],
    ))
}

/// Every deleted partition of a part of them is asked for once; the part is the size as a share of the largest.
fn by_size(session: &mut Session<'_>, sweep: &Sweep<'_>, is_remote: bool) -> Result<Finding> {
    let cluster = cluster(session)?;
    let efforts = efforts(sweep, |way, gigabytes, effort| {
        #[expect(clippy::cast_possible_truncation, reason = "a part of the partitions")]
        let part = (cluster.count as f64 * gigabytes / SIZES[5]) as u64;
        (0..part)
            .filter(|index| (index % u64::from(NODES) != 0) == is_remote)
            .for_each(|index| cluster.ask(way, number(State::Deleted, index), effort));
    });
    let where_ = if is_remote { "at other nodes" } else { "of the coordinator" };
    let note = format!("Each deleted partition {where_} is asked for once.");
    Ok(finding(sweep, &efforts, ("partitions, thousands", 1_000.0), vec![scale(&cluster), note]))
}

fn cluster(session: &mut Session<'_>) -> Result<Rc<ModelCluster>> {
    let (count, seed) = (session.key_count_or(OWN_KEYS, 1_000_000), session.seed());
    session.once(format!("node filters over {count}"), |session| {
        session.say(format!("six nodes with {count} partitions"));
        ModelCluster::try_new(count, seed)
    })
}

fn scale(cluster: &ModelCluster) -> String {
    format!(
        "{} present and {} deleted partitions in place of 136 million rows: scale 1 to {:.0}.",
        cluster.count,
        cluster.count,
        ROWS / (2 * cluster.count) as f64
    )
}

/// What each way takes at each point.
fn efforts(sweep: &Sweep<'_>, ask: impl Fn(Way, f64, &mut Effort)) -> Vec<Vec<Effort>> {
    let at = |way, x: &f64| {
        let mut effort = Effort::default();
        ask(way, *x, &mut effort);
        effort
    };
    sweep.ways.iter().map(|(_, way)| sweep.xs.iter().map(|x| at(*way, x)).collect()).collect()
}

/// Panels of what was counted and of what the paper prints, and the gain of the last way over the first at each point.
fn finding(
    sweep: &Sweep<'_>,
    efforts: &[Vec<Effort>],
    (per, unit): (&str, f64),
    notes: Vec<String>,
) -> Finding {
    let counted = |title: &str, count: fn(Effort) -> u64| {
        let line = |((name, _), efforts): (&(&str, Way), &Vec<Effort>)| {
            let heights = efforts.iter().map(|effort| count(*effort) as f64 / unit);
            Line::ours(*name, sweep.xs.iter().copied().zip(heights))
        };
        plot(sweep, title, per, sweep.ways.iter().zip(efforts).map(line).collect())
    };
    let is_remote = sweep.ways.len() == 3;
    let mut plots = vec![counted("looked for in files", reads)];
    if is_remote {
        plots.insert(0, counted("asked of other nodes", requests));
    }
    let printed = sweep
        .printed
        .iter()
        .map(|(name, heights)| Line::paper(*name, sweep.xs.iter().copied().zip(heights.iter().copied())));
    plots.push(plot(sweep, "the paper", &format!("the paper's {}", sweep.unit), printed.collect()));
    Finding { plots, claims: claims(sweep, efforts), notes, ..Finding::default() }
}

fn plot(sweep: &Sweep<'_>, title: &str, y: &str, lines: Vec<Line>) -> Plot {
    Plot { title: title.to_owned(), x: Axis::linear(sweep.x), y: Axis::linear(y), lines }
}

fn claims(sweep: &Sweep<'_>, efforts: &[Vec<Effort>]) -> Vec<Claim> {
    let saved = |first: f64, last: f64| if first > 0.0 { (first - last) / first * 1e2 } else { 0.0 };
    let (first, last) = (0, sweep.ways.len() - 1);
    let claim = |(at, x): (usize, &f64)| {
        let count = |way: usize| (sweep.counts)(efforts[way][at]) as f64;
        let printed = |way: usize| sweep.printed[way].1[at];
        Claim::new(
            format!("{x} {}: saved, %", sweep.x),
            saved(printed(first), printed(last)),
            Some(saved(count(first), count(last))),
        )
    };
    sweep.xs.iter().enumerate().map(claim).collect()
}
