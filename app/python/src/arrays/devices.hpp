// Memory and streams of CUDA devices, as other libraries have them.
#pragma once

#include "app/python/src/bindings.hpp"
#include "engine/base/error.hpp"
#include "engine/runtime/device/stream.hpp"

namespace hindcast::python {

// A stream of hindcast's or of another library, which is kept.
struct PyStream {
    Stream stream;
    nb::object owner;
};

// A Device, or the name of one. Throws Error where it cannot be had.
std::shared_ptr<Device> to_device(nb::handle device);
// The device that memory of CUDA device `ordinal` belongs to, where none is named.
const std::shared_ptr<Device>& cuda_device(int ordinal);
// hindcast.Stream, a handle, or an object of another library that has one (__cuda_stream__, CuPy's
// ptr, PyTorch's cuda_stream). `device`: of a handle; null: the first, or the object's own.
PyStream to_stream(nb::handle object, std::shared_ptr<Device> device);

// A part of an array interface. Throws Error where it is of another type than the protocol says.
template <class T>
T part_of(nb::handle given, const char* name, const char* kind) {
    T part{};
    if (!nb::try_cast(given, part))
        throw Error(std::string("its array interface has a '") + name + "' that is no " + kind +
                    ": " + nb::repr(given).c_str())
            .remedy("give an array of NumPy, or mend the interface");
    return part;
}
std::vector<std::int64_t> integers_of(nb::handle sequence, const char* name);

// The memory of a CUDA device that the object describes, in order with the work of its owner from
// now on; nothing if it does not describe any. `device`: the one whose streams wait; null: the
// memory's own, which is then set. `owner` keeps the memory.
std::optional<interop::Strided> from_device(nb::handle object, nb::object& owner,
                                            std::shared_ptr<Device>& device);
// A copy on the device of C-contiguous memory of the host; `owner` keeps it.
interop::Strided copy_to_device(const interop::Strided& host, const Device& device,
                                nb::object& owner);
// A copy in the memory of the host: NumPy's.
nb::object copy_to_host(const interop::Strided& memory, const Device& device);

// An array on a device as other libraries want it.
nb::dict cuda_interface(const PyArray& array);
nb::object to_capsule(nb::handle array, const nb::kwargs& options);

void bind_streams(nb::module_& m);

}  // namespace hindcast::python
