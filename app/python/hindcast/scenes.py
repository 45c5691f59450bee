"""Scenes: simulations that are run, differentiated and optimized, with values that paths name.

    sim = hc.load("scenes/spring_cage.json")
    sim["cage.stiffness"] = 120.0
    loss, grad = sim.value_and_grad(["cage.rest_length"])
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hindcast import _core
from hindcast._arguments import fault as _fault
from hindcast._arguments import names_of as _names
from hindcast._arguments import numbers_of as _numbers
from hindcast._arguments import path_of as _path
from hindcast._arguments import to_json
from hindcast._errors import PhysicsWarning
from hindcast.batches import Batch

__all__ = ["Check", "Optimized", "Simulation", "Value", "load", "scene"]


class Value(NamedTuple):
    """What a path stands for."""

    shape: tuple[int, ...]
    unit: str
    differentiable: bool


@dataclass(frozen=True)
class Optimized:
    """What an optimization came to."""

    loss: float  # the lowest
    history: np.ndarray  # losses, one before each update and one after the last
    gradient_norms: np.ndarray
    stopped: str  # iterations, converged, stopped, not_finite, stuck
    reason: str
    evaluations: int
    parameters: dict[str, Any]  # the best


@dataclass(frozen=True)
class Check:
    """A gradient against differences of the loss."""

    passed: bool
    verdicts: dict[str, str]  # by path, the worst of its numbers that were checked
    failures: list[str]
    text: str

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        return self.text


def _device(device: Any) -> _core.Device | None:
    if device is None or isinstance(device, _core.Device):
        return device
    if device == "cpu":
        return None
    if isinstance(device, str):
        return _core.device(device)
    raise _fault("device", f"a name or a hindcast.Device is needed, not {type(device).__name__}")


def _options(device: Any, precision: Any, steps: Any, seed: Any) -> tuple:
    if precision not in ("f32", "f64"):
        raise _fault("precision", f"{precision!r} is neither 'f32' nor 'f64'")
    if steps is None:
        steps = -1
    elif isinstance(steps, bool) or not isinstance(steps, (int, np.integer)) or steps < 0:
        raise _fault("steps", f"{steps!r} is no number of steps")
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**64:
        raise _fault("seed", f"{seed!r} is no whole number from 0 to {2**64 - 1}")
    return _device(device), precision, int(steps), int(seed)


def load(
    file: str | os.PathLike,
    device: str | _core.Device | None = None,
    precision: str = "f64",
    steps: int | None = None,
    seed: int = 0,
) -> Simulation:
    """The simulation of a scene's file.

    device: "cpu" (also without one), "interpreter", "cuda", or a hindcast.Device. steps: so many
    instead of the scene's. seed: mixed into every seed of the scene; 0 changes nothing.
    """
    try:
        file = os.fsdecode(os.fspath(file))
    except TypeError:
        raise _fault("file", f"a path is needed, not {type(file).__name__}") from None
    return Simulation(_core.Scene.load(file, *_options(device, precision, steps, seed)))


def scene(
    document: Mapping | str,
    device: str | _core.Device | None = None,
    precision: str = "f64",
    steps: int | None = None,
    seed: int = 0,
    file: str | os.PathLike = "",
) -> Simulation:
    """The simulation of a scene that is given as a dict or as JSON text.

    file: where it would stand; files that it names are looked for beside it. The rest as load().
    """
    if isinstance(document, Mapping):
        document = to_json(dict(document), "document")
    elif not isinstance(document, str):
        raise _fault("document", f"a dict or JSON text is needed, not {type(document).__name__}")
    options = _options(device, precision, steps, seed)
    return Simulation(_core.Scene.parse(document, os.fsdecode(os.fspath(file)), *options))


class Simulation:
    """A scene that is ready to run; load() and scene() make it.

    One thread works with it at a time, the others wait. Several simulations run on several threads
    at once: long calls leave Python to the others. Ctrl-C ends them, whatever they are at.

    pickle and copy.deepcopy carry the scene's text, its place, the options and the values that were
    set, so that the other one computes the same bits. It has run nothing yet, and reads the files that
    the scene names where they are.
    """

    def __init__(self, core: _core.Scene):
        self._core = core

    # ---- values

    def __getitem__(self, path: str) -> Any:
        """The value at a path: a number, or an array of the value's shape. A copy."""
        value = self._core.value(_path(path))
        return json.loads(self._core.json(path)) if value is None else value

    def __setitem__(self, path: str, value: Any) -> None:
        """Sets a value: numbers of its shape, or that can be broadcast to it.

        A value for all elements becomes one per element where it is given one for each. What is no
        number of the physics, such as "time.steps" or {"formula": ...}, is set in the scene, and
        everything is made again.
        """
        now = self._core.value(_path(path))
        if now is None or isinstance(value, (str, Mapping, bool)):
            self._core.set_json(path, to_json(value, "value"))
            return
        shape = np.shape(now)
        numbers = _numbers(value, "value", None)
        if numbers.shape != shape:
            if numbers.shape == self._shape_per_element(path):
                self._core.make_per_element(path)
            else:
                numbers = _numbers(numbers, "value", shape)
        self._core.set(path, numbers)

    def _shape_per_element(self, path: str) -> tuple[int, ...] | None:
        for name, shape, _, _, count, shared in self._core.paths():
            if name == path and shared and count > 1:
                return (count, *shape)
        return None

    def paths(self) -> dict[str, Value]:
        """Every number of the scene that enters the physics, with shape and unit."""
        return {
            path: Value(shape, unit, differentiable)
            for path, shape, unit, differentiable, _, _ in self._core.paths()
        }

    @property
    def parameters(self) -> list[str]:
        """The paths that the scene names as its parameters."""
        return self._core.parameters()

    @property
    def warnings(self) -> list[PhysicsWarning]:
        """What was found about the scene: when it was made, and in the last run.

        Each is also issued once, as Python's warnings are, when it is found.
        """
        found = (json.loads(line) for line in self._core.warnings)
        return [
            PhysicsWarning(
                w["happened"], w["identifier"], w["pointer"], w["numbers"], w.get("step"), w["remedy"]
            )
            for w in found
        ]

    # ---- runs

    def run(self, keep: str | Sequence[str] = ()) -> float:
        """Runs all steps and returns the loss: NaN if the run diverged.

        keep: names of state arrays; state() then has them as they were after each step.
        """
        return self._core.run(_names(keep, "keep"))

    def state(self, name: str) -> np.ndarray:
        """What the last run(keep=...) kept: frames × points × dimension.

        Frame k is the state after k steps. A view that stays as it is when others run.
        """
        return self._core.state(_path(name, "name"))

    def final(self, name: str) -> np.ndarray:
        """An array of the model as the last run left it. A copy."""
        return self._core.final(_path(name, "name"))

    @property
    def arrays(self) -> list[str]:
        """The names that run(keep=...), state() and final() take."""
        return self._core.arrays

    @property
    def loss(self) -> float:
        """Of the last run."""
        return self._core.loss

    @property
    def terms(self) -> dict[str, float]:
        """The objective's terms in the last run, without their weights."""
        return self._core.terms

    @property
    def hash(self) -> str:
        """Of the state that the last run left: the same digits for the same bits."""
        return self._core.hash

    @property
    def steps(self) -> int:
        """Whole steps of a run."""
        return self._core.steps

    @property
    def time(self) -> float:
        """Seconds that a run simulates."""
        return self._core.steps * self._core.step

    @property
    def precision(self) -> str:
        """Of its numbers: "f32" or "f64"."""
        return self._core.precision

    @property
    def device(self) -> _core.Device:
        """Where it runs."""
        return self._core.device

    # ---- derivatives

    def value_and_grad(
        self, paths: str | Sequence[str] | None = None
    ) -> tuple[float, dict[str, Any]]:
        """The loss, and its gradient by path: numbers of the value's shape.

        Any differentiable path may be asked for; without paths, the scene's parameters. A value for
        all elements has one number.
        """
        names = self._paths(paths)
        loss, gradients = self._core.value_and_gradient(names)
        return loss, dict(zip(names, gradients))

    def grad(self, paths: str | Sequence[str] | None = None) -> dict[str, Any]:
        """The gradient of the loss by path."""
        return self.value_and_grad(paths)[1]

    def hvp(self, paths: str | Sequence[str] | None, direction: Mapping[str, Any]) -> dict:
        """The Hessian of the loss times a direction, which is given by path."""
        names = self._paths(paths)
        products = self._core.hessian_product(names, self._direction(names, direction))
        return dict(zip(names, products))

    def jvp(
        self, paths: str | Sequence[str] | None, direction: Mapping[str, Any]
    ) -> tuple[float, float]:
        """The loss, and its derivative along a direction, which is given by path."""
        names = self._paths(paths)
        return self._core.directional_derivative(names, self._direction(names, direction))

    def check(
        self,
        paths: str | Sequence[str] | None = None,
        entries: int = 16,
        directions: int = 8,
        hessian: bool = False,
    ) -> Check:
        """Compares the gradient with differences of the f64 loss and with forward mode."""
        for name, count in (("entries", entries), ("directions", directions)):
            if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 0:
                raise _fault(name, f"{count!r} is no number of comparisons")
        return Check(*self._core.check(self._paths(paths), entries, directions, bool(hessian)))

    def _paths(self, paths: str | Iterable[str] | None) -> list[str]:
        if paths is not None:
            return _names(paths, "paths")
        names = self.parameters
        if not names:
            raise _fault("paths", "the scene has no parameters; name what is to be differentiated")
        return names

    def _direction(self, paths: list[str], direction: Mapping[str, Any]) -> np.ndarray:
        if not isinstance(direction, Mapping):
            raise _fault("direction", f"a dict by path is needed, not {type(direction).__name__}")
        if other := [repr(path) for path in direction if path not in paths]:
            raise _fault("direction", f"{', '.join(other)} is not among the paths")
        parts = []
        for path, shape in zip(paths, self._core.shapes(paths)):
            if path not in direction:
                raise _fault("direction", f"'{path}' is missing")
            numbers = _numbers(direction[path], f"direction: '{path}'", None)
            if numbers.shape != shape:
                what = f"'{path}' has the shape {numbers.shape}, and {shape} is needed"
                raise _fault("direction", what)
            parts.append(numbers.ravel())
        return np.concatenate(parts)

    # ---- optimization

    def optimize(
        self,
        iterations: int | None = None,
        callback: Callable[[int, float], Any] | None = None,
        progress: bool = False,
    ) -> Optimized:
        """Improves the scene's parameters with the scene's optimizer.

        Afterward the simulation has the best ones, also if it was interrupted. iterations: so many
        updates instead of the scene's. callback(iteration, loss) is called before each update and
        after the last; it may read values, and return False to stop. progress: a bar, with tqdm.
        """
        if iterations is None:
            iterations = -1
        elif (
            isinstance(iterations, bool)
            or not isinstance(iterations, (int, np.integer))
            or iterations < 0
        ):
            raise _fault("iterations", f"{iterations!r} is no number of iterations")
        if callback is not None and not callable(callback):
            raise _fault("callback", f"a function is needed, not {type(callback).__name__}")
        bar = self._bar(iterations) if progress else None
        if bar is not None:
            callback = _with_bar(bar, callback)
        try:
            result = self._core.optimize(int(iterations), callback)
        finally:
            if bar is not None:
                bar.close()
        return Optimized(*result, {path: self[path] for path in self.parameters})

    def _bar(self, iterations: int) -> Any:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return None
        total = iterations if iterations >= 0 else self._core.iterations
        return tqdm(total=total, unit="iteration")

    # ---- many of it

    def batch(self, n: int, values: Mapping[str, Any] | None = None) -> Batch:
        """n members that go their own ways, with the values as they stand: environments.

        values: {path: [n, ...]}, or what can be broadcast to it.
        """
        return Batch(self, n, values)

    # ---- pictures

    def render(
        self,
        frame: int | None = None,
        width: int = 640,
        height: int = 480,
        camera: str | Mapping[str, Any] | None = None,
        color_by: str | None = None,
        arrows: str | None = None,
        floor: bool = True,
        dark: bool = True,
        edges: bool = False,
        heights: bool | float | None = None,
        *,
        colour_by: str | None = None,
    ) -> np.ndarray:
        """A picture after so many steps, or at the end: uint8 [height, width, 4], red first.

        camera: "front", "right" or "top", or a dict of some of eye, target, up (m), field_of_view
        (degrees), orthographic, closer (times) and side; without it as the scene says. color_by:
        what is shown as color, such as "speed"; "" for none. arrows: likewise, such as "velocity".
        heights: fields as surfaces, so many m high for each unit, or with True as high as the scene's
        view says, else 1 m; without it as the scene's view says, like the slice and tubes. Needs
        Vulkan, which may be software. Frames that were computed are kept until a value changes.
        colour_by: color_by, as earlier versions spelled it.
        """
        if not hasattr(_core, "render_scene"):
            needs = getattr(_core, "_renderer_needs", "")
            raise _core.Error(
                "this build of hindcast has no renderer; build it with one: "
                f"{f'apt-get install {needs}, then ' if needs else ''}"
                "pip install --force-reinstall --no-deps ./app/python -C cmake.define.HINDCAST_PYTHON_RENDER=ON"
            )
        if colour_by is not None:
            if color_by is not None:
                raise _fault("colour_by", "color_by is given as well; leave this out")
            color_by = colour_by
        if frame is None:
            frame = -1
        else:
            frame = _size(frame, "frame", 0, 2**62)
        return _core.render_scene(
            self._core,
            frame,
            _size(width, "width", 1, 16384),
            _size(height, "height", 1, 16384),
            **_camera(camera),
            heights=_heights(heights),
            color_by=None if color_by is None else _path(color_by, "color_by"),
            arrows=None if arrows is None else _path(arrows, "arrows"),
            floor=bool(floor),
            dark=bool(dark),
            edges=bool(edges),
        )

    # ---- the scene

    def save(self, file: str | os.PathLike) -> None:
        """Writes the scene with the values as they stand. Long arrays go into files beside it."""
        try:
            file = os.fsdecode(os.fspath(file))
        except TypeError:
            raise _fault("file", f"a path is needed, not {type(file).__name__}") from None
        self._core.save(file)

    @property
    def name(self) -> str:
        """The scene's."""
        return self._core.name

    def __repr__(self) -> str:
        where = repr(self.device).removeprefix("hindcast.Device: ")
        steps = self._core.steps
        plural = "" if steps == 1 else "s"
        return (
            f"hindcast.Simulation '{self.name}': {steps} step{plural} of {self._core.step:g} s; "
            f"{self.precision}; {where}"
        )


