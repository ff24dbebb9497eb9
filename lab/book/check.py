"""Checks a book that was made: check.py DOCS BOOK; exit code 1 and a line for each link that leads nowhere.

Every page of DOCS is a page of BOOK, is in the search index and in llms.txt; each link and picture within BOOK is there, and so is
the part of the page that a link names.
"""

import functools
import html.parser
import pathlib
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    """The links of a page, and the names that links to it may have after their #."""

    def __init__(self, path):
        super().__init__()
        self.links, self.names = [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name == "id":
                self.names.add(value)


page_of = functools.lru_cache(maxsize=None)(Page)


def dead_links(book, path):
    for link in page_of(path).links:
        parts = urllib.parse.urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        place = urllib.parse.unquote(parts.path)
        target = ((book / place.lstrip("/")) if place.startswith("/") else path.parent / place).resolve() if place else path
        target = target / "index.html" if target.is_dir() else target
        if not target.is_file():
            yield link
        elif parts.fragment and target.suffix == ".html":
            if urllib.parse.unquote(parts.fragment) not in page_of(target).names:
                yield link


def missing_pages(docs, book):
    languages = (book / "llms.txt").read_text(encoding="utf-8")
    index = "".join(path.read_text(encoding="utf-8") for path in book.glob("searchindex*.js"))
    for page in sorted(docs.rglob("*.md")):
        name = page.relative_to(docs).as_posix()
        if name == "SUMMARY.md":
            continue
        made = name[: -len("README.md")] + "index.html" if name.endswith("README.md") else name[:-2] + "html"
        if not (book / made).is_file():
            yield f"{name}: is not in the book"
        if made not in index:
            yield f"{name}: is not in the search index"
        if f"/docs/{name})" not in languages:
            yield f"{name}: is not in llms.txt"


def main():
    docs, book = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    wrong = list(missing_pages(docs, book))
    pages = sorted(path for path in book.rglob("*.html") if path.name not in ("print.html", "404.html", "toc.html"))
    for path in pages:
        wrong += [f"{path.relative_to(book)}: {link} leads nowhere" for link in dead_links(book, path)]
    print("\n".join(wrong) or f"{len(pages)} pages, all links of which lead somewhere")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
