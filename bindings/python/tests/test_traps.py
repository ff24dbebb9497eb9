"""Arrays that are not what they seem."""

import threading
import warnings

import numpy as np
import pytest

from lacuna import CorruptError, Filter

KEYS = (np.arange(1, 2_001, dtype=np.uint64) * np.uint64(2_654_435_761)) % np.uint64(2**48)
LO = KEYS[::2] - np.uint64(3)
HI = KEYS[::2] + np.uint64(3)


@pytest.fixture
def f():
    return Filter.build(KEYS, bits_per_key=16, spec="grafite")


def expected(f, lo, hi):
    return [f.may_contain_range(int(a), int(b)) for a, b in zip(lo, hi)]


def test_read_only_arrays_are_keys_and_questions(f):
    frozen = KEYS.copy()
    frozen.flags.writeable = False
    assert Filter.build(frozen, 16, "grafite").to_bytes() == f.to_bytes()
    assert f.may_contain(frozen).all()
    assert f.may_contain(np.frombuffer(KEYS.tobytes(), dtype=np.uint64)).all()


def test_strided_arrays_are_keys_and_questions(f):
    wide = np.zeros((len(KEYS), 3), dtype=np.uint64)
    wide[:, 1] = KEYS
    for view in [wide[:, 1], KEYS[::-1], np.repeat(KEYS, 2)[::2]]:
        assert not view.flags.c_contiguous
        assert Filter.build(view, 16, "grafite").to_bytes() == f.to_bytes()
        assert f.may_contain(view).all()
    lo = np.repeat(LO, 3)[::3]
    assert f.may_contain_range(lo, HI).tolist() == f.may_contain_range(LO, HI[:]).tolist()
    backwards = f.may_contain_range(LO[::-1], HI[::-1])
    assert backwards.tolist() == f.may_contain_range(LO, HI).tolist()[::-1]
    record = np.zeros(len(KEYS), dtype=[("a", "u1"), ("key", "u8")])
    record["key"] = KEYS
    assert not record["key"].flags.aligned and f.may_contain(record["key"]).all()


def test_unaligned_arrays_are_keys_and_questions(f):
    moved = np.frombuffer(b"x" + KEYS.tobytes(), dtype=np.uint8)[1:].view(np.uint64)
    assert not moved.flags.aligned
    assert Filter.build(moved, 16, "grafite").to_bytes() == f.to_bytes()
    assert f.may_contain(moved).all()


@pytest.mark.parametrize("dtype", ["u8", "i8", "u4", "i2", "f8", "f4", "M8[s]", "M8[D]", "M8[us]"])
def test_other_byte_orders_are_the_same_keys(dtype):
    values = np.arange(0, 30_000, 7).astype("i8").astype(dtype)
    swapped = values.astype(np.dtype(dtype).newbyteorder(">"))
    assert not swapped.dtype.isnative and (swapped == values).all()
    f = Filter.build(values, 20, "grafite")
    assert Filter.build(swapped, 20, "grafite").to_bytes() == f.to_bytes()
    assert f.may_contain(swapped).all()
    step = np.timedelta64(1, np.datetime_data(dtype)[0]) if dtype.startswith("M") else values.dtype.type(1)
    between = (values + step).astype(swapped.dtype)
    assert f.may_contain(between).tolist() == f.may_contain(between.astype(dtype)).tolist()
    assert not f.may_contain(between).all()


@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "i1", "i2", "i4", "f2", "f4"])
def test_narrow_types_are_widened(dtype):
    values = np.arange(0, 100, 9).astype(dtype)
    f = Filter.build(values, 20, "grafite")
    assert f.key_type == {"u": "u64", "i": "i64", "f": "f64"}[dtype[0]]
    assert f.may_contain(values).all() and f.may_contain(values.astype(dtype[0] + "8")).all()
    assert values[3] in f, "a NumPy scalar"


@pytest.mark.parametrize("dtype", ["?", "c16", "m8[s]", "i4,i4", "M8[Y]", "M8[M]", "M8[W]", "M8[2s]", "M8[ps]", "g"])
def test_types_without_keys_are_refused(f, dtype):
    values = np.zeros(3, dtype=dtype)
    for call in [Filter.build, f.may_contain, lambda values: f.may_contain_range(values, values)]:
        with pytest.raises(TypeError, match="dtype"):
            call(values)


