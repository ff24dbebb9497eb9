"""Range filters: small structures that know where a sorted file has no keys. Their "no" is always true."""

import datetime
import os
from collections.abc import Callable, Iterable
from typing import Any, Protocol, Union, final, overload

import numpy as np
import numpy.typing as npt

__all__ = ["BudgetTooSmallError", "CorruptError", "Filter", "UnsupportedError"]

__version__: str

class _ArrowArray(Protocol):
    def __arrow_c_array__(self, requested_schema: Any = None) -> Any: ...

class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...

# One key: an end of a range.
_Key = Union[int, float, str, bytes, bytearray, datetime.date, datetime.datetime, np.generic]
# Many keys.
_Keys = Union[npt.NDArray[Any], _ArrowArray, _ArrowStream, Iterable[_Key]]
_Answers = npt.NDArray[np.bool_]

class CorruptError(ValueError):
    """The bytes are damaged or no filter: read the data, and build the filter again."""

class UnsupportedError(ValueError):
    """The filter is newer than this package, or its family cannot do this: read the data instead."""

class BudgetTooSmallError(ValueError):
    """The filter does not fit; its attribute `smallest_bits_per_key` says what would do."""

    smallest_bits_per_key: float

@final
class Filter:
    @staticmethod
    def build(
        keys: _Keys,
        bits_per_key: float | None = None,
        spec: str | None = None,
        sample: tuple[_Keys, _Keys] | None = None,
        *,
        rate: float | None = None,
        range_len: int | None = None,
        seed: int = 1,
        secret: bytes | bytearray | None = None,
        threads: int = 1,
        progress: Callable[[str, float], object] | None = None,
    ) -> Filter: ...
    @staticmethod
    def open(path: str | os.PathLike[str], *, mmap: bool = False) -> Filter: ...
    @staticmethod
    def from_bytes(data: bytes) -> Filter: ...
    def to_bytes(self) -> bytes: ...
    def save(self, path: str | os.PathLike[str]) -> None: ...
    @overload
    # A str is an iterable of str, too, but it is one key.
    def may_contain(self, key: _Key, *, out: None = None) -> bool: ...  # type: ignore[overload-overlap]
    @overload
    def may_contain(self, key: _Keys, *, out: _Answers | None = None) -> _Answers: ...
    @overload
    def may_contain_range(  # type: ignore[overload-overlap]
        self, lo: _Key | None, hi: _Key | None, *, out: None = None
    ) -> bool: ...
    @overload
    def may_contain_range(self, lo: _Keys, hi: _Keys, *, out: _Answers | None = None) -> _Answers: ...
    def count(self, lo: _Key | None, hi: _Key | None) -> tuple[int, int]: ...
    def seek(self, key: _Key | None) -> int | float | bytes | np.datetime64 | None: ...
    def explain(self) -> str: ...
    def rate_bound(self, range_len: int) -> float: ...
    @property
    def family(self) -> str: ...
    @property
    def key_type(self) -> str: ...
    @property
    def time_unit(self) -> str | None: ...
    @property
    def bits_per_key(self) -> float: ...
    @property
    def nbytes(self) -> int: ...
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __contains__(self, key: _Key, /) -> bool: ...
