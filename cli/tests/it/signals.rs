//! Ctrl-C, SIGTERM, SIGHUP and a full disk leave nothing behind and end with a sentence; a terminal sees what is done.

#![cfg(unix)]

use std::io::Write as _;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use crate::support::Folder;

/// Longest wait for something to begin.
const PATIENCE: Duration = Duration::from_secs(180);

/// Starts `lacuna` with a temporary folder of its own, `tmp` in `folder`.
fn start(folder: &Folder, line: &str) -> Child {
    fs::create_dir_all(folder.path("tmp")).unwrap();
    // A test that runs under `nohup` would hand its own way with SIGHUP on.
    let mut command =
        if cfg!(target_os = "linux") { Command::new("env") } else { Command::new(crate::BINARY) };
    if cfg!(target_os = "linux") {
        command.args(["--default-signal=HUP", crate::BINARY]);
    }
    command
        .args(line.split_whitespace())
        .current_dir(folder.root())
        .env("TMPDIR", folder.path("tmp"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Names in the temporary folder.
fn left(folder: &Folder) -> Vec<String> {
    let entries = fs::read_dir(folder.path("tmp")).unwrap();
    entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

/// Waits for `begun`, sends the signal, and gives what the process said.
fn ended_by(signal: &str, mut child: Child, begun: impl Fn() -> bool) -> Output {
    let deadline = Instant::now() + PATIENCE;
    while !begun() && Instant::now() < deadline && child.try_wait().unwrap().is_none() {
        thread::sleep(Duration::from_millis(5));
    }
    assert!(begun(), "it never began");
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
    child.wait_with_output().unwrap()
}

#[test]
fn databases_are_removed_when_a_signal_comes() {
    for (signal, code, said) in
        [("-INT", 130, "interrupted"), ("-TERM", 143, "terminated"), ("-HUP", 129, "ended with its terminal")]
    {
        for line in [
            "demo --keys uniform:300k --scans 100000",
            "bench engine --engine slatedb --keys uniform:300k --queries uniform:100k:32 --filters none,grafite",
        ] {
            let folder = Folder::new();
            let command = if line.starts_with("demo") { "lacuna-demo-" } else { "lacuna-bench-" };
            let has_files = || {
                left(&folder).iter().any(|name| {
                    name.starts_with(command)
                        && fs::read_dir(folder.path("tmp").join(name))
                            .is_ok_and(|files| files.flatten().any(|file| file.path().is_dir()))
                })
            };
            let output = ended_by(signal, start(&folder, line), has_files);
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert_eq!(
                (output.status.code(), &*stderr),
                (Some(code), &*format!("lacuna: {said}\n")),
                "{line}"
            );
            assert_eq!(left(&folder), [""; 0], "{line} {signal}");
        }
    }
}

#[test]
fn a_terminated_build_leaves_nothing() {
    let folder = Folder::new();
    assert!(Command::new("mkfifo").arg(folder.path("never.u64")).status().unwrap().success());
    let build = start(&folder, "build --keys never.u64 --filter grafite --bits-per-key 14 --out f");
    let begun = || folder.names().iter().any(|name| name.starts_with(".lacuna-"));
    let output = ended_by("-TERM", build, begun);
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(143), &b"lacuna: terminated\n"[..]));
    assert_eq!(folder.names(), ["never.u64", "tmp"]);
}

#[test]
fn a_closed_terminal_leaves_nothing_unless_it_is_ignored() {
    let folder = Folder::new();
    assert!(Command::new("mkfifo").arg(folder.path("never.u64")).status().unwrap().success());
    let line = "build --keys never.u64 --filter grafite --bits-per-key 14 --out f";
    let begun = || folder.names().iter().any(|name| name.starts_with(".lacuna-"));
    let output = ended_by("-HUP", start(&folder, line), begun);
    assert_eq!(
        (output.status.code(), output.stderr.as_slice()),
        (Some(129), &b"lacuna: ended with its terminal\n"[..])
    );
    assert_eq!(folder.names(), ["never.u64", "tmp"]);
    let ignoring = Command::new("sh")
        .args(["-c", &format!("trap '' HUP; exec {} {line}", crate::BINARY)])
        .current_dir(folder.root())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let pipe = folder.path("never.u64");
    let id = ignoring.id().to_string();
    let writer = thread::spawn(move || {
        // Opened once the build reads, which is when it handles signals.
        let mut keys = fs::File::options().write(true).open(pipe).unwrap();
        assert!(Command::new("kill").args(["-HUP", &id]).status().unwrap().success());
        thread::sleep(Duration::from_millis(200));
        keys.write_all(&7_u64.to_le_bytes()).unwrap();
    });
    let output = ignoring.wait_with_output().unwrap();
    writer.join().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn an_interrupted_comparison_keeps_its_rows() {
    let folder = Folder::new();
    let mut bench = start(
        &folder,
        "bench filters --keys uniform:20k --queries points:5k,uniform:100k:32 --filters bloom,grafite,surf:cut \
         --bits-per-key 14 --format json --report report",
    );
    // The first row says that the second kind of queries is at work.
    let mut stdout = bench.stdout.take().unwrap();
    let mut seen = vec![0; 1 << 16];
    let first = std::io::Read::read(&mut stdout, &mut seen).unwrap();
    assert!(first > 0);
    let output = ended_by("-INT", bench, || true);
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut stdout, &mut rest).unwrap();
    let text = String::from_utf8_lossy(&seen[..first]).into_owned() + &rest;
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(stderr.contains("ending with what is done"), "{stderr}");
    assert!(text.lines().filter(|line| line.contains("points:5000")).count() == 3, "{text}");
    let report = fs::read_to_string(folder.path("report/rows.jsonl")).unwrap();
    assert_eq!(report.lines().count(), text.lines().count(), "the report holds what was printed");
}

/// Ends an engine that cannot write: by the size that it would need, and once it has no space left. A user who may not mount a small disk
/// passes, unless `LACUNA_REQUIRE=all` is set.
#[test]
fn a_full_disk_is_said() {
    let folder = Folder::new();
    fs::create_dir(folder.path("disk")).unwrap();
    let mount = |size: &str| {
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", size, "tmpfs"])
            .arg(folder.path("disk"))
            .output();
        mounted.is_ok_and(|output| output.status.success())
    };
    let is_required = std::env::var("LACUNA_REQUIRE").is_ok_and(|required| required == "all");
    if !mount("size=64k") {
        assert!(!is_required, "LACUNA_REQUIRE=all, and this user may not mount a small disk");
        println!("a_full_disk_is_said: this user may not mount a small disk");
        return;
    }
    let demo = |args: &str| {
        let child = start(&folder, &format!("demo --keys uniform:20k --scans 10 --store disk {args}"));
        child.wait_with_output().unwrap()
    };
    let small = demo("");
    // Full from the first byte on: a file takes the space that the rows would need.
    let remounted = Command::new("mount").args(["-o", "remount,size=16m"]).arg(folder.path("disk")).status();
    let fills = remounted.is_ok_and(|status| status.success()).then(|| {
        let child = start(&folder, "demo --keys uniform:20k --scans 500000 --store disk");
        let begun = || fs::read_dir(folder.path("disk")).is_ok_and(|mut entries| entries.next().is_some());
        let deadline = Instant::now() + PATIENCE;
        while !begun() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(2));
        }
        let mut filler = fs::File::create(folder.path("disk/filler")).unwrap();
        while filler.write_all(&[1; 4096]).is_ok() {}
        child.wait_with_output().unwrap()
    });
    let left = fs::read_dir(folder.path("disk")).unwrap().count();
    assert!(Command::new("umount").arg(folder.path("disk")).status().unwrap().success());
    let said = String::from_utf8_lossy(&small.stderr).into_owned();
    assert!(small.status.code() == Some(2) && said.contains("is full: the databases need about"), "{said}");
    assert!(fills.is_some() || !is_required, "LACUNA_REQUIRE=all, and the disk did not get larger");
    if let Some(output) = fills {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && said.contains("is full"), "{said}");
        assert_eq!(left, 1, "only the filler is left");
    }
}

