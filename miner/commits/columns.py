"""Arrow columns from lists, put together from their buffers.

`pyarrow.array` asks pandas what a list is, and importing pandas takes longer than git needs for
a thousand commits; it also looks at every value once more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


def texts(values: Sequence[str | bytes | None]) -> pa.StringArray:
    """Text; bytes that are not UTF-8 are replaced."""
    import pyarrow as pa

    raw = [
        value if value is None or (isinstance(value, bytes) and value.isascii()) else _utf8(value)
        for value in values
    ]
    offsets = _offsets([0 if value is None else len(value) for value in raw])
    content = b"".join([value for value in raw if value is not None])
    return pa.StringArray.from_buffers(
        len(raw), pa.py_buffer(offsets), pa.py_buffer(content), _validity(raw)
    )


def repeated(values: Sequence[str | bytes]) -> pa.DictionaryArray:
    """Text of which many values are the same; none is missing."""
    import pyarrow as pa

    codes: dict[str | bytes, int] = {}
    numbers = [codes.setdefault(value, len(codes)) for value in values]
    return pa.DictionaryArray.from_arrays(integers(numbers), texts(list(codes)))


def blobs(values: Sequence[bytes | None]) -> pa.BinaryArray:
    """Bytes as they are."""
    import pyarrow as pa

    offsets = _offsets([0 if value is None else len(value) for value in values])
    content = b"".join([value for value in values if value is not None])
    buffers = [_validity(values), pa.py_buffer(offsets), pa.py_buffer(content)]
    return pa.Array.from_buffers(pa.binary(), len(values), buffers)


def integers(values: Sequence[int | None], kind: str = "int32") -> pa.Array:
    """Numbers; `kind` is that of numpy, or `timestamp` for microseconds."""
    import numpy as np
    import pyarrow as pa

    width = "int64" if kind == "timestamp" else kind
    numbers = np.array([value or 0 for value in values], dtype=width)
    types = {"int32": pa.int32(), "int64": pa.int64(), "timestamp": pa.timestamp("us")}
    return pa.Array.from_buffers(
        types[kind], len(values), [_validity(values), pa.py_buffer(numbers)]
    )


def booleans(values: Sequence[bool]) -> pa.BooleanArray:
    """Yes or no."""
    import pyarrow as pa

    return pa.Array.from_buffers(pa.bool_(), len(values), [None, _bits(values)])


def lists(values: Sequence[Sequence[str]]) -> pa.ListArray:
    """Lists of text."""
    import pyarrow as pa

    inner = texts([each for value in values for each in value])
    offsets = pa.py_buffer(_offsets([len(value) for value in values]))
    return pa.Array.from_buffers(
        pa.list_(pa.string()), len(values), [None, offsets], children=[inner]
    )


def table(columns: dict[str, Any]) -> pa.Table:
    """Columns under their names."""
    import pyarrow as pa

    return pa.Table.from_arrays(list(columns.values()), names=list(columns))


def _utf8(value: str | bytes) -> bytes:
    if isinstance(value, str):
        return value.encode(errors="replace")
    try:
        value.decode()
    except UnicodeDecodeError:
        return value.decode(errors="replace").encode()
    return value


def _offsets(lengths: Sequence[int]) -> np.ndarray[Any, Any]:
    import numpy as np

    offsets = np.zeros(len(lengths) + 1, dtype=np.int32)
    np.cumsum(np.array(lengths, dtype=np.int32), out=offsets[1:])
    return offsets


def _validity(values: Sequence[Any]) -> pa.Buffer | None:
    """A bit for every value that is there; nothing if all are."""
    return _bits([value is not None for value in values]) if None in values else None


def _bits(values: Sequence[bool]) -> pa.Buffer:
    import numpy as np
    import pyarrow as pa

    bits = np.packbits(np.array(values, dtype=bool), bitorder="little")
    return pa.py_buffer(bits.tobytes())
