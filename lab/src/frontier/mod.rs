//! Every family beside every other: rates, sizes and times over generated and real keys, on one page.
//!
//! A *scene* is a key set and a law of where ranges start. In each scene every filter is built at each budget, once, for all
//! lengths together: a file has one filter, whatever is asked of it. It is given a sample of the same law, as an engine would,
//! and asked ranges that it has not seen. Ranges of integers have lengths; texts, which are byte strings, are asked for keys that were taken
//! out, for ranges that begin there and end in the last byte, or before the next key branches off. Rates and sizes repeat from the seed; times are ratios to a standard Bloom filter asked
//! for a point, in interleaved rounds of three runs.

mod columns;
mod contenders;
mod page;
mod quoted;
mod run;
mod scenes;

pub use columns::{COLUMNS, LENGTHS};
pub use contenders::{Contender, contenders};
pub use page::to_page;
pub use run::{BITS, Row, Scale, SceneResult, Times, run_scene};
pub use scenes::{Scene, Starts, scenes};
