// Devices, launches and tapes.
#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <map>

#include "app/python/src/arrays/devices.hpp"
#include "app/python/src/kernels/kernels.hpp"
#include "engine/backend/cuda/context.hpp"
#include "engine/backend/jit/llvm_folders.hpp"
#include "engine/base/error.hpp"
#include "engine/ir/memory_type.hpp"
#include "engine/runtime/array/memory.hpp"
#include "engine/runtime/launch/check_indices.hpp"
#include "engine/runtime/program/tape.hpp"

namespace hindcast::python {

using namespace nb::literals;

const std::shared_ptr<Device>& default_device() {
    require_own_process();
    static const auto device = std::make_shared<Device>(DeviceOptions{.kind = DeviceKind::cpu});
    return device;
}

namespace {

using SharedDevice = std::shared_ptr<Device>;

// A tape of Python is entered and left: the launches between are recorded.
struct PyTape {
    Tape tape;
    std::optional<PyStream> stream = {};
    std::vector<nb::object> launches = {};  // each once

    void look() const;  // at what they are bound to
};
thread_local std::vector<PyTape*> tapes;  // entered on this thread, the innermost last

// A kernel with its arguments. Python's arrays are kept as long as the launch.
class PyLaunch {
public:
    PyLaunch(const PyKernel& kernel, std::int64_t items, const nb::kwargs& arguments,
             const SharedDevice& device, const std::string& precision)
        : definition_(kernel.definition()) {
        const auto& parameters = definition_.parameters();
        for (const auto& [key, value] : arguments) check_name(nb::cast<std::string>(key));
        std::optional<ir::Precision> real;
        if (!precision.empty()) real = precision_of(precision);
        std::string first;
        objects_.resize(parameters.size());
        std::vector<Argument> list(parameters.size(), Argument(std::span<const double>{}));
        std::vector<std::size_t> lists;  // of Python: they have the precision of the others
        for (std::size_t p = 0; p < parameters.size(); ++p) {
            const ir::Parameter& parameter = parameters[p];
            if (!arguments.contains(parameter.name.c_str()))
                throw Error(fmt::format("'{}' is not given", parameter.name))
                    .in_kernel(definition_.name())
                    .remedy("give every parameter by its name");
            const nb::handle given = arguments[parameter.name.c_str()];
            if (nb::isinstance<nb::list>(given)) {
                lists.push_back(p);
                continue;
            }
            list[p] = argument(p, given);
            if (!list[p].is_array() || parameter.type != ir::Type::f64 || ir::is_single(parameter))
                continue;
            const ir::Type type = list[p].array().type();
            const ir::Precision of =
                type == ir::Type::f32 ? ir::Precision::f32 : ir::Precision::f64;
            if (real && *real != of)
                throw Error(fmt::format("'{}' holds {}{}", parameter.name, ir::name_of(type),
                                        first.empty() ? ", where " + precision + " is asked for"
                                                      : ", but '" + first + "' does not"))
                    .in_kernel(definition_.name())
                    .remedy("convert one of them: the reals of a launch have one precision");
            real = of;
            if (first.empty()) first = parameter.name;
        }
        precision_ = real.value_or(ir::Precision::f32);
        for (const std::size_t p : lists)
            list[p] = argument(p, arguments[parameters[p].name.c_str()]);
        device_ = device;
        for (const nb::object& object : objects_)  // where the arrays are
            if (object.is_valid() && !device_) device_ = nb::cast<PyArray&>(object).device();
        if (!device_) device_ = default_device();
        check_device(list);
        launch_ =
            std::make_unique<Launch>(device_, definition_, precision_, items, std::move(list));
        if (kernel.checks_indices()) check_indices(*launch_);
    }

    void set(const std::string& name, nb::handle value) {
        const std::size_t p = check_name(name);
        const nb::object before = objects_[p];
        const Argument given = argument(p, value);
        try {
            check_device({given});
            launch_->set(name, given);
        } catch (...) {
            objects_[p] = before;
            throw;
        }
    }

