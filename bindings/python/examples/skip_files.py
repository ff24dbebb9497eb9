"""Parquet files of measurements, each with a filter beside it: a question about an hour reads only files that may hold it."""

import pathlib
import tempfile

import numpy as np
import polars

from lacuna import Filter

FILES, ROWS = 24, 2_000


def write_files(folder):
    """Sensors that report now and then, each into a file of its own; all files span the same year."""
    numbers = np.random.default_rng(1)
    for sensor in range(FILES):
        minutes = np.sort(numbers.choice(365 * 24 * 60, ROWS, replace=False))
        moments = np.datetime64("2025-01-01T00:00", "us") + minutes.astype("timedelta64[m]")
        frame = polars.DataFrame({"at": moments, "value": numbers.normal(20, 3, ROWS)})
        path = folder / f"sensor-{sensor}.parquet"
        frame.write_parquet(path)
        # The column goes in as it is; the filter notes that its keys are moments, in seconds.
        Filter.build(frame["at"], rate=0.01, range_len=600).save(path.with_suffix(".lacuna"))


def rows_between(folder, lo, hi):
    """The rows of all files in the closed range, and how many files were read for them."""
    found, read = [], 0
    for path in sorted(folder.glob("*.parquet")):
        if Filter.open(path.with_suffix(".lacuna"), mmap=True).may_contain_range(lo, hi):
            read += 1
            found.append(polars.read_parquet(path).filter(polars.col("at").is_between(lo, hi)))
    return polars.concat(found) if found else polars.DataFrame(), read


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_files(folder)
        total_read = total_holding = 0
        for day in range(0, 365, 30):
            lo = np.datetime64("2025-01-01T12:00", "us") + np.timedelta64(day, "D")
            hi = lo + np.timedelta64(10, "m")
            rows, read = rows_between(folder, lo.item(), hi.item())
            total_read += read
            total_holding += sum(
                polars.read_parquet(path).filter(polars.col("at").is_between(lo.item(), hi.item())).height > 0
                for path in folder.glob("*.parquet")
            )
        questions = len(range(0, 365, 30))
        print(f"{questions} questions to {FILES} files: {total_read} files read of {questions * FILES}")
        print(f"{total_holding} of them held a row")
        assert total_holding <= total_read < 1.1 * total_holding + questions


if __name__ == "__main__":
    main()
