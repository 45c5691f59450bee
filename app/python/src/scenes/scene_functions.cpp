// hindcast._core.SceneFunction: what hindcast.jax and hindcast.torch call.
#include "app/python/src/scenes/scene_functions.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "app/python/src/arrays/devices.hpp"
#include "app/python/src/calls/call_kinds.hpp"
#include "app/python/src/calls/numbered.hpp"
#include "app/python/src/scenes/scenes.hpp"
#include "app/python/src/scenes/shared_scene.hpp"
#include "engine/base/error.hpp"
#include "engine/sim/functions/device_function.hpp"

namespace hindcast::python {

using namespace nb::literals;

namespace {

using Kind = SceneFunction::Kind;

Numbered<SceneCalls>& functions() {
    static auto* const all = new Numbered<SceneCalls>;  // outlives compiled programs
    return *all;
}

using Handle = NumberedHandle<SceneCalls>;

using Operand = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

// Its numbers, f64 [rows, size], if they are that already; else a copy of them in `room`.
const double* numbers_of(const Operand& operand, std::size_t k, std::vector<double>& room) {
    if (operand.dtype() == nb::dtype<double>()) return static_cast<const double*>(operand.data());
    if (operand.dtype() != nb::dtype<float>())
        refuse("operand " + std::to_string(k) + ": f32 or f64 is expected");
    const auto* const from = static_cast<const float*>(operand.data());
    room.assign(from, from + operand.size());
    return room.data();
}

nb::object rows(const Handle& handle, const std::string& name, const nb::args& given) {
    SceneFunction& f = *handle.function;
    const Kind kind = kind_of<Kind>(name);
    const std::vector<std::size_t> sizes = f.operand_sizes(kind);
    if (given.size() != sizes.size())
        refuse(name + " takes " + std::to_string(sizes.size()) + " operands, and is given " +
               std::to_string(given.size()));
    std::vector<SceneFunction::Call> calls;
    for (std::size_t k = 0; k < sizes.size(); ++k) {
        const auto operand = nb::cast<Operand>(given[k]);
        if (operand.ndim() != 2 || operand.shape(1) != sizes[k] ||
            (k > 0 && operand.shape(0) != calls.size()))
            refuse("operand " + std::to_string(k) + ": the shape [rows, " +
                   std::to_string(sizes[k]) + "] is expected, with as many rows in each");
        if (k == 0) calls.assign(operand.shape(0), {.kind = kind, .x = {}});
        std::vector<double> room;
        const double* const numbers = numbers_of(operand, k, room);
        for (std::size_t row = 0; row < calls.size(); ++row) {
            std::vector<double>* const to[] = {&calls[row].x, &calls[row].a, &calls[row].b};
            to[k]->assign(numbers + row * sizes[k], numbers + (row + 1) * sizes[k]);
        }
    }
    const std::size_t size = f.result_size(kind);
    auto* const result = new double[calls.size() * size];
    const nb::capsule owner(result, [](void* p) noexcept { delete[] static_cast<double*>(p); });
    interruptibly([&] {
        const std::vector<std::vector<double>> results = f(calls);
        for (std::size_t row = 0; row < results.size(); ++row)
            std::ranges::copy(results[row], result + row * size);
    });
    return nb::cast(nb::ndarray<nb::numpy, double>(result, {calls.size(), size}, owner));
}

nb::list shapes_of(const std::vector<SceneFunction::Value>& values) {
    nb::list shapes;
    for (const auto& value : values) shapes.append(nb::tuple(nb::cast(value.shape)));
    return shapes;
}
std::vector<std::string> names_of(const std::vector<SceneFunction::Value>& values) {
    std::vector<std::string> names;
    for (const auto& value : values) names.push_back(value.name);
    return names;
}

}  // namespace

std::shared_ptr<SceneCalls> find_scene_function(std::int64_t number) {
    return functions().find(number);
}

// ---- programs on CUDA devices ----------------------------------------------------------------

std::unique_ptr<DeviceRecording> SceneCalls::record_on(const std::shared_ptr<Device>& device,
                                                       Kind kind) {
    const auto on_device = std::make_shared<DeviceFunction>(*this, kind, device);
    const bool is_f64 = options().precision == ir::Precision::f64;
    const std::vector<std::size_t> operands = operand_sizes(kind);
    std::size_t most = result_size(kind);
    for (const std::size_t size : operands) most = std::max(most, size);
    return std::make_unique<DeviceRecording>(
        device,
        [on_device, is_f64, count = operands.size()](const std::byte* const* from,
                                                     std::byte* const* to) {
            std::vector<DeviceFunction::Numbers> numbers;
            for (std::size_t k = 0; k < count; ++k) numbers.push_back({from[k], is_f64});
            on_device->put(numbers, to[0], is_f64);
        },
        DeviceRecording::Sizes{operands.size(), 1, most * sizeof(double)});
}

bool SceneCalls::prepare_on(const std::shared_ptr<Device>& device, Kind kind) {
    if (!follows_) return false;
    PreparedRecordings& prepared = prepared_[static_cast<int>(kind)];
    try {
        if (prepared.prepare(device, [&](const auto& on) { return record_on(on, kind); }))
            return true;
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): its calls raise it by the host's way
    }
    prepared.forget_ready();
    return false;
}

