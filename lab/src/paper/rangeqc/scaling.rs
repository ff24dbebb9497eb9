//! Tables 2, 4 and 5: copies of buffered writes, and cache servers.

use std::rc::Rc;

use crate::paper::{Claim, DataTable, Finding, Session, Summary};
use lacuna_base::Result;

use super::stage::{BACK, Runs, SHARES, beside, notes, ratio, setup, share_header, table, throughputs};
use crate::bars::cache::{MANY_CLIENTS, bandwidth};
use crate::cache_bench::setup::{Setup, StoreKind};

/// Servers of table 4.
const SERVERS: [usize; 5] = [1, 2, 4, 6, 8];
/// Its shares of scans.
const SCALED_SHARES: [u64; 4] = [10, 50, 99, 100];
/// Table 5 at eight servers, by these shares.
const PAPER_EIGHT: [f64; 4] = [4.27, 4.0, 3.99, 3.99];

/// Table 2: thousands of operations a second with one copy and with three.
const PAPER_COPIES: [(&str, [f64; 7]); 2] = [
    ("1 copy", [240.0, 290.0, 429.0, 724.0, 1_072.0, 1_270.0, 1_491.0]),
    ("3 copies", [212.0, 258.0, 376.0, 687.0, 1_068.0, 1_268.0, 1_496.0]),
];
/// Table 4: thousands of operations a second, at the shares above.
const PAPER_SERVERS: [(&str, [f64; 4]); 5] = [
    ("1", [37.0, 47.0, 254.0, 268.0]),
    ("2", [59.0, 106.0, 375.0, 391.0]),
    ("4", [122.0, 214.0, 743.0, 783.0]),
    ("6", [188.0, 323.0, 1_120.0, 1_173.0]),
    ("8", [254.0, 424.0, 1_497.0, 1_562.0]),
];

/// The numbers that the report prints, beside a table of ours.
fn printed<const SHARES: usize>(header: &[String], rows: &[(&str, [f64; SHARES])]) -> DataTable {
    let row =
        |(name, values): &(&str, [f64; SHARES])| ((*name).to_owned(), values.map(Summary::once).to_vec());
    let rows = rows.iter().map(row).collect();
    table("the report: thousands of operations a second", header, rows)
}

/// Table 2.
pub(super) fn copies(session: &mut Session<'_>) -> Result<Finding> {
    let [one, three] = beside(session, &SHARES, |session, which, share| Setup {
        copies: [1, 3][which],
        ..setup(session, BACK, StoreKind::PostgresAsync, share)
    })?;
    let over_one = |place: usize| Some(ratio(&three[place], &one[place]));
    let claims = vec![
        Claim::of_runs("10 % scans: 3 copies over 1", 212.0 / 240.0, over_one(0)),
        Claim::of_runs("99 % scans: 3 copies over 1", 1_496.0 / 1_491.0, over_one(SHARES.len() - 1)),
    ];
    let rows = vec![("1 copy".to_owned(), throughputs(&one)), ("3 copies".to_owned(), throughputs(&three))];
    let header = share_header("scans", &SHARES);
    let tables = vec![table("operations a second", &header, rows), printed(&header, &PAPER_COPIES)];
    let notes = notes(session, one.iter().chain(&three));
    Ok(Finding { tables, claims, notes, plots: Vec::new() })
}

/// By the number of servers, then by the share of scans; once for both tables.
fn scaled(session: &mut Session<'_>) -> Result<Rc<[Vec<Runs>; SERVERS.len()]>> {
    session.once("runs with servers of one bandwidth".to_owned(), |session| {
        beside(session, &SCALED_SHARES, |session, which, share| Setup {
            cache_servers: SERVERS[which],
            clients: MANY_CLIENTS,
            bandwidth: Some(bandwidth(share)),
            ..setup(session, BACK, StoreKind::PostgresAsync, share)
        })
    })
}

/// Table 4.
pub(super) fn servers(session: &mut Session<'_>) -> Result<Finding> {
    let rows = scaled(session)?;
    let lines =
        SERVERS.iter().zip(&*rows).map(|(servers, rows)| (servers.to_string(), throughputs(rows))).collect();
    let header = share_header("servers", &SCALED_SHARES);
    let tables = vec![table("operations a second", &header, lines), printed(&header, &PAPER_SERVERS)];
    Ok(Finding { tables, notes: scaled_notes(session, &*rows), ..Finding::default() })
}

/// Table 5.
pub(super) fn relative(session: &mut Session<'_>) -> Result<Finding> {
    let rows = scaled(session)?;
    let all = &*rows;
    let over_two = |rows: &[Runs]| -> Vec<Summary> {
        rows.iter().zip(&all[1]).map(|(row, two)| ratio(row, two)).collect()
    };
    let eight = over_two(&rows[4]);
    let claims = SCALED_SHARES.iter().zip(PAPER_EIGHT).zip(&eight);
    let claims = claims
        .map(|((share, paper), ours)| {
            Claim::of_runs(format!("8 servers over 2, {share} % scans"), paper, Some(*ours))
        })
        .collect();
    let measured = SERVERS.iter().zip(&*rows).skip(1);
    let lines = measured.map(|(servers, rows)| (servers.to_string(), over_two(rows))).collect();
    let tables =
        vec![table("throughput over that of two servers", &share_header("servers", &SCALED_SHARES), lines)];
    Ok(Finding { tables, claims, notes: scaled_notes(session, &*rows), plots: Vec::new() })
}

fn scaled_notes(session: &Session<'_>, rows: &[Vec<Runs>]) -> Vec<String> {
    let mut notes = notes(session, rows.iter().flatten());
    notes.push(format!(
        "All servers share the machine, so that each is held to one bandwidth by a relay: {} bytes a second where less than a \
         tenth of the operations write, else {}. {MANY_CLIENTS} clients.",
        bandwidth(100),
        bandwidth(10)
    ));
    notes
}
