"""Random programs of build, ask, serialise and open, held against Python's own sets and comparisons.

A program draws keys of one sort in one kind of column, a family, a budget and a seed, and then asks: a key of the set is
never denied, a range that holds one is never denied, one by one and in columns, before and after every way through bytes.
"""

import datetime as dt
import os
import pickle

import numpy as np
import polars
import pyarrow
import pytest

from lacuna import BudgetTooSmallError, Filter

PROGRAMS = int(os.environ.get("LACUNA_PROGRAMS", "10000"))
SPECS = [
    "auto",
    "grafite",
    "grafite:block=2,slice=0,heavy=2",
    "ribbon",
    "bucketing",
    "rencoder",
    "rencoder:ss",
    "surf",
    "proteus",
    "multi_prefix_bloom",
    "place_trie",
    "snarf",
    "prefix_bloom",
    "bloom",
    "blocked_bloom",
    "cuckoo",
]
EPOCH = dt.datetime(1970, 1, 1)


def unsigned(rng, count):
    bits = int(rng.choice([3, 8, 20, 40, 64]))
    start = int(rng.integers(0, 2**64 - 2**bits, dtype=np.uint64, endpoint=True)) if bits < 64 else 0
    return [start + int(x) for x in rng.integers(0, 2**bits - 1, count, dtype=np.uint64, endpoint=True)]


def signed(rng, count):
    return [x - 2**63 for x in unsigned(rng, count)]


def floats(rng, count):
    shape = rng.integers(3)
    if shape == 0:
        return [float(x) for x in rng.integers(-20, 20, count)]
    if shape == 1:
        return [float(x) for x in rng.normal(0, 10.0 ** rng.integers(-300, 300), count)]
    return [float(x) for x in rng.choice([0.0, -0.0, 5e-324, -5e-324, np.inf, -np.inf, 1.0, -1.0, 1e308], count)]


def days(rng, count):
    span = int(rng.choice([5, 1_000, 700_000]))
    return [dt.date(1970, 1, 1) + dt.timedelta(days=int(x)) for x in rng.integers(-span, span, count)]


