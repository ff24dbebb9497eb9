"""The command `lacuna` and this package write the same files and give the same answers."""

import datetime as dt
import json

import numpy as np
import pytest

from lacuna import Filter
from test_model import SORTS, SPECS, neighbours

# Values of each sort as the command reads them.
TEXTS = {
    "u64": str,
    "i64": str,
    "f64": lambda value: repr(float(value)),
    "date": dt.date.isoformat,
    "timestamp": lambda value: value.isoformat() + "Z",
    "text": str,
    "hex": bytes.hex,
}


def drawn(rng, sort, count):
    keys = SORTS[sort][0](rng, count)
    if sort == "text":
        keys = [key for key in keys if key]
    if sort == "hex":
        keys = [key for key in keys if key]
    if sort in ("date", "timestamp"):
        # Years of four digits, which people write.
        year = [key for key in keys if 1000 <= key.year <= 9999]
        keys = year or keys[:0]
    return keys


@pytest.mark.parametrize("sort", SORTS)
def test_files_are_the_same_byte_for_byte(sort, rng, tmp_path, lacuna_command):
    for round, spec in enumerate(SPECS):
        keys = drawn(rng, sort, 400) or SORTS[sort][0](rng, 1)
        if sort == "i64":
            # Without a negative number, Python's integers are unsigned.
            keys.append(-1)
        file, ours, theirs = tmp_path / "keys.txt", tmp_path / "ours.lacuna", tmp_path / "theirs.lacuna"
        file.write_bytes("".join(TEXTS[sort](key) + "\n" for key in keys).encode())
        options = ["--bits-per-key", 110, "--seed", round + 1, "--sort"]
        lacuna_command("build", "--keys", file, "--key-type", sort, "--filter", spec, *options, "--out", theirs)
        Filter.build(keys, 110, spec, seed=round + 1).save(ours)
        assert ours.read_bytes() == theirs.read_bytes(), (sort, spec, keys[:10])
        f = Filter.open(theirs)
        assert f.may_contain(keys).all() and f.key_type == sort


def test_the_usual_seed_is_that_of_the_command(rng, tmp_path, lacuna_command):
    keys = rng.integers(0, 2**64, 20_000, dtype=np.uint64)
    keys.astype("<u8").tofile(tmp_path / "keys.u64")
    lo = keys[:500] + np.uint64(2)
    hi = lo + np.uint64(9)
    sample = "".join(f"{a} {b}\n" for a, b in zip(lo, hi))
    (tmp_path / "sample.txt").write_text(sample)
    out = tmp_path / "f.lacuna"
    options = ["--keys", tmp_path / "keys.u64", "--sort", "--filter", "auto", "--bits-per-key", 14, "--out", out]
    lacuna_command("build", *options)
    assert out.read_bytes() == Filter.build(keys).to_bytes()
    lacuna_command("build", *options, "--sample", f"file:{tmp_path / 'sample.txt'}")
    assert out.read_bytes() == Filter.build(keys, sample=(lo, hi)).to_bytes()


@pytest.mark.parametrize("spec", ["ribbon", "grafite", "bucketing", "bloom"])
def test_the_number_of_threads_does_not_decide_the_bytes(spec, rng):
    keys = rng.integers(0, 2**64, 100_000, dtype=np.uint64)
    one = Filter.build(keys, 14, spec).to_bytes()
    for threads in [1, 2, 3, 100]:
        assert Filter.build(keys, 14, spec, threads=threads).to_bytes() == one, threads


@pytest.mark.parametrize("sort", ["u64", "i64", "f64", "timestamp", "text", "hex"])
def test_answers_are_the_same(sort, rng, tmp_path, lacuna_command):
    keys = drawn(rng, sort, 300)
    keys += [-1] if sort == "i64" else []
    f = Filter.build(keys, 110, "grafite")
    f.save(tmp_path / "f.lacuna")
    found = json.loads(lacuna_command("inspect", tmp_path / "f.lacuna", "--format", "json"))
    assert (found["key_type"], found["time_unit"], found["key_count"]) == (f.key_type, f.time_unit, len(f))
    ends = [end for _ in range(30) for end in neighbours(rng, sort, keys)]
    if sort in ("text", "hex"):
        ends = [end for end in ends if end]
    if sort == "timestamp":
        ends = [end for end in ends if 1000 <= end.year <= 9999]
    if sort == "f64":
        ends = [end for end in ends if end == end]
    ranges = [(min(pair), max(pair)) for pair in zip(ends[::2], ends[1::2])]
    between = "\t" if sort == "text" else " "
    batch = "".join(TEXTS[sort](lo) + between + TEXTS[sort](hi) + "\n" for lo, hi in ranges)
    (tmp_path / "batch").write_bytes(batch.encode())
    said = lacuna_command("query", tmp_path / "f.lacuna", "--batch", tmp_path / "batch").split()
    answers = f.may_contain_range([lo for lo, _ in ranges], [hi for _, hi in ranges])
    assert said == ["maybe" if answer else "no" for answer in answers]
    assert len(set(said)) == 2, "both answers occur"
