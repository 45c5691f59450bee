"""Objects of hindcast in other processes: pickle and copy, and so multiprocessing, joblib, Ray, submitit.

What travels is what an object was made of, exactly:

    hc.load(), hc.scene()       the scene's text with its place, precision, steps, seed, device, and all
                                values that were set; no run, and no files that the scene names
    hc.jax.simulation(), hc.torch.simulation()    the same, without values, and inputs and outputs
    kernels                     name, parameters and recorded steps: neither the function nor its module
    hc.jax.kernel(), hc.jax.callable(), hc.torch.kernel()    their arguments
    arrays                      their numbers, and what an element is; no gradients or tangents
    devices                     the name and the options

What is bound to this process is a TypeError that says what to send instead.
"""

import copyreg

from hindcast import _core


def scene_of(made, values):
    scene = _core.Scene.parse(*made)
    for path, numbers in values:
        scene.set(path, numbers)
    return scene


def kernel_of_parts(parts):
    if len(parts) == 2:
        return _core._built_in(*parts)
    name, parameters, documentation, description = parts
    return _core._make_kernel(name, parameters, documentation, lambda: description)


def array_of(numbers, dtype, device):
    return _core.array(numbers, dtype, device=device)


def data_type_of(name):
    import hindcast

    return getattr(hindcast, name)


def device_of(*parts):
    return _core.device(*parts)


def _reduce_array(array):
    device = array.device and _core._device_parts(array.device)[0]
    return array_of, (array.numpy(), _core._array_type(array), device)


def _refuse(what, remedy):
    def reduce(_):
        raise TypeError(f"{what} cannot be copied or sent to another process: {remedy}")

    return reduce


copyreg.pickle(_core.Scene, lambda scene: (scene_of, _core._scene_parts(scene)))
copyreg.pickle(_core.Kernel, lambda kernel: (kernel_of_parts, (_core._kernel_parts(kernel),)))
copyreg.pickle(_core.Array, _reduce_array)
copyreg.pickle(_core.DataType, lambda dtype: (data_type_of, (dtype.name,)))
copyreg.pickle(_core.Device, lambda device: (device_of, _core._device_parts(device)))
copyreg.pickle(
    _core.Launch,
    _refuse(
        "a launch",
        "it is bound to arrays of this process; send its kernel and its arrays, and hc.record() there",
    ),
)
copyreg.pickle(
    _core.Tape,
    _refuse(
        "a tape", "it is bound to arrays of this process; send the kernels and arrays, and record there"
    ),
)
for _kind in (_core.Batch, _core.SavedMembers):
    copyreg.pickle(
        _kind,
        _refuse(
            "a batch",
            "its members are in the middle of their runs; send the simulation, values and "
            "observe(), and there make sim.batch(n, values) and reset(states=...)",
        ),
    )
for _kind in (_core.Stream, _core.Event):
    copyreg.pickle(
        _kind,
        _refuse(
            f"hindcast.{_kind.__name__}", "it is one of a device in this process; make one there"
        ),
    )
