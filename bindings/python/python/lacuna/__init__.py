"""Range filters: small structures that know where a sorted file has no keys. Their "no" is always true.

>>> import numpy as np
>>> from lacuna import Filter
>>> keys = np.arange(1, 1001, dtype=np.uint64) ** 2 * 1_000_003
>>> f = Filter.build(keys, bits_per_key=14)
>>> f.may_contain_range(1, 500)
False
>>> lo = keys[:3] - 5
>>> f.may_contain_range(lo, lo + 10)
array([ True,  True,  True])
"""

from importlib.metadata import PackageNotFoundError, version

from ._lacuna import BudgetTooSmallError, CorruptError, Filter, UnsupportedError

__all__ = ["BudgetTooSmallError", "CorruptError", "Filter", "UnsupportedError"]

try:
    __version__ = version("lacuna-filters")
except PackageNotFoundError:  # imported from a checkout, not installed
    __version__ = "unknown"
