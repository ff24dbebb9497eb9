//! What `build` and `inspect` say about a filter.

use serde_json::Value;

use crate::support::Folder;

#[test]
fn inspection_as_json_has_every_field() {
    let folder = Folder::new();
    folder.write_integers("keys.u64", &[3, 70, 1 << 60]);
    folder.lacuna("build --keys keys.u64 --filter grafite --bits-per-key 14 --out f").done();
    let text = folder.lacuna("inspect f --format json").done();
    assert_eq!(text.lines().count(), 1);
    let Value::Object(found) = serde_json::from_str(&text).unwrap() else { panic!("{text} is no object") };
    let expected = [
        ("file", Value::from("f")),
        ("family", "grafite".into()),
        ("kind", 5.into()),
        ("envelope_version", 1.into()),
        ("key_space", "u64".into()),
        ("key_type", "u64".into()),
        ("time_unit", Value::Null),
        ("codec", 0.into()),
        ("key_count", 3.into()),
        ("smallest", 3.into()),
        ("largest", (1_u64 << 60).into()),
        ("verified", true.into()),
    ];
    for (name, value) in expected {
        assert_eq!(found[name], value, "{name}");
    }
    let sealed = std::fs::metadata(folder.path("f")).unwrap().len();
    assert_eq!(
        (found["sealed_bytes"].as_u64(), found["payload_bytes"].as_u64()),
        (Some(sealed), Some(sealed - 64))
    );
    for name in ["payload_version", "codec_parameter", "memory_bytes", "bits_per_key"] {
        assert!(found[name].is_number(), "{name} in {text}");
    }
    for name in ["rate_bound_1", "rate_bound_32", "rate_bound_1024"] {
        assert!((0.0..=1.0).contains(&found[name].as_f64().unwrap()), "{name} in {text}");
    }
    assert_eq!(found.len(), 21, "{text}");
}

#[test]
fn a_filter_of_no_keys_has_no_ends() {
    let folder = Folder::new();
    folder.write("keys.u64", "");
    folder.lacuna("build --keys keys.u64 --filter bloom --bits-per-key 14 --out f").done();
    let found: Value = serde_json::from_str(&folder.lacuna("inspect f --format json").done()).unwrap();
    for name in ["smallest", "largest", "bits_per_key"] {
        assert_eq!(found[name], Value::Null, "{name}");
    }
    folder.lacuna("inspect f").done();
}

#[test]
fn the_table_names_everything() {
    let folder = Folder::new();
    folder.write("words.txt", "apple\nbanana\ncherry\n");
    folder.lacuna("build --keys words.txt --filter bucketing --bits-per-key 14 --out f").done();
    let table = folder.lacuna("inspect f").done();
    for label in [
        "file",
        "family",
        "envelope",
        "keys",
        "key type",
        "codec",
        "smallest",
        "largest",
        "payload",
        "sealed",
        "memory",
        "rate bound",
        "checksums",
    ] {
        assert!(table.lines().any(|line| line.starts_with(label)), "{label} is not in\n{table}");
    }
    assert!(table.contains("3 byte strings") && table.contains("bucketing (kind 4)"), "{table}");
}

#[test]
fn a_filter_that_hardly_answers_is_warned_of() {
    let folder = Folder::new();
    let build = |rest: &str| folder.lacuna(&format!("build --keys uniform:5k --out f {rest}")).done();
    let sample = "--sample correlated:1k:1-32:32";
    let blind = build(&format!("--filter bucketing --bits-per-key 10 {sample}"));
    assert!(blind.contains("warning") && blind.contains("hardly answers the sampled queries"), "{blind}");
    let sound = build(&format!("--filter grafite --bits-per-key 18 {sample}"));
    assert!(!sound.contains("warning"), "{sound}");
    folder.lacuna("build --keys uniform:5k --filter bucketing --bits-per-key 10 --out g").done();
    let report = folder.lacuna("verify g --keys uniform:5k --queries correlated:1k:1-32:32").done();
    assert!(report.contains("; the filter hardly answers such queries"), "{report}");
}

#[test]
fn a_trie_that_was_cut_is_said() {
    let folder = Folder::new();
    let long = "a".repeat(200);
    folder.write("keys.txt", format!("{long}a\n{long}b\n{long}c\n{long}cc\nz{long}\n"));
    for (filter, is_cut) in [("surf", true), ("surf:cut", true), ("bloom", false)] {
        let design = folder
            .lacuna(&format!("build --keys keys.txt --filter {filter} --bits-per-key 60 --out f"))
            .done();
        let found = folder.lacuna("inspect f").done();
        for text in [design, found] {
            let said =
                text.lines().any(|line| line.starts_with("trie ") && line.contains("cut to the levels"));
            assert_eq!(said, is_cut, "{filter}: {text}");
        }
    }
    let whole = folder.lacuna("build --keys uniform:5k --filter surf --bits-per-key 40 --out f").done();
    assert!(!whole.contains("\ntrie "), "{whole}");
}

#[test]
fn the_design_is_printed() {
    let folder = Folder::new();
    let design = folder.lacuna("build --keys uniform:10k --filter grafite --bits-per-key 14 --out f").done();
    let sealed = std::fs::metadata(folder.path("f")).unwrap().len();
    let (thousands, rest) = (sealed / 1_000, sealed % 1_000);
    for said in [
        "grafite".to_owned(),
        "10,000 distinct keys of uniform:10k".to_owned(),
        "14 asked, 1".to_owned(),
        format!("{thousands},{rest:03} bytes"),
        "for 1 key, 0.00".to_owned(),
        "for 32 keys".to_owned(),
        "for 1,024 keys".to_owned(),
    ] {
        assert!(design.contains(&said), "{said} is not in\n{design}");
    }
}

/// A pipe can be read once.
#[cfg(unix)]
#[test]
fn a_filter_from_a_pipe_is_inspected() {
    let folder = Folder::new();
    folder.lacuna("build --keys uniform:1k --filter bloom --bits-per-key 14 --out f").done();
    for format in ["table", "json"] {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let bytes = std::fs::read(folder.path("f")).unwrap();
        let writing = std::thread::spawn(move || std::io::Write::write_all(&mut writer, &bytes).unwrap());
        let output = std::process::Command::new(crate::BINARY)
            .args(["inspect", "/dev/stdin", "--format", format])
            .stdin(reader)
            .output()
            .unwrap();
        writing.join().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
}
