//! What a build without a feature says where the feature is needed, and what every build lists. The feature `terminal` is on by
//! default, so that only a build with `--no-default-features` is asked for what it adds.

use std::ffi::OsString;
use std::path::Path;

use crate::support::Folder;

/// Where a build with the default features is, for the tests of a build with all of them.
const WITHOUT_FEATURES: &str = "LACUNA_WITHOUT_FEATURES";

/// Commands that need a feature, and the feature.
const BY_FEATURE: [(&str, &str); 8] = [
    ("proxy --upstream postgres://127.0.0.1:1", "proxy"),
    ("proxy explain SELECT", "proxy"),
    ("completions bash", "terminal"),
    ("man", "terminal"),
    ("build --keys a.csv --column a --filter bloom --bits-per-key 9 --out f", "csv"),
    ("build --keys a.parquet --column a --filter bloom --bits-per-key 9 --out f", "parquet"),
    ("bench engine --engine rocksdb --keys uniform:1k --queries uniform:9:1", "rocksdb"),
    (
        "cache dendrite --listen 127.0.0.1:0 --store postgres://a@127.0.0.1:1/a --table t --key id \
         --domain age:integer --cache redis://127.0.0.1:1 --secret-file secret",
        "cache",
    ),
];

/// A build with no more than the default features: this one, or the one that is named; none if none is.
fn build_without_features() -> Option<OsString> {
    let any = cfg!(any(
        feature = "rocksdb",
        feature = "cache",
        feature = "proxy",
        feature = "csv",
        feature = "parquet"
    ));
    if !any {
        return Some(crate::BINARY.into());
    }
    let named = std::env::var_os(WITHOUT_FEATURES);
    let is_required = std::env::var("LACUNA_REQUIRE").is_ok_and(|required| required == "all");
    assert!(named.is_some() || !is_required, "LACUNA_REQUIRE=all, and {WITHOUT_FEATURES} names no binary");
    named
}

/// Whether this build lacks what `feature` adds; one that is named has the default features.
fn is_lacking(feature: &str, binary: &Path) -> bool {
    feature != "terminal" || (cfg!(not(feature = "terminal")) && binary == Path::new(crate::BINARY))
}

#[test]
fn commands_say_how_to_build_what_they_need() {
    let Some(binary) = build_without_features() else { return };
    let folder = Folder::new();
    for (line, feature) in BY_FEATURE.into_iter().filter(|(_, feature)| is_lacking(feature, binary.as_ref()))
    {
        let run = folder.run_binary(&binary, &line.split_whitespace().collect::<Vec<_>>(), "");
        let sentence = run.sentence(2);
        let build = format!("cargo build --release -p lacuna-cli --features {feature}");
        assert!(sentence.contains(&build) && run.stdout.is_empty(), "{run:?}");
    }
    assert!(folder.names().is_empty(), "nothing was made");
}

#[test]
fn help_needs_no_feature() {
    let folder = Folder::new();
    for (line, feature, option) in [
        ("cache --help", "cache", "dendrite"),
        ("cache dendrite --help", "cache", "--coordinator"),
        ("proxy --help", "proxy", "--report-every"),
        ("bench engine --help", "rocksdb", "--engine"),
    ] {
        let help = folder.lacuna(line).done();
        assert!(help.contains(&format!("-p lacuna-cli --features {feature}")), "{help}");
        assert!(help.contains(option), "{help}");
    }
}

#[test]
fn a_group_without_a_command_lists_its_commands() {
    let folder = Folder::new();
    for (line, command) in [("cache", "dendrite"), ("bench", "filters")] {
        let run = folder.lacuna(line);
        assert!(run.code == Some(2) && run.stderr.contains(command) && run.stdout.is_empty(), "{run:?}");
    }
}
