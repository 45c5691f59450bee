// Arrays: memory shared with NumPy and whatever speaks DLPack or the array interface.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "app/python/src/arrays/devices.hpp"
#include "engine/backend/cuda/context.hpp"
#include "engine/base/error.hpp"
#include "engine/interop/dlpack.hpp"
#include "engine/runtime/array/memory.hpp"

namespace hindcast::python {

using namespace nb::literals;
using interop::Element;
using interop::Strided;

std::string DataType::name() const {
    std::string scalar = real ? "real" : ir::name_of(type);
    if (element.components() == 1) return scalar;
    const std::string prefix = real ? "" : scalar.substr(0, 1);
    return prefix + (element.rows > 1 ? "mat" : "vec") + std::to_string(element.columns);
}

void refuse(const std::string& message) {
    const nb::object error = nb::module_::import_("hindcast._errors").attr("ArgumentError");
    PyErr_SetString(error.ptr(), in_words_of_python(message).c_str());
    throw nb::python_error();
}

ir::Precision precision_of(const std::string& text) {
    if (text != "f32" && text != "f64")
        refuse("precision: '" + text + "' is neither 'f32' nor 'f64'");
    return text == "f32" ? ir::Precision::f32 : ir::Precision::f64;
}

nb::dlpack::dtype dlpack_type(ir::Type type) {
    using Code = nb::dlpack::dtype_code;
    const Code code = ir::is_real(type)     ? Code::Float
                      : ir::is_signed(type) ? Code::Int
                                            : Code::UInt;
    return {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(8 * ir::size_of(type)), 1};
}

// ---- PyArray ---------------------------------------------------------------------------------

std::shared_ptr<void> kept(nb::object object) {
    if (!object.is_valid() || object.is_none()) return {};
    return {new nb::object(std::move(object)), [](nb::object* held) {
                if (!nb::is_alive()) return;  // Python has ended
                const nb::gil_scoped_acquire lock;
                delete held;
            }};
}

PyArray::PyArray(Strided memory, nb::object from, std::optional<Element> element,
                 std::shared_ptr<Device> device)
    : owner(std::move(from)), memory_(std::move(memory)) {
    if (memory_.device >= 0) device_ = std::move(device);
    if (element) as(*element);
}

PyArray::PyArray(ir::Type type, std::vector<std::int64_t> shape, std::optional<Element> element,
                 const std::shared_ptr<Device>& device) {
    Strided plain;
    plain.type = type;
    plain.shape = std::move(shape);
    plain.strides = interop::contiguous_strides(plain.shape);
    element_ = element.value_or(Element{});
    array_ = Array::on(device ? device->cuda() : nullptr, type,
                       interop::elements_of(plain, *element_).shape);
    array_.share();
    plain.device = array_.device();
    if (plain.device >= 0) device_ = device;
    plain.data = device_ ? array_.device_data() : array_.data();
    memory_ = std::move(plain);
}

PyArray::PyArray(Array array, std::vector<std::int64_t> shape, const Element& element)
    : element_(element), array_(std::move(array)) {
    memory_.type = array_.type();
    memory_.shape = std::move(shape);
    memory_.strides = interop::contiguous_strides(memory_.shape);
    if (array_.layout() == Layout::planar) {
        const std::size_t inner = (element.rows > 1 ? 1 : 0) + (element.components() > 1 ? 1 : 0);
        for (std::size_t d = 0; d < memory_.strides.size(); ++d) {
            std::int64_t& stride = memory_.strides[d];
            const bool of_element = d + inner >= memory_.strides.size();
            stride =
                of_element ? stride * array_.component_stride() : stride / element.components();
        }
    }
    array_.share();
    memory_.device = array_.device();
    memory_.data = memory_.device >= 0 ? array_.device_data() : array_.data();
    memory_.read_only = array_.is_read_only();
}

const Array& PyArray::as(const Element& element) {
    if (element_ && !(*element_ == element))
        throw Error(fmt::format("the array was made or used as one of {}, and is now to hold {}",
                                element_->name(ir::name_of(type())),
                                element.name(ir::name_of(type()))))
            .remedy("give it the dtype of both uses, or make two arrays over the same memory");
    if (!array_) {
        const interop::Elements of = interop::elements_of(memory_, element);
        array_ = interop::array_over(of.memory, device_ ? device_->cuda() : nullptr, kept(owner),
                                     type(), of.shape);
        memory_.read_only = array_.is_read_only();
    }
    element_ = element;
    return array_;
}

const Array& PyArray::array() {
    if (!element_) {
        if (shape().size() > 1)
            throw Error(fmt::format("whether an array of shape ({}) holds scalars, vectors or "
                                    "matrices is not known yet",
                                    fmt::join(shape(), ", ")))
                .remedy("give its dtype: hc.array(x, dtype=hc.vec3)");
        as({});
    }
    return array_;
}

PyArray& PyArray::derivative(std::unique_ptr<PyArray>& kept, const Array& of) {
    if (!kept) {
        kept = std::make_unique<PyArray>(of, shape(), element_.value_or(Element{}));
        kept->device_ = device_;
    }
    return *kept;
}
PyArray& PyArray::gradient() { return derivative(gradient_, array().gradient()); }
PyArray& PyArray::tangent() { return derivative(tangent_, array().tangent()); }

void PyArray::look() {
    if (ir::is_real(type()) || memory_.size() == 0) return;
    const std::size_t bytes = ir::size_of(type());
    Hash128 now;
    if (device_) {
        if (array_.layout() == Layout::strided)
            refuse(
                "integers with gaps in the memory of a CUDA device cannot be indices yet; copy "
                "them");
        now = hash_bytes(array_.data(), static_cast<std::size_t>(memory_.size()) * bytes);
    } else if (memory_.is_contiguous()) {
        now = hash_bytes(memory_.data, static_cast<std::size_t>(memory_.size()) * bytes);
    } else {
        const std::vector<double> values = array_.to_doubles();
        now = hash_bytes(values.data(), values.size() * sizeof(double));
    }
    if (seen_ && *seen_ != now) array_.touch();
    seen_ = now;
}

// ---- from other libraries --------------------------------------------------------------------

std::vector<std::int64_t> integers_of(nb::handle sequence, const char* name) {
    const bool is_sequence =
        nb::isinstance<nb::tuple>(sequence) || nb::isinstance<nb::list>(sequence);
    std::vector<std::int64_t> list;
    if (is_sequence)
        for (const nb::handle item : sequence)
            list.push_back(part_of<std::int64_t>(item, name, "tuple of whole numbers"));
    else
        part_of<nb::tuple>(sequence, name, "tuple of whole numbers");
    return list;
}

namespace {

nb::object numpy() { return nb::module_::import_("numpy"); }

template <class F>
auto naming(const std::string& name, F f) {
    try {
        return f();
    } catch (const Error& error) {
        refuse(name + ": " + error.what());
    }
}

Strided from_interface(nb::handle object) {
    const auto dict =
        part_of<nb::dict>(object.attr("__array_interface__"), "__array_interface__", "dict");
    interop::ArrayInterface i;
    // NumPy's masked arrays do not tell of their mask there.
    i.has_mask =
        nb::cast<bool>(nb::module_::import_("numpy").attr("ma").attr("isMaskedArray")(object));
    for (const char* key : {"typestr", "shape"})
        if (!dict.contains(key))
            throw Error(fmt::format("its __array_interface__ has no '{}'", key));
    i.typestr = part_of<std::string>(dict["typestr"], "typestr", "text");
    i.shape = integers_of(dict["shape"], "shape");
    if (dict.contains("strides") && !dict["strides"].is_none())
        i.strides = integers_of(dict["strides"], "strides");
    i.has_mask |= dict.contains("mask") && !dict["mask"].is_none();
    if (!dict.contains("data") || !nb::isinstance<nb::tuple>(dict["data"]))
        throw Error("its __array_interface__ has no 'data' of (pointer, read-only)");
    const auto data = nb::cast<nb::tuple>(dict["data"]);
    if (data.size() != 2)
        throw Error("its __array_interface__ has no 'data' of (pointer, read-only)");
    i.data = part_of<std::uintptr_t>(data[0], "data", "address");
    i.read_only = nb::cast<bool>(nb::bool_(data[1]));
    if (i.typestr.starts_with("=")) i.typestr[0] = '<';
    return interop::strided_of(i);
}

ir::Type type_of(const nb::dlpack::dtype& type) {
    for (const ir::Type each :
         {ir::Type::f32, ir::Type::f64, ir::Type::i32, ir::Type::u32, ir::Type::i64, ir::Type::u64})
        if (type == dlpack_type(each)) return each;
    throw Error("its numbers are of another type")
        .remedy("kernels take float32, float64, int32, uint32, int64 and uint64");
}

template <class A>
Strided described(const A& a, bool read_only) {
    if (a.device_type() != nb::device::cpu::value)
        throw Error("its memory is on another device").remedy("copy it to the host first");
    Strided s;
    s.data = const_cast<void*>(static_cast<const void*>(a.data()));
    s.type = type_of(a.dtype());
    s.read_only = read_only;
    for (std::size_t d = 0; d < a.ndim(); ++d) {
        s.shape.push_back(static_cast<std::int64_t>(a.shape(d)));
        s.strides.push_back(a.stride(d));
    }
    if (s.size() > 0 && reinterpret_cast<std::uintptr_t>(s.data) % ir::size_of(s.type) != 0)
        throw Error("its memory is not aligned to its type").remedy("copy it");
    return s;
}

// By DLPack or the buffer protocol; the owner keeps the capsule.
std::optional<Strided> from_capsule(nb::handle object, nb::object& owner) {
    if (nb::ndarray<> writable; nb::try_cast(object, writable, false)) {
        owner = nb::cast(
            std::make_pair(nb::borrow(object), nb::cast(writable, nb::rv_policy::reference)));
        return described(writable, false);
    }
    if (nb::ndarray<nb::ro> readable; nb::try_cast(object, readable, false)) {
        owner = nb::borrow(object);
        return described(readable, true);
    }
    return {};
}

bool is_jax(nb::handle object) {
    const auto module = nb::cast<std::string>(nb::str(object.type().attr("__module__")));
    return module.starts_with("jax");
}

std::string numpy_name(ir::Type type) {
    const char* const kind = ir::is_real(type) ? "float" : ir::is_signed(type) ? "int" : "uint";
    return fmt::format("{}{}", kind, 8 * ir::size_of(type));
}

// Memory that an object has, or that is made of it.
struct Found {
    Strided memory;
    nb::object owner;
    std::shared_ptr<Device> device;  // null: the host
};

// Memory made of a list or the like.
Found made_of(nb::handle object, const std::optional<DataType>& dtype, ir::Precision precision) {
    nb::object made;
    try {
        made = numpy().attr("array")(object);
    } catch (nb::python_error& error) {
        throw Error(fmt::format("no array can be made of it: {}", error.what()));
    }
    const auto kind = nb::cast<std::string>(made.attr("dtype").attr("kind"));
    if (std::string("OUS").find(kind) != std::string::npos)
        throw Error(dtype ? "no array can be made of it: it holds other things than numbers"
                          : "no array of numbers can be made of it");
    if (dtype || kind == "f") {
        const bool real = !dtype || dtype->real;
        const ir::Type type = real ? ir::real_type(precision) : dtype->type;
        const auto exactly = nb::module_::import_("hindcast._arguments").attr("as_exactly");
        const nb::tuple found(exactly(made, numpy_name(type)));
        if (!found[1].is_none())
            throw Error(fmt::format("{} does not fit into {}", nb::cast<std::string>(found[1]),
                                    ir::name_of(type)))
                .remedy("round the numbers first, or choose another dtype");
        made = found[0];
    }
    return {from_interface(made), made, nullptr};
}

// Nothing: there is no memory to share.
std::optional<Found> memory_of(nb::handle object, std::shared_ptr<Device> device) {
    if (nb::isinstance<PyArray>(object)) {
        const PyArray& array = nb::cast<PyArray&>(object);
        return Found{array.memory(), nb::borrow(object), array.device()};
    }
    Found found;
    found.owner = nb::borrow(object);
    if (nb::hasattr(object, "__array_interface__")) {
        found.memory = from_interface(object);
        return found;
    }
    if (const auto there = from_device(object, found.owner, device)) {
        found.memory = *there;
        found.memory.read_only |= is_jax(object);  // whose arrays never change
        found.device = device;
        return found;
    }
    if (!nb::hasattr(object, "__dlpack__") && !PyObject_CheckBuffer(object.ptr())) return {};
    const auto memory = from_capsule(object, found.owner);
    if (!memory) throw Error("it cannot be taken by DLPack or the buffer protocol");
    found.memory = *memory;
    found.memory.read_only |= is_jax(object);
    return found;
}

void check_type(const Strided& memory, const DataType& dtype) {
    if (!dtype.real && dtype.type != memory.type)
        throw Error(fmt::format("it holds {}, where {} is asked for", ir::name_of(memory.type),
                                dtype.name()))
            .remedy(fmt::format("convert it: x.astype('{}')", numpy_name(dtype.type)));
    if (dtype.real && !ir::is_real(memory.type))
        throw Error(fmt::format("it holds {}, where reals are asked for", ir::name_of(memory.type)))
            .remedy("convert it: x.astype('float32')");
}

// C-contiguous, on `device` or, null, on the host.
Found copied(const Found& from, const std::shared_ptr<Device>& device) {
    nb::object host = from.device ? copy_to_host(from.memory, *from.device) : from.owner;
    if (!nb::hasattr(host, "__array_interface__")) host = numpy().attr("asarray")(host);
    host = numpy().attr("array")(host, "copy"_a = true, "order"_a = "C");
    Found to{from_interface(host), host, device};
    if (device) to.memory = copy_to_device(to.memory, *device, to.owner);
    return to;
}

}  // namespace

nb::object to_array(nb::handle object, const std::string& name,
                    const std::optional<DataType>& dtype, std::optional<bool> copy,
                    ir::Precision precision, std::shared_ptr<Device> device) {
    const std::optional<Element> element = dtype ? std::optional(dtype->element) : std::nullopt;
    return naming(name, [&]() -> nb::object {
        if (!nb::isinstance<PyArray>(object) && nb::hasattr(object, "requires_grad") &&
            nb::cast<bool>(object.attr("requires_grad")))
            throw Error("PyTorch records what is made of it, and would not see what a launch does")
                .remedy("give x.detach()");
        std::optional<Found> found = memory_of(object, device);
        if (!found) {
            if (copy == false)
                throw Error("there is no memory to share").remedy("leave copy=False out");
            found = made_of(object, dtype, precision);
            if (!device || !device->cuda()) copy = false;  // that was one
        }
        if (dtype) check_type(found->memory, *dtype);
        const int wanted = !device          ? found->memory.device
                           : device->cuda() ? device->cuda()->ordinal()
                                            : -1;
        const bool moves = wanted != found->memory.device;
        if (moves && copy == false)
            throw Error(fmt::format("its memory is on {}, and a copy is forbidden",
                                    found->device ? found->device->describe() : "the host"))
                .remedy("leave copy=False out");
        if (!moves && copy != true && nb::isinstance<PyArray>(object)) {
            if (element) nb::cast<PyArray&>(object).as(*element);
            return nb::borrow(object);
        }
        if (moves || copy == true)
            found = copied(*found, wanted < 0 ? nullptr : moves ? device : found->device);
        return nb::cast(std::make_unique<PyArray>(std::move(found->memory), std::move(found->owner),
                                                  element, found->device));
    });
}

// ---- to other libraries ----------------------------------------------------------------------

namespace {

nb::object view_of(nb::handle self) {
    PyArray& a = nb::cast<PyArray&>(self);
    const Strided& m = a.memory();
    if (a.device()) return copy_to_host(m, *a.device());
    const std::vector<std::size_t> shape(m.shape.begin(), m.shape.end());
    const nb::dlpack::dtype type = dlpack_type(m.type);
    const bool on_device = a.is_decided() && a.array().memory().has_device();
    void* const data = on_device ? a.array().data() : m.data;
    nb::object view;
    if (m.read_only)
        view = nb::cast(nb::ndarray<nb::numpy, nb::ro>(data, shape.size(), shape.data(), self,
                                                       m.strides.data(), type));
    else
        view = nb::cast(
            nb::ndarray<nb::numpy>(data, shape.size(), shape.data(), self, m.strides.data(), type));
    return on_device ? view.attr("copy")() : view;
}

std::shared_ptr<Device> named_device(nb::handle device) {
    if (device.is_none()) return nullptr;
    return checked([&] { return to_device(device); });
}

std::string described(const PyArray& a) {
    const std::string shape =
        fmt::format("({}{})", fmt::join(a.shape(), ", "), a.shape().size() == 1 ? "," : "");
    return fmt::format("hindcast.Array(shape={}, dtype={}{})", shape, ir::name_of(a.type()),
                       a.device() ? fmt::format(", device='cuda:{}'", a.memory().device) : "");
}

}  // namespace

void bind_arrays(nb::module_& m) {
    nb::class_<DataType>(m, "DataType", "What an array or a kernel's parameter holds.")
        .def_prop_ro("name", &DataType::name, "As it is written in annotations: 'real', 'vec3'.")
        .def_prop_ro(
            "components", [](const DataType& d) { return d.element.components(); },
            "Numbers in an element: 3 of a vec3.")
        .def(
            "__call__",
            [](nb::handle self, const nb::args& components) {
                return nb::module_::import_("hindcast._functions")
                    .attr("construct")(self, *components);
            },
            nb::sig("def __call__(self, *components: typing.Any) -> typing.Any"),
            "In a kernel: a value of this type, of its components or by conversion.")
        .def("__repr__", [](const DataType& d) { return "hindcast." + d.name(); });
    const auto add = [&](const char* name, DataType type) { m.attr(name) = nb::cast(type); };
    for (const ir::Type type :
         {ir::Type::f32, ir::Type::f64, ir::Type::i32, ir::Type::u32, ir::Type::i64, ir::Type::u64})
        add(ir::name_of(type), {type, false, {}});
    add("real", {ir::Type::f64, true, {}});
    for (int n = 2; n <= 4; ++n) {
        add(fmt::format("vec{}", n).c_str(), {ir::Type::f64, true, {1, n}});
        add(fmt::format("mat{}", n).c_str(), {ir::Type::f64, true, {n, n}});
        add(fmt::format("ivec{}", n).c_str(), {ir::Type::i32, false, {1, n}});
    }

    nb::class_<PyArray>(m, "Array", "Numbers that kernels work with, in memory that others share.")
        .def_prop_ro(
            "shape", [](const PyArray& a) { return nb::tuple(nb::cast(a.shape())); },
            nb::sig("def shape(self) -> tuple[int, ...]"),
            "All extents, those of an element included: (points, 3).")
        .def_prop_ro(
            "ndim", [](const PyArray& a) { return a.shape().size(); }, "The number of extents.")
        .def_prop_ro(
            "size", [](const PyArray& a) { return a.memory().size(); }, "All numbers.")
        .def_prop_ro(
            "dtype", [](const PyArray& a) { return ir::name_of(a.type()); },
            "Of one number: 'f32', 'f64', 'i32', 'u32', 'i64' or 'u64'.")
        .def_prop_ro(
            "read_only", [](const PyArray& a) { return a.memory().read_only; },
            "Whether kernels may not write it, as the owner of the memory says.")
        .def_prop_ro(
            "strides",
            [](const PyArray& a) {
                std::vector<std::int64_t> bytes = a.memory().strides;
                for (auto& s : bytes) s *= static_cast<std::int64_t>(ir::size_of(a.type()));
                return nb::tuple(nb::cast(bytes));
            },
            "In bytes, of each extent; negative and zero ones occur.")
        .def_prop_ro(
            "grad", [](PyArray& a) -> PyArray& { return a.gradient(); },
            nb::rv_policy::reference_internal,
            "The gradient: zeros at first. Seed it before Launch.adjoint(), and read it behind.")
        .def_prop_ro(
            "tangent", [](PyArray& a) -> PyArray& { return a.tangent(); },
            nb::rv_policy::reference_internal, "The tangent of forward mode: zeros at first.")
        .def(
            "numpy", [](nb::handle self) { return view_of(self); },
            nb::sig("def numpy(self) -> numpy.typing.NDArray[typing.Any]"),
            "The same memory as a NumPy array; a copy where it is on a CUDA device.")
        .def(
            "fill", [](PyArray& a, double value) { a.array().fill(value); }, "value"_a,
            "Sets every number.")
        .def(
            "__array__",
            [](nb::handle self, nb::object dtype, nb::object copy) {
                nb::object view = view_of(self);
                if (!dtype.is_none()) view = view.attr("astype")(dtype, "copy"_a = false);
                return !copy.is_none() && nb::cast<bool>(copy) ? view.attr("copy")() : view;
            },
            "dtype"_a = nb::none(), "copy"_a = nb::none())
        .def_prop_ro("__array_interface__",
                     [](nb::handle self) {
                         if (nb::cast<PyArray&>(self).device())
                             throw nb::attribute_error("the array is on a CUDA device");
                         return view_of(self).attr("__array_interface__");
                     })
        .def_prop_ro("__cuda_array_interface__",
                     [](const PyArray& a) {
                         if (!a.device())
                             throw nb::attribute_error("the array is in the memory of the host");
                         return cuda_interface(a);
                     })
        .def("__dlpack__",
             [](nb::handle self, nb::kwargs options) -> nb::object {
                 if (nb::cast<PyArray&>(self).device()) return to_capsule(self, options);
                 return view_of(self).attr("__dlpack__")(**options);
             })
        .def("__dlpack_device__",
             [](const PyArray& a) {
                 const auto device = interop::dlpack::device_of(a.memory());
                 return nb::make_tuple(static_cast<int>(device.type), device.number);
             })
        .def_prop_ro(
            "device", [](const PyArray& a) { return a.device(); },
            "The CUDA device where the memory is; None: the memory of the host.")
        .def(
            "__len__",
            [](const PyArray& a) {
                if (a.shape().empty()) throw nb::type_error("len() of a zero-dimensional array");
                return a.shape().front();
            },
            "The first extent; TypeError if there is none.")
        .def("__repr__", [](const PyArray& a) { return described(a); });

    m.def(
        "array",
        [](nb::handle object, std::optional<DataType> dtype, std::optional<bool> copy,
           const std::string& precision, nb::object device) {
            return to_array(object, "object", dtype, copy, precision_of(precision),
                            named_device(device));
        },
        "object"_a, "dtype"_a = nb::none(), "copy"_a = nb::none(), "precision"_a = "f32",
        "device"_a = nb::none(),
        nb::sig("def array(object: typing.Any, dtype: DataType | None = None, "
                "copy: bool | None = None, precision: str = 'f32', "
                "device: Device | str | None = None) -> Array"),
        R"(An array over the memory of `object`: NumPy's, JAX's, PyTorch's or any that speaks DLPack,
an array interface (of the host or of CUDA) or the buffer protocol. What has no memory to share,
such as a list, is copied; copy=True always copies, copy=False never. The reals of a list have this
precision, as those of hc.zeros(); what a dtype of integers cannot hold exactly is an error. device:
where it is to be, 'cuda:0' or 'cpu'; None: where it is.)");
    m.def(
        "zeros",
        [](nb::object shape, std::optional<DataType> dtype, const std::string& precision,
           nb::object device) {
            const std::shared_ptr<Device> at = named_device(device);
            std::vector<std::int64_t> extents;
            const nb::object list = PyIndex_Check(shape.ptr()) != 0 ? nb::make_tuple(shape) : shape;
            const bool good = naming("shape", [&] {
                if (PySequence_Check(list.ptr()) == 0) return false;
                for (const nb::handle extent : list)
                    if (!nb::try_cast(extent, extents.emplace_back())) return false;
                return true;
            });
            if (!good)
                refuse(std::string("shape: a whole number or a tuple of them is needed, not ") +
                       nb::repr(shape).c_str());
            const Element element = dtype ? dtype->element : Element{};
            if (element.rows > 1) extents.push_back(element.rows);
            if (element.components() > 1) extents.push_back(element.columns);
            return naming("shape", [&] {
                const ir::Type scalar =
                    dtype && !dtype->real ? dtype->type : ir::real_type(precision_of(precision));
                return nb::cast(
                    std::make_unique<PyArray>(scalar, extents, std::optional(element), at));
            });
        },
        "shape"_a, "dtype"_a = nb::none(), "precision"_a = "f32", "device"_a = nb::none(),
        nb::sig("def zeros(shape: int | collections.abc.Sequence[int], "
                "dtype: DataType | None = None, precision: str = 'f32', "
                "device: Device | str | None = None) -> Array"),
        "Zeros: `shape` counts elements, so that zeros(4, hc.vec3) has the shape (4, 3).\n"
        "device='cuda:0': in the memory of that device.");
}

}  // namespace hindcast::python
