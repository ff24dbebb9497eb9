//! A small check that every tag of a page is closed in order.

/// Elements of HTML that have no end.
const VOID: [&str; 2] = ["meta", "!DOCTYPE"];

/// What is wrong with the page, if anything; its script is not looked at.
pub(crate) fn problem(page: &str) -> Option<String> {
    let mut open: Vec<&str> = Vec::new();
    let script = page.split_once("<script>").and_then(|(_, rest)| rest.split_once("</script>"));
    let page = script.map_or(page.to_owned(), |(script, _)| page.replace(script, ""));
    let mut rest = page.as_str();
    while let Some(start) = rest.find('<') {
        if let Some(stray) = rest[..start].find('>') {
            return Some(format!("stray > before byte {stray} of {:?}", &rest[..start]));
        }
        let Some(length) = rest[start..].find('>') else { return Some("a tag does not end".into()) };
        let tag = &rest[start + 1..start + length];
        if tag.matches('"').count() % 2 == 1 {
            return Some(format!("a quote stays open in <{tag}>"));
        }
        let name = tag.trim_start_matches('/').split([' ', '/', '\n']).next().unwrap_or_default();
        if tag.starts_with('/') {
            match open.pop() {
                Some(last) if last == name => {}
                other => return Some(format!("</{name}> closes {other:?}")),
            }
        } else if !tag.ends_with('/') && !VOID.contains(&name) {
            open.push(name);
        }
        rest = &rest[start + length + 1..];
    }
    (!open.is_empty()).then(|| format!("never closed: {open:?}"))
}

#[test]
fn broken_pages_are_noticed() {
    for page in ["<p>", "<p></b>", "</p>", "<p", "<p a=\"></p>", "<p>a > b</p>", "<b><p></b></p>"] {
        assert!(problem(page).is_some(), "{page}");
    }
    assert_eq!(problem("<!DOCTYPE html>\n<p a=\"b\">x<circle r=\"1\"/></p>"), None);
}
