//! Facts about the harness, the rows and the report.

mod measuring;
mod reporting;
mod timing;
mod well_formed;
mod workloads;
