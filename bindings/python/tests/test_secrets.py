"""Filters under a secret: as those of the command, opened without it, and told by nothing."""

import pickle
import traceback

import numpy as np
import pytest

from lacuna import Filter

SECRET = bytes(range(16))
NEED_IT = ["ribbon:secret", "grafite:secret"]
SPECS = [*NEED_IT, "auto:robust"]


def drawn(rng, count=20_000):
    return np.unique(rng.integers(0, 2**63, count, dtype=np.uint64))


@pytest.mark.parametrize("spec", SPECS)
def test_no_key_is_denied_after_opening_without_the_secret(spec, rng, tmp_path):
    keys = drawn(rng)
    f = Filter.build(keys, 14, spec, secret=SECRET)
    f.save(tmp_path / "f.lacuna")
    opened = [Filter.open(tmp_path / "f.lacuna"), Filter.open(tmp_path / "f.lacuna", mmap=True)]
    for again in [f, *opened, Filter.from_bytes(f.to_bytes()), pickle.loads(pickle.dumps(f))]:
        assert again.may_contain(keys).all()
        assert again.may_contain_range(keys - np.uint64(3), keys + np.uint64(3)).all()
        lo = keys + np.uint64(1 << 20)
        hi = lo + np.uint64(31)
        is_empty = np.searchsorted(keys, lo) == np.searchsorted(keys, hi, "right")
        assert is_empty.sum() > 1_000 and again.may_contain_range(lo[is_empty], hi[is_empty]).mean() < 0.1


@pytest.mark.parametrize("spec", SPECS)
def test_the_secret_decides_the_bytes_and_is_not_among_them(spec, rng):
    keys = drawn(rng, 2_000)
    sealed = Filter.build(keys, 14, spec, secret=SECRET).to_bytes()
    assert sealed == Filter.build(keys, 14, spec, secret=bytearray(SECRET)).to_bytes()
    assert sealed != Filter.build(keys, 14, spec, secret=SECRET[::-1]).to_bytes()
    assert SECRET[:8] not in sealed and SECRET[8:] not in sealed


@pytest.mark.parametrize("sort", ["u64", "i64", "f64"])
@pytest.mark.parametrize("spec", SPECS)
def test_files_are_those_of_the_command(sort, spec, rng, tmp_path, lacuna_command):
    keys = [int(key) for key in drawn(rng, 1_000)]
    if sort == "i64":
        keys = [key - 2**62 for key in keys]
    if sort == "f64":
        keys = sorted({float(key) / 8 for key in keys})
    (tmp_path / "keys.txt").write_text("".join(f"{key!r}\n" for key in keys))
    (tmp_path / "secret").write_text(SECRET.hex() + "\n")
    options = ["--filter", spec, "--bits-per-key", 14, "--secret-file", tmp_path / "secret", "--out", tmp_path / "f"]
    lacuna_command("build", "--keys", tmp_path / "keys.txt", "--key-type", sort, *options)
    # As a program reads that file.
    secret = bytes.fromhex((tmp_path / "secret").read_text())
    assert (tmp_path / "f").read_bytes() == Filter.build(keys, 14, spec, secret=secret).to_bytes()


class Untouched:
    """Keys that must not be read."""

    def __iter__(self):
        raise AssertionError("a key was asked for")


@pytest.mark.parametrize("spec", NEED_IT)
def test_a_missing_secret_is_refused_before_the_keys(spec):
    with pytest.raises(ValueError, match=f"`{spec}` hashes under a secret: give one as secret="):
        Filter.build(Untouched(), 14, spec)
    with pytest.raises(AssertionError, match="a key was asked for"):
        Filter.build(Untouched(), 14, spec, secret=SECRET)


def test_what_does_not_go_with_a_secret_is_refused():
    for spec in ["grafite", "ribbon", "auto", "bloom"]:
        with pytest.raises(ValueError, match="leaves the secret aside"):
            Filter.build(Untouched(), 14, spec, secret=SECRET)
    for keys in [["ant", "bee"], [b"ant", b"bee"]]:
        for spec in SPECS:
            with pytest.raises(ValueError, match="is for integers"):
                Filter.build(keys, 14, spec, secret=SECRET)


@pytest.mark.parametrize(
    ("secret", "error"),
    [
        (SECRET[:15], ValueError),
        (SECRET + b"!", ValueError),
        (b"", ValueError),
        (SECRET.hex(), TypeError),
        (list(SECRET), TypeError),
        (int.from_bytes(SECRET, "big"), TypeError),
    ],
)
def test_what_is_no_secret_is_refused_and_not_repeated(secret, error):
    with pytest.raises(error, match="secret") as raised:
        Filter.build(Untouched(), 14, "ribbon:secret", secret=secret)
    said = "".join(traceback.format_exception_only(raised.type, raised.value))
    for told in [SECRET.hex()[:16], "03, 04", "3, 4", repr(SECRET[3:9])[2:-1], str(int.from_bytes(SECRET, "big"))]:
        assert told not in said


def test_nothing_tells_the_secret(rng):
    f = Filter.build(drawn(rng, 2_000), 14, "ribbon:secret", secret=b"sixteen bytes ok")
    designed = Filter.build(drawn(rng, 2_000), 14, "auto:robust", secret=b"sixteen bytes ok")
    assert "under the plan's secret" in designed.explain() and "ribbon:unsampled,secret" in designed.explain()
    for text in [repr(f), str(f), f.explain(), repr(pickle.dumps(f)), designed.explain()]:
        assert "sixteen" not in text and b"sixteen bytes ok".hex() not in text