def moments(rng, count):
    span, unit = int(rng.choice([5, 10**6, 10**12])), int(rng.choice([1, 1_000, 1_000_000]))
    span = min(span, 6 * 10**16 // unit)
    return [EPOCH + dt.timedelta(microseconds=int(x) * unit) for x in rng.integers(-span, span, count)]


def texts(rng, count):
    signs = ["ab", "abcdefgh0123456789", "a\u00fc\u20ac\U0001f600"][rng.integers(3)]
    prefix = ["", "user", "http://example.org/"][rng.integers(3)]
    lengths = rng.integers(0, 12, count)
    return [prefix + "".join(rng.choice(list(signs), n)) for n in lengths]


def byte_strings(rng, count):
    return [text.encode() + bytes(rng.integers(0, 256, rng.integers(0, 3), dtype=np.uint8)) for text in texts(rng, count)]


# Sort: how to draw, the dtype of NumPy, the type of Arrow.
SORTS = {
    "u64": (unsigned, "u8", pyarrow.uint64()),
    "i64": (signed, "i8", pyarrow.int64()),
    "f64": (floats, "f8", pyarrow.float64()),
    "date": (days, "M8[D]", pyarrow.date32()),
    "timestamp": (moments, "M8[us]", pyarrow.timestamp("us")),
    "text": (texts, None, pyarrow.utf8()),
    "hex": (byte_strings, None, pyarrow.binary()),
}


def column(rng, sort, values):
    """The same values in some kind of column."""
    _, dtype, arrow = SORTS[sort]
    kinds = ["list", "arrow", "polars"] + (["numpy", "numpy", "strided", "swapped"] if dtype else ["object"])
    kind = kinds[rng.integers(len(kinds))]
    if kind == "list" and not (sort == "i64" and all(value >= 0 for value in values)):
        return values
    if kind == "polars":
        return polars.Series(pyarrow.array(values, arrow)) if values else pyarrow.array(values, arrow)
    if kind == "object":
        return np.array([*values, None], dtype=object)[:-1]
    if kind in ("numpy", "strided", "swapped"):
        array = np.array(values, dtype=dtype)
        return {
            "numpy": lambda: array,
            "strided": lambda: np.repeat(array, 2)[::2],
            "swapped": lambda: array.astype(array.dtype.newbyteorder("S")),
        }[kind]()
    return pyarrow.chunked_array([pyarrow.array(values, arrow)]) if rng.integers(2) else pyarrow.array(values, arrow)


def neighbours(rng, sort, values):
    """Values around the keys and anywhere."""
    draw = SORTS[sort][0]
    found = draw(rng, 6)
    for value in (values[int(rng.integers(len(values)))] for _ in range(6 if values else 0)):
        found.append(value)
        if sort in ("u64", "i64"):
            limits = (0, 2**64 - 1) if sort == "u64" else (-(2**63), 2**63 - 1)
            found += [min(max(value + int(step), limits[0]), limits[1]) for step in (-1, 1, rng.integers(-40, 40))]
        elif sort == "f64":
            found += [float(np.nextafter(value, np.inf)), float(np.nextafter(value, -np.inf))]
        elif sort == "date":
            found += [value + dt.timedelta(days=1), value - dt.timedelta(days=int(rng.integers(40)))]
        elif sort == "timestamp":
            found += [value + dt.timedelta(microseconds=int(step)) for step in (1, -1, rng.integers(-(10**7), 10**7))]
        elif sort == "text":
            found += [value + "a", value[:-1], value + "\U0001f600"]
        else:
            found += [value + b"\0", value[:-1], value + b"\xff"]
    return found


def build(rng, keys, spec, sample, seed):
    bits = float(rng.choice([6, 10, 14, 20, 40]))
    try:
        return Filter.build(keys, bits, spec, sample, seed=seed), bits
    except BudgetTooSmallError as error:
        bits = min(128.0, error.smallest_bits_per_key * 1.000001)
        return Filter.build(keys, bits, spec, sample, seed=seed), bits


class Program:
    """One filter, its keys, and counts of what was asked."""

    def __init__(self, rng, path):
        self.rng, self.path = rng, path
        self.sort = list(SORTS)[rng.integers(len(SORTS))]
        count = int(rng.choice([0, 1, 2, 3, 10, 60, 300]))
        self.keys = SORTS[self.sort][0](rng, count)
        self.spec = SPECS[rng.integers(len(SPECS))]
        self.seed = int(rng.integers(2**63))
        self.what = f"{self.sort} {self.spec} seed {self.seed} keys {self.keys[:20]}"
        self.empty = self.denied = 0

    def ranges(self):
        ends = neighbours(self.rng, self.sort, self.keys)
        pairs = [(ends[i], ends[j]) for i, j in self.rng.integers(0, len(ends), (12, 2))]
        # Mostly the right way round.
        return [(min(pair), max(pair)) if self.rng.integers(8) else pair for pair in pairs]

    def run(self):
        given = column(self.rng, self.sort, self.keys)
        sample = None
        if self.rng.integers(3) == 0:
            pairs = [(lo, hi) for lo, hi in self.ranges() if not self.truth(lo, hi)]
            sample = ([lo for lo, _ in pairs], [hi for _, hi in pairs]) if pairs else None
        f, bits = build(self.rng, given, self.spec, sample, self.seed)
        assert len(f) == len(set(self.keys)), self.what
        if self.keys:
            assert f.key_type == self.sort, self.what
        self.same_bytes(f, bits, sample)
        for g in (f, self.reopened(f)):
            self.ask(g)
        return f

    def same_bytes(self, f, bits, sample):
        """Keys in another column and another order, some repeated, give the same bytes."""
        if not self.keys:
            return
        extra = [self.keys[i] for i in self.rng.integers(0, len(self.keys), 3)]
        again = [self.keys[i] for i in self.rng.permutation(len(self.keys))] + extra
        g = Filter.build(column(self.rng, self.sort, again), bits, self.spec, sample, seed=self.seed)
        assert g.to_bytes() == f.to_bytes(), self.what

    def reopened(self, f):
        way = self.rng.integers(20)
        if way < 8:
            return Filter.from_bytes(f.to_bytes())
        if way < 14:
            return pickle.loads(pickle.dumps(f, int(self.rng.integers(2, 6))))
        if way < 18:
            return self.reopened(self.reopened(f))
        # Seldom, because it waits for the disk.
        f.save(self.path)
        return Filter.open(self.path, mmap=bool(way == 18))

    def truth(self, lo, hi):
        return any(lo <= key <= hi for key in self.keys)

    def ask(self, f):
        for key in self.keys[:40]:
            assert key in f, (self.what, key)
        if self.keys:
            assert f.may_contain(column(self.rng, self.sort, self.keys)).all(), self.what
        ranges = self.ranges()
        los, his = [lo for lo, _ in ranges], [hi for _, hi in ranges]
        answers = f.may_contain_range(column(self.rng, self.sort, los), column(self.rng, self.sort, his))
        for lo, hi, answer in zip(los, his, answers):
            assert f.may_contain_range(lo, hi) is bool(answer), (self.what, lo, hi)
            truth = self.truth(lo, hi)
            assert answer or not truth, (self.what, lo, hi)
            self.empty += not truth
            self.denied += not answer
            # Open ends hold whatever the closed range holds.
            assert f.may_contain_range(lo, None) or not any(lo <= key for key in self.keys), (self.what, lo)
            assert f.may_contain_range(None, hi) or not any(key <= hi for key in self.keys), (self.what, hi)
        points = f.may_contain(column(self.rng, self.sort, los))
        for key, answer in zip(los, points):
            assert f.may_contain(key) is bool(answer), (self.what, key)
            assert answer or key not in set(self.keys), (self.what, key)


@pytest.mark.parametrize("part", range(10))
def test_random_programs_agree_with_sets(part, rng, tmp_path):
    empty = denied = 0
    for _ in range(PROGRAMS // 10):
        program = Program(rng, tmp_path / "f.lacuna")
        program.run()
        empty, denied = empty + program.empty, denied + program.denied
    # The programs are worth something only if filters say "no": most empty ranges are next to keys, on a few bits each.
    assert denied > empty / 3, f"{denied} of {empty} empty ranges were denied"
