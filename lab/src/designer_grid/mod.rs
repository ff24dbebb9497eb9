//! What `auto` chooses beside what would have been best, cell by cell.
//!
//! A cell is a key set, a workload, a length of ranges and a budget. `auto` sees the keys and one half of the queries;
//! then it and every rival (each family, and every candidate that `auto` turned down) are built and asked the other
//! half. The measure is the expected cost of a query: the question, and the price of a needless read times the counted
//! rate. The question's time is predicted by the designer's own constants, so that a result repeats from its seed, or,
//! with [`Clock::Measured`], taken in interleaved rounds.
//!
//! Two prefix Bloom filters are not a rival, because `auto` models them on request only.
//!
//! The bar: at most 10 % and 5 ns above the best in 95 % of the cells, nowhere above 1.5 times (and 5 ns).
//!
//! Beside it stands what `auto` would have chosen without Ribbon and without the gaps that Bucketing leaves out: what these gain
//! in a cell, where they lose, and how the median cost has changed. The bar: worse nowhere, the median lower by a quarter.

mod cell;
mod log;
mod outcome;
mod page;
mod run;

pub use cell::{Cell, cells};
pub use log::{from_line, to_line};
pub use outcome::{Change, Outcome, Summary};
pub use page::to_page;
pub use run::{Clock, Scale, run};
