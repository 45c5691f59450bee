"""Batches: members of one scene that go their own ways, as environments for learning.

    envs = sim.batch(64, {"cage.stiffness": np.linspace(50, 150, 64)})
    envs.step({"hand.places": actions}, steps=4)
    envs.observe("position")            # [64, points, 3]
    envs.reset(envs.done)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hindcast import _core
from hindcast._arguments import fault as _fault
from hindcast._arguments import names_of as _names
from hindcast._arguments import numbers_of as _numbers

if TYPE_CHECKING:
    from hindcast.scenes import Simulation

__all__ = ["Batch", "Pulled"]


class Pulled(NamedTuple):
    """What Batch.vjp() gives."""

    losses: np.ndarray  # the objective at the end of the window, [n]
    paths: dict[str, np.ndarray]  # the gradient by path, [n, ...]
    states: dict[str, np.ndarray]  # and by state array where the window begins, [n, ...]


def _whole(number: Any, name: str, least: int) -> int:
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or number < least:
        raise _fault(name, f"{number!r} is no whole number from {least} on")
    return int(number)


def _mapping(given: Any, name: str) -> dict[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise _fault(name, f"a dict is needed, not {type(given).__name__}")
    for key in given:
        if not isinstance(key, str):
            raise _fault(name, f"its keys are str, not {type(key).__name__}")
    return dict(given)


class Batch:
    """n members of a scene, each with values and a state of its own; sim.batch() makes it.

    Members run on the device's threads without the interpreter's lock, and have the bits of a
    simulation that runs alone with their values. Values count from the next step on; those that
    only the start of a run reads, such as initial positions, from the next reset on.
    """

    def __init__(self, sim: Simulation, n: int, values: Mapping[str, Any] | None = None):
        self._sim = sim
        self._core = _core.Batch.of(sim._core, _whole(n, "n", 1))
        for path, numbers in self._checked(values, "values").items():
            self._core.set(path, self._mask(None), numbers)
        if values:
            self._core.reset(self._mask(None), {})

    def __len__(self) -> int:
        """How many members there are."""
        return self._core.size

    # ---- values

    def __getitem__(self, path: str) -> np.ndarray:
        """The members' values at a path, [n, ...]. A copy."""
        return self._core.values(path)

    def __setitem__(self, path: str, value: Any) -> None:
        """Sets the values of all members, as set() does."""
        self.set(path, value)

    def set(self, path: str, value: Any, mask: Any = None) -> None:
        """Sets values: [n, ...], or what can be broadcast to it, such as one value for all.

        mask: bool [n], the members whose values are set.
        """
        self._core.set(path, self._mask(mask), self._checked({path: value}, "value")[path])

    def _checked(self, values: Any, name: str) -> dict[str, np.ndarray]:
        result = {}
        for path, value in _mapping(values, name).items():
            result[path] = _numbers(value, f"{name}: '{path}'", self._core.values(path).shape)
        return result

    def _mask(self, mask: Any) -> np.ndarray:
        if mask is None:
            return np.ones(len(self), bool)
        array = np.asarray(mask)
        if array.dtype != np.bool_ or array.shape != (len(self),):
            what = f"bool [{len(self)}] is needed, not {array.dtype} {list(array.shape)}"
            raise _fault("mask", what)
        return np.ascontiguousarray(array)

    def _states(self, given: Any, name: str) -> dict[str, np.ndarray]:
        return {
            key: _numbers(value, f"{name}: '{key}'", self._core.observe(key).shape)
            for key, value in _mapping(given, name).items()
        }

    # ---- runs

    def reset(self, mask: Any = None, states: Mapping[str, Any] | None = None) -> None:
        """Members go back to the start: all, or those of the mask (bool [n]).

        states: state arrays that are then set, {name: [n, ...]}; rows of other members are not
        used. What else the state has is as a run begins.
        """
        self._core.reset(self._mask(mask), self._states(states, "states"))

    def step(
        self, actions: Mapping[str, Any] | None = None, steps: int = 1, mask: Any = None
    ) -> np.ndarray:
        """Sets values by path, then makes so many steps; returns which members are done.

        Members that are done stay as they are until they are reset. mask: bool [n], the members
        that are meant.
        """
        steps = _whole(steps, "steps", 0)
        which = self._mask(mask)
        for path, numbers in self._checked(actions, "actions").items():
            self._core.set(path, which, numbers)
        self._core.step(which, steps)
        return self.done

    def save(self) -> Any:
        """Where the members are, for restore()."""
        return self._core.save()

    def restore(self, saved: Any, mask: Any = None) -> None:
        """Members go back to where they were when save() was called. Values stay as they are."""
        if not isinstance(saved, _core.SavedMembers):
            raise _fault("saved", f"what save() gave is needed, not {type(saved).__name__}")
        self._core.restore(self._mask(mask), saved)

    # ---- results

    def observe(self, names: str | Sequence[str]) -> Any:
        """State arrays as they stand, [n, ...]: one for one name, else a dict. Copies."""
        if isinstance(names, str):
            return self._core.observe(names)
        return {name: self._core.observe(name) for name in _names(names, "names")}

    @property
    def observed(self) -> list[str]:
        """The names that observe(), reset(states=...) and vjp() take."""
        return self._core.observed

    @property
    def losses(self) -> np.ndarray:
        """The objective as far as it has come, [n]; NaN of members that diverged."""
        return self._core.losses

    @property
    def done(self) -> np.ndarray:
        """Which members are at the end of the scene's steps, or have diverged: bool [n]."""
        return self._core.done

    @property
    def diverged(self) -> np.ndarray:
        """Which members have numbers that are not finite: bool [n]."""
        return self._core.diverged

    @property
    def steps_done(self) -> np.ndarray:
        """Since the last reset, [n]."""
        return self._core.steps_done

    @property
    def steps(self) -> int:
        """Of a whole episode: those of the scene, or load(steps=...)."""
        return self._core.steps

    # ---- derivatives

    def value_and_grad(
        self, paths: str | Sequence[str] | None = None
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Losses [n] of runs from the start to the end, and their gradients {path: [n, ...]}.

        The members stay where they are. Without paths, the scene's parameters.
        """
        names = self._sim._paths(paths)
        losses, gradients, _ = self._core.value_and_gradient(names)
        return losses, dict(zip(names, gradients))

    def vjp(
        self,
        paths: str | Sequence[str],
        steps: int = 1,
        cotangents: Mapping[str, Any] | None = None,
        loss: float = 0.0,
        states: str | Sequence[str] = (),
    ) -> Pulled:
        """The gradient through a window of steps that begins where each member is.

        Of loss * objective + sum of cotangents * states, both at the window's end, by the values
        that count in the window, and by `states` where it begins. cotangents: {name: [n, ...]}. The
        members stay where they are; windows end with the episode. NaN of members that diverged.
        """
        names, at_start = _names(paths, "paths"), _names(states, "states")
        if isinstance(loss, bool) or not isinstance(loss, (int, float, np.number)):
            raise _fault("loss", f"a number is needed, not {type(loss).__name__}")
        losses, by_path, by_state = self._core.pull_back(
            names,
            at_start,
            _whole(steps, "steps", 0),
            float(loss),
            self._states(cotangents, "cotangents"),
        )
        return Pulled(losses, dict(zip(names, by_path)), dict(zip(at_start, by_state)))

    def __repr__(self) -> str:
        return f"hindcast.Batch of {len(self)} times {self._sim!r}"
