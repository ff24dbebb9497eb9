"""What the wheel holds."""

import importlib.metadata
import os
import re
import zipfile

import pytest

import lacuna


@pytest.fixture
def wheel():
    path = os.environ.get("LACUNA_WHEEL")
    if not path:
        assert "LACUNA_REQUIRE" not in os.environ, "give the wheel in LACUNA_WHEEL"
        pytest.skip("LACUNA_WHEEL names no wheel")
    with zipfile.ZipFile(path) as archive:
        yield archive


def test_the_wheel_is_for_every_python_from_3_9_on(wheel):
    assert re.search(r"lacuna_filters-[\d.]+-cp39-abi3-.*linux.*\.whl$", wheel.filename)
    names = [name for name in wheel.namelist() if ".dist-info" not in name]
    assert sorted(names) == ["lacuna/" + name for name in ["__init__.py", "__init__.pyi", "_lacuna.abi3.so", "py.typed"]]


def test_the_wheel_holds_all_licences(wheel):
    texts = {name.rsplit("/", 1)[1]: wheel.read(name).decode() for name in wheel.namelist() if "/licenses/" in name}
    assert sorted(texts) == ["LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY-LICENSES.txt"]
    assert "Apache License" in texts["LICENSE-APACHE"] and "MIT License" in texts["LICENSE-MIT"]
    others = texts["THIRD-PARTY-LICENSES.txt"]
    listed = dict(re.findall(r"^(\S+) [\d.]+\S*: (.*), \S+$", others, re.MULTILINE))
    for crate in ["pyo3", "numpy", "arrow-array", "pyo3-arrow", "crc32c", "memmap2", "xxhash-rust"]:
        assert crate in listed, crate
    assert not [name for name, licence in listed.items() if re.search(r"(?<!L)GPL|None", licence)]
    body = others.split("=" * 80, 1)[1]
    for crate in ["numpy", "xxhash-rust", "arrow-array", "unicode-width"]:
        assert re.search(rf"^(.*, )?{crate} [\d.]+", body, re.MULTILINE), f"no text of {crate}"
    assert "Redistribution and use in source and binary forms" in body and "Boost Software License" in body


def test_the_package_is_named_as_it_is_installed():
    found = importlib.metadata.metadata("lacuna-filters")
    assert lacuna.__version__ == found["Version"] != "unknown"
    assert found["Requires-Python"] == ">=3.9" and found["License-Expression"] == "MIT OR Apache-2.0"
    assert [line for line in found.get_all("Requires-Dist")] == ["numpy>=1.22"]
