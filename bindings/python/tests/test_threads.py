"""Other threads run while a filter is built and asked; callbacks and signals are heard."""

import itertools
import operator
import os
import signal
import threading
import time

import numpy as np
import pytest

from lacuna import Filter


def ticks_during(work):
    """How often another thread of Python ran while `work` did."""
    stop, ticks = threading.Event(), []

    def tick():
        while not stop.wait(0.0005):
            ticks.append(time.perf_counter())

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.perf_counter()
    work()
    end = time.perf_counter()
    stop.set()
    thread.join()
    return sum(start < moment < end for moment in ticks)


def test_other_threads_run_while_a_filter_is_built_and_asked(rng):
    keys = rng.integers(0, 2**63, 2_000_000, dtype=np.uint64)
    questions = np.tile(keys, 2)
    f = Filter.build(keys, 14, "grafite")
    for work in [
        lambda: Filter.build(keys, 14, "grafite"),
        lambda: f.may_contain(questions),
        lambda: f.may_contain_range(questions, questions),
    ]:
        # One or two at the rims happen without that, too; a busy machine may starve the other thread now and then.
        assert any(ticks_during(work) > 10 for _ in range(20))


def test_a_filter_is_asked_from_many_threads(rng):
    keys = rng.integers(0, 2**63, 50_000, dtype=np.uint64)
    f = Filter.build(keys, 14)
    lo = rng.integers(0, 2**63, 50_000, dtype=np.uint64)
    expected = f.may_contain_range(lo, lo + np.uint64(9))
    wrong = []

    def ask():
        for _ in range(10):
            if not (f.may_contain_range(lo, lo + np.uint64(9)) == expected).all() or not f.may_contain(keys).all():
                wrong.append(1)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong


def test_progress_is_told(rng):
    keys = rng.integers(0, 2**63, 2_000_000, dtype=np.uint64)
    told = []
    f = Filter.build(keys, 14, "auto", progress=lambda stage, seconds: told.append((stage, seconds)))
    stages = [stage for stage, _ in told]
    assert stages == sorted(stages, key=["sort", "build"].index) and set(stages) == {"sort", "build"}
    assert [seconds for _, seconds in told] == sorted(seconds for _, seconds in told)
    assert f.to_bytes() == Filter.build(keys, 14, "auto").to_bytes()


def test_what_a_callback_raises_is_raised(rng):
    class Enough(Exception):
        pass

    def progress(stage, seconds):
        raise Enough(stage)

    with pytest.raises(Enough, match="sort"):
        Filter.build(rng.integers(0, 2**63, 1_000, dtype=np.uint64), progress=progress)


def test_an_interrupt_ends_the_reading_of_values():
    """Also of an iterator that runs no code of Python, which would notice the signal."""

    class Enough(Exception):
        pass

    def stop(number, frame):
        raise Enough

    many = itertools.repeat(7, 3_000_000)
    before = signal.signal(signal.SIGALRM, stop)
    try:
        with pytest.raises(Enough):
            signal.setitimer(signal.ITIMER_REAL, 0.001)
            Filter.build(many)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert operator.length_hint(many) > 0, "the values were not read to their end"


def test_an_interrupt_ends_a_build_that_reports(rng):
    keys = rng.integers(0, 2**63, 3_000_000, dtype=np.uint64)
    # A process that was started in the background ignores the signal, and Python then leaves it so.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT))
    try:
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            for _ in range(100):
                Filter.build(keys, 14, "auto", progress=lambda stage, seconds: None)
    finally:
        signal.signal(signal.SIGINT, before)
    timer.join()


def asked_while(change, ask):
    """What `ask` answers while another thread calls `change` in the middle of it, and when that was: a share of its time."""
    start = time.perf_counter()
    ask()
    usual = time.perf_counter() - start
    moments = []

    def wait_and_change():
        is_asked.wait()
        time.sleep(usual / 2)
        moments.append(time.perf_counter())
        change()

    is_asked = threading.Event()
    thread = threading.Thread(target=wait_and_change)
    thread.start()
    start = time.perf_counter()
    is_asked.set()
    answers = ask()
    took = time.perf_counter() - start
    thread.join()
    return answers, (moments[0] - start) / took


def test_an_array_that_changes_while_it_is_asked_about_is_answered_as_it_was(rng):
    keys = rng.integers(0, 2**62, 100_000, dtype=np.uint64)
    f = Filter.build(keys, 14, "grafite")
    there = np.resize(keys, 8_000_000)
    absent = np.uint64(2**63)
    assert not f.may_contain(int(absent))
    for ask in [lambda asked: f.may_contain(asked), lambda asked: f.may_contain_range(asked, asked)]:
        shares = []
        for _ in range(5):
            asked = there.copy()
            answers, share = asked_while(lambda: asked.fill(absent), lambda: ask(asked))
            shares.append(share)
            # Later than the copy, which takes a tenth of the time at most.
            if 0.2 < share < 0.9:
                assert answers.all(), f"changed after {share:.0%} of the time"
        assert any(0.2 < share < 0.9 for share in shares), shares


def test_answers_are_written_at_the_end_at_once(rng):
    keys = rng.integers(0, 2**62, 100_000, dtype=np.uint64)
    f = Filter.build(keys, 14, "grafite")
    asked, out = np.resize(keys, 8_000_000), np.zeros(8_000_000, dtype=bool)
    seen = []
    for _ in range(5):
        out.fill(False)
        _, share = asked_while(lambda: seen.append(out.any()), lambda: out.fill(False) or f.may_contain(asked, out=out))
        assert out.all()
        if 0.2 < share < 0.9:
            assert not seen[-1], f"looked at after {share:.0%} of the time"


def test_keys_that_change_while_a_filter_is_built_change_no_filter(rng):
    keys = rng.integers(0, 2**62, 2_000_000, dtype=np.uint64)
    expected = Filter.build(keys, 14, "grafite").to_bytes()
    for _ in range(3):
        changing = keys.copy()
        built, share = asked_while(lambda: changing.fill(7), lambda: Filter.build(changing, 14, "grafite"))
        if 0.2 < share < 0.9:
            assert built.to_bytes() == expected, f"changed after {share:.0%} of the time"
