//! The paper's own example, the bound on probes, and the model against what is measured.

mod answers;
mod estimated;
mod model;
mod support;