    // Looks for integers that somebody else has changed.
    void look() const {
        // A graph keeps the indices that were there before it was captured.
        if (stream_ && stream_->stream.is_captured()) return;
        for (const nb::object& object : objects_)
            if (object.is_valid()) nb::inst_ptr<PyArray>(object)->look();
    }

    void run(Direction direction) {
        require_own_process();
        Launch::Replay& replay = replays_[static_cast<std::size_t>(direction)];
        if (!replay) replay = launch_->replay(direction);
        look();
        if (direction == Direction::forward && !tapes.empty()) {
            PyTape& tape = *tapes.back();
            const nb::object self = nb::find(*this);
            {
                const nb::gil_scoped_release release;
                tape.tape.launch(*launch_);
            }
            const auto is_self = [&](const nb::object& known) { return known.is(self); };
            if (std::none_of(tape.launches.begin(), tape.launches.end(), is_self))
                tape.launches.push_back(self);
            return;
        }
        const nb::gil_scoped_release release;
        replay.run();
        if (!stream_) device_->settle();
    }

    void move_to(nb::handle stream) {
        if (stream.is_none()) {
            launch_->move_to(device_);
            stream_.reset();
            return;
        }
        if (!device_->cuda())
            throw Error("stream: the launch runs on " + device_->describe() +
                        ", which has no streams")
                .remedy("make it for a CUDA device: hc.record(..., device='cuda')");
        PyStream to = to_stream(stream, device_);
        to.stream = to.stream.of(device_);
        launch_->move_to(to.stream);
        stream_ = std::move(to);
    }

    std::vector<double> gradient_of(const std::string& name) const {
        if (objects_[check_name(name)].is_valid())
            throw Error("'" + name + "' is an array")
                .in_kernel(definition_.name())
                .remedy("its gradient is an array, too: launch['" + name + "'].grad");
        return launch_->gradient_of(name);
    }
    void clear_gradients() const {
        launch_->clear_gradients_of_numbers();
        for (const Array& array : launch_->arrays())
            if (array && ir::is_real(array.type()) && array.has_gradient())
                array.gradient().fill(0);
    }
    nb::object value(const std::string& name) const {
        const std::size_t p = check_name(name);
        if (objects_[p].is_valid()) return objects_[p];
        const std::span<const double> numbers = launch_->arguments()[p].numbers();
        if (numbers.size() == 1) return nb::cast(numbers[0]);
        return nb::tuple(nb::cast(std::vector<double>(numbers.begin(), numbers.end())));
    }
    const Launch& launch() const { return *launch_; }

private:
    std::size_t check_name(const std::string& name) const {
        const auto& parameters = definition_.parameters();
        std::string all;
        for (std::size_t p = 0; p < parameters.size(); ++p) {
            if (parameters[p].name == name) return p;
            all += (all.empty() ? "" : ", ") + parameters[p].name;
        }
        throw Error(fmt::format("there is no parameter '{}'", name))
            .in_kernel(definition_.name())
            .remedy("it has " + (all.empty() ? "none" : all));
    }

