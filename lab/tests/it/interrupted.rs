//! Ctrl-C.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Processes whose parent is `parent`.
fn children(parent: u32) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_child = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        fields.get(1).is_some_and(|field| *field == parent.to_string())
    };
    pids.filter(is_child).collect()
}

/// Whether a process is there and has not ended: one that has may wait for whoever asks how.
fn is_alive(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.trim_start().starts_with(['Z', 'X']))
}

#[test]
fn servers_end_with_the_command() {
    if !lacuna_testkit::servers::is_installed("redis-server") {
        return;
    }
    let mut command = Command::new(crate::BINARY);
    command.args(
        "cache-bench --systems back --records 200 --clients 4 --copies 2 --seconds 60".split_whitespace(),
    );
    let mut run = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    let mut servers = Vec::new();
    while servers.len() < 3 {
        assert!(start.elapsed() < Duration::from_secs(180), "its servers do not start");
        std::thread::sleep(Duration::from_millis(20));
        servers = children(run.id());
    }
    // It may still be loading, or at work: both end.
    std::thread::sleep(Duration::from_millis(300));
    let is_sent = Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap();
    assert!(is_sent.success());
    let ended = run.wait().unwrap();
    assert_eq!(ended.code(), Some(130));
    // The kernel ends what the command has not, a moment after it.
    let start = Instant::now();
    while servers.iter().any(|server| is_alive(*server)) {
        assert!(start.elapsed() < Duration::from_secs(20), "a server outlived the command");
        std::thread::sleep(Duration::from_millis(20));
    }
}
