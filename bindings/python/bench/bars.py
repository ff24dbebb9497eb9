"""Measures Python beside Rust and holds the ratios against their bars: bars.py RUST_SIDE [--keys N] [--rounds N] [--returned-memory]

RUST_SIDE is the program that `cargo build --release -p lacuna-python --example rust_side` makes. Each round runs every task once, in
Python and in Rust by turns; printed are medians of processor time, which other work on the machine changes little, and the median of
the rounds' ratios. Exit code 1 if a bar is missed.

Both processes keep the memory that they free. With --returned-memory both return large pieces to the system, as processes usually do,
and pay for each page of the next build; how many they return depends on what the process did before.
"""

import argparse
import ctypes
import operator
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

from lacuna import Filter

QUESTIONS = 1_000_000
KEPT_MEMORY = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(2**40)}


def keep_memory():
    """Starts this program anew with an allocator that keeps memory; the process of Rust inherits that."""
    if KEPT_MEMORY.items() <= os.environ.items():
        return
    os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **KEPT_MEMORY})


class RustSide:
    def __init__(self, program, folder):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen([program, str(folder)], text=True, **pipes)
        clock = ctypes.c_int()
        assert ctypes.CDLL(None).clock_getcpuclockid(self.process.pid, ctypes.byref(clock)) == 0
        self.clock = clock.value

    def __call__(self, task):
        """Does the task, and gives the nanoseconds that processors worked for it."""
        start = time.clock_gettime_ns(self.clock)
        self.ask(task)
        return time.clock_gettime_ns(self.clock) - start

    def ask(self, task):
        print(task, file=self.process.stdin, flush=True)
        return self.process.stdout.readline().strip()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def timed(work):
    start = time.process_time_ns()
    work()
    return time.process_time_ns() - start


def single_over_empty_call(f, lo, hi):
    """Nanoseconds of a question about one range, over a call of a function that does nothing with two arguments."""
    pairs = list(zip(lo[:200_000].tolist(), hi[:200_000].tolist()))
    ask, empty = f.may_contain_range, operator.is_

    def loop(call):
        def run():
            for a, b in pairs:
                call(a, b)

        return run

    return (timed(loop(ask)) - timed(loop(empty))) / len(pairs)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rust_side")
    parser.add_argument("--keys", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--returned-memory", action="store_true")
    options = parser.parse_args()
    if not options.returned_memory:
        keep_memory()

    numbers = np.random.default_rng(1)
    lo = numbers.integers(0, 2**64 - 32, QUESTIONS, dtype=np.uint64)
    hi = lo + np.uint64(31)
    out = np.empty(QUESTIONS, dtype=bool)
    missed = 0
    for order in ["sorted", "in any order"]:
        keys = numbers.integers(0, 2**64, options.keys, dtype=np.uint64)
        if order == "sorted":
            keys = np.unique(keys)
        with tempfile.TemporaryDirectory() as folder:
            for name, array in [("keys", keys), ("lo", lo), ("hi", hi)]:
                array.astype("<u8").tofile(pathlib.Path(folder) / f"{name}.u64")
            rust = RustSide(options.rust_side, folder)
            rust.ask("pairs")
        f = Filter.build(keys, 14, "grafite")
        small = Filter.build(keys[:100_000], 14, "grafite")
        assert f.may_contain_range(lo, hi).sum() == int(rust.ask("count")), "both sides have the same filter"
        tasks = [(f"build, {order}", lambda: Filter.build(keys, 14, "grafite"), "build", 1.1)]
        if order == "sorted":
            tasks += [
                ("build, sorted, Rust borrows the keys", lambda: Filter.build(keys, 14, "grafite"), "build borrowed", None),
                ("1M ranges, into out", lambda: f.may_contain_range(lo, hi, out=out), "ranges", 1.15),
                ("1M ranges, into a new array", lambda: f.may_contain_range(lo, hi), "ranges, new answers", 1.15),
                ("1M ranges, pairs in Rust, too", lambda: f.may_contain_range(lo, hi, out=out), "pairs", None),
            ]
        found = {name: [] for name, *_ in tasks}
        single = {"100,000 keys": [], f"{len(keys):,} keys": []}
        rust_single = []
        for _ in range(options.rounds):
            for name, work, task, _bar in tasks:
                found[name].append((timed(work), rust(task)))
            if order == "sorted":
                for name, g in zip(single, [small, f]):
                    single[name].append(single_over_empty_call(g, lo, hi))
                rust_single.append(rust("single") / QUESTIONS)
        rust.close()
        for name, _, _, bar in tasks:
            python, other = (statistics.median(times) for times in zip(*found[name]))
            ratio = statistics.median(a / b for a, b in found[name])
            verdict = "" if bar is None else f"bar {bar}: {'PASS' if ratio <= bar else 'FAIL'}"
            missed += bar is not None and ratio > bar
            print(f"{name:<40}Python {python / 1e6:8.1f} ms  Rust {other / 1e6:8.1f} ms  ratio {ratio:5.2f}  {verdict}", flush=True)
        if order == "sorted":
            for (name, times), bar in zip(single.items(), [150, None]):
                nanos = statistics.median(times)
                verdict = "" if bar is None else f"bar {bar} ns: {'PASS' if nanos <= bar else 'FAIL'}"
                missed += bar is not None and nanos > bar
                print(f"{'one range, ' + name:<40}{nanos:.0f} ns over an empty call  {verdict}")
            print(f"{'one range in Rust, ' + name:<40}{statistics.median(rust_single):.0f} ns")
    sys.exit(missed > 0)


if __name__ == "__main__":
    main()
