"""The pages of the documentation as the book has them: pages.py DOCS OUT

Copies the folder DOCS to OUT/src. A link to a file outside of DOCS leads to the repository on the web, one to a README.md to the
page that the book makes of it. Writes src/llms.txt, a map of all pages for language models: https://llmstxt.org.
"""

import os
import pathlib
import re
import shutil
import sys

WEB = "https://github.com/lacuna-db/lacuna/blob/main/"
RAW = "https://raw.githubusercontent.com/lacuna-db/lacuna/main/"
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"(^[ \t]*```.*?^[ \t]*```[^\n]*$)", re.MULTILINE | re.DOTALL)
CHAPTER = re.compile(r"^\s*(?:- )?\[(.+)\]\((.+)\)$", re.MULTILINE)


def in_book(link, page, docs):
    """The link of a page as it leads somewhere in the book."""
    place, mark, anchor = link.partition("#")
    if not place or "://" in place or place.startswith("mailto:"):
        return link
    target = pathlib.Path(os.path.normpath(page.parent / place))
    if not target.is_relative_to(docs):
        return WEB + str(target.relative_to(docs.parent)) + mark + anchor
    if target.is_dir():
        return WEB + str(target.relative_to(docs.parent))
    if target.name == "README.md":
        place = place[: -len("README.md")] + "index.md"
    return place + mark + anchor


def rewritten(text, page, docs):
    parts = CODE.split(text)
    # Every other part is a block of code, whose brackets are no links.
    parts[::2] = [LINK.sub(lambda found: f"]({in_book(found[1], page, docs)})", part) for part in parts[::2]]
    return "".join(parts)


def first_sentence(text):
    """What a page says first after its heading, without marks of links and code."""
    for paragraph in CODE.sub("", text).split("\n\n")[1:]:
        words = " ".join(LINK.sub("]", paragraph).replace("[", "").replace("]", "").replace("**", "").split())
        if words and words[0] not in "#|!-<`":
            return re.split(r"(?<=[.:?])\s", words)[0].rstrip(":")
    return ""


def language_model_map(docs):
    """The pages in the order of the summary, each with its first sentence."""
    lines = ["# Lacuna", "", "> Range filters, node filters and a strongly consistent range cache, in Rust, C, C++ and Python."]
    lines += ['> Their "no" is always true; doubt is "maybe: go and read".']
    for line in (docs / "SUMMARY.md").read_text(encoding="utf-8").splitlines()[1:]:
        chapter = CHAPTER.match(line)
        if line.startswith("# "):
            lines += ["", f"#{line}", ""]
        elif chapter:
            lines += [""] if chapter[2] == "README.md" else []
            sentence = first_sentence((docs / chapter[2]).read_text(encoding="utf-8"))
            lines.append(f"- [{chapter[1]}]({RAW}docs/{chapter[2]})" + (f": {sentence}" if sentence else ""))
    return "\n".join(lines) + "\n"


def main():
    docs, out = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    shutil.copytree(docs, out / "src")
    for page in docs.rglob("*.md"):
        if page.name != "SUMMARY.md":
            text = rewritten(page.read_text(encoding="utf-8"), page, docs)
            (out / "src" / page.relative_to(docs)).write_text(text, encoding="utf-8")
    (out / "src" / "llms.txt").write_text(language_model_map(docs), encoding="utf-8")


if __name__ == "__main__":
    main()
