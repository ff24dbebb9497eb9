//! The public names and signatures of the facade, held by `lacuna/api.txt`, so that a change to them shows in a review.
//!
//! What is listed: every name that `lib.rs` passes on, and the signature of every public item of the facade's own
//! modules, read from the formatted source.

use std::fs;
use std::path::Path;

const HEAD: &str = "# The public API of crate `lacuna`. After a wanted change:\n\
                    #   LACUNA_BLESS=1 cargo test -p lacuna --test it api\n\
                    # and commit this file with it.\n";
/// How items begin that are listed.
const ITEMS: [&str; 9] = [
    "pub use ",
    "pub fn ",
    "pub struct ",
    "pub enum ",
    "pub trait ",
    "pub mod ",
    "pub const ",
    "impl",
    "#[cfg(",
];
/// How members of public traits begin.
const MEMBERS: [&str; 3] = ["fn ", "const ", "type "];

#[test]
fn api_is_the_blessed_one() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let golden = root.join("api.txt");
    let found = format!("{HEAD}{}", listing(&root.join("src")));
    if std::env::var_os("LACUNA_BLESS").is_some() {
        fs::write(&golden, &found).unwrap();
    }
    let blessed = fs::read_to_string(&golden).unwrap_or_default();
    for (blessed, found) in blessed.lines().zip(found.lines()) {
        assert_eq!(found, blessed, "the public API has changed; see the top of lacuna/api.txt");
    }
    assert_eq!(found.len(), blessed.len(), "the public API has changed; see the top of lacuna/api.txt");
}

/// Every public item, a line each, file by file.
fn listing(folder: &Path) -> String {
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("the crate has sources")
        .map(|entry| entry.expect("the folder can be read").path())
        .collect();
    files.sort();
    let mut lines = Vec::new();
    for file in files {
        lines.push(format!("\n{}", file.file_name().expect("entries have names").display()));
        lines.extend(items(&fs::read_to_string(&file).expect("sources are text")));
    }
    lines.join("\n") + "\n"
}

/// The items of one file; members stand below what they belong to.
fn items(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let (mut condition, mut in_trait) = (String::new(), false);
    let mut lines = source.lines();
    while let Some(line) = lines.next() {
        let item = line.trim_start();
        let indent = &line[..line.len() - item.len()];
        let is_member = indent.len() == 4 && in_trait && MEMBERS.iter().any(|head| item.starts_with(head));
        if !is_member && !ITEMS.iter().any(|head| item.starts_with(head)) {
            continue;
        }
        let text = statement(item, &mut lines);
        if text.starts_with("#[cfg(") {
            condition = format!("{text} ");
            continue;
        }
        if indent.is_empty() {
            in_trait = text.starts_with("pub trait ");
        }
        if condition != "#[cfg(doctest)] " {
            found.extend(expanded(&text).map(|text| format!("{indent}{condition}{text}")));
        }
        condition.clear();
    }
    found
}

/// The item up to its body, on one line.
fn statement<'a>(first: &'a str, lines: &mut impl Iterator<Item = &'a str>) -> String {
    let end = if first.starts_with("pub use ") { [';', ';', ';'] } else { [';', '{', ']'] };
    let mut text = first.to_owned();
    while !text.ends_with(end) && !text.ends_with("{}") {
        let Some(line) = lines.next() else { break };
        text = format!("{text} {}", line.trim());
    }
    text.trim_end_matches([';', '{', '}', ' ']).replace("( ", "(").replace(", )", ")")
}

/// `pub use a::{B, C}` as two lines.
fn expanded(text: &str) -> impl Iterator<Item = String> {
    let (path, names) = match text.split_once("::{") {
        Some((path, names)) if text.starts_with("pub use ") => (format!("{path}::"), names),
        _ => (text.to_owned(), ""),
    };
    let names: Vec<&str> = names.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    let names = if names.is_empty() { vec![""] } else { names };
    names.into_iter().map(|name| format!("{path}{name}")).collect::<Vec<_>>().into_iter()
}
