//! Measuring range filters side by side: speed, rates, sizes, and what a store gains from them.
//!
//! A number of nanoseconds says little on a machine that others use too; a ratio of two things measured in turn, in
//! one run, says a lot. So everything timed here is timed in interleaved rounds next to its yardstick, and the bars of
//! the project are ratios. Counts (false positives, reads avoided) are exact and repeat from their seed.
//!
//! - [`harness`]: interleaved rounds, the three ways to ask, the memory floor;
//! - [`measure()`]: filters over one workload, each giving a [`Row`];
//! - [`report`]: rows as a table, JSON lines, CSV, or a folder with one HTML page;
//! - [`engine`]: storage engines with no filter, their own, and ours;
//! - [`statistics`]: medians, and when a measured rate meets its bar.
//!
//! ```
//! use lacuna_bench::{Contender, Effort, Setting, measure, report};
//! use lacuna_workload::{KeySource, QuerySource, ReadOptions};
//!
//! let keys = KeySource::parse("uniform:2k")?.load(&ReadOptions::default(), 1, &mut |_| {})?;
//! let workload = QuerySource::parse("uniform:500:32")?.workload(keys, 1)?;
//! let setting = Setting { keys: "uniform:2k", queries: "uniform:500:32", workload: &workload, apart: None, seed: 1, secret: None };
//! let contenders = [Contender { spec: "grafite", bits_per_key: 16.0 }];
//! let rows = measure(&contenders, &setting, Effort::SMALL, &mut |_| {})?;
//! assert_eq!(rows[0].false_negatives, 0);
//! println!("{}", report::to_table(&rows));
//! # Ok::<(), lacuna_base::Error>(())
//! ```

#![warn(missing_docs)]

mod bench_key;
pub mod engine;
pub mod harness;
mod machine;
mod measure;
pub mod report;
pub mod statistics;

pub use bench_key::BenchKey;
pub use machine::{Machine, cpu_model};
pub use measure::{
    Contender, Crowd, Effort, MAX_SAMPLED, Outcome, Progress, Row, Setting, Unfit, Watch, measure,
    measure_fitting,
};
