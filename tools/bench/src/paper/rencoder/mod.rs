//! REncoder's paper: figures 4 to 13 and 17 to 22, tables 1, 2, 4 and 5.

mod cast;
mod ranges;

use super::model::{Exhibit, ExhibitId, Paper};

/// Fan and others, VLDB Journal 2024.
pub(super) static PAPER: Paper = Paper {
    name: "rencoder",
    citation: "Fan and others, \"Enabling space-time efficient range queries with REncoder\", VLDB Journal 2024.",
    method: "",
    cast: &cast::NAMES,
    exhibits: &[Exhibit {
        id: ExhibitId::Figure(7),
        title: "rate of range queries",
        shows: "",
        run: ranges::rates,
    }],
};
