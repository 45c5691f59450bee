// Devices, launches and tapes.
#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <map>

#include "app/python/src/arrays/devices.hpp"
#include "app/python/src/kernels/kernels.hpp"
#include "engine/backend/cuda/context.hpp"
#include "engine/backend/jit/llvm_folders.hpp"
#include "engine/base/error.hpp"
#include "engine/ir/memory_type.hpp"
#include "engine/runtime/array/memory.hpp"
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

thread_local std::vector<Tape*> tapes;  // entered on this thread, the innermost last

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
        std::vector<Argument> list;
        objects_.resize(parameters.size());
        for (std::size_t p = 0; p < parameters.size(); ++p) {
            const ir::Parameter& parameter = parameters[p];
            if (!arguments.contains(parameter.name.c_str()))
                throw Error(fmt::format("'{}' is not given", parameter.name))
                    .in_kernel(definition_.name())
                    .remedy("give every parameter by its name");
            list.push_back(argument(p, arguments[parameter.name.c_str()]));
            if (!list.back().is_array() || parameter.type != ir::Type::f64 ||
                ir::is_single(parameter))
                continue;
            const ir::Type type = list.back().array().type();
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
        device_ = device;
        for (const nb::object& object : objects_)  // where the arrays are
            if (object.is_valid() && !device_) device_ = nb::cast<PyArray&>(object).device();
        if (!device_) device_ = default_device();
        check_device(list);
        launch_ = std::make_unique<Launch>(device_, definition_, real.value_or(ir::Precision::f32),
                                           items, std::move(list));
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

    void run(Direction direction) {
        require_own_process();
        Launch::Replay& replay = replays_[static_cast<std::size_t>(direction)];
        if (!replay) replay = launch_->replay(direction);
        // A graph keeps the indices that were there before it was captured.
        if (!stream_ || !stream_->stream.is_captured())
            for (const nb::object& object : objects_)
                if (object.is_valid()) nb::inst_ptr<PyArray>(object)->look();
        Tape* const tape =
            direction == Direction::forward && !tapes.empty() ? tapes.back() : nullptr;
        nb::gil_scoped_release release;
        if (tape != nullptr) return tape->launch(*launch_);
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
                for (const nb::handle item : flat)
                    numbers.push_back(nb::cast<double>(nb::float_(item)));
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
        nb::object object = to_array(value, parameter.name);
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
    std::vector<nb::object> objects_;  // Array per parameter; invalid: numbers
    std::unique_ptr<Launch> launch_;
    std::optional<PyStream> stream_;
    Launch::Replay replays_[4];
};

// A tape of Python is entered and left: the launches between are recorded.
struct PyTape {
    Tape tape;
    std::optional<PyStream> stream = {};
};

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

    m.def(
        "record",
        [](const PyKernel& kernel, std::int64_t dim, nb::object device,
           const std::string& precision, const nb::kwargs& arguments) {
            require_own_process();
            kernel.prepare();
            return checked([&] {
                return std::make_unique<PyLaunch>(kernel, dim, arguments,
                                                  device.is_none() ? nullptr : to_device(device),
                                                  precision);
            });
        },
        "kernel"_a, "dim"_a, "device"_a = nb::none(), "precision"_a = "", "arguments"_a,
        nb::sig("def record(kernel: Kernel, dim: int, device: Device | str | None = None, "
                "precision: str = '', **arguments: typing.Any) -> Launch"),
        "Binds a kernel to its arguments, which are given by name. Nothing runs yet.");

    nb::class_<PyTape>(m, "Tape", "Launches in the order they run, and their adjoints in reverse.")
        .def(nb::init<>())
        .def(
            "__enter__",
            [](nb::object self) {
                tapes.push_back(&nb::cast<PyTape&>(self).tape);
                return self;
            },
            nb::sig("def __enter__(self) -> Tape"),
            "Records the launches that run forward, until the block ends.")
        .def("__exit__", [](PyTape& t, const nb::args&) { std::erase(tapes, &t.tape); })
        .def(
            "forward",
            [](PyTape& t) {
                require_own_process();
                t.tape.forward();
            },
            nb::call_guard<nb::gil_scoped_release>(), "Runs everything that was recorded again.")
        .def(
            "backward",
            [](PyTape& t) {
                require_own_process();
                t.tape.backward();
            },
            nb::call_guard<nb::gil_scoped_release>(),
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
