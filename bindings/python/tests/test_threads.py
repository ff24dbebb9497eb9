"""Other threads run while a filter is built and asked; callbacks and signals are heard."""

import os
import signal
import threading
import time

import numpy as np
import pytest

from lacuna import Filter


class Ticker:
    """Counts for how long other threads of Python could not run."""

    def __enter__(self):
        self.stop, self.longest = threading.Event(), 0.0
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        return self

    def run(self):
        last = time.perf_counter()
        while not self.stop.wait(0.001):
            now = time.perf_counter()
            self.longest, last = max(self.longest, now - last), now

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()


def test_other_threads_run_while_a_filter_is_built_and_asked(rng):
    keys = rng.integers(0, 2**63, 3_000_000, dtype=np.uint64)
    start = time.perf_counter()
    with Ticker() as ticker:
        f = Filter.build(keys, 14, "grafite")
    took = time.perf_counter() - start
    assert ticker.longest < took / 2, f"{ticker.longest} of {took} s"
    questions = np.tile(keys, 3)
    for ask in [lambda: f.may_contain(questions), lambda: f.may_contain_range(questions, questions)]:
        start = time.perf_counter()
        with Ticker() as ticker:
            assert ask().all()
        took = time.perf_counter() - start
        assert ticker.longest < took / 2, f"{ticker.longest} of {took} s"


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


def test_an_interrupt_ends_a_build_that_reports(rng):
    keys = rng.integers(0, 2**63, 3_000_000, dtype=np.uint64)
    timer = threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        while True:
            Filter.build(keys, 14, "auto", progress=lambda stage, seconds: None)
    timer.join()
