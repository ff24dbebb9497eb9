//! Output files are there whole or not at all, and nothing but the output goes to a pipe.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::Folder;

#[test]
fn same_command_writes_the_same_bytes() {
    let folder = Folder::new();
    for out in ["one", "two"] {
        folder.lacuna(&format!("build --keys zipf:5k --filter grafite --bits-per-key 14 --out {out}")).done();
    }
    assert_eq!(fs::read(folder.path("one")).unwrap(), fs::read(folder.path("two")).unwrap());
}

/// With as many keys as two threads take, and by more threads than that.
#[test]
fn the_number_of_threads_does_not_decide_the_bytes() {
    let folder = Folder::new();
    for filter in ["ribbon", "grafite", "bucketing", "auto", "bloom"] {
        let build = format!("build --keys uniform:70k --filter {filter} --bits-per-key 14");
        folder.lacuna(&format!("{build} --out one")).done();
        for threads in [1, 2, 9] {
            folder.lacuna(&format!("{build} --threads {threads} --out several")).done();
            let same = fs::read(folder.path("one")).unwrap() == fs::read(folder.path("several")).unwrap();
            assert!(same, "{filter} by {threads} threads");
        }
    }
    folder
        .lacuna("build --keys uniform:9 --filter ribbon --bits-per-key 14 --threads 0 --out none")
        .sentence(2);
    assert_eq!(folder.names(), ["one", "several"]);
}

#[test]
fn an_old_file_is_replaced_only_by_a_whole_one() {
    let folder = Folder::new();
    folder.write("words.txt", "b\na\n");
    folder.write("f", "precious");
    folder.lacuna("build --keys words.txt --filter bloom --bits-per-key 14 --out f").sentence(2);
    assert_eq!(fs::read(folder.path("f")).unwrap(), b"precious");
    folder.lacuna("build --keys words.txt --sort --filter bloom --bits-per-key 14 --out f").done();
    assert!(fs::read(folder.path("f")).unwrap().starts_with(b"LCNA"));
    assert_eq!(folder.names(), ["f", "words.txt"]);
}

#[cfg(unix)]
#[test]
fn links_and_permissions_are_those_of_any_file() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new();
    folder.write("plain", "as any other file");
    folder.write("target", "old");
    std::os::unix::fs::symlink("target", folder.path("link")).unwrap();
    folder.lacuna("build --keys uniform:10 --filter bloom --bits-per-key 14 --out link").done();
    assert!(fs::symlink_metadata(folder.path("link")).unwrap().is_symlink());
    assert!(fs::read(folder.path("target")).unwrap().starts_with(b"LCNA"));
    let mode = |name: &str| fs::metadata(folder.path(name)).unwrap().permissions().mode();
    assert_eq!(mode("target"), mode("plain"));
    fs::set_permissions(folder.path("target"), fs::Permissions::from_mode(0o600)).unwrap();
    folder.lacuna("build --keys uniform:10 --filter bloom --bits-per-key 14 --out link").done();
    assert_eq!(mode("target") & 0o777, 0o600);
    std::os::unix::fs::symlink("later", folder.path("early")).unwrap();
    folder.lacuna("build --keys uniform:10 --filter bloom --bits-per-key 14 --out early").done();
    assert!(fs::symlink_metadata(folder.path("early")).unwrap().is_symlink());
    assert!(fs::read(folder.path("later")).unwrap().starts_with(b"LCNA"));
}

