//! The command line as its users meet it: every test runs the binary.

mod answers;
mod bad_input;
mod bench;
mod browser;
mod cluster;
mod demo;
mod designer;
mod devtools;
mod engine;
mod help;
mod inspection;
mod neighbours;
mod output_files;
mod paper;
mod readme;
mod real_sets;
mod support;
mod verification;
