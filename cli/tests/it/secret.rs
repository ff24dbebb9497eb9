//! `--secret-file`: filters under a secret are built, opened, measured and proved, and nothing repeats it.

use std::fs;

use serde_json::Value;

use crate::support::Folder;

const SECRET: &str = "00112233445566778899aabbccddeeff";
const BUILD: &str = "build --keys uniform:2k --bits-per-key 14 --secret-file secret.txt --out f --filter";
const BENCH: &str =
    "bench filters --keys uniform:2k --queries correlated:2k:32:32 --quick --secret-file secret.txt";
/// A file that is never read: what is wrong is said before.
const NO_KEYS: &str = "--keys missing.u64";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("secret.txt", format!("{SECRET}\n"));
    folder
}

#[test]
fn a_filter_under_a_secret_is_opened_without_it() {
    let folder = folder();
    for spec in ["ribbon:secret", "grafite:secret"] {
        let said = folder.lacuna(&format!("{BUILD} {spec}")).done();
        assert!(said.contains(spec) && !said.contains(SECRET), "{said}");
        folder.lacuna("verify f --keys uniform:2k").done();
    }
}

#[test]
fn a_robust_choice_is_under_the_secret() {
    let folder = folder();
    let said = folder.lacuna(&format!("{BUILD} auto:robust --measure")).done();
    let lines = [
        "under the plan's secret: the rates hold",
        "\nribbon:unsampled,secret ",
        "measured ribbon:unsampled,secret: rate",
    ];
    assert!(lines.iter().all(|line| said.contains(line)) && !said.contains(SECRET), "{said}");
    folder.lacuna("verify f --keys uniform:2k").done();
    let under_the_secret = fs::read(folder.path("f")).unwrap();
    let seeded = BUILD.replace("--secret-file secret.txt ", "");
    let said = folder.lacuna(&format!("{seeded} auto:robust")).done();
    assert!(!said.contains("secret"), "{said}");
    assert_ne!(fs::read(folder.path("f")).unwrap(), under_the_secret);
    let said = folder.lacuna(&format!("{BUILD} auto")).sentence(2);
    assert!(said.contains("`auto` leaves the secret aside"), "{said}");
}

#[test]
fn other_secrets_make_other_filters_that_hold_the_same_keys() {
    let folder = folder();
    let built = |text: &str| {
        folder.write("secret.txt", text);
        folder.lacuna(&format!("{BUILD} ribbon:secret")).done();
        folder.lacuna("verify f --keys uniform:2k").done();
        fs::read(folder.path("f")).unwrap()
    };
    let (one, other) = (built(SECRET), built(&SECRET.replace('f', "e")));
    assert_ne!(one, other);
    assert_eq!(one, built(&SECRET.to_uppercase()), "the same sixteen bytes");
}

#[test]
fn what_is_wrong_with_a_secret_is_said_without_it() {
    let folder = folder();
    let cases = [
        (&SECRET[1..], "ribbon:secret", "32 hexadecimal digits"),
        ("", "ribbon:secret", "32 hexadecimal digits"),
        (SECRET, "ribbon", "leaves the secret aside"),
    ];
    for (text, spec, said) in cases {
        folder.write("secret.txt", text);
        for command in [&format!("{BUILD} {spec}"), &format!("{BENCH} --filters {spec}")] {
            let sentence = folder.lacuna(command).sentence(2);
            assert!(sentence.contains(said) && !sentence.contains(&SECRET[1..]), "{command}: {sentence}");
        }
    }
    fs::remove_file(folder.path("secret.txt")).unwrap();
    assert!(
        folder.lacuna(&format!("{BUILD} ribbon:secret")).sentence(2).contains("secret.txt: No such file")
    );
    folder.write("secret.txt", [0xFF; 33]);
    assert!(folder.lacuna(&format!("{BUILD} ribbon:secret")).sentence(2).contains("secret.txt: "));
}

