//! The report's figures 1 and 4 to 9 and its tables 1 to 5, each in the file named after what it shows.

mod compression;
mod entries;
mod logs;
mod pinned;
mod policies;
mod policy_notes;
mod redis;
mod scaling;
mod stage;

use crate::paper::figure::{figure, section, table};
use crate::paper::{Figure, Paper};
#[cfg(test)]
pub(crate) use logs::chunks_of;

/// The numbers of the report.
pub(crate) static PAPER: Paper = Paper {
    name: "rangeqc",
    citation: "Ghandeharizadeh, Alabdulkarim, Nguyen, \"RangeQC: A Framework for Caching Range Predicate Query Results\", \
               USC Database Laboratory Technical Report 2018-03.",
    method: "\
One machine has everything: clients, real Redis servers, the database. The report has a node of 16 cores for each, joined by \
10 Gbps. Its MySQL is **MariaDB** here. Its MongoDB is **stood in for by PostgreSQL with `synchronous_commit=off`**, which \
acknowledges a write before the disk has it, as the report configures MongoDB. Its IQ-Twemcached is Redis with scripts, one \
server where it has 16 instances a node. Records are 1,000 bytes in ten columns, chosen uniformly, scans of 5 unless a line says \
otherwise; 16 clients, each with one request under way. Everything is scaled down: each figure says by how much; `--keys` gives \
the records, of which a figure takes as many as have all their results in 8 GB of cache. [A table](../cache/README.md#figures-at-size-asked-and-measured) says \
what was asked for at size and what was measured. The cache is warm, β is 100 % and buffered \
writes have one copy, in memory, unless a line or a note says otherwise. Throughput counts the time until the store has every \
acknowledged write, which the report does not say of its own. Every scan is checked: none of ours may be older than an acknowledged \
update. Write-back over the protocol of MongoDB itself is refused: [its replay needs the writes and their number in one \
step](../../design/range-cache-mongodb.md). \
The report's stores wait for disks of their own, on machines of their own; here the store shares the cores with cache and clients, so \
that what a cache costs these cores shows where writes are many. Figures 1 and 6 have a store beside it that reads most of its rows \
from a disk; what one client gains over a store that is 5 ms away stands in figure 1, and with the bars in [the cache's own \
results](../cache/README.md). Log records of the cached results are kept where figure 4 counts them; without `with_warm_start` the \
cache of one process, which is what runs here, keeps none. Not measured are the report's remark about hard disks, since there is none here, and the \
histogram of section 8, by which the report finds the results that are too large to cache: here a range compares times of its \
normal operation (`with_measured_sizes`), which one line of figure 7 has.",
    line_names: &LINE_NAMES,
    figures: &FIGURES,
};

/// Names in the order that gives them their colours.
static LINE_NAMES: [&str; 18] = [
    "write-back",
    "write-through",
    "write-around",
    "MariaDB",
    "PostgreSQL, async",
    "5 rows",
    "10 rows",
    "100 rows",
    "beta 100 %",
    "beta 0 %",
    "ZRANGE and MGET",
    "one Lua script",
    "1 copy",
    "3 copies",
    "100 rows, beta auto",
    "buffered writes",
    "buffered writes and log records",
    "write-back, beta auto",
];

static FIGURES: [Figure; 13] = [
    figure(
        1,
        "improvement over two stores",
        policies::stores,
        "In the report write-back helps most where writes are many.",
    ),
    table(
        1,
        "log records before and after compaction",
        logs::sizes,
        "What the store has goes; what it does not have yet stays.",
    ),
    figure(4, "pinned memory by the share of scans", pinned::by_share_of_scans, "Fewer updates pin less."),
    figure(
        5,
        "pinned memory over a run",
        pinned::over_time,
        "It settles: writes reach the store as fast as they come.",
    ),
    table(
        2,
        "one and three copies of buffered writes",
        scaling::copies,
        "Copies cost little where scans are many.",
    ),
    figure(
        6,
        "write policies",
        policies::policies,
        "In the report only write-back gains where writes are many.",
    ),
    figure(7, "size of entries", entries::sizes, "The larger an entry, the smaller the gain."),
    table(3, "hit rate in little memory", entries::hit_rates, "Large entries do not fit."),
    section(
        "7.3",
        "compressed results in little memory",
        compression::methods,
        "What is smaller in the cache stays there more often.",
    ),
    table(
        4,
        "throughput by cache servers of one bandwidth",
        scaling::servers,
        "More servers, more throughput.",
    ),
    table(
        5,
        "the same over two servers",
        scaling::relative,
        "Four times the servers, four times the throughput.",
    ),
    figure(8, "Redis alone", redis::naive, "Faster, and wrong: look at the anomalies."),
    figure(
        9,
        "entries that share rows, and entries that do not",
        redis::beta,
        "Writes like small entries, scans large ones.",
    ),
];
