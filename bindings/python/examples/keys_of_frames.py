"""Columns of pandas and polars as keys and as questions."""

import numpy as np
import pandas
import polars

from lacuna import Filter


def with_pandas():
    orders = pandas.DataFrame(
        {
            "id": np.arange(1, 50_001, dtype=np.int64) * 7_919,
            "at": pandas.date_range("2025-01-01", periods=50_000, freq="7min"),
            "customer": [f"customer-{number:05}" for number in range(0, 100_000, 2)],
        }
    )
    by_id = Filter.build(orders["id"])
    by_time = Filter.build(orders["at"], rate=0.01, range_len=60)
    by_customer = Filter.build(orders["customer"])

    asked = pandas.DataFrame({"id": [7_919, 7_920, 15_838, 99_999_999_999]})
    asked["maybe"] = by_id.may_contain(asked["id"])
    print(asked)
    assert asked["maybe"].tolist()[0] and not asked["maybe"].tolist()[-1]
    assert by_time.may_contain_range(pandas.Timestamp("2025-01-01 00:05"), pandas.Timestamp("2025-01-01 00:08"))
    assert not by_time.may_contain_range(pandas.Timestamp("2030-01-01"), None)
    assert "customer-00002" in by_customer and "customers" not in by_customer


def with_polars():
    frame = polars.DataFrame({"lo": [1, 500, 90_000], "hi": [10, 600, 95_000]})
    f = Filter.build(polars.Series([5, 7, 100_000]))
    answered = frame.with_columns(maybe=polars.Series(f.may_contain_range(frame["lo"], frame["hi"])))
    print(answered)
    assert answered["maybe"].to_list() == [True, False, False]


if __name__ == "__main__":
    with_pandas()
    with_polars()