def _size(number: Any, name: str, least: int, most: int) -> int:
    if (
        isinstance(number, bool)
        or not isinstance(number, (int, np.integer))
        or not least <= number <= most
    ):
        raise _fault(name, f"{number!r} is no whole number from {least} to {most}")
    return int(number)


def _heights(heights: bool | float | None) -> float | None:
    """As the core takes it: below 0 for the scene's own height."""
    if heights is None:
        return None
    if isinstance(heights, bool):
        return -1.0 if heights else 0.0
    number = float(_numbers(heights, "heights", ()))
    if not 0 < number < math.inf:
        raise _fault("heights", f"a height is positive, not {number:g}")
    return number


def _camera(camera: Any) -> dict[str, Any]:
    wish = {
        "side": "default",
        "eye": None,
        "target": None,
        "up": None,
        "field_of_view": 40.0,
        "orthographic": False,
        "closer": 1.0,
    }
    if isinstance(camera, str):
        camera = {"side": camera}
    elif camera is None:
        camera = {}
    elif not isinstance(camera, Mapping):
        raise _fault("camera", f"a side or a dict is needed, not {type(camera).__name__}")
    for name, value in camera.items():
        if name not in wish:
            raise _fault("camera", f"{name!r} is none of {', '.join(wish)}")
        if name in ("eye", "target", "up"):
            wish[name] = _numbers(value, f"camera: '{name}'", (3,)).tolist()
        elif name in ("field_of_view", "closer"):
            number = float(_numbers(value, f"camera: '{name}'", ()))
            low, high = (1, 170) if name == "field_of_view" else (0.01, 100)
            if not low <= number <= high:
                raise _fault("camera", f"'{name}' is from {low} to {high}, not {number:g}")
            wish[name] = number
        elif name == "orthographic":
            wish[name] = bool(value)
        elif value not in ("default", "front", "right", "top"):
            raise _fault("camera", f"{value!r} is none of default, front, right, top")
        else:
            wish[name] = value
    for name in ("eye", "target", "up"):
        if wish[name] is not None and not np.all(np.isfinite(wish[name])):
            raise _fault("camera", f"'{name}' is not finite")
    return wish


def _with_bar(bar: Any, callback: Callable[[int, float], Any] | None) -> Callable:
    def report(iteration: int, loss: float) -> Any:
        bar.update(iteration - bar.n)
        bar.set_postfix_str(f"loss {loss:.6g}", refresh=False)
        return None if callback is None else callback(iteration, loss)

    return report
