"""Keys of every sort: what the filter notes of them, and that it finds them."""

import datetime as dt

import numpy as np
import pytest

from lacuna import BudgetTooSmallError, CorruptError, Filter, UnsupportedError

UTC = dt.timezone.utc

SORTS = {
    "u64": [3, 50, 700],
    "i64": [-3, 50, 700],
    "f64": [-2.5, 0.0, 1e300],
    "date": [dt.date(1969, 12, 31), dt.date(2024, 1, 31)],
    "timestamp": [dt.datetime(1969, 12, 31, 23, 59, 59), dt.datetime(2024, 1, 31, 12)],
    "text": ["ant", "bee", "\u00fcber", ""],
    "hex": [b"ant", b"\xff\x00", b""],
}


@pytest.mark.parametrize("key_type", SORTS)
def test_each_sort_is_noted_and_found(key_type):
    keys = SORTS[key_type]
    f = Filter.build(keys, spec="grafite")
    assert f.key_type == key_type
    assert len(f) == len(keys)
    for key in keys:
        assert key in f
        assert f.may_contain_range(key, key)
    assert f.may_contain(keys).tolist() == [True] * len(keys)


@pytest.mark.parametrize("key_type", SORTS)
def test_no_sort_takes_questions_of_another(key_type):
    f = Filter.build(SORTS[key_type])
    good = {
        "u64": {"u64", "i64"},
        "i64": {"u64", "i64"},
        "f64": {"u64", "i64", "f64"},
        "date": {"date", "timestamp"},
        "timestamp": {"date", "timestamp"},
        "text": {"text", "hex"},
        "hex": {"hex"},
    }[key_type]
    for other, keys in SORTS.items():
        if other in good:
            f.may_contain(keys[0])
            f.may_contain(keys)
        else:
            for question in [keys[0], keys]:
                with pytest.raises(TypeError, match="the keys of this filter are"):
                    f.may_contain(question)
            with pytest.raises(TypeError):
                f.may_contain_range(keys, keys)
            with pytest.raises(TypeError):
                keys[0] in f


def test_integers_beyond_the_type_are_absent():
    unsigned = Filter.build([0, 5, 2**64 - 1])
    assert not unsigned.may_contain(-1)
    assert not unsigned.may_contain(2**64)
    assert not unsigned.may_contain_range(-9, -1)
    assert unsigned.may_contain_range(-(2**200), 0)
    assert unsigned.may_contain_range(2**64 - 1, 2**200)
    assert not unsigned.may_contain_range(2**64, 2**200)
    assert unsigned.may_contain([-1, 0, 2**64 - 1, 2**64, 2**200]).tolist() == [False, True, True, False, False]
    signed = Filter.build([-(2**63), 5, 2**63 - 1])
    assert signed.key_type == "i64"
    assert signed.may_contain_range(-(2**80), -(2**63)) and signed.may_contain_range(2**63 - 1, 2**80)
    assert not signed.may_contain_range(2**63, 2**80) and not signed.may_contain(-(2**63) - 1)
    assert signed.may_contain(np.array([5, 2**63], dtype=np.uint64)).tolist() == [True, False]
    assert unsigned.may_contain(np.array([-1, 5], dtype=np.int64)).tolist() == [False, True]
    with pytest.raises(ValueError, match="neither 64 unsigned nor 64 signed bits"):
        Filter.build([-1, 2**63])


def test_integers_ask_filters_over_floats_without_loss():
    keys = [float(2**53 + 2), 1.0]
    f = Filter.build(keys)
    # 2**53 + 1 is no float and is rounded down to 2**53.
    assert f.may_contain_range(2**53 + 1, 2**53 + 2)
    assert f.may_contain_range(2**53 + 2, 2**53 + 3)
    assert f.may_contain(1)
    assert f.key_type == "f64"
    assert Filter.build([1, 2.5]).key_type == "f64"
    large = Filter.build([1e50, -1e50, 2.0**127, 1e38, 5.0], 40)
    for whole in [10**100, 2**127, 2**127 - 1, 10**50 + 10**30]:
        for lo, hi in [(0, whole), (-whole, 0), (-whole, whole), (whole, 2 * whole), (whole, whole), (-whole, -whole)]:
            truth = any(lo <= key <= hi for key in [1e50, -1e50, 2.0**127, 1e38, 5.0])
            assert large.may_contain_range(lo, hi) or not truth, (lo, hi)
            assert large.may_contain_range([lo], [hi])[0] == large.may_contain_range(lo, hi)
    assert large.may_contain_range(10**40, 10**100) and large.may_contain_range(-(10**100), -(10**40))
    with pytest.raises(TypeError, match="several sorts"):
        Filter.build([10**100, 1.5])


