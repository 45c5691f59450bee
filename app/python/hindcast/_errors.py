import os
import sys
import warnings


class ArgumentError(TypeError, ValueError):
    """An argument that cannot be taken: of another type, shape, memory or name."""


class PhysicsWarning(UserWarning):
    """A finding about a scene that does not stop a run.

    identifier: what a scene accepts under "accepted_warnings", such as "time_step".
    pointer: the JSON pointer of the object in the scene; "": the whole scene.
    numbers: a dict of the numbers behind it, SI units.
    step: after so many whole steps; None: when the scene was loaded.
    remedy: what to write or change.
    """

    def __init__(self, text, identifier="", pointer="", numbers=None, step=None, remedy=""):
        super().__init__(text)
        self.identifier = identifier
        self.pointer = pointer
        self.numbers = dict(numbers or {})
        self.step = step
        self.remedy = remedy


def issue_warning(text, identifier, pointer, numbers, step, remedy):
    """Issues a PhysicsWarning at the caller's line outside of this package."""
    package = os.path.dirname(os.path.abspath(__file__))
    depth, frame = 1, sys._getframe(0)
    while frame is not None and os.path.abspath(frame.f_code.co_filename).startswith(package):
        depth, frame = depth + 1, frame.f_back
    warnings.warn(
        PhysicsWarning(text, identifier, pointer, numbers, step, remedy),
        stacklevel=depth if frame is not None else 1,
    )
