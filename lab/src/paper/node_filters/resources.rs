//! Figures 15 to 17: what the exchange takes every five minutes, while keys come and after.

use std::rc::Rc;

use lacuna_base::Result;
use lacuna_node_filters::{Config, Mode};

use super::cluster::NODES;
use super::printed::{Printed, TABLE_11, TABLE_12, TABLE_13};
use crate::node_costs::{Circle, TABLE, partition};
use crate::paper::{Axis, Claim, Finding, Line, Plot, Session};
use lacuna_bench::harness::WorkClock;

/// New keys in all.
const OWN_KEYS: usize = 300_000;
/// Milliseconds between two points of the paper's tables.
const STEP: u64 = 300_000;
/// Points of the paper's tables, and those between which rows come.
const POINTS: usize = 25;
const LOAD: std::ops::Range<usize> = 2..18;
const CONFIGS: [(&str, Config); 3] = [
    ("as in the paper", Config::paper()),
    ("every second", Config::new(Mode::Eventual)),
    ("safe", Config::new(Mode::Safe)),
];

/// A node's share of what all of them took in a step.
#[derive(Debug, Clone, Copy, Default)]
struct Taken {
    /// Percent of a processor.
    processor: f64,
    received_megabytes: f64,
    sent_megabytes: f64,
}

/// A way of exchanging, and what it took at each point.
type Curve = (&'static str, Vec<Taken>);

/// Figure 15.
pub(super) fn processor(session: &mut Session<'_>) -> Result<Finding> {
    finding(session, "percent of a processor", &TABLE_11, |taken| taken.processor)
}

/// Figure 16.
pub(super) fn received(session: &mut Session<'_>) -> Result<Finding> {
    finding(session, "MB received in 5 minutes", &TABLE_12, |taken| taken.received_megabytes)
}

/// Figure 17.
pub(super) fn sent(session: &mut Session<'_>) -> Result<Finding> {
    finding(session, "MB sent in 5 minutes", &TABLE_13, |taken| taken.sent_megabytes)
}

fn finding(
    session: &mut Session<'_>,
    what: &'static str,
    printed: &[Printed; 2],
    height: fn(&Taken) -> f64,
) -> Result<Finding> {
    let keys = session.key_count_or(OWN_KEYS, 10_000_000);
    let all = taken(session, keys)?;
    let minutes = || (0..POINTS).map(|point| point as f64 * 5.0);
    let plot = |title: &str, lines| Plot {
        title: title.into(),
        x: Axis::linear("minute"),
        y: Axis::linear(what),
        lines,
    };
    let ours = |(name, taken): &Curve| Line::ours(*name, minutes().zip(taken.iter().map(height)));
    let paper =
        printed.iter().map(|(name, heights)| Line::paper(*name, minutes().zip(heights.iter().copied())));
    let idle = |taken: &Vec<Taken>| taken[POINTS - 6..].iter().map(height).fold(0.0, f64::max);
    let max = printed[1].1[POINTS - 6..].iter().copied().fold(0.0, f64::max);
    let claim = |(name, taken): &Curve| {
        Claim::new(format!("most after the load, {name}: {what}"), max, Some(idle(taken)))
    };
    Ok(Finding {
        plots: vec![
            plot("filters alone", all.iter().map(ours).collect()),
            plot("the paper, with its rows", paper.collect()),
        ],
        claims: all.iter().map(claim).collect(),
        notes: vec![format!(
            "{keys} new keys come to {NODES} nodes evenly from minute 10 to minute 90; a node's share is shown. The paper's \
             lines hold the rows too, 136 million with fewer keys. It sends whole filters every five minutes; ours \
             sends what is new, and a heartbeat to each peer."
        )],
        ..Finding::default()
    })
}

/// What each way of exchanging takes; measured once for all figures.
fn taken(session: &mut Session<'_>, keys: usize) -> Result<Rc<Vec<Curve>>> {
    session.once(format!("exchange of {keys}"), |session| {
        let measure = |(name, config): (&'static str, Config)| {
            session.say(format!("two hours of exchange, {name}"));
            (name, two_hours(config, keys as u64))
        };
        Ok(CONFIGS.map(measure).into())
    })
}

fn two_hours(config: Config, keys: u64) -> Vec<Taken> {
    let mut circle = Circle::new(NODES, config, keys / u64::from(NODES), 0.01);
    circle.set_ready();
    // The first copies of all nodes.
    (0..3).for_each(|_| circle.pass_interval());
    circle.take_traffic();
    let each = keys / LOAD.len() as u64;
    let intervals = STEP / config.interval;
    let mut next = 0;
    let step = |point: usize| {
        let mut writing = 0;
        for interval in 1..=intervals {
            let until = if LOAD.contains(&point) {
                (point - LOAD.start) as u64 * each + each * interval / intervals
            } else {
                next
            };
            let clock = WorkClock::start();
            (next..until).for_each(|key| {
                let node = usize::try_from(key % u64::from(NODES)).expect("less than the nodes");
                circle.nodes[node].write(TABLE, partition(key), None);
            });
            writing += clock.elapsed().as_nanos();
            next = next.max(until);
            circle.pass_interval();
        }
        shares(&mut circle, writing)
    };
    (0..POINTS).map(step).collect()
}

fn shares(circle: &mut Circle, writing: u128) -> Taken {
    let (traffic, work) = circle.take_traffic();
    let nodes = f64::from(NODES);
    let megabytes = |bytes: usize| bytes as f64 / 1e6 / nodes;
    Taken {
        processor: (work.as_nanos() + writing) as f64 / (STEP as f64 * 1e6) / nodes * 1e2,
        received_megabytes: megabytes(traffic.iter().map(|traffic| traffic.received).sum()),
        sent_megabytes: megabytes(traffic.iter().map(|traffic| traffic.sent).sum()),
    }
}