#[test]
fn the_keys_are_never_overwritten() {
    let folder = Folder::new();
    folder.write("keys.txt", "a\nb\n");
    fs::hard_link(folder.path("keys.txt"), folder.path("twin.txt")).unwrap();
    for out in ["keys.txt", "./keys.txt", "twin.txt"] {
        let build = format!("build --keys keys.txt --filter bloom --bits-per-key 14 --out {out}");
        let sentence = folder.lacuna(&build).sentence(2);
        assert!(sentence.contains("is the file of the keys, which would be lost"), "{sentence}");
    }
    // Standard input that comes from the file is the file.
    let build = ["build", "--keys", "-", "--filter", "bloom", "--bits-per-key", "14", "--out", "keys.txt"];
    let mut command = Command::new(crate::BINARY);
    command.args(build).current_dir(folder.path("")).stdin(fs::File::open(folder.path("keys.txt")).unwrap());
    let output = command.output().unwrap();
    let sentence = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && sentence.contains("is the file of the keys"), "{sentence}");
    assert_eq!(fs::read(folder.path("keys.txt")).unwrap(), b"a\nb\n");
    folder.write("asked.txt", "aa\n");
    let build =
        "build --keys keys.txt --sample file:asked.txt --filter bloom --bits-per-key 14 --out asked.txt";
    assert!(folder.lacuna(build).sentence(2).contains("is the file of the queries, which would be lost"));
    folder.write("secret", "0123456789abcdef0123456789abcdef\n");
    let build =
        "build --keys keys.txt --filter ribbon:secret --secret-file secret --bits-per-key 14 --out ./secret";
    assert!(folder.lacuna(build).sentence(2).contains("is the file of the secret, which would be lost"));
    assert_eq!(fs::read(folder.path("secret")).unwrap(), b"0123456789abcdef0123456789abcdef\n");
}

/// Keys that come slowly keep `build` at work for longer than a progress bar waits.
#[cfg(unix)]
#[test]
fn pipes_get_no_progress() {
    let folder = Folder::new();
    assert!(Command::new("mkfifo").arg(folder.path("slow.u64")).status().unwrap().success());
    let pipe = folder.path("slow.u64");
    let writer = std::thread::spawn(move || {
        let mut keys = fs::File::options().write(true).open(pipe).unwrap();
        std::thread::sleep(Duration::from_millis(2_600));
        keys.write_all(&7_u64.to_le_bytes()).unwrap();
    });
    let text = folder.lacuna("build --keys slow.u64 --filter grafite --bits-per-key 14 --out f").done();
    writer.join().unwrap();
    assert!(text.bytes().all(|byte| byte == b'\n' || (b' '..=b'~').contains(&byte)), "{text:?}");
    assert_eq!(text.lines().count(), 7, "{text}");
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_said() {
    let folder = Folder::new();
    folder.lacuna("build --keys uniform:10 --filter bloom --bits-per-key 14 --out f").done();
    let output = Command::new(env!("CARGO_BIN_EXE_lacuna"))
        .args(["inspect", "f"])
        .current_dir(folder.root())
        .stdout(fs::File::options().write(true).open("/dev/full").unwrap())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stderr.starts_with(b"lacuna: the output cannot be written: "), "{output:?}");
}

/// Waits until a build has begun its output file; `false` if that does not happen.
#[cfg(unix)]
fn has_begun(folder: &Folder) -> bool {
    let deadline = Instant::now() + Duration::from_secs(180);
    while Instant::now() < deadline {
        if folder.names().iter().any(|name| name.starts_with(".lacuna-")) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}

#[cfg(unix)]
#[test]
fn an_interrupted_build_leaves_nothing() {
    let folder = Folder::new();
    folder.write("f", "precious");
    // Keys that never come: the build is not over before it is interrupted.
    assert!(Command::new("mkfifo").arg(folder.path("never.u64")).status().unwrap().success());
    let build = Command::new(env!("CARGO_BIN_EXE_lacuna"))
        .args(["build", "--keys", "never.u64", "--filter", "grafite", "--bits-per-key", "14", "--out", "f"])
        .current_dir(folder.root())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = has_begun(&folder);
    let interrupt = Command::new("kill").args(["-INT", &build.id().to_string()]).status().unwrap();
    let output = build.wait_with_output().unwrap();
    assert!(begun && interrupt.success(), "{output:?}");
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(
        (output.stdout.as_slice(), output.stderr.as_slice()),
        (&b""[..], &b"lacuna: interrupted\n"[..])
    );
    assert_eq!(folder.names(), ["f", "never.u64"]);
    assert_eq!(fs::read(folder.path("f")).unwrap(), b"precious");
}
