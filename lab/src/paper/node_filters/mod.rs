//! The paper of node filters: tables 2 to 13, by the figures that draw them.
//!
//! The paper times a cluster that reads millions of rows; here six nodes within one process count what such a cluster would be
//! asked. `nodes/cassandra/bench paper` times a real one.

mod cluster;
mod insertion;
mod lookups;
mod printed;
mod resources;

use super::model::{Figure, Paper, extra, figure};

/// Mosharraf and Adnan, Journal of Big Data 2022.
pub(super) static PAPER: Paper = Paper {
    name: "node-filters",
    citation: "Sharafat Ibn Mollah Mosharraf and Muhammad Abdullah Adnan, \"Improving lookup and query execution \
               performance in distributed Big Data systems using Cuckoo Filter\", Journal of Big Data 9, 2022.",
    method: "\
The paper times Cassandra on six machines over 136 million rows, once each; most of its seconds are rows and tombstones that are \
read and sent. Here six nodes within one process hold partitions by number, one replica each, and exchange their filters as \
they do in a cluster; what is counted is what would be asked of others and read from files for 100 queries. So shapes \
and percentages compare, seconds do not: `lacuna-lab paper node-filters --cluster` times the tables in three nodes of a stock \
Cassandra with and without the plug-in, [cluster.md](cluster.md) has them, [cassandra.md](cassandra.md) all of its bars. *Default* has Bloom filters beside files only. *Node Bloom* asks a copy of the other node's Bloom filter \
first, at 1 %. *Node Cuckoo* is ours in mode safe: ANY at 1 % and DEAD, whose entries are proven deletions.\n\n\
Each figure draws one table of the paper: figure 6 table 2, and so on to figure 17, table 13. Table 1 is the last row of \
table 2; it says milliseconds where that says seconds. The paper calls 100 % less time \"2x\"; half the time is 50 % less, \
and none at all is no factor.",
    line_names: &[
        "Default",
        "Node Bloom",
        "Node Cuckoo",
        "Bloom",
        "Cuckoo",
        "as in the paper",
        "every second",
        "safe",
    ],
    figures: &FIGURES,
};

static FIGURES: [Figure; 13] = [
    figure(
        6,
        "lookups, some of deleted keys",
        lookups::deleted_share,
        "Table 2. Lower is better; what is left are reads of live rows.",
    ),
    figure(7, "lookups of deleted keys by data size", lookups::deleted_by_size, "Table 3. Lower is better."),
    figure(
        8,
        "lookups, some of absent keys",
        lookups::positive_share,
        "Table 4. Live rows are read, and one absent key in a hundred; ours stands beside the Bloom filter of files, so \
         both must err.",
    ),
    figure(9, "insertion by load", insertion::by_load, "Table 5. Lower is better."),
    figure(10, "absent keys at other nodes", lookups::absent_remote, "Table 6. Lower is better."),
    figure(
        11,
        "deleted keys at other nodes",
        lookups::deleted_remote,
        "Table 7. A Bloom filter cannot forget. Ours spares the coordinator's own files too, the paper's does not.",
    ),
    figure(12, "deleted keys at other nodes by data size", lookups::deleted_remote_by_size, "Table 8."),
    figure(
        13,
        "present keys at other nodes",
        lookups::present_remote,
        "Table 9. All should be alike: nothing may be skipped.",
    ),
    figure(14, "insertion in a cluster", insertion::in_cluster, "Table 10: what the filters add to a write."),
    figure(15, "processor", resources::processor, "Table 11. Load from minute 10 to minute 90."),
    figure(16, "bytes received", resources::received, "Table 12. After the load nothing should be sent."),
    figure(17, "bytes sent", resources::sent, "Table 13."),
    extra(
        "sizes",
        "size of a filter of a million keys",
        insertion::sizes,
        "The paper says a megabyte at 0.01 %, which is 8 bits a key; no filter can do that with fewer than 13.3.",
    ),
];
