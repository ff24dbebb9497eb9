"""Columns of polars, pandas and pyarrow, through the Arrow PyCapsule interface or as NumPy arrays."""

import numpy as np
import pandas
import polars
import pyarrow
import pytest

from lacuna import Filter

INTEGERS = np.arange(0, 40_000, 13, dtype=np.int64)


def same(column, values, **options):
    """A filter over the column is that over the array, and the column asks it."""
    f = Filter.build(values, 20, "grafite")
    assert Filter.build(column, 20, "grafite").to_bytes() == f.to_bytes()
    assert f.may_contain(column).all() and f.may_contain_range(column, column).all()
    return f


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("sign", ["u", ""])
def test_arrow_integers_are_keys(bits, sign):
    values = INTEGERS[INTEGERS < 2 ** (bits - 1)].astype(f"{sign}int{bits}")
    f = same(pyarrow.array(values), values)
    assert f.key_type == ("u64" if sign else "i64")
    same(polars.Series(values), values)
    same(pandas.Series(values), values)


def test_arrow_floats_are_keys():
    for dtype in ["f4", "f8"]:
        values = (INTEGERS / 7 - 1000).astype(dtype)
        same(pyarrow.array(values), values)
        same(polars.Series(values), values)
        same(pandas.Series(values), values)
    same(pyarrow.array(np.arange(50, dtype="f2")), np.arange(50, dtype="f2"))


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_arrow_timestamps_are_keys(unit):
    values = (INTEGERS * 1_001 - 10**6).astype(f"M8[{unit}]")
    same(pyarrow.array(values), values)
    same(pyarrow.array(values, pyarrow.timestamp(unit, "Europe/Berlin")), values)
    same(pandas.Series(values), values)
    same(pandas.DatetimeIndex(values), values)
    same(pandas.Series(values).dt.tz_localize("UTC"), values)
    if unit != "s":
        same(polars.Series(values), values)


def test_arrow_dates_are_keys():
    values = INTEGERS.astype("M8[D]")
    f = same(pyarrow.array(values, pyarrow.date32()), values)
    assert f.key_type == "date"
    same(polars.Series(values.tolist()), values)
    assert same(pyarrow.array(values, pyarrow.date64()), values).key_type == "date"


def test_a_date_in_milliseconds_is_a_whole_day():
    # Arrow calls for whole days there, and does not look.
    late = pyarrow.array([-1, 3 * 86_400_000 + 1], pyarrow.int64()).cast(pyarrow.timestamp("ms"))
    days = pyarrow.Array.from_buffers(pyarrow.date64(), 2, late.buffers())
    f = Filter.build(late, 40)
    assert f.key_type == "timestamp" and f.may_contain(days).all() and f.may_contain_range(days, days).all()
    midnights = pyarrow.array(np.array([-1, 3], dtype="M8[D]"), pyarrow.date64())
    assert f.may_contain(midnights).all() and f.may_contain_range(midnights, midnights).all()
    over_days = Filter.build(days, 40)
    assert over_days.key_type == "date" and over_days.may_contain(late).all() and over_days.may_contain(midnights).all()


def test_arrow_strings_are_keys():
    words = sorted({f"user{value}" for value in INTEGERS} | {"", "\u00fcber", "x" * 40})
    binary = [word.encode() + b"\xff" for word in words]
    for arrow in [pyarrow.utf8(), pyarrow.large_utf8(), pyarrow.string_view()]:
        same(pyarrow.array(words, arrow), words)
    for arrow in [pyarrow.binary(), pyarrow.large_binary(), pyarrow.binary_view()]:
        assert same(pyarrow.array(binary, arrow), binary).key_type == "hex"
    fixed = [word.encode().ljust(8)[:8] for word in words]
    same(pyarrow.array(fixed, pyarrow.binary(8)), fixed)
    same(polars.Series(words), words)
    same(polars.Series(binary), binary)
    same(pandas.Series(words), words)
    same(pandas.Series(words, dtype="string[pyarrow]"), words)
    same(pandas.Series(words, dtype=object), words)
    same(pandas.Index(words), words)