    Argument argument(std::size_t p, nb::handle value) {
        const ir::Parameter& parameter = definition_.parameters()[p];
        const bool number = nb::isinstance<nb::float_>(value) || nb::isinstance<nb::int_>(value) ||
                            nb::isinstance<nb::tuple>(value);
        objects_[p] = {};
        if (parameter.access == ir::Access::value ||
            (number && definition_.may_share(static_cast<int>(p)))) {
            std::vector<double> numbers;
            if (nb::isinstance<nb::float_>(value) || nb::isinstance<nb::int_>(value)) {
                numbers = {nb::cast<double>(value)};
            } else if (!nb::isinstance<PyArray>(value)) {
                nb::object flat = nb::module_::import_("numpy").attr("ravel")(value);
                for (const nb::handle item : flat) {
                    if (nb::isinstance<nb::str>(item))
                        throw Error(
                            fmt::format("'{}' is a number, but a text is given", parameter.name))
                            .in_kernel(definition_.name());
                    numbers.push_back(nb::cast<double>(nb::float_(item)));
                }
            }
            if (!numbers.empty()) {
                if (static_cast<int>(numbers.size()) != parameter.components)
                    throw Error(fmt::format("'{}' has {} components, but {} numbers are given",
                                            parameter.name, parameter.components, numbers.size()))
                        .in_kernel(definition_.name());
                return {std::span<const double>(numbers)};
            }
        }
        if (number)
            throw Error(fmt::format("'{}' is a buffer, but a number is given", parameter.name))
                .in_kernel(definition_.name())
                .remedy("give an array");
        std::optional<DataType> of_list;
        if (nb::isinstance<nb::list>(value))
            of_list = DataType{parameter.type,
                               parameter.type == ir::Type::f64,
                               {parameter.rows, parameter.components / parameter.rows}};
        nb::object object = to_array(value, parameter.name, of_list, {},
                                     ir::is_single(parameter) ? ir::Precision::f64 : precision_);
        auto& array = nb::cast<PyArray&>(object);
        const interop::Element element{parameter.rows, parameter.components / parameter.rows};
        try {
            const Argument given = array.as(element);
            objects_[p] = std::move(object);
            return given;
        } catch (const Error& error) {
            throw Error(fmt::format("'{}': {}", parameter.name, error.happened()))
                .in_kernel(definition_.name())
                .remedy(error.what_to_do());
        }
    }

    void check_device(const std::vector<Argument>& list) const {
        if (!device_) return;
        const int device = device_->cuda() ? device_->cuda()->ordinal() : -1;
        for (const Argument& a : list) {
            if (!a.is_array()) continue;
            const int at = a.array().device();
            if (at >= 0 && at != device)
                throw Error(
                    fmt::format("memory of CUDA device {} is given, and the launch is on {}", at,
                                device_->describe()))
                    .in_kernel(definition_.name())
                    .remedy("leave device= out, or copy it: hc.array(x, device=...)");
            if (at < 0 && device >= 0 && !a.array().memory().is_own())
                throw Error(
                    "memory of another library is on the host, and the launch on a CUDA "
                    "device")
                    .in_kernel(definition_.name())
                    .remedy("copy it there: hc.array(x, device='cuda'); or launch on the CPU");
        }
    }

