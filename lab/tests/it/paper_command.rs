//! `lacuna-lab paper`: data, pictures and a page.

use std::fs;

use crate::support::Folder;

#[test]
fn a_figure_writes_data_picture_and_page() {
    let folder = Folder::new();
    let said = folder.lacuna("paper rencoder --figure 4 --keys 20000 --queries 2000 --out new/folder").done();
    assert!(said.contains("Figure 4: ") && said.contains("wrote new/folder/figure-4.svg"), "{said}");
    let read = |name: &str| fs::read_to_string(folder.path("new/folder").join(name)).expect(name);
    assert!(read("figure-4.csv").starts_with("panel,line,origin,x,y\n"));
    assert!(read("figure-4.svg").trim_end().ends_with("</svg>"));
    let page = read("figure-4.md");
    let again = "`lacuna-lab paper rencoder --figure 4 --keys 20000 --queries 2000 --seed 1`";
    assert!(page.contains(again) && page.contains("](figure-4.svg)"), "{page}");
    let names = fs::read_dir(folder.path("new/folder")).expect("it was made").count();
    assert_eq!(names, 3, "nothing half-written is left");
}

#[test]
fn a_table_is_printed() {
    let said =
        Folder::new().lacuna("paper rencoder --figure table4 --keys 5k --queries 100 --out out").done();
    assert!(said.lines().any(|line| line.starts_with("share of ones after 11")), "{said}");
}

#[test]
fn what_there_is_can_be_listed() {
    let folder = Folder::new();
    assert!(folder.lacuna("paper --list").done().starts_with("rencoder  "));
    let figures = folder.lacuna("paper rencoder --list").done();
    for name in ["table1", "table5", "4", "13", "17", "22"] {
        assert!(figures.lines().any(|line| line.split_whitespace().next() == Some(name)), "{figures}");
    }
    assert!(folder.names().is_empty(), "listing writes nothing");
}

#[test]
fn unknown_papers_and_figures_are_refused() {
    let folder = Folder::new();
    let run = folder.lacuna("paper rencoder --figure 23 --out out");
    let sentence = run.sentence(2);
    assert!(
        sentence.contains("`23`") && sentence.contains("table1") && sentence.contains("22"),
        "{sentence}"
    );
    let run = folder.lacuna("paper recoder --out out");
    assert!(run.sentence(2).contains("choose one of rencoder"), "{run:?}");
    folder.lacuna("paper").sentence(2);
    folder.lacuna("paper rencoder --keys 0 --out out").sentence(2);
    assert!(folder.names().is_empty(), "nothing was made");
}

/// A million keys keep it at work until the signal comes.
#[cfg(unix)]
#[test]
fn an_interrupted_paper_leaves_nothing() {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};
    for (signal, code, said) in
        [("-INT", 130, "lacuna: interrupted\n"), ("-TERM", 143, "lacuna: terminated\n")]
    {
        let folder = Folder::new();
        let run = Command::new(crate::BINARY)
            .args(["paper", "rencoder", "--figure", "7"])
            .current_dir(folder.root())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let begin = Instant::now();
        while folder.names().is_empty() {
            assert!(begin.elapsed() < Duration::from_secs(180), "it never began");
            std::thread::sleep(Duration::from_millis(5));
        }
        let sent = Command::new("kill").args([signal, &run.id().to_string()]).status();
        assert!(sent.is_ok_and(|status| status.success()));
        let output = run.wait_with_output().expect("it ends");
        assert_eq!((output.status.code(), &*String::from_utf8_lossy(&output.stderr)), (Some(code), said));
        assert!(folder.names().is_empty(), "{:?}", folder.names());
    }
}

#[test]
fn unwritable_folders_are_named_before_any_work() {
    let folder = Folder::new();
    folder.write("taken", "a file");
    let run = folder.lacuna("paper rencoder --figure 4 --out taken/out");
    assert!(run.sentence(2).contains("taken/out"), "{run:?}");
}
