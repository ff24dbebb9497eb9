"""Everything that the documentation shows is run: docstrings, README, guide, examples; stubs name what there is."""

import doctest
import pathlib
import re
import subprocess
import sys

import pytest

import lacuna

PACKAGE = pathlib.Path(__file__).resolve().parents[1]
GUIDE = PACKAGE.parents[1] / "docs" / "guide" / "python.md"
EXAMPLES = sorted((PACKAGE / "examples").glob("*.py"))


def docstrings():
    finder = doctest.DocTestFinder(exclude_empty=False)
    return finder.find(lacuna, "lacuna", module=lacuna) + finder.find(lacuna.Filter, "Filter", module=lacuna)


def test_docstrings_are_true():
    runner = doctest.DocTestRunner(verbose=False)
    for docstring in docstrings():
        runner.run(docstring)
    assert runner.summarize() == (0, runner.tries) and runner.tries >= 30


def test_everything_public_has_a_docstring():
    for name in lacuna.__all__:
        assert getattr(lacuna, name).__doc__, name
    for name in dir(lacuna.Filter):
        if not name.startswith("_"):
            assert getattr(lacuna.Filter, name).__doc__, name


@pytest.mark.parametrize("page", [PACKAGE / "README.md", GUIDE], ids=lambda page: page.name)
def test_samples_of_pages_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    names = {"__name__": "__main__"}
    for block in blocks:
        exec(compile(block, str(page), "exec"), names)
    assert blocks


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_examples_run(example, tmp_path):
    done = subprocess.run([sys.executable, str(example)], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_stubs_name_what_there_is():
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "lacuna", "--ignore-disjoint-bases"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_stubs_know_the_types_of_answers(tmp_path):
    (tmp_path / "program.py").write_text(
        "import numpy as np\n"
        "from lacuna import Filter\n"
        "f = Filter.build(np.arange(5), sample=([1], [2]))\n"
        "one: bool = f.may_contain(5)\n"
        "many = f.may_contain_range([1], np.array([2]))\n"
        "count: int = int(many.sum())\n"
        "lo, hi = f.count(1, None)\n"
        "f.may_contain()  # wrong\n"
        "f.family = 'bloom'  # wrong\n"
        "text: str = f.may_contain(5)  # wrong\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "program.py"], cwd=tmp_path, capture_output=True, text=True
    )
    lines = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line}
    assert lines == {8, 9, 10}, done.stdout + done.stderr