    lang::KernelDef definition_;
    SharedDevice device_;
    ir::Precision precision_ = ir::Precision::f32;
    std::vector<nb::object> objects_;  // Array per parameter; invalid: numbers
    std::unique_ptr<Launch> launch_;
    std::optional<PyStream> stream_;
    Launch::Replay replays_[4];
};

constexpr const char* how_to_record =
    "write hc.record(kernel, dim=len(x), x=x, ...): the kernel, the number of work items, and "
    "every "
    "parameter by its name";

std::int64_t items_of(nb::handle dim) {
    if (nb::isinstance<nb::bool_>(dim) || PyIndex_Check(dim.ptr()) == 0) {
        const bool is_shape = nb::isinstance<nb::tuple>(dim) || nb::isinstance<nb::list>(dim);
        refuse(fmt::format(
            "dim: a number of work items is needed, not {}{}", nb::repr(dim).c_str(),
            is_shape
                ? "; a launch has one dimension: give len(x) for one item for each element, or "
                  "math.prod(x.shape) and compute the indices from the item"
                : "; give a whole number such as len(x)"));
    }
    std::int64_t items = 0;
    if (!nb::try_cast(nb::int_(dim), items))
        refuse("dim: " + std::string(nb::repr(dim).c_str()) + " items are too many");
    return items;
}

std::unique_ptr<PyLaunch> record(const nb::args& given, nb::kwargs named) {
    require_own_process();
    nb::object first[2];
    constexpr const char* names[] = {"kernel", "dim"};
    for (std::size_t k = 0; k < 2; ++k) {
        const bool by_name = named.contains(names[k]);
        if ((given.size() > k) == by_name)
            refuse(fmt::format("{}: it is {}; {}", names[k], by_name ? "given twice" : "not given",
                               how_to_record));
        first[k] = by_name ? named.attr("pop")(names[k]) : nb::object(given[k]);
    }
    if (!nb::isinstance<PyKernel>(first[0]))
        refuse(
            fmt::format("kernel: a function with @hc.kernel or a built-in kernel is needed, not "
                        "{}; {}",
                        nb::type_name(first[0].type()).c_str(), how_to_record));
    const auto& kernel = nb::cast<const PyKernel&>(first[0]);
    if (given.size() > 2) {
        std::string call = "hc.record(" + kernel.signature().name() + ", dim";
        for (const ir::Parameter& p : kernel.signature().parameters())
            call += ", " + p.name + "=...";
        refuse(
            fmt::format("{} arguments are given by position, and only the kernel and dim are; "
                        "write {})",
                        given.size(), call));
    }
    const std::int64_t items = items_of(first[1]);
    const nb::object device = named.attr("pop")("device", nb::none()),
                     precision = named.attr("pop")("precision", "");
    if (!nb::isinstance<nb::str>(precision)) refuse("precision: give 'f32' or 'f64'");
    kernel.prepare();
    return checked([&] {
        return std::make_unique<PyLaunch>(kernel, items, named,
                                          device.is_none() ? nullptr : to_device(device),
                                          nb::cast<std::string>(precision));
    });
}

void PyTape::look() const {
    if (stream && stream->stream.is_captured()) return;
    for (const nb::object& launch : launches) nb::inst_ptr<PyLaunch>(launch)->look();
}

}  // namespace

void bind_devices(nb::module_& m) {
    nb::class_<Device>(m, "Device", "Where launches run.")
        .def("__repr__", [](const Device& d) { return "hindcast.Device: " + d.describe(); })
        .def("synchronize", &Device::synchronize, nb::call_guard<nb::gil_scoped_release>(),
             "Returns when all launches have run; raises their errors.");
    m.def(
        "device",
        [](const std::string& name, int threads, bool checked, const std::string& without) {
            require_own_process();
            DeviceOptions options{
                .threads = threads, .checked = checked, .passes = PassSet::without(without)};
            choose_device(options, name);
            return std::make_shared<Device>(options);
        },
        "name"_a = "cpu", "threads"_a = 0, "checked"_a = false, "without"_a = "",
        "'cpu' (compiled), 'interpreter' (slow, checks every index), 'cuda', 'cuda:1' or 'auto'.\n"
        "threads: 0 takes all; checked: indices and values that are not finite raise. without: "
        "optional\n"
        "passes that are left out, with commas between, or 'all': the same bits, slower (hindcast\n"
        "run --help lists them).");
}

void bind_launches(nb::module_& m) {
    m.def("_add_llvm_folder", &backend::add_llvm_folder, "folder"_a);
    nb::class_<PyLaunch>(m, "Launch",
                         "A kernel with its arguments, to be run any number of times in any "
                         "direction.")
        .def(
            "forward", [](PyLaunch& l) { l.run(Direction::forward); }, "Runs the kernel.")
        .def(
            "adjoint", [](PyLaunch& l) { l.run(Direction::adjoint); },
            "Adds to the gradients of what the kernel reads; takes and clears those of what it\n"
            "stores.")
        .def(
            "tangent", [](PyLaunch& l) { l.run(Direction::tangent); },
            "Forward mode: tangents of what the kernel writes from those of what it reads.")
        .def(
            "on",
            [](nb::object self, nb::handle stream) {
                checked([&] { nb::cast<PyLaunch&>(self).move_to(stream); });
                return self;
            },
            "stream"_a.none(), nb::sig("def on(self, stream: typing.Any) -> Launch"),
            "Runs on this stream of the launch's CUDA device from now on (see hindcast.stream) "
            "and\n"
            "does not wait; None: on the device's own. Gives the launch.")
        .def(
            "set",
            [](PyLaunch& l, const std::string& name, nb::handle value) {
                checked([&] { l.set(name, value); });
            },
            "name"_a, "value"_a.none(),
            nb::sig("def set(self, name: str, value: typing.Any) -> None"),
            "Binds another array or number to a parameter; the next run takes it.")
        .def(
            "__getitem__",
            [](const PyLaunch& l, const std::string& n) {
                return checked([&] { return l.value(n); });
            },
            "name"_a, nb::sig("def __getitem__(self, name: str) -> typing.Any"),
            "What a parameter is bound to.")
        .def(
            "grad",
            [](const PyLaunch& l, const std::string& name) -> nb::object {
                const std::vector<double> g = checked([&] { return l.gradient_of(name); });
                return g.size() == 1 ? nb::cast(g[0]) : nb::object(nb::tuple(nb::cast(g)));
            },
            "name"_a, nb::sig("def grad(self, name: str) -> float | tuple[float, ...]"),
            "The gradient of a number; of a vector or matrix, those of its components.")
        .def("clear_gradients", &PyLaunch::clear_gradients,
             "Zeroes the gradients of all arguments.")
        .def_prop_ro(
            "dim", [](const PyLaunch& l) { return l.launch().items(); },
            "The number of work items.")
        .def("__repr__", [](const PyLaunch& l) {
            return fmt::format("hindcast.Launch of '{}' over {} items", l.launch().description(),
                               l.launch().items());
        });

    m.def("record", &record,
          nb::sig("def record(kernel: Kernel, dim: int, *, device: Device | str | None = None, "
                  "precision: str = '', **arguments: typing.Any) -> Launch"),
          "Binds a kernel to its arguments, which are given by name. Nothing runs yet.\n"
          "dim: the number of work items. Arrays are shared; lists are copied, and have the types "
          "of\n"
          "their parameters. An array that is too short for the launch is an ArgumentError. An "
          "index\n"
          "that is out of range is an Error when the launch runs, unless the kernel is\n"
          "kernel.unchecked().");

    nb::class_<PyTape>(m, "Tape", "Launches in the order they run, and their adjoints in reverse.")
        .def(nb::init<>())
        .def(
            "__enter__",
            [](nb::object self) {
                tapes.push_back(&nb::cast<PyTape&>(self));
                return self;
            },
            nb::sig("def __enter__(self) -> Tape"),
            "Records the launches that run forward, until the block ends.")
        .def("__exit__", [](PyTape& t, const nb::args&) { std::erase(tapes, &t); })
        .def(
            "forward",
            [](PyTape& t) {
                require_own_process();
                t.look();
                const nb::gil_scoped_release release;
                t.tape.forward();
            },
            "Runs everything that was recorded again.")
        .def(
            "backward",
            [](PyTape& t) {
                require_own_process();
                t.look();
                const nb::gil_scoped_release release;
                t.tape.backward();
            },
            "Adds to the gradients; seed those of the outputs first.")
        .def(
            "clear_gradients", [](PyTape& t) { t.tape.clear_gradients(); },
            "Zeroes every gradient that backward() touches.")
        .def(
            "on",
            [](nb::object self, nb::handle stream) {
                auto& tape = nb::cast<PyTape&>(self);
                checked([&] {
                    if (stream.is_none()) {
                        tape.tape.move_to({});
                        return;
                    }
                    PyStream to = to_stream(stream, nullptr);
                    tape.tape.move_to(to.stream);
                    tape.stream = std::move(to);
                });
                return self;
            },
            "stream"_a.none(), nb::sig("def on(self, stream: typing.Any) -> Tape"),
            "What is recorded, and what will be, runs on this stream; None: on the device's own.\n"
            "Gives the tape.")
        .def(
            "__len__", [](const PyTape& t) { return t.tape.size(); }, "The number of launches.");
}

}  // namespace hindcast::python
