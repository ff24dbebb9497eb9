//! The gain of remembering false positives when the same ranges are asked again: section 5.11 of the REncoder paper,
//! and what learned gaps answer beyond it.
//!
//! The protocol, as the paper gives it: a *pre-run* of one round finds how large the blacklist becomes; that is taken out
//! of the filter's budget, so that filter and blacklist together are as large as the filter without; then the same
//! empty queries are asked in rounds, each false positive goes into the blacklist, and rates are averaged over rounds.
//! With one false positive in a hundred, two rounds give 2 % and 0 %, hence a factor near 2, less what the smaller
//! filter costs.
//!
//! - [`Protocol`]: the rounds, for any spec, keys and queries;
//! - [`new_queries`]: how many false positives of *other* queries blacklist and gaps know after one round.
//!
//! Zhong and others, "REncoder", sections 3.4 and 5.11. The paper leaves open whether the pre-run is repeated for the
//! smaller filter: here it is not, as "pre-run one round separately" says, and the rounds' own blacklist is reported too.

mod rounds;

mod newcomers;

pub use newcomers::{Newcomers, new_queries};
pub use rounds::{Protocol, Rounds};