def test_bytes_of_one_length_keep_their_zeros():
    numbers = np.array([256, 512, 2**40], dtype=">u8")
    raw = [int(number).to_bytes(8, "big") for number in numbers]
    f = Filter.build(numbers.view("V8"))
    assert all(key in f for key in raw) and f.may_contain(numbers.view("V8")).all()
    assert (3).to_bytes(8, "big") not in f
    # NumPy has dropped the zeros at the end of these.
    with pytest.raises(ValueError, match=r"view\('V8'\)"):
        Filter.build(numbers.view("S8"))
    with pytest.raises(ValueError, match="zero bytes"):
        f.may_contain(numbers.view("S8"))


def test_types_of_another_sort_are_refused(f):
    for values in [KEYS.astype(np.float64), KEYS.astype("M8[s]"), KEYS.astype("S"), KEYS.astype("U")]:
        with pytest.raises(TypeError, match="ask with integers"):
            f.may_contain(values)
        with pytest.raises(TypeError, match="ask with integers"):
            f.may_contain_range(KEYS, values)
    with pytest.raises(TypeError, match="a value and a column"):
        f.may_contain_range(5, HI)
    with pytest.raises(TypeError, match="a value and a column"):
        f.may_contain_range(LO, 5)
    with pytest.raises(TypeError, match="a value and a column"):
        f.may_contain_range(LO, None)
    with pytest.raises(TypeError, match="no key"):
        f.may_contain(None)
    with pytest.raises(TypeError, match="one key"):
        LO in f


def test_other_shapes_are_refused(f):
    for values in [KEYS.reshape(40, 50), KEYS.reshape(-1, 1), KEYS.reshape(1, -1)]:
        for call in [Filter.build, f.may_contain]:
            with pytest.raises(ValueError, match="2 dimensions"):
                call(values)
    assert f.may_contain(np.array(KEYS[5])) is True, "an array without dimensions is a value"
    with pytest.raises(ValueError, match="0 dimensions"):
        Filter.build(np.array(5))


def test_lengths_must_agree(f):
    with pytest.raises(ValueError, match="one length"):
        f.may_contain_range(LO, HI[1:])
    with pytest.raises(ValueError, match="one length"):
        f.may_contain_range(LO, [])


def test_answers_go_where_they_are_wanted(f):
    out = np.ones(len(LO), dtype=bool)
    assert f.may_contain_range(LO, HI, out=out) is out
    assert out.tolist() == expected(f, LO, HI) and out.all()
    for filling in [True, False]:
        out = np.full(len(LO), filling)
        f.may_contain_range(LO + np.uint64(10**12), LO + np.uint64(10**12 + 3), out=out)
        assert out.tolist() == expected(f, LO + np.uint64(10**12), LO + np.uint64(10**12 + 3)) and not out.all()
    assert f.may_contain(LO, out=out) is out
    # An array of `np.empty` may hold bytes that are no bools.
    out = np.full(len(LO), 255, dtype=np.uint8).view(bool)
    f.may_contain_range(LO + np.uint64(10**12), LO + np.uint64(10**12 + 3), out=out)
    assert set(out.view(np.uint8).tolist()) <= {0, 1} and not out.all()


def test_places_for_answers_that_do_not_fit_are_refused(f):
    frozen = np.zeros(len(LO), dtype=bool)
    frozen.flags.writeable = False
    for out, error, words in [
        (np.zeros(len(LO) + 1, dtype=bool), ValueError, "one for each"),
        (np.zeros(0, dtype=bool), ValueError, "one for each"),
        (np.zeros((len(LO), 1), dtype=bool), TypeError, "one dimension"),
        (np.zeros(len(LO), dtype=np.uint8), TypeError, "array of bool"),
        (np.zeros(len(LO), dtype=np.int64), TypeError, "array of bool"),
        ([False] * len(LO), TypeError, "array of bool"),
        (np.zeros(2 * len(LO), dtype=bool)[::2], ValueError, "gaps"),
        (frozen, ValueError, "read-only"),
    ]:
        before = np.array(out, copy=True)
        with pytest.raises(error, match=words):
            f.may_contain_range(LO, HI, out=out)
        with pytest.raises(error, match=words):
            f.may_contain(LO, out=out)
        assert (np.asarray(out) == before).all(), "nothing was written"
    with pytest.raises(TypeError, match="for columns"):
        f.may_contain(5, out=np.zeros(1, dtype=bool))
    with pytest.raises(TypeError, match="for columns"):
        f.may_contain_range(5, 6, out=np.zeros(1, dtype=bool))


def test_answers_may_be_written_over_the_questions(f):
    lo = LO.copy()
    out = lo.view(bool)[: len(lo)]
    assert f.may_contain_range(lo, HI, out=out) is out
    assert out.tolist() == expected(f, LO, HI)


