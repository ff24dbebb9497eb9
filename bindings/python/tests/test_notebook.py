"""The notebook runs, prints what it shows, and the picture of the front page is the one that it draws."""

import re

import nbformat
import pytest

import notebook_runner as runner

PICTURE = runner.NOTEBOOK.parents[3] / "docs" / "rate-against-bits.svg"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("notebook")
    return runner.executed(folder, folder / "picture.svg"), folder / "picture.svg"


def curves(path):
    """The lines of a picture, in the points they go through."""
    return re.findall(r'<path d="([^"]*)" clip-path', path.read_text(encoding="utf-8"))


def test_the_notebook_prints_what_it_shows(run):
    stored = nbformat.read(runner.NOTEBOOK, as_version=4)
    nbformat.validate(stored)
    assert runner.printed(run[0]) == runner.printed(stored)
    assert any("keys; gaps" in text for text in runner.printed(stored))


def test_the_notebook_keeps_text_alone():
    for cell in nbformat.read(runner.NOTEBOOK, as_version=4).cells:
        assert cell.get("execution_count") is None
        assert all(output.output_type == "stream" for output in cell.get("outputs", []))


def test_the_picture_of_the_front_page_is_what_it_draws(run):
    assert len(curves(PICTURE)) >= 16
    assert curves(PICTURE) == curves(run[1])
