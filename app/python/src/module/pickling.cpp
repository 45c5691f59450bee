// Parts that objects of the module are made again from, in another process or as a copy:
// hindcast/_pickling.py.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include "app/python/src/scenes/shared_scene.hpp"
#include "engine/base/thread_pool.hpp"

namespace hindcast::python {

using namespace nb::literals;

namespace {

// (name, threads, checked, without), as hindcast.device() takes them. All threads stay all, however
// many another machine has.
nb::tuple device_parts(const Device& device) {
    const DeviceOptions& o = device.options();
    const std::string name = o.kind == DeviceKind::interpreter ? "interpreter"
                             : o.kind == DeviceKind::cuda      ? "cuda:" + std::to_string(o.ordinal)
                                                               : "cpu";
    const int threads =
        o.kind != DeviceKind::cpu || o.threads == hardware_threads() ? 0 : o.threads;
    return nb::make_tuple(name, threads, o.checked, o.passes.left_out());
}

// The type that hindcast.array() is given, or None where no kernel has taken the array yet.
nb::object array_type(const PyArray& array) {
    if (!array.is_decided()) return nb::none();
    const ir::Type type = array.type();
    return nb::cast(DataType{.type = ir::is_real(type) ? ir::Type::f64 : type,
                             .real = ir::is_real(type),
                             .element = *array.element()});
}

// ((text, file, device, precision, steps, seed, loaded), [(path, numbers), ...]): the arguments of
// Scene.parse(), and the values that were set behind it. The device is None if none was named.
nb::tuple scene_parts(const Shared& shared) {
    const auto [scene, options, values] = shared->with([](SceneRuns& runs) {
        return std::tuple(runs.scene(), runs.options(), runs.values_set());
    });
    const Scene* const loaded = scene.loaded();
    nb::list set;
    for (const auto& [path, numbers] : values)
        set.append(
            nb::make_tuple(path, to_numpy(numbers, {static_cast<std::int64_t>(numbers.size())})));
    const nb::object device =
        options.device == default_device() ? nb::none() : nb::cast(options.device);
    const nb::tuple made =
        nb::make_tuple(scene.document().to_text(), file_of(scene), device,
                       options.precision == ir::Precision::f64 ? "f64" : "f32", options.steps,
                       options.seed, loaded == nullptr ? "" : loaded->document().to_text());
    return nb::make_tuple(made, set);
}

}  // namespace

void bind_pickling(nb::module_& m) {
    m.def("_device_parts", device_parts, "device"_a);
    m.def("_array_type", array_type, "array"_a);
    m.def("_scene_parts", scene_parts, "scene"_a);
}

}  // namespace hindcast::python
