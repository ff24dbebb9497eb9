//! Completions, manual pages and suggestions.

use std::process::Command;

use crate::support::Folder;

#[test]
fn completions_and_pages_name_every_command() {
    let folder = Folder::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = folder.lacuna(&format!("completions {shell}")).done();
        for word in ["build", "verify", "exit-code"] {
            assert!(script.contains(word), "{word} is not in the script for {shell}");
        }
    }
    folder.write("completions.bash", folder.lacuna("completions bash").done());
    let parsed = Command::new("bash").args(["-n", "completions.bash"]).current_dir(folder.root()).status();
    assert!(parsed.unwrap().success());
    assert!(folder.lacuna("man").done().starts_with(".ie"), "a page in roff");
    folder.run(&["man", "--out", "pages"], "");
    for name in ["lacuna.1", "lacuna-build.1", "lacuna-bench-filters.1"] {
        assert!(folder.path("pages").join(name).exists(), "{name}");
    }
    let page = std::fs::read_to_string(folder.path("pages").join("lacuna-build.1")).unwrap();
    assert!(page.contains(".SH EXTRA\n.nf\nExamples:\n"), "lines of examples are kept in\n{page}");
    assert_eq!(page.matches(".nf\n").count(), page.matches(".fi\n").count(), "{page}");
}

#[test]
fn typing_errors_get_a_suggestion() {
    let folder = Folder::new();
    for (line, said) in [
        ("bulid", "'build'"),
        ("build --fliter grafite --keys k --bits-per-key 9 --out f", "'--filter'"),
        ("inspect f --fromat json", "'--format'"),
    ] {
        let sentence = folder.lacuna(line).sentence(2);
        assert!(sentence.contains("similar") && sentence.contains(said), "{sentence}");
    }
}