def test_no_keys_deny_everything():
    for keys in [
        [],
        (),
        set(),
        iter([]),
        np.array([], dtype=np.uint64),
        np.array([], dtype=np.int64),
        np.array([]),
        np.array([], dtype="M8[s]"),
        np.array([], dtype=object),
        np.array([], dtype="S4"),
    ]:
        for spec in ["auto", "grafite", "bloom", "surf", "snarf"]:
            f = Filter.build(keys, spec=spec)
            assert len(f) == 0 and f.bits_per_key >= 0 and not f.may_contain_range(None, None)
            assert f.may_contain([]).tolist() == [] and f.may_contain(np.array([])).shape == (0,)
            assert len(Filter.from_bytes(f.to_bytes())) == 0


def test_no_questions_have_no_answers(f):
    for nothing in [[], np.array([], dtype=np.uint64), np.array([]), np.array([], dtype=object)]:
        answers = f.may_contain_range(nothing, nothing)
        assert answers.shape == (0,) and answers.dtype == bool
        assert f.may_contain(nothing).shape == (0,)


def test_order_and_repeats_do_not_matter(f, rng):
    shuffled = rng.permutation(np.repeat(KEYS, rng.integers(1, 4, len(KEYS))))
    before = shuffled.copy()
    g = Filter.build(shuffled, 16, "grafite")
    assert g.to_bytes() == f.to_bytes() and len(g) == len(KEYS)
    assert (shuffled == before).all(), "the caller's array is not sorted"
    assert Filter.build(shuffled.tolist(), 16, "grafite").to_bytes() == f.to_bytes()
    assert Filter.build(set(KEYS.tolist()), 16, "grafite").to_bytes() == f.to_bytes()
    assert Filter.build((int(key) for key in shuffled), 16, "grafite").to_bytes() == f.to_bytes()


def test_nan_is_no_key_and_no_end():
    f = Filter.build([1.5, 2.5])
    for keys in [np.array([1.0, np.nan]), [1.0, float("nan")], np.array([1, np.nan], dtype="f4")]:
        with pytest.raises(ValueError, match="key 1 is NaN"):
            Filter.build(keys)
        with pytest.raises(ValueError, match="value 1: NaN"):
            f.may_contain(keys)
    for lo, hi in [(np.nan, 5.0), (5.0, np.nan), (float("-nan"), 1.0)]:
        with pytest.raises(ValueError, match="NaN"):
            f.may_contain_range(lo, hi)
    with pytest.raises(ValueError, match="NaN"):
        float("nan") in f
    assert f.may_contain_range(-np.inf, np.inf) and not f.may_contain_range(3.0, np.inf)
    assert np.inf in Filter.build([np.inf, 1.0])


def test_a_bool_is_no_key():
    f = Filter.build([0, 1, 2])
    for keys in [[True, False], [1, True], np.array([True, False]), [np.True_]]:
        with pytest.raises(TypeError, match="bool"):
            Filter.build(keys)
        with pytest.raises(TypeError, match="bool"):
            f.may_contain(keys)
    for question in [True, np.True_]:
        with pytest.raises(TypeError, match="bool"):
            question in f
        with pytest.raises(TypeError, match="bool"):
            f.may_contain_range(0, question)
    assert int(True) in f


def test_a_narrow_float_is_the_same_number_in_64_bits():
    for dtype in [np.float16, np.float32]:
        tenth = dtype(0.1)
        columns = [np.array([0.1, 2.5], dtype=dtype), [tenth, dtype(2.5)]]
        for keys in columns:
            f = Filter.build(keys, 40, "grafite")
            assert f.key_type == "f64"
            assert tenth in f and float(tenth) in f and f.may_contain_range(tenth, tenth)
            assert f.may_contain(np.array([tenth])).all() and f.may_contain([tenth]).all()
            assert f.to_bytes() == Filter.build(np.array([float(tenth), 2.5]), 40, "grafite").to_bytes()
            assert 0.1 not in f, "another number"
            assert 2.5 in f, "the same in any width"
            assert f.may_contain_range(0.0999, 0.1001)
            assert not f.may_contain(np.array([0.1])).any()


def test_bytes_that_are_no_filter_are_called_so():
    for data in [b"", b"x", b"no filter", b"\x80\x05" * 50]:
        with pytest.raises(CorruptError, match="not a Lacuna filter"):
            Filter.from_bytes(data)
    with pytest.raises(CorruptError, match="cut: 20 bytes"):
        Filter.from_bytes(Filter.build([1]).to_bytes()[:20])