std::map<int, std::unique_ptr<DeviceRecording>> SceneCalls::take_prepared(Kind kind) {
    return prepared_[static_cast<int>(kind)].take(
        [&](const auto& on) { return record_on(on, kind); });
}

void bind_scene_functions(nb::module_& m) {
    nb::class_<Handle>(m, "SceneFunction",
                       "A scene as a function between flat vectors, with its derivatives.")
        .def(
            "__init__",
            [](Handle* self, const std::string& scene, const std::string& file,
               const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
               const std::shared_ptr<Device>& device, const std::string& precision,
               std::int64_t steps) {
                SimulationOptions options;
                options.device = device ? device : default_device();
                options.precision = precision_of(precision);
                options.steps = steps;
                const Scene read = scene_of(scene, file);
                const bool follows = !device || device->cuda();
                const auto made = std::make_shared<std::shared_ptr<SceneCalls>>();
                interruptibly([&] {
                    backend::run_interruptibly([=] {
                        *made = std::make_shared<SceneCalls>(read, all_modules(), options, inputs,
                                                             outputs, follows);
                    });
                });
                new (self) Handle(std::move(*made), functions());
            },
            "scene"_a, "file"_a, "inputs"_a, "outputs"_a, "device"_a.none(), "precision"_a,
            "steps"_a)
        .def_ro("number", &Handle::number, "By which compiled programs find it.")
        .def_prop_ro("input_size", [](const Handle& h) { return h.function->input_size(); })
        .def_prop_ro("output_size", [](const Handle& h) { return h.function->output_size(); })
        .def_prop_ro("paths", [](const Handle& h) { return names_of(h.function->inputs()); })
        .def_prop_ro("shapes", [](const Handle& h) { return shapes_of(h.function->inputs()); })
        .def_prop_ro("output_names",
                     [](const Handle& h) { return names_of(h.function->outputs()); })
        .def_prop_ro("output_shapes",
                     [](const Handle& h) { return shapes_of(h.function->outputs()); })
        .def_prop_ro("scene",
                     [](const Handle& h) {
                         const Scene& scene = h.function->scene();
                         return nb::make_tuple(scene.document().to_text(), file_of(scene));
                     })
        .def_prop_ro("scene_values", [](const Handle& h) { return h.function->scene_values(); })
        .def(
            "prepare_on",
            [](const Handle& handle, const std::string& kind, int ordinal) {
                const auto function = handle.function;
                const nb::gil_scoped_release release;
                return function->prepare_on(cuda_device(ordinal), kind_of<Kind>(kind));
            },
            "kind"_a, "ordinal"_a,
            "Makes what calls on a CUDA device need. Whether they can be captured into a graph.")
        .def("rows", rows, "kind"_a, "operands"_a,
             "Calls of one kind: 'value' (x), 'jvp' (x, t), 'vjp' (x, c), 'hvp' (x, c, u) or\n"
             "'jvp2' (x, t, u). Operands are f32 or f64 [rows, size]; so is the result, f64.");
    m.def("_scene_functions", [] { return functions().count(); });
}

}  // namespace hindcast::python
