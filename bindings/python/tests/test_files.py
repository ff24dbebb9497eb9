"""Filters as bytes, in files, mapped, pickled; damaged, cut short, newer."""

import copy
import os
import pathlib
import pickle
import struct
import threading

import numpy as np
import pytest

from lacuna import CorruptError, Filter, UnsupportedError

KEYS = np.arange(5_000, dtype=np.uint64) ** 2 * np.uint64(1_000_003)


@pytest.fixture
def f():
    return Filter.build(KEYS, 14, "grafite")


@pytest.mark.parametrize("mmap", [False, True])
def test_files_open_as_they_were_saved(f, tmp_path, mmap):
    for path in [tmp_path / "f.lacuna", str(tmp_path / "g.lacuna"), tmp_path / "\u00fcber"]:
        f.save(path)
        g = Filter.open(path, mmap=mmap)
        assert g.to_bytes() == f.to_bytes() == pathlib.Path(path).read_bytes()
        assert g.may_contain(KEYS).all()
    assert sorted(os.listdir(tmp_path)) == sorted(["f.lacuna", "g.lacuna", "\u00fcber"]), "nothing else is left"


def test_a_mapped_file_may_be_replaced(f, tmp_path):
    path = tmp_path / "f.lacuna"
    f.save(path)
    mapped = Filter.open(path, mmap=True)
    Filter.build([1, 2, 3]).save(path)
    assert mapped.may_contain(KEYS).all() and len(Filter.open(path)) == 3
    path.unlink()
    assert mapped.may_contain(KEYS).all()


@pytest.mark.parametrize("mmap", [False, True])
def test_files_that_cannot_be_opened_say_why(f, tmp_path, mmap):
    with pytest.raises(FileNotFoundError) as raised:
        Filter.open(tmp_path / "none", mmap=mmap)
    assert raised.value.filename == tmp_path / "none" or str(raised.value.filename) == str(tmp_path / "none")
    with pytest.raises(IsADirectoryError):
        Filter.open(tmp_path, mmap=mmap)
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "text").write_text("x" * 500)
    for name in ["empty", "text"]:
        with pytest.raises(CorruptError):
            Filter.open(tmp_path / name, mmap=mmap)
    with pytest.raises(TypeError):
        Filter.open(5, mmap=mmap)


def test_files_keep_their_links_and_permissions(f, tmp_path):
    umask = os.umask(0o022)
    try:
        f.save(tmp_path / "f.lacuna")
    finally:
        os.umask(umask)
    assert (tmp_path / "f.lacuna").stat().st_mode & 0o777 == 0o644
    (tmp_path / "f.lacuna").chmod(0o600)
    (tmp_path / "link").symlink_to("f.lacuna")
    Filter.build([1, 2, 3]).save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "f.lacuna").stat().st_mode & 0o777 == 0o600
    assert len(Filter.open(tmp_path / "f.lacuna")) == 3
    threads = [threading.Thread(target=f.save, args=(tmp_path / "f.lacuna",)) for _ in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert Filter.open(tmp_path / "link").to_bytes() == f.to_bytes()
    assert sorted(os.listdir(tmp_path)) == ["f.lacuna", "link"]


def test_files_that_cannot_be_written_leave_nothing(f, tmp_path):
    with pytest.raises(FileNotFoundError):
        f.save(tmp_path / "none" / "f.lacuna")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError):
        f.save(tmp_path / "folder")
    with pytest.raises(OSError):
        f.save("/")
    assert os.listdir(tmp_path) == ["folder"]


def test_what_is_no_file_is_not_replaced(f, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "link").symlink_to("pipe")
    for path in [pipe, tmp_path / "link"]:
        with pytest.raises(OSError, match="not a regular file; give another name"):
            f.save(path)
    assert pipe.is_fifo() and (tmp_path / "link").is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["link", "pipe"]


def test_every_flipped_bit_is_found(tmp_path):
    data = Filter.build(KEYS[:60], 14, "grafite").to_bytes()
    for place in range(len(data) * 8):
        damaged = bytearray(data)
        damaged[place // 8] ^= 1 << place % 8
        with pytest.raises((CorruptError, UnsupportedError)):
            Filter.from_bytes(bytes(damaged))
    for length in range(len(data)):
        with pytest.raises(CorruptError):
            Filter.from_bytes(data[:length])
    (tmp_path / "damaged").write_bytes(bytes(damaged))
    for mmap in [False, True]:
        with pytest.raises((CorruptError, UnsupportedError)):
            Filter.open(tmp_path / "damaged", mmap=mmap)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def sealed_again(data, place, value):
    """The bytes with another byte in their envelope, and the checksum that belongs to it."""
    changed = bytearray(data)
    changed[place] = value
    changed[60:64] = struct.pack("<I", crc32c(changed[:60]))
    return bytes(changed)


def test_newer_filters_are_unsupported(f):
    data = f.to_bytes()
    assert sealed_again(data, 4, data[4]) == data
    for place, what in [(4, "envelope version"), (6, "family"), (8, "payload version"), (12, "key type")]:
        with pytest.raises(UnsupportedError):
            Filter.from_bytes(sealed_again(data, place, 99)), what


def test_keys_of_unknown_type_are_asked_by_integers(f):
    """A filter whose builder noted no type: -1 could be any integer, so it is not asked for."""
    unknown = Filter.from_bytes(sealed_again(f.to_bytes(), 12, 0))
    assert unknown.key_type == "unknown" and unknown.may_contain(KEYS).all() and int(KEYS[5]) in unknown
    for question in [-1, np.array([-1, 5]), [-1]]:
        with pytest.raises(ValueError, match="does not say what its integers stand for"):
            unknown.may_contain(question)
    for question in [1.5, "ant", b"ant", np.datetime64("2024-01-31", "D")]:
        with pytest.raises(TypeError, match="of a type that it does not name"):
            unknown.may_contain(question)
    strings = Filter.build([b"ant", b"bee"])
    unknown = Filter.from_bytes(sealed_again(strings.to_bytes(), 12, 0))
    assert b"ant" in unknown
    with pytest.raises(TypeError, match="ask with bytes"):
        unknown.may_contain("ant")
    tuples = Filter.from_bytes(sealed_again(strings.to_bytes(), 12, 8))
    assert tuples.key_type == "tuple" and b"bee" in tuples


def test_pickles_are_the_same_filter(f):
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        g = pickle.loads(pickle.dumps(f, protocol))
        assert type(g) is Filter and g.to_bytes() == f.to_bytes()
    assert copy.copy(f).to_bytes() == copy.deepcopy(f).to_bytes() == f.to_bytes()
    damaged = pickle.dumps(f).replace(b"LCNA", b"LCNB")
    with pytest.raises(CorruptError):
        pickle.loads(damaged)
