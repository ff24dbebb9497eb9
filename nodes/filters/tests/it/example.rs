//! The example of two processes over TCP runs to its end. Its second process is this test program again.

use std::process::Command;

#[allow(dead_code, reason = "a test starts both processes in its own way")]
#[path = "../../examples/two_processes.rs"]
mod two_processes;

/// Set in the second process to where the first one listens.
const ADDRESS: &str = "LACUNA_NODE_FILTERS_HOLDER_OF";

#[test]
fn two_processes_exchange_their_filters() {
    two_processes::coordinate(|address| {
        let arguments = ["--exact", "example::the_second_process_holds", "--nocapture"];
        Command::new(std::env::current_exe()?).args(arguments).env(ADDRESS, address).spawn()
    })
    .unwrap();
}

/// The second process, if the first one started it.
#[test]
fn the_second_process_holds() {
    if let Ok(address) = std::env::var(ADDRESS) {
        two_processes::hold(&address).unwrap();
    }
}