/// What `lacuna` shows on a terminal while keys come slowly.
#[test]
fn a_terminal_sees_words_and_time() {
    let folder = Folder::new();
    assert!(Command::new("mkfifo").arg(folder.path("slow.u64")).status().unwrap().success());
    let pipe = folder.path("slow.u64");
    let writer = thread::spawn(move || {
        let mut keys = fs::File::options().write(true).open(pipe).unwrap();
        thread::sleep(Duration::from_millis(3_500));
        keys.write_all(&7_u64.to_le_bytes()).unwrap();
    });
    let line = format!("{} build --keys slow.u64 --filter grafite --bits-per-key 14 --out f", crate::BINARY);
    let shown = Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .current_dir(folder.root())
        .env("TERM", "xterm")
        .output();
    let shown = shown.expect("util-linux has `script`");
    writer.join().unwrap();
    let text = String::from_utf8_lossy(&shown.stdout);
    assert!(text.contains("reading keys") && text.contains("3s") && !text.contains("0/0"), "{text:?}");
}

/// What a comparison shows on a terminal: the step, of how many, how long it has taken, and what is being done. Then it is ended.
#[test]
fn a_terminal_sees_the_steps_of_a_comparison() {
    let folder = Folder::new();
    let bench = "bench filters --keys uniform:300k --queries uniform:100k:32";
    let line = format!("stty cols 120; echo $$ > pid; exec {} {bench}", crate::BINARY);
    let mut script = Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .current_dir(folder.root())
        .env("TERM", "xterm")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("util-linux has `script`");
    let mut stdout = script.stdout.take().unwrap();
    let (mut text, mut buffer) = (String::new(), [0; 4096]);
    let steps = " left: uniform:100000:32-32: ";
    while !text.contains(steps) {
        let count = std::io::Read::read(&mut stdout, &mut buffer).unwrap();
        assert!(count > 0, "it ended, and no step was shown: {text:?}");
        text += &String::from_utf8_lossy(&buffer[..count]);
    }
    let pid = fs::read_to_string(folder.path("pid")).unwrap();
    // It may have ended on a fast machine.
    let _ = Command::new("kill").args(["-INT", pid.trim()]).status();
    std::io::Read::read_to_end(&mut stdout, &mut Vec::new()).unwrap();
    script.wait().unwrap();
    // Such as `3/14, 2s, 5s left: ...`.
    let before = text.split_once(steps).map(|(before, _)| before).unwrap();
    let words: Vec<&str> = before.rsplit(' ').take(3).collect();
    let is_number = |text: &str| text.parse::<u64>().is_ok();
    let is_step = words[2]
        .split_once('/')
        .is_some_and(|(done, of)| is_number(done) && of.strip_suffix(',').is_some_and(is_number));
    assert!(is_step && words[1].ends_with("s,"), "{words:?} in {text:?}");
}