/// Exit code 2, before a key is read or a file begun.
#[test]
fn a_missing_secret_is_refused_before_the_keys() {
    let folder = folder();
    for spec in ["ribbon:secret", "grafite:secret"] {
        let wanted = format!("lacuna: `{spec}` hashes under a secret: give one with --secret-file");
        for command in [
            format!("build {NO_KEYS} --bits-per-key 14 --out f --filter {spec}"),
            format!("build {NO_KEYS} --bits-per-key 14 --out - --filter {spec}"),
            format!("bench filters {NO_KEYS} --queries points:1k --quick --filters grafite,{spec}"),
            format!("bench filters {NO_KEYS} --queries points:1k --quick --report r --filters {spec}"),
        ] {
            assert_eq!(folder.lacuna(&command).sentence(2), wanted, "{command}");
        }
        for command in [
            format!("demo {NO_KEYS} --filter {spec}@14"),
            format!("bench engine --engine slatedb {NO_KEYS} --queries points:1k --filters none,{spec}"),
        ] {
            let said = folder.lacuna(&command).sentence(2);
            assert!(said.contains("a secret: give one to `lacuna build`"), "{command}: {said}");
        }
    }
    assert_eq!(folder.names(), ["secret.txt"]);
    // With the secret it is the keys that are missed.
    let command = format!("build {NO_KEYS} --bits-per-key 14 --secret-file secret.txt --out f --filter");
    assert!(folder.lacuna(&format!("{command} ribbon:secret")).sentence(2).contains("missing.u64"));
}

#[test]
fn byte_strings_under_a_secret_are_refused() {
    let folder = folder();
    folder.write("words.txt", "ant\nbee\ncat\n");
    let build =
        "build --keys words.txt --bits-per-key 14 --secret-file secret.txt --out f --filter ribbon:secret";
    let bench = "bench filters --keys words.txt --queries points:9 --quick --secret-file secret.txt --filters ribbon:secret";
    for command in [build, bench] {
        let said = folder.lacuna(command).sentence(2);
        assert!(said.contains("is for integers"), "{said}");
    }
    assert!(!folder.path("f").exists());
}

#[test]
fn filters_under_a_secret_are_compared_and_the_report_does_not_tell_it() {
    let folder = folder();
    let filters = "--filters ribbon,ribbon:secret,grafite:secret,auto:robust,bloom --bits-per-key 14 --format json --report r";
    let rows = folder.lacuna(&format!("{BENCH} {filters}")).done();
    let rows: Vec<Value> = rows.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let specs: Vec<&str> = rows.iter().map(|row| row["spec"].as_str().unwrap()).collect();
    assert_eq!(specs, ["ribbon", "ribbon:secret", "grafite:secret", "auto:robust", "bloom"]);
    assert!(rows[3]["note"].as_str().unwrap().contains("ribbon:unsampled,secret"), "{}", rows[3]);
    for row in &rows {
        assert_eq!(row["false_negatives"], 0, "{row}");
    }
    for keyed in &rows[1..4] {
        let [measured, predicted] = ["fpr", "predicted_fpr"].map(|rate| keyed[rate].as_f64().unwrap());
        assert!(measured < 0.1 && (measured - predicted).abs() < 0.01 + 0.35 * measured, "{keyed}");
    }
    let page = fs::read_to_string(folder.path("r/report.html")).unwrap();
    assert!(page.contains("--seed 1 --secret-file secret.txt"), "the page says how to make it again");
    let bytes: Vec<u8> = (0..16).map(|byte| byte * 0x11).collect();
    for file in ["r/report.html", "r/rows.csv", "r/rows.jsonl"] {
        let text = fs::read(folder.path(file)).unwrap();
        let holds = |part: &[u8]| text.windows(part.len()).any(|window| window == part);
        assert!(
            !holds(&SECRET.as_bytes()[..16]) && !holds(&SECRET.as_bytes()[16..]) && !holds(&bytes),
            "{file}"
        );
    }
}