def test_zeros_of_either_sign_are_one_key():
    f = Filter.build([-0.0, 5.0, 7.0, 9.0])
    assert 0.0 in f and -0.0 in f and f.may_contain_range(-0.0, 0.0) and f.may_contain_range(0.0, -0.0)
    assert len(Filter.build([0.0, -0.0])) == 1


def test_moments_are_kept_in_the_coarsest_unit():
    for texts, unit in [
        (["2024-01-31T12:00:00.000000", "1969-01-01T00:00:01.000000"], "seconds"),
        (["2024-01-31T12:00:00.250000", "1969-01-01T00:00:01.000000"], "milliseconds"),
        (["2024-01-31T12:00:00.000001", "1969-01-01T00:00:01.000000"], "microseconds"),
    ]:
        f = Filter.build(np.array(texts, dtype="datetime64[us]"), spec="grafite")
        assert f.key_type == "timestamp" and f.time_unit == unit
        assert f.may_contain(np.array(texts, dtype="datetime64[us]")).all()
        assert f.to_bytes() == Filter.build([dt.datetime.fromisoformat(t) for t in texts], spec="grafite").to_bytes()
        assert f.to_bytes() == Filter.build(np.array(texts, dtype="datetime64[ns]"), spec="grafite").to_bytes()
    assert Filter.build(np.array(["2024-01-31T12"], dtype="datetime64[h]")).time_unit == "seconds"
    assert Filter.build(np.array([0], dtype="datetime64[m]")).time_unit == "seconds"
    assert Filter.build(SORTS["u64"]).time_unit is None


def test_moments_between_two_units_are_found():
    before_1970 = np.array([-1, -1_500, -999_999, 1_999], dtype="datetime64[ns]")
    f = Filter.build(before_1970, bits_per_key=40, spec="grafite")
    assert f.may_contain(before_1970).all()
    for key in before_1970:
        assert f.may_contain_range(key, key + np.timedelta64(1, "ns"))
        assert f.may_contain_range(key - np.timedelta64(1, "ns"), key)
    seconds = Filter.build(np.array([-1, 0, 1, 100], dtype="datetime64[s]"), bits_per_key=40, spec="grafite")
    assert seconds.may_contain_range(np.datetime64(-1_000, "ms"), np.datetime64(-1, "ms"))
    assert seconds.may_contain_range(np.datetime64(0, "h"), np.datetime64(0, "h"))
    assert not seconds.may_contain_range(np.datetime64(10_500, "ms"), np.datetime64(20_500, "ms"))


def test_a_day_is_whole_as_an_upper_end():
    noon = np.datetime64("2024-01-31T12:00")
    f = Filter.build([noon.item()], bits_per_key=40)
    for day in [dt.date(2024, 1, 31), np.datetime64("2024-01-31")]:
        assert f.may_contain_range(day, day) and f.may_contain(day)
        assert f.may_contain_range(None, day)
    assert not f.may_contain(dt.date(2024, 1, 30)) and not f.may_contain(dt.date(2024, 2, 1))
    days = np.array(["2024-01-30", "2024-01-31", "2024-02-01"], dtype="datetime64[D]")
    assert f.may_contain(days).tolist() == [False, True, False]
    over_days = Filter.build(days[:1])
    assert over_days.key_type == "date"
    assert over_days.may_contain_range(np.datetime64("2024-01-30T05:00"), np.datetime64("2024-01-30T06:00"))
    assert not over_days.may_contain_range(np.datetime64("2024-01-31T05:00"), np.datetime64("2024-01-31T06:00"))


def test_time_zones_are_one_moment():
    utc = dt.datetime(2024, 1, 31, 12, tzinfo=UTC)
    f = Filter.build([utc, utc + dt.timedelta(days=30)])
    there = utc.astimezone(dt.timezone(dt.timedelta(hours=-7, minutes=-30)))
    assert there in f and utc.replace(tzinfo=None) in f
    assert not f.may_contain(there.replace(tzinfo=UTC))
    assert f.to_bytes() == Filter.build([there, there + dt.timedelta(days=30)]).to_bytes()


