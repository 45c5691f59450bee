"""What scenes and batches ask of their arguments; errors begin with the argument's name."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from hindcast._errors import ArgumentError


def fault(name: str, what: str) -> ArgumentError:
    return ArgumentError(f"{name}: {what}")


def to_json(value: Any, name: str) -> str:
    def known(item: Any) -> Any:
        if isinstance(item, (np.ndarray, np.generic)):
            return item.tolist()
        raise TypeError(f"{type(item).__name__} has no form in JSON")

    try:
        return json.dumps(value, default=known, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise fault(name, str(error)) from None


def path_of(path: Any, name: str = "path") -> str:
    if not isinstance(path, str):
        raise fault(name, f"a path is a str such as 'cage.stiffness', not {type(path).__name__}")
    return path


def numbers_of(value: Any, name: str, shape: tuple[int, ...] | None) -> np.ndarray:
    """As float64 in C order; broadcast to the shape, where one is given."""
    try:
        array = np.asarray(value)
    except Exception as error:
        raise fault(name, f"no array can be made of it: {error}") from None
    if array.dtype.kind not in "fiu":
        raise fault(name, f"numbers are needed, not {array.dtype}")
    if shape is not None and array.shape != shape:
        try:
            array = np.broadcast_to(array, shape)
        except ValueError:
            raise fault(name, f"has the shape {array.shape}, and {shape} is needed") from None
    return np.array(array, dtype=np.float64, order="C")


def names_of(names: Any, argument: str) -> list[str]:
    if isinstance(names, str):
        return [names]
    try:
        listed = list(names)
    except TypeError:
        raise fault(argument, f"a list of names is needed, not {type(names).__name__}") from None
    return [path_of(name, argument) for name in listed]


def as_exactly(made: np.ndarray, dtype: str) -> tuple[np.ndarray, str | None]:
    """The numbers of a list in a type, and the first one that it cannot hold. Reals are rounded."""
    target = np.dtype(dtype)
    if target.kind == "f":
        return made.astype(target), None
    with np.errstate(invalid="ignore"):
        cast = made.astype(target)
    limits = np.iinfo(target)
    inside = (made >= limits.min) & (made <= limits.max)
    wrong = np.flatnonzero(~(inside & (cast == made)))
    return cast, str(made.flat[wrong[0]]) if len(wrong) else None
