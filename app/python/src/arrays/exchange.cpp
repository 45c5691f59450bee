// Memory of CUDA devices, taken from other libraries and given to them: DLPack and
// __cuda_array_interface__.
#include <fmt/format.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <map>
#include <mutex>

#include "app/python/src/arrays/devices.hpp"
#include "engine/backend/cuda/context.hpp"
#include "engine/base/error.hpp"
#include "engine/interop/dlpack.hpp"
#include "engine/runtime/array/memory.hpp"

namespace hindcast::python {

using namespace nb::literals;
namespace dlpack = interop::dlpack;
using backend::cuda::StreamHandle;
using interop::Strided;

namespace {

constexpr const char *versioned_name = "dltensor_versioned", *old_name = "dltensor";

StreamHandle stream_handle(std::int64_t number) {
    return reinterpret_cast<StreamHandle>(number);  // NOLINT: a number is what the protocols give
}

[[noreturn]] void raise(PyObject* kind, const std::string& message) {
    PyErr_SetString(kind, message.c_str());
    throw nb::python_error();
}

// ---- capsules --------------------------------------------------------------------------------

template <class Managed>
nb::object capsule(Managed* managed, const char* name) {
    constexpr auto forget = [](PyObject* self) {  // no consumer has taken it
        for (const char* kind : {versioned_name, old_name}) {
            if (PyCapsule_IsValid(self, kind) == 0) continue;
            auto* const m = static_cast<Managed*>(PyCapsule_GetPointer(self, kind));
            m->deleter(m);
        }
    };
    return nb::steal(PyCapsule_New(managed, name, forget));
}

// The memory in a capsule, which is then used up; `keep` frees it.
template <class Managed>
Strided taken(nb::handle from, const char* name, const char* used, nb::object& keep) {
    auto* const managed = static_cast<Managed*>(PyCapsule_GetPointer(from.ptr(), name));
    if (managed == nullptr) throw nb::python_error();
    bool read_only = false;
    if constexpr (std::is_same_v<Managed, dlpack::Versioned>) {
        if (managed->major != 1)
            throw Error(
                fmt::format("its DLPack is of version {}.{}", managed->major, managed->minor))
                .remedy("version 1 is understood");
        read_only = managed->is_read_only();
    }
    const Strided memory = dlpack::strided_of(managed->tensor, read_only);
    PyCapsule_SetName(from.ptr(), used);
    keep = nb::capsule(managed, [](void* p) noexcept {
        auto* const m = static_cast<Managed*>(p);
        if (m->deleter != nullptr) m->deleter(m);
    });
    return memory;
}

bool is_on_cuda(nb::handle object, int& number) {
    if (!nb::hasattr(object, "__dlpack__") || !nb::hasattr(object, "__dlpack_device__"))
        return false;
    const auto device = nb::cast<nb::tuple>(object.attr("__dlpack_device__")());
    number = nb::cast<int>(device[1]);
    return nb::cast<int>(device[0]) == dlpack::cuda;
}

Strided from_dlpack(nb::handle object, Device& device, nb::object& keep) {
    // Work that the owner has put on its streams comes before work on this one.
    const auto stream = nb::int_(reinterpret_cast<std::intptr_t>(device.cuda()->stream()));
    nb::object out;
    try {
        out =
            object.attr("__dlpack__")("stream"_a = stream, "max_version"_a = nb::make_tuple(1, 0));
    } catch (nb::python_error& error) {
        if (!error.matches(PyExc_TypeError)) throw;
        out = object.attr("__dlpack__")("stream"_a = stream);  // older than versions
    }
    device.cuda()->wait_for(device.cuda()->stream());
    if (PyCapsule_IsValid(out.ptr(), versioned_name) != 0)
        return taken<dlpack::Versioned>(out, versioned_name, "used_dltensor_versioned", keep);
    return taken<dlpack::Unversioned>(out, old_name, "used_dltensor", keep);
}

interop::CudaArrayInterface described(const nb::dict& dict) {
    interop::CudaArrayInterface i;
    for (const char* key : {"shape", "typestr", "data"})
        if (!dict.contains(key))
            throw Error(fmt::format("its __cuda_array_interface__ has no '{}'", key));
    i.typestr = part_of<std::string>(dict["typestr"], "typestr", "text");
    if (i.typestr.starts_with("=")) i.typestr[0] = '<';
    if (!dict["shape"].is_none()) i.shape = integers_of(dict["shape"], "shape");
    if (dict.contains("strides") && !dict["strides"].is_none())
        i.strides = integers_of(dict["strides"], "strides");
    i.has_mask = dict.contains("mask") && !dict["mask"].is_none();
    if (!nb::isinstance<nb::tuple>(dict["data"]))
        throw Error("its __cuda_array_interface__ has no 'data' of (pointer, read-only)");
    const auto data = nb::cast<nb::tuple>(dict["data"]);
    if (data.size() != 2)
        throw Error("its __cuda_array_interface__ has no 'data' of (pointer, read-only)");
    i.data = data[0].is_none() ? 0 : part_of<std::uintptr_t>(data[0], "data", "address");
    i.read_only = nb::cast<bool>(nb::bool_(data[1]));
    if (dict.contains("stream") && !dict["stream"].is_none())
        i.stream = part_of<std::int64_t>(dict["stream"], "stream", "number");
    return i;
}

}  // namespace

const std::shared_ptr<Device>& cuda_device(int ordinal) {
    static std::mutex mutex;
    static auto* const devices = new std::map<int, std::shared_ptr<Device>>;  // never taken apart
    const std::lock_guard lock(mutex);
    std::shared_ptr<Device>& device = (*devices)[ordinal];
    if (!device)
        device =
            std::make_shared<Device>(DeviceOptions{.kind = DeviceKind::cuda, .ordinal = ordinal});
    return device;
}

std::shared_ptr<Device> to_device(nb::handle device) {
    if (nb::isinstance<Device>(device)) return nb::cast<std::shared_ptr<Device>>(device);
    if (!nb::isinstance<nb::str>(device))
        throw Error("device: a hindcast.Device or its name is expected, such as 'cuda:0'");
    DeviceOptions options;
    choose_device(options, nb::cast<std::string>(device));
    if (options.kind == DeviceKind::cuda) return cuda_device(options.ordinal);
    if (options.kind == DeviceKind::cpu) return default_device();
    return std::make_shared<Device>(options);
}

std::optional<Strided> from_device(nb::handle object, nb::object& owner,
                                   std::shared_ptr<Device>& device) {
    int ordinal = 0;
    if (is_on_cuda(object, ordinal)) {
        if (!device || !device->cuda() || device->cuda()->ordinal() != ordinal)
            device = cuda_device(ordinal);
        nb::object keep;
        Strided memory = from_dlpack(object, *device, keep);
        interop::check_covered(memory, *device->cuda());
        owner = nb::make_tuple(nb::borrow(object), keep);
        return memory;
    }
    if (!nb::hasattr(object, "__cuda_array_interface__")) return {};
    const auto dict = part_of<nb::dict>(object.attr("__cuda_array_interface__"),
                                        "__cuda_array_interface__", "dict");
    const interop::CudaArrayInterface interface = described(dict);
    Strided memory = interop::strided_of(interface);
    if (!device || !device->cuda() || device->cuda()->ordinal() != memory.device)
        device = cuda_device(memory.device);
    interop::check_covered(memory, *device->cuda());
    if (interface.stream) device->cuda()->wait_for(stream_handle(*interface.stream));
    owner = nb::borrow(object);
    return memory;
}

nb::object copy_to_host(const Strided& memory, const Device& device) {
    const Strided::Extent extent = memory.extent();
    const auto bytes = static_cast<std::int64_t>(ir::size_of(memory.type));
    std::vector<std::byte> host(static_cast<std::size_t>((extent.high - extent.low) * bytes) + 1);
    device.cuda()->download(
        host.data(),
        backend::cuda::address_of(memory.data) + static_cast<std::uint64_t>(extent.low * bytes),
        host.size() - 1);
    const std::vector<std::size_t> shape(memory.shape.begin(), memory.shape.end());
    const nb::object view = nb::cast(nb::ndarray<nb::numpy, nb::ro>(
        host.data() - extent.low * bytes, shape.size(), shape.data(), nb::none(),
        memory.strides.data(), dlpack_type(memory.type)));
    return view.attr("copy")();
}

Strided copy_to_device(const Strided& host, const Device& device, nb::object& owner) {
    const auto bytes = static_cast<std::size_t>(host.size()) * ir::size_of(host.type);
    auto* const block = new backend::cuda::Block(device.cuda(), bytes);
    owner =
        nb::capsule(block, [](void* p) noexcept { delete static_cast<backend::cuda::Block*>(p); });
    device.cuda()->upload(block->address(), host.data, bytes);
    Strided there = host;
    there.data = block->data();
    there.device = device.cuda()->ordinal();
    there.read_only = false;
    return there;
}

// ---- to other libraries ----------------------------------------------------------------------

nb::dict cuda_interface(const PyArray& array) {
    const Strided& memory = array.memory();
    nb::dict dict;
    dict["shape"] = nb::tuple(nb::cast(memory.shape));
    dict["typestr"] = interop::typestr_of(memory.type);
    dict["data"] = nb::make_tuple(
        memory.size() == 0 ? 0 : reinterpret_cast<std::uintptr_t>(memory.data), memory.read_only);
    dict["version"] = 3;
    dict["strides"] = nb::none();
    if (!memory.is_contiguous()) {
        std::vector<std::int64_t> strides = memory.strides;
        for (auto& s : strides) s *= static_cast<std::int64_t>(ir::size_of(memory.type));
        dict["strides"] = nb::tuple(nb::cast(strides));
    }
    dict["stream"] = reinterpret_cast<std::intptr_t>(array.device()->cuda()->ready_stream());
    return dict;
}

namespace {

// The arguments that a consumer passes to __dlpack__.
struct Wanted {
    std::optional<std::int64_t> stream;
    bool is_versioned = false;
    std::optional<std::pair<int, int>> device;
    std::optional<bool> copy;
};

Wanted wanted_of(const nb::kwargs& options) {
    Wanted w;
    for (const auto& [key, value] : options) {
        const auto name = nb::cast<std::string>(key);
        if (name != "stream" && name != "max_version" && name != "dl_device" && name != "copy")
            raise(PyExc_TypeError, "__dlpack__ has no argument '" + name + "'");
        if (value.is_none()) continue;
        if (name == "stream")
            w.stream = nb::cast<std::int64_t>(value);
        else if (name == "max_version")
            w.is_versioned = nb::cast<int>(value[nb::int_(0)]) >= 1;
        else if (name == "dl_device")
            w.device = {nb::cast<int>(value[nb::int_(0)]), nb::cast<int>(value[nb::int_(1)])};
        else
            w.copy = nb::cast<bool>(value);
    }
    return w;
}

}  // namespace

nb::object to_capsule(nb::handle self, const nb::kwargs& options) {
    PyArray& array = nb::cast<PyArray&>(self);
    const Strided& memory = array.memory();
    const Wanted w = wanted_of(options);
    if (w.device && w.device != std::pair<int, int>(dlpack::cuda, memory.device)) {
        if (w.device->first != dlpack::cpu || w.copy == false)
            raise(PyExc_BufferError,
                  fmt::format("the array is on CUDA device {}, and device ({}, {}) is asked for",
                              memory.device, w.device->first, w.device->second));
        nb::kwargs rest;
        if (w.is_versioned) rest["max_version"] = nb::make_tuple(1, 0);
        return copy_to_host(memory, *array.device()).attr("__dlpack__")(**rest);
    }
    if (w.stream == 0)
        raise(PyExc_ValueError,
              "stream: 0 may be one of two; give 1, the legacy default stream, or 2, that of each "
              "thread");
    Strided given = memory;
    std::shared_ptr<void> owner = kept(nb::borrow(self));
    if (w.copy == true) {
        if (!memory.is_contiguous())
            raise(PyExc_BufferError, "copy: an array with gaps is not copied on its device");
        const auto block = std::make_shared<backend::cuda::Block>(
            array.device()->cuda(),
            static_cast<std::size_t>(memory.size()) * ir::size_of(memory.type));
        array.device()->cuda()->copy(block->address(), backend::cuda::address_of(memory.data),
                                     block->size());
        given.data = block->data();
        given.read_only = false;
        owner = block;
    }
    if (!w.is_versioned && given.read_only)
        raise(PyExc_BufferError,
              "the array is read only, which an old DLPack capsule cannot say; ask for "
              "max_version=(1, 0) or copy=True");
    constexpr std::int64_t no_order = -1, legacy = 1;
    if (w.stream != no_order)
        array.device()->cuda()->let_wait(stream_handle(w.stream.value_or(legacy)));
    if (w.is_versioned)
        return capsule(dlpack::versioned(given, std::move(owner), w.copy == true), versioned_name);
    return capsule(dlpack::unversioned(given, std::move(owner)), old_name);
}

// ---- streams ---------------------------------------------------------------------------------

PyStream to_stream(nb::handle object, std::shared_ptr<Device> device) {
    if (nb::isinstance<PyStream>(object)) return nb::cast<PyStream&>(object);
    std::optional<std::int64_t> handle;
    int ordinal = 0;
    if (nb::isinstance<nb::int_>(object) && !nb::isinstance<nb::bool_>(object)) {
        handle = nb::cast<std::int64_t>(object);
    } else if (nb::hasattr(object, "__cuda_stream__")) {
        nb::object pair = object.attr("__cuda_stream__");
        if (PyCallable_Check(pair.ptr()) != 0) pair = pair();
        handle = nb::cast<std::int64_t>(pair[nb::int_(1)]);
    } else {
        for (const char* name : {"cuda_stream", "ptr"})
            if (!handle && nb::hasattr(object, name))
                handle = nb::cast<std::int64_t>(object.attr(name));
    }
    if (!handle)
        throw Error(
            "stream: a hindcast.Stream, a handle or a stream of another library is expected");
    for (const char* name : {"device_index", "device_id"})
        if (nb::hasattr(object, name) && nb::isinstance<nb::int_>(object.attr(name)))
            ordinal = std::max(0, nb::cast<int>(object.attr(name)));
    if (!device) device = cuda_device(ordinal);
    if (*handle < 0) throw Error("stream: a handle cannot be negative");
    const nb::object owner = nb::borrow(object);
    return {Stream::over(device, static_cast<std::uintptr_t>(*handle), kept(owner)), owner};
}

void bind_streams(nb::module_& m) {
    nb::class_<Event>(m, "Event", "A point in the work of a stream.")
        .def_prop_ro("done", &Event::done,
                     "Whether all that was put on the stream before is done.");
    nb::class_<PyStream>(m, "Stream", "An order of work on a CUDA device.")
        .def_prop_ro(
            "handle", [](const PyStream& s) { return s.stream.handle(); },
            "The CUstream, as a number.")
        .def_prop_ro(
            "device", [](const PyStream& s) { return s.stream.device(); },
            "The device that it is of.")
        .def("__cuda_stream__",
             [](const PyStream& s) { return std::make_pair(0, s.stream.handle()); })
        .def(
            "record", [](const PyStream& s) { return s.stream.record(); },
            "An event: done when all that was put on the stream so far is.")
        .def(
            "wait", [](const PyStream& s, const Event& e) { s.stream.wait(e); }, "event"_a,
            "What is put on the stream from now on runs after the event.")
        .def(
            "synchronize", [](const PyStream& s) { s.stream.synchronize(); },
            nb::call_guard<nb::gil_scoped_release>(),
            "Returns when all that was put on the stream is done; raises the errors of launches.")
        .def("__repr__", [](const PyStream& s) {
            return fmt::format("hindcast.Stream of {}", s.stream.device()->describe());
        });
    m.def(
        "stream",
        [](nb::object of, nb::object device) {
            return checked([&] {
                std::shared_ptr<Device> on = device.is_none() ? nullptr : to_device(device);
                if (!of.is_none()) return to_stream(of, on);
                if (!on) on = cuda_device(0);
                if (!on->cuda())
                    throw Error("device: " + on->describe() + " has no streams")
                        .remedy("streams are those of CUDA devices");
                return PyStream{Stream(on), nb::none()};
            });
        },
        "of"_a = nb::none(), "device"_a = nb::none(),
        nb::sig("def stream(of: typing.Any = None, device: Device | str | None = None) -> Stream"),
        "A stream of a CUDA device: a new one, or the one that another library has: a CUstream as "
        "a\n"
        "number (1: the legacy default stream, 2: that of each thread), or an object of PyTorch,\n"
        "CuPy or whatever has __cuda_stream__.");
}

}  // namespace hindcast::python
