//! The version that `lacuna --version` prints: the crate's, the commit it was built from, and its features.

use std::env;
use std::process::Command;

/// Features that a user may look for.
const FEATURES: [&str; 6] = ["cache", "csv", "parquet", "proxy", "rocksdb", "terminal"];

fn main() {
    let version = env::var("CARGO_PKG_VERSION").expect("cargo sets it");
    let details = [commit(), features()].into_iter().flatten().collect::<Vec<_>>().join("; ");
    let shown = if details.is_empty() { version } else { format!("{version} ({details})") };
    println!("cargo::rustc-env=LACUNA_VERSION={shown}");
    println!("cargo::rerun-if-changed=build.rs");
}

/// The commit of the checkout, if this is one.
fn commit() -> Option<String> {
    if let Some(logs) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={logs}");
    }
    git(&["rev-parse", "--short=10", "HEAD"]).map(|commit| format!("commit {commit}"))
}

fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}

fn features() -> Option<String> {
    let is_on = |feature: &&str| env::var_os(format!("CARGO_FEATURE_{}", feature.to_uppercase())).is_some();
    let features: Vec<&str> = FEATURES.into_iter().filter(is_on).collect();
    (!features.is_empty()).then(|| format!("features {}", features.join(", ")))
}
