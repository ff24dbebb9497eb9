//! Figures 9 and 14, and the size of a filter: what insertion takes.

use lacuna_base::Result;
use lacuna_base::hash::IntegerHasher;
use lacuna_families::CuckooTable;

use super::cluster::NODES;
use super::printed::{ROWS, SHARES, TABLE_5, TABLE_10};
use crate::node_costs::{bloom_insertion, cuckoo_insertion, exchange_costs};
use crate::paper::{Axis, Claim, DataTable, Finding, Line, Plot, Session, shown};
use lacuna_bench::statistics::median;

/// Rounds of insertion.
const ROUNDS: u64 = 9;
/// Highest load that a table takes before it grows.
const FULL: f64 = 0.93;

/// Figure 9.
pub(super) fn by_load(session: &mut Session<'_>) -> Result<Finding> {
    let keys = session.key_count_or(1_000_000, 1_000_000);
    let (mut bloom, mut cuckoo) = (Vec::new(), Vec::new());
    for share in SHARES {
        session.say(format!("insertion at {share} %"));
        let load = (share / 1e2).min(FULL);
        let seeds = session.seed()..session.seed() + ROUNDS;
        let times: Vec<f64> = seeds.clone().map(|seed| bloom_insertion(keys, load, seed)).collect();
        bloom.push((share, median(&times)));
        let insert = |seed| cuckoo_insertion(keys, load, seed, CuckooTable::insert_all_mut);
        cuckoo.push((share, median(&seeds.map(insert).collect::<Result<Vec<f64>>>()?)));
    }
    let plot = |title: &str, y: &str, lines| Plot {
        title: title.into(),
        x: Axis::linear("load of the filter (%)"),
        y: Axis::linear(y),
        lines,
    };
    let claims = claims(&bloom, &cuckoo);
    let printed =
        TABLE_5.map(|(name, seconds)| Line::paper(name, SHARES.into_iter().zip(seconds.iter().copied())));
    let ours = vec![Line::ours("Bloom", bloom), Line::ours("Cuckoo", cuckoo)];
    Ok(Finding {
        plots: vec![
            plot("one key", "nanoseconds", ours),
            plot("the paper", "the paper's seconds", printed.to_vec()),
        ],
        claims,
        notes: vec![
            format!(
                "Tables and Bloom filters for {keys} keys, 2 % of them at a time; at 100 %: {FULL} of the slots."
            ),
            "A Bloom filter of a million keys lies in the caches; `make bars` compares at ten million. The paper's seconds \
             are those of Cassandra's insertion, in which either filter is lost."
                .into(),
        ],
        ..Finding::default()
    })
}

fn claims(bloom: &[(f64, f64)], cuckoo: &[(f64, f64)]) -> Vec<Claim> {
    let claim = |at: usize| {
        let printed = |way: usize| TABLE_5[way].1[at];
        Claim::new(
            format!("cuckoo insertion, in Bloom insertions, at {} %", SHARES[at]),
            printed(1) / printed(0),
            Some(cuckoo[at].1 / bloom[at].1),
        )
    };
    (0..SHARES.len()).map(claim).collect()
}

/// Figure 14.
pub(super) fn in_cluster(session: &mut Session<'_>) -> Result<Finding> {
    let keys = session.key_count_or(200_000, 1_000_000) as u64;
    session.say("the exchange");
    let costs = exchange_costs(keys, 0.01);
    let added = costs.write_ns + costs.delta_ns + f64::from(NODES - 1) * costs.apply_ns;
    // Minutes of the cluster for all rows; each row took one node's time among six.
    let paper = TABLE_10[0] * 60e9 / ROWS * f64::from(NODES);
    let row = |what: &str, value: f64| vec![what.to_owned(), shown(value)];
    let table = DataTable {
        title: "Nanoseconds of a processor for a new key".into(),
        header: vec![String::new(), "ns".into()],
        rows: vec![
            row("in the node's own filter", costs.write_ns),
            row("in a delta of 1,000, for all peers", costs.delta_ns),
            row("at each of five peers", costs.apply_ns),
            row("in all", added),
            row("a key that is known already", costs.overwrite_ns),
            row("the paper's insertion of a row, node time", paper),
        ],
    };
    let claim = Claim::new(
        "time that node filters add to an insertion, %",
        (TABLE_10[2] - TABLE_10[0]) / TABLE_10[0] * 1e2,
        Some(added / paper * 1e2),
    );
    Ok(Finding {
        tables: vec![table],
        claims: vec![claim],
        notes: vec![format!("Filters of {keys} keys at 1 %, two nodes; every row with a key of its own.")],
        ..Finding::default()
    })
}

/// What a million keys take.
pub(super) fn sizes(session: &mut Session<'_>) -> Result<Finding> {
    let hasher = IntegerHasher::new(session.seed());
    let mut rows = Vec::new();
    for rate in [0.01, 0.001, 0.0001] {
        let mut table = CuckooTable::for_rate(1_000_000, rate);
        (0..1_000_000).try_for_each(|key| table.insert_mut(hasher.hash(key)).map(drop))?;
        rows.push((rate, table.memory_bytes() as f64 / 1e6));
    }
    let claims = vec![Claim::new("megabytes of a million keys at 0.01 %", 1.0, Some(rows[2].1))];
    let rows = rows.iter().map(|(rate, megabytes)| vec![format!("{} %", rate * 1e2), shown(*megabytes)]);
    let table = DataTable {
        title: "A million keys".into(),
        header: vec!["false positives".into(), "MB".into()],
        rows: rows.collect(),
    };
    Ok(Finding { tables: vec![table], claims, ..Finding::default() })
}