def test_nat_is_no_key_and_no_end():
    moments = np.array(["2024-01-31", "NaT"], dtype="M8[s]")
    f = Filter.build(moments[:1])
    days = Filter.build(moments[:1].astype("M8[D]"))
    for unit in ["s", "ns", "D", "h", "ms"]:
        with pytest.raises(ValueError, match="key 1 is NaT"):
            Filter.build(moments.astype(f"M8[{unit}]"))
        for g in [f, days]:
            with pytest.raises(ValueError, match="value 1: NaT"):
                g.may_contain(moments.astype(f"M8[{unit}]"))
            with pytest.raises(ValueError, match="NaT"):
                g.may_contain_range(moments[1], moments[0])
    # Without a unit, which newer versions of NumPy warn of.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(TypeError, match="unit|dtype"):
            f.may_contain(np.datetime64("NaT"))


def test_masked_values_are_missing(f):
    masked = np.ma.masked_array(KEYS, mask=KEYS % 2 == 0)
    for call in [Filter.build, f.may_contain]:
        with pytest.raises(ValueError, match="masked values, which are missing"):
            call(masked)
    assert f.may_contain(masked.compressed()).all() and f.may_contain(np.ma.masked_array(KEYS)).all()
    floats = Filter.build(np.array([-21.5, 1.5, 3.25]))
    for call in [
        lambda: floats.may_contain(np.ma.masked),
        lambda: floats.may_contain_range(np.ma.masked, 3.5),
        lambda: floats.may_contain_range(-30.0, np.ma.masked),
        lambda: Filter.build([1.5, np.ma.masked]),
    ]:
        with pytest.raises(ValueError, match="masked values, which are missing"):
            call()


def test_text_arrays_of_numpy_are_keys():
    words = ["ant", "bee", "\u00fcber"]
    f = Filter.build(words, 30, "grafite")
    for array in [np.array(words), np.array(words, dtype=object)]:
        assert Filter.build(array, 30, "grafite").to_bytes() == f.to_bytes()
        assert f.may_contain(array).all() and f.may_contain(array[0]) is True
    binary = Filter.build([b"ant", b"bee"], 30, "grafite")
    assert Filter.build(np.array([b"ant", b"bee"]), 30, "grafite").to_bytes() == binary.to_bytes()
    assert np.bytes_(b"ant") in binary and np.str_("bee") in f
    assert bytearray(b"bee") in binary


def test_a_bytearray_that_changes_changes_no_filter():
    data = bytearray(Filter.build(KEYS, 16).to_bytes())
    f = Filter.from_bytes(bytes(data))
    data[70:] = bytes(len(data) - 70)
    assert f.may_contain(KEYS).all()
    with pytest.raises(TypeError):
        Filter.from_bytes(memoryview(bytes(data)))


def test_keys_that_change_meanwhile_change_no_filter():
    """The keys are copied before other threads run: what was there at the call is found."""
    keys = np.arange(400_000, dtype=np.uint64) * np.uint64(7_919)
    expected = keys.copy()
    stop = threading.Event()

    def scribble():
        while not stop.is_set():
            keys[:] = np.uint64(2**63)
            keys[:] = expected

    started = []

    def progress(stage, seconds):
        # From here on the keys are the filter's own.
        if not started:
            started.append(threading.Thread(target=scribble))
            started[0].start()

    try:
        f = Filter.build(keys, 12, "grafite", progress=progress)
    finally:
        stop.set()
        started[0].join()
    assert f.may_contain(expected).all()
    assert f.to_bytes() == Filter.build(expected, 12, "grafite").to_bytes()


def test_questions_that_change_meanwhile_harm_nothing(f):
    """Answers about places that change are arbitrary; the others are right, and nothing breaks."""
    lo = np.tile(LO, 200)
    steady = np.arange(len(lo)) % 2 == 0
    hi = lo + np.uint64(6)
    inside = lo.copy()
    stop = threading.Event()

    def scribble():
        numbers = np.random.default_rng(1)
        while not stop.is_set():
            lo[1::2] = numbers.integers(0, 2**64, len(lo) // 2, dtype=np.uint64)
            lo[1::2] = inside[1::2]

    writer = threading.Thread(target=scribble)
    writer.start()
    try:
        for _ in range(20):
            assert f.may_contain_range(lo, hi)[steady].all()
            f.may_contain(lo)
    finally:
        stop.set()
        writer.join()