def test_moments_far_away_saturate_and_are_not_wrapped():
    f = Filter.build(np.array([5, 10**15], dtype="datetime64[us]"), bits_per_key=40)
    largest = np.datetime64(2**63 - 1, "s")
    assert f.may_contain_range(np.datetime64(5, "us"), largest)
    assert f.may_contain_range(np.datetime64(-(2**63) + 1, "h"), np.datetime64(5, "us"))
    assert not f.may_contain(largest)
    assert not f.may_contain_range(np.datetime64(10**13, "s"), largest)
    for unit in ["h", "m"]:
        with pytest.raises(ValueError, match="further from 1970"):
            Filter.build(np.array([2**62], dtype=f"datetime64[{unit}]"))


def test_text_keeps_the_order_of_code_points(rng):
    words = ["".join(map(chr, rng.integers(0x20, 0x2FF, 6))) for _ in range(300)] + ["\U0001f600", "\uffee"]
    f = Filter.build(words, bits_per_key=20, spec="surf")
    for lo, hi in zip(words, words[1:]):
        truth = any(min(lo, hi) <= word <= max(lo, hi) for word in words)
        assert f.may_contain_range(min(lo, hi), max(lo, hi)) or not truth
    assert f.may_contain_range("\uffee", "\U0001f600")
    assert f.may_contain(words[0].encode()), "a text is asked by its UTF-8, too"
    with pytest.raises(UnicodeEncodeError):
        f.may_contain("\ud800")


def test_budgets_are_kept_and_explained(rng):
    keys = rng.integers(0, 2**64, 20_000, dtype=np.uint64)
    for bits in [10, 14, 22.5]:
        f = Filter.build(keys, bits, "grafite")
        assert f.bits_per_key <= bits + 64 * 8 / len(f) and f.nbytes == len(f.to_bytes())
    rated = Filter.build(keys, rate=0.01, range_len=64)
    assert rated.rate_bound(64) <= 0.01
    lo = rng.integers(0, 2**64 - 64, 100_000, dtype=np.uint64)
    keys.sort()
    empty = np.searchsorted(keys, lo) == np.searchsorted(keys, lo + np.uint64(63), side="right")
    wrong = rated.may_contain_range(lo[empty], lo[empty] + np.uint64(63)).sum()
    expected = 0.01 * empty.sum()
    assert wrong <= expected + 3.3 * expected**0.5
    for text in ["family        grafite", "20000 distinct, of type u64", "rate bound"]:
        assert text in rated.explain()
    assert "candidate" in Filter.build(keys).explain() and "candidate" not in rated.explain()


def test_the_sample_decides_what_is_built(rng):
    keys = np.sort(rng.integers(0, 2**40, 5_000, dtype=np.uint64))
    near = keys[:-1][np.diff(keys) > 20] + np.uint64(1)
    designed = Filter.build(keys, 16, sample=(near, near + np.uint64(8)))
    assert "no sample" not in designed.explain() and "no sample" in Filter.build(keys, 16).explain()
    assert designed.may_contain(keys).all()
    words = [f"user{i:06}" for i in range(0, 5_000, 5)]
    sample = ([f"user{i:06}" for i in range(1, 5_000, 5)], [f"user{i:06}" for i in range(4, 5_000, 5)])
    assert Filter.build(words, 16, "auto", sample).may_contain(words).all()
    moments = np.arange(0, 10**6, 1_000).astype("datetime64[s]")
    lo = moments + np.timedelta64(5, "s")
    assert Filter.build(moments, sample=(lo, lo + np.timedelta64(90, "s"))).may_contain(moments).all()
    signed = keys.astype(np.int64) - 2**39
    assert Filter.build(signed, sample=([-(2**80), 3], [2**80, 1])).may_contain(signed).all()