def test_chunks_and_slices_are_one_column():
    values = INTEGERS
    chunked = pyarrow.chunked_array([values[:100], values[100:100], values[100:]])
    same(chunked, values)
    same(pyarrow.array(values)[5:-5], values[5:-5])
    same(polars.Series(values).extend(polars.Series(values)), values)
    words = [f"w{value}" for value in values]
    same(pyarrow.array(words)[7:-7], words[7:-7])
    same(pyarrow.chunked_array([words[:10], words[10:]]), words)


def test_columns_of_frames_are_keys():
    frame = polars.DataFrame({"key": INTEGERS, "other": INTEGERS})
    same(frame["key"], INTEGERS)
    same(frame.to_pandas()["key"], INTEGERS)
    same(frame.to_arrow()["key"], INTEGERS)
    same(frame.to_pandas().set_index("key").index, INTEGERS)
    for table in [frame, frame.to_arrow()]:
        with pytest.raises(TypeError, match="table; give one of its columns"):
            Filter.build(table)
    with pytest.raises((TypeError, ValueError), match="columns|dimensions"):
        Filter.build(frame.to_pandas())


def test_nulls_are_refused():
    f = Filter.build(INTEGERS)
    for column in [
        pyarrow.array([1, None, 3]),
        polars.Series([1, None, 3]),
        pandas.Series([1, None, 3], dtype="Int64"),
        pyarrow.array([None, None], pyarrow.int64()),
    ]:
        # Older versions of pandas make NaN of them.
        with pytest.raises(ValueError, match="(nulls|NaN).*; leave missing values out"):
            Filter.build(column)
        with pytest.raises((ValueError, TypeError), match="nulls|with floats"):
            f.may_contain(column)
    for column in [pandas.Series([1.5, None]), pandas.Series(["a", None]), pandas.Series([pandas.NaT])]:
        with pytest.raises(ValueError, match="nulls|NaN|NaT|None"):
            Filter.build(column)
    same(polars.Series([3, None, 5]).drop_nulls(), np.array([3, 5]))
    assert len(Filter.build(pyarrow.array([], pyarrow.utf8()))) == 0
    assert len(Filter.build(pyarrow.nulls(0))) == 0


def test_columns_without_keys_are_refused():
    f = Filter.build(INTEGERS)
    for column in [
        pyarrow.array([True, False]),
        pyarrow.array([[1], [2]]),
        pyarrow.array(["a", "b"]).dictionary_encode(),
        pyarrow.array([1, 2], pyarrow.decimal128(5)),
        pyarrow.array([1, 2], pyarrow.time32("s")),
        pyarrow.array([1, 2], pyarrow.duration("s")),
        polars.Series(["a"], dtype=polars.Categorical),
    ]:
        for call in [Filter.build, f.may_contain]:
            with pytest.raises(TypeError, match="Arrow column of"):
                call(column)


def test_moments_of_pandas_are_values():
    stamp = pandas.Timestamp("2024-01-31T12:00:00.000001999", tz="Europe/Berlin")
    f = Filter.build([stamp, stamp + pandas.Timedelta("1D")], 40)
    assert stamp in f and f.time_unit == "microseconds"
    assert not f.may_contain(stamp + pandas.Timedelta("1us"))
    with pytest.raises(ValueError, match="NaT"):
        f.may_contain(pandas.NaT)
    with pytest.raises(ValueError, match="NaT"):
        Filter.build([stamp, pandas.NaT])


class Capsule:
    """Hands over its column, and is nothing else."""

    def __init__(self, column):
        self.column = column

    def __arrow_c_array__(self, requested_schema=None):
        return self.column.__arrow_c_array__(requested_schema)


def test_the_interface_is_all_that_is_needed():
    same(Capsule(pyarrow.array(INTEGERS)), INTEGERS)

    class WithoutPyarrow:
        """As pandas where pyarrow is not installed."""

        def __arrow_c_stream__(self, requested_schema=None):
            raise ImportError("pyarrow is missing")

        def __array__(self, dtype=None, copy=None):
            return INTEGERS

    same(WithoutPyarrow(), INTEGERS)

    class Broken:
        def __arrow_c_stream__(self, requested_schema=None):
            return 5

    with pytest.raises((TypeError, ValueError)):
        Filter.build(Broken())
