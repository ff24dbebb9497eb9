//! `lacuna cache top` beside a dendrite at work.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use lacuna_cache_protocol::Policy;
use lacuna_testkit::servers::free_port;
use tokio::task::block_in_place;

use super::many::{make_tables, monitored, sections, table_of};
use crate::team::{AT_MOST, Leases, Process, Team};

/// The screen of full-screen programs without a cursor, and back.
const ENTER: &str = "\x1b[?1049h\x1b[?25l";
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";

fn top(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lacuna"));
    command.args(["cache", "top"]).args(arguments);
    command
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_interval_is_a_line_of_json_in_a_pipe() {
    let Some(team) = Team::new(Policy::WriteThrough, Leases::Database) else { return };
    let cache = make_tables(&team, 2).await;
    let port = free_port();
    let mut dendrite =
        block_in_place(|| Process::start(team.command_of_file(&sections(2), port), port, None));
    let place = block_in_place(|| monitored(&mut dendrite));
    let table = table_of(&team, &cache, &dendrite, 0).await;
    table.insert([("place", 7.into()), ("version", 1.into())]).await.unwrap();
    // One dendrite that answers, and one that is away.
    let mut command = top(&[&place, "127.0.0.1:1", "--interval", "1"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let start = Instant::now();
    loop {
        for _ in 0..200 {
            assert_eq!(table.get("place", 0..10).await.unwrap().len(), 1);
        }
        // Reads count once the dendrite has reported them.
        let line = block_in_place(|| lines.next()).unwrap().unwrap();
        let picture: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!((picture["answered"].as_u64(), picture["asked"].as_u64()), (Some(1), Some(2)), "{line}");
        assert_eq!(picture["silent"][0][0], "127.0.0.1:1", "{line}");
        let busiest = &picture["tables"][0];
        let is_seen = busiest["table"] == "slots_0" && busiest["hit_rate"].as_f64() > Some(0.9);
        let hottest = &picture["ranges"][0];
        let is_hot = (&hottest["table"], &hottest["dendrite"]) == (&"slots_0".into(), &(*place).into())
            && hottest["requests"].as_f64() > Some(10.0);
        if is_seen && is_hot && busiest["entries"].as_u64() >= Some(1) {
            assert_eq!(picture["tables"].as_array().unwrap().len(), 2, "{line}");
            break;
        }
        assert!(start.elapsed() < AT_MOST, "{line}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    cache.stop().await.unwrap();
}

/// A command on a terminal of its own.
fn on_a_terminal(command: &str) -> Child {
    let mut script = Command::new("script");
    script.args(["-qec", command, "/dev/null"]).env("TERM", "xterm");
    script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}

#[test]
fn a_terminal_is_left_as_it_was() {
    let command = format!("{} cache top 127.0.0.1:1 --interval 1", env!("CARGO_BIN_EXE_lacuna"));
    for is_interrupted in [true, false] {
        let command = if is_interrupted { command.clone() } else { format!("{command} --count 1") };
        let mut child = on_a_terminal(&command);
        let (mut out, mut shown) = (child.stdout.take().unwrap(), Vec::new());
        let mut bytes = [0; 4_096];
        let holds = |shown: &[u8], part: &str| String::from_utf8_lossy(shown).contains(part);
        while !holds(&shown, "127.0.0.1:1 is silent") {
            let len = out.read(&mut bytes).unwrap();
            assert!(len > 0, "{}", String::from_utf8_lossy(&shown));
            shown.extend_from_slice(&bytes[..len]);
        }
        if is_interrupted {
            assert!(!holds(&shown, LEAVE));
            // The byte of Ctrl-C.
            child.stdin.as_mut().unwrap().write_all(b"\x03").unwrap();
        }
        out.read_to_end(&mut shown).unwrap();
        child.wait().unwrap();
        let shown = String::from_utf8_lossy(&shown).into_owned();
        assert_eq!((shown.matches(ENTER).count(), shown.matches(LEAVE).count()), (1, 1), "{shown:?}");
        let after = &shown[shown.find(LEAVE).unwrap() + LEAVE.len()..];
        assert!(!after.contains("lacuna cache top"), "nothing is drawn afterwards: {after:?}");
    }
}
