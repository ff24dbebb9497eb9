//! The pages of the checkout: no link leads nowhere, no page is an orphan, and the front page stays short.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Where the repository's files are on the web, as rustdoc and the READMEs of crates name them.
const WEB: [&str; 2] =
    ["https://github.com/lacuna-db/lacuna/blob/main/", "https://github.com/lacuna-db/lacuna/tree/main/"];
/// Crates whose rustdoc names pages by their place on the web alone.
const LINKED: [&str; 7] = ["lacuna", "filters", "engines", "nodes", "cache", "bindings", "bench"];
const MAX_README_LINES: usize = 110;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate is in a checkout").to_owned()
}

/// All files below `folder` with this extension, build folders and hidden ones left out.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("the folder can be read").path();
        let name = path.file_name().expect("entries have names").to_string_lossy().into_owned();
        if path.is_dir() && !name.starts_with(['.', '_']) && name != "target" {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The targets of the page's links, code blocks left out.
fn links(page: &str) -> Vec<String> {
    let mut in_code = false;
    let prose = page.lines().filter(|line| {
        in_code ^= line.trim_start().starts_with("```");
        !in_code
    });
    let prose: Vec<&str> = prose.collect();
    let prose = prose.join("\n");
    let targets = prose.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    targets.map(|(target, _)| target.to_owned()).collect()
}

/// The anchors of a page's headings, as GitHub makes them.
fn anchors(page: &str) -> Vec<String> {
    let headings = page.lines().filter(|line| line.starts_with('#'));
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    headings
        .map(|line| {
            line.trim_start_matches('#').trim().to_lowercase().chars().filter(kept).collect::<String>()
        })
        .map(|heading| heading.replace(' ', "-"))
        .collect()
}

/// `folder/link` without its dots.
fn joined(folder: &Path, link: &str) -> PathBuf {
    let mut path = PathBuf::new();
    for part in folder.join(link).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::CurDir => {}
            part => path.push(part),
        }
    }
    path
}

/// What `link` of `page` leads to in this checkout, with its anchor; `None` if it leads elsewhere.
fn target(page: &Path, link: &str) -> Option<(PathBuf, Option<String>)> {
    let (place, anchor) = match link.split_once('#') {
        Some((place, anchor)) => (place, Some(anchor.to_owned())),
        None => (link, None),
    };
    let ours = WEB.iter().find_map(|web| place.strip_prefix(web));
    match ours {
        Some(path) => Some((root().join(path), anchor)),
        None if place.contains("://") || place.starts_with("mailto:") => None,
        None if place.is_empty() => Some((page.to_owned(), anchor)),
        None => Some((joined(page.parent().expect("pages are in folders"), place), anchor)),
    }
}

#[test]
fn every_link_leads_somewhere() {
    let mut dead = Vec::new();
    for page in files(&root(), "md") {
        for link in links(&fs::read_to_string(&page).unwrap()) {
            let Some((path, anchor)) = target(&page, &link) else { continue };
            let has = |anchor: &String| anchors(&fs::read_to_string(&path).unwrap()).contains(anchor);
            if !path.exists() || !anchor.as_ref().is_none_or(has) {
                dead.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(dead.is_empty(), "links that lead nowhere:\n{}", dead.join("\n"));
}

#[test]
fn the_index_names_every_page() {
    let index = root().join("docs/README.md");
    let named: BTreeSet<PathBuf> = links(&fs::read_to_string(&index).unwrap())
        .iter()
        .filter_map(|link| target(&index, link))
        .map(|(path, _)| path)
        .collect();
    let orphans: Vec<PathBuf> = files(&root().join("docs"), "md")
        .into_iter()
        .filter(|page| *page != index && *page != summary() && !named.contains(page))
        .collect();
    assert!(orphans.is_empty(), "pages that docs/README.md does not name: {orphans:?}");
}

/// The chapters of the book that `make book` makes.
fn summary() -> PathBuf {
    root().join("docs/SUMMARY.md")
}

#[test]
fn the_book_has_every_page_once() {
    let chapters = links(&fs::read_to_string(summary()).unwrap());
    let mut chapters: Vec<PathBuf> =
        chapters.iter().filter_map(|link| target(&summary(), link)).map(|(path, _)| path).collect();
    chapters.sort();
    let mut pages = files(&root().join("docs"), "md");
    pages.retain(|page| *page != summary());
    let missing: Vec<_> = pages.iter().filter(|page| !chapters.contains(page)).collect();
    assert!(missing.is_empty(), "pages that docs/SUMMARY.md does not name: {missing:?}");
    assert_eq!(chapters, pages, "docs/SUMMARY.md names a page twice, or one that is not in docs/");
}

#[test]
fn the_front_page_is_short() {
    let lines = fs::read_to_string(root().join("README.md")).unwrap().lines().count();
    assert!(lines <= MAX_README_LINES, "README.md has {lines} lines of {MAX_README_LINES}");
}

#[test]
fn rustdoc_names_pages_by_their_place_on_the_web() {
    let mut dead = Vec::new();
    for file in LINKED.iter().flat_map(|room| files(&root().join(room), "rs")) {
        let source = fs::read_to_string(&file).unwrap();
        for line in source
            .lines()
            .map(str::trim_start)
            .filter(|line| line.starts_with("//!") || line.starts_with("///"))
        {
            let pages = WEB
                .iter()
                .flat_map(|web| line.split(web).skip(1))
                .filter_map(|rest| rest.split([')', '>']).next());
            let gone = |page: &str| !root().join(page.split('#').next().unwrap_or_default()).exists();
            let bare = line.contains("docs/") && !WEB.iter().any(|web| line.contains(web));
            if bare || pages.into_iter().any(gone) {
                dead.push(format!("{}: {line}", file.display()));
            }
        }
    }
    assert!(dead.is_empty(), "lines whose reader on docs.rs finds nothing:\n{}", dead.join("\n"));
}