def test_wrong_orders_say_what_to_do():
    keys = np.arange(5_000, dtype=np.uint64) * np.uint64(7_919_000)
    for options, error, words in [
        (dict(bits_per_key=14, rate=0.01), ValueError, "not both"),
        (dict(range_len=64), ValueError, "goes with rate"),
        (dict(bits_per_key=0), ValueError, "more than 0"),
        (dict(bits_per_key=float("nan")), ValueError, "more than 0"),
        (dict(bits_per_key=129), ValueError, "at most 128"),
        (dict(rate=1.5), ValueError, "less than 1"),
        (dict(spec="blom"), ValueError, "choose one of auto"),
        (dict(spec="bloom:q=3"), ValueError, "no parameter"),
        (dict(bits_per_key=2, spec="surf"), BudgetTooSmallError, "at least"),
        (dict(sample=keys), TypeError, "sample="),
        (dict(sample=(keys, keys[1:])), ValueError, "one of each"),
        (dict(sample=(["a"], ["b"])), TypeError, "ask with integers"),
        (dict(sample=([b"a"], [b"b"])), TypeError, "ask with integers"),
        (dict(seed=-1), OverflowError, "negative"),
        (dict(threads=0), ValueError, "threads is 0"),
        (dict(bits_per_key="14"), TypeError, "bits_per_key|real number"),
        (dict(progress=3), TypeError, "callable"),
    ]:
        with pytest.raises(error, match=words):
            Filter.build(keys, **options)
    with pytest.raises(BudgetTooSmallError) as raised:
        Filter.build(keys, 2, "surf")
    enough = raised.value.smallest_bits_per_key
    assert Filter.build(keys, enough, "surf").may_contain(keys).all()
    assert all(issubclass(error, ValueError) for error in [BudgetTooSmallError, CorruptError, UnsupportedError])


def test_nothing_else_can_be_keys():
    for keys, error, words in [
        ("ant", TypeError, "give an array"),
        (b"ant", TypeError, "give an array"),
        (bytearray(b"ant"), TypeError, "give an array"),
        (5, TypeError, "give an array"),
        (None, TypeError, "give an array"),
        ([1, "a"], TypeError, "several sorts"),
        (["a", b"a"], TypeError, "several sorts"),
        ([1, dt.date(2024, 1, 1)], TypeError, "several sorts"),
        ([dt.date(2024, 1, 1), dt.datetime(2024, 1, 1)], TypeError, "days stand among moments"),
        ([1, None], ValueError, "value 1 of keys is None"),
        ([[1], [2]], TypeError, "value 0 of keys"),
        ([1j], TypeError, "value 0 of keys"),
        (["\ud800"], UnicodeEncodeError, "surrogates"),
    ]:
        with pytest.raises(error, match=words):
            Filter.build(keys)


def test_what_an_iterable_raises_is_raised():
    class Broken:
        def __iter__(self):
            raise KeyError("keys")

    for keys in [Broken(), (1 // zero for zero in [1, 0])]:
        with pytest.raises((KeyError, ZeroDivisionError)):
            Filter.build(keys)


def test_seeks_and_counts_hold(rng):
    keys = np.unique(rng.integers(-(2**40), 2**40, 3_000))
    for given, back in [
        (keys, int),
        (keys.astype(np.float64) / 7, float),
        (keys.astype("datetime64[s]"), np.datetime64),
        ((keys // 2**15).astype("datetime64[D]"), np.datetime64),
        (keys.astype("datetime64[us]"), np.datetime64),
    ]:
        f = Filter.build(given, bits_per_key=40, spec="surf")
        given = np.unique(given)
        for place in rng.integers(1, len(given) - 1, 60):
            wanted = given[place]
            found = f.seek(given[place - 1] + (wanted - given[place - 1]) / 2 if back is float else given[place])
            assert isinstance(found, back) and found <= wanted
            least, most = f.count(given[place // 2], wanted)
            assert least <= place - place // 2 + 1 <= most
        assert f.count(given[5], given[4]) == (0, 0)
        assert f.count(None, None)[1] >= len(given)
        assert f.seek(None) <= given[0]
    words = Filter.build([b"ant", b"bee"], bits_per_key=128, spec="surf")
    assert words.seek(b"b") <= b"bee" and words.seek(None) <= b"ant" and words.count(b"a", b"b") == (1, 1)
    assert Filter.build([5], bits_per_key=128, spec="surf").seek(2**70) is None
    for call in [lambda f: f.seek(1), lambda f: f.count(1, 2)]:
        with pytest.raises(UnsupportedError, match="build it as: surf"):
            call(Filter.build([1, 2, 3], spec="grafite"))


def test_the_class_says_what_it_is():
    f = Filter.build([3, 50, 700], spec="grafite")
    assert repr(f) == "<lacuna.Filter: grafite, 3 keys of type u64, " + f"{f.bits_per_key:.2f} bits per key>"
    assert f.family == "grafite" and bool(Filter.build([])) and len(Filter.build([])) == 0
    assert Filter.build([1.5]).rate_bound(1) == 0.0
    with pytest.raises(TypeError):
        Filter()
    with pytest.raises(AttributeError):
        f.family = "bloom"
