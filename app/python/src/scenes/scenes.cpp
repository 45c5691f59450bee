// Scenes for Python: what hindcast/scenes.py is built on.
#include "app/python/src/scenes/scenes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "app/python/src/scenes/shared_scene.hpp"
#include "engine/document/document.hpp"
#include "engine/document/text.hpp"

namespace hindcast::python {

using namespace nb::literals;

nb::object to_numpy(std::vector<double> numbers, const Shape& shape) {
    if (shape.empty())
        return nb::module_::import_("numpy").attr("float64")(nb::cast(numbers.at(0)));
    auto* const kept = new std::vector<double>(std::move(numbers));
    const nb::capsule owner(kept,
                            [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
    const std::vector<std::size_t> extents(shape.begin(), shape.end());
    return nb::cast(
        nb::ndarray<nb::numpy, double>(kept->data(), extents.size(), extents.data(), owner));
}

nb::list leaves_of(const std::vector<double>& flat, const std::vector<Shape>& shapes) {
    nb::list list;
    std::size_t k = 0;
    for (const Shape& shape : shapes) {
        std::size_t size = 1;
        for (const std::int64_t extent : shape) size *= static_cast<std::size_t>(extent);
        const auto from = flat.begin() + static_cast<std::ptrdiff_t>(k);
        list.append(to_numpy({from, from + static_cast<std::ptrdiff_t>(size)}, shape));
        k += size;
    }
    return list;
}

std::vector<Shape> shapes_of(const SceneRuns::Set& set) {
    std::vector<Shape> shapes;
    for (const SceneRuns::Leaf& leaf : set.leaves) shapes.push_back(leaf.shape);
    return shapes;
}

const Registry& all_modules() {
    static const Registry* const all = [] {
        auto* made = new Registry;
        register_all_modules(*made);
        return made;
    }();
    return *all;
}

Scene scene_of(const std::string& text, const std::string& file, const std::string& loaded) {
    if (text.empty()) return Scene::load(file);
    if (loaded.empty())
        return file.empty() ? Scene::parse(text)
                            : Scene::of(document::Document::parse(text, file), file);
    // set() remembers what was loaded, and reads the document as it stands.
    Scene scene = scene_of(loaded, file);
    const auto read = [&scene] { scene.set("time", document::to_line(*scene.find("time"))); };
    read();
    scene.document() = document::Document::parse(text, file);
    read();
    return scene;
}

std::string file_of(const Scene& scene) {
    return scene.file().empty() ? "" : std::filesystem::absolute(scene.file()).string();
}

namespace {

std::vector<std::size_t> extents_of(const Shape& shape, std::int64_t first = -1) {
    std::vector<std::size_t> extents;
    if (first >= 0) extents.push_back(static_cast<std::size_t>(first));
    extents.insert(extents.end(), shape.begin(), shape.end());
    return extents;
}

Simulation& last_of(SceneRuns& runs) {
    if (Simulation* const last = runs.last()) return *last;
    throw Error("nothing has been run since the scene was made or changed")
        .remedy("call run() or value_and_grad() first");
}

nb::object state_of(const Shared& scene, const std::string& name) {
    const auto frames = scene->with([&](SceneRuns&) { return scene->frames; });
    if (!frames)
        throw Error("the last run kept no states").remedy("run(keep=(\"" + name + "\",)) does");
    const Frames::Kept* const kept = frames->find(name);
    if (kept == nullptr)
        throw Error(
            fmt::format("the last run kept {}, not '{}'", fmt::join(frames->names(), ", "), name))
            .remedy("name it in run(keep=...) too");
    const auto scalar = static_cast<std::int64_t>(ir::size_of(kept->array.type()));
    Shape strides = Frames::strides_of(kept->array);
    strides.insert(strides.begin(), static_cast<std::int64_t>(kept->frame_bytes) / scalar);
    const std::vector<std::size_t> extents =
        extents_of(Frames::shape_of(kept->array), frames->count());
    return nb::cast(nb::ndarray<nb::numpy, nb::ro>(kept->bytes.get(), extents.size(),
                                                   extents.data(), kept_by(frames), strides.data(),
                                                   dlpack_type(kept->array.type())));
}

nb::object final_of(const Shared& scene, const std::string& name) {
    const auto [copy, type, shape, strides] = scene->with([&](SceneRuns& runs) {
        model::Model& model = last_of(runs).model();
        Frames one(model, {name}, 1);
        one.add();
        const Array array = model.array(name);
        return std::tuple(std::make_shared<Frames>(std::move(one)), array.type(),
                          Frames::shape_of(array), Frames::strides_of(array));
    });
    const std::vector<std::size_t> extents = extents_of(shape);
    return nb::cast(nb::ndarray<nb::numpy>(copy->find(name)->bytes.get(), extents.size(),
                                           extents.data(), kept_by(copy), strides.data(),
                                           dlpack_type(type)));
}

Shared make(Scene scene, std::shared_ptr<Device> device, const std::string& precision,
            std::int64_t steps, std::uint64_t seed) {
    SimulationOptions options;
    const auto warnings = std::make_shared<PendingWarnings>();
    options.on_warning = [warnings](const Warning& warning) { warnings->add(warning); };
    options.device = std::move(device);
    if (!options.device) options.device = default_device();
    options.precision = precision_of(precision);
    options.steps = steps;
    options.seed = seed;
    Shared made = interruptibly(
        [&] { return std::make_shared<SharedScene>(std::move(scene), options, warnings); });
    made->issue_warnings();
    return made;
}

nb::tuple optimize(const Shared& scene, std::int64_t iterations, const nb::object& callback) {
    const SceneRuns::Optimized o = scene->with([&](SceneRuns& runs) {
        SceneRuns::Optimized result = runs.optimize(iterations, [&](const Optimization::Row& row) {
            if (callback.is_none()) return true;
            const nb::gil_scoped_acquire acquire;
            try {
                const nb::object answer = callback(row.iteration, row.loss);
                return answer.ptr() != Py_False;
            } catch (nb::python_error& error) {
                error.restore();
                scene->raised();
                return false;
            }
        });
        scene->rethrow();
        return result;
    });
    const auto rows = static_cast<std::int64_t>(o.losses.size());
    return nb::make_tuple(o.loss, to_numpy(o.losses, {rows}), to_numpy(o.gradient_norms, {rows}),
                          o.stopped, o.reason, o.evaluations);
}

nb::tuple check(const Shared& scene, const std::vector<std::string>& paths, std::size_t entries,
                int directions, bool hessian) {
    GradientCheckOptions wanted;
    wanted.entries = entries;
    wanted.directions = directions;
    wanted.hessian = hessian;
    auto [report, sizes] = scene->with([&](SceneRuns& runs) {
        GradientReport found = runs.check(paths, wanted);
        std::vector<std::size_t> ends;
        std::size_t end = 0;
        for (const SceneRuns::Leaf& leaf : runs.set_of(paths).leaves)
            ends.push_back(end += leaf.entries.size());
        return std::pair(std::move(found), std::move(ends));
    });
    std::map<std::size_t, SlopeVerdict> worst;  // by path
    for (const GradientReport::Entry& entry : report.entries) {
        std::size_t k = 0;
        while (entry.index >= sizes[k]) ++k;
        SlopeVerdict& verdict = worst.try_emplace(k, entry.verdict).first->second;
        verdict = std::max(verdict, entry.verdict);
    }
    nb::dict verdicts;
    for (const auto& [k, verdict] : worst) verdicts[paths[k].c_str()] = to_string(verdict);
    return nb::make_tuple(report.passed(), verdicts, report.failures(), to_text(report));
}

}  // namespace

void bind_scenes(nb::module_& m) {
    nb::register_exception_translator([](const std::exception_ptr& p, void*) {
        try {
            std::rethrow_exception(p);
        } catch (const ArgumentFault& fault) {
            PyErr_SetString(nb::module_::import_("hindcast._errors").attr("ArgumentError").ptr(),
                            in_words_of_python(fault.what()).c_str());
        }
    });
    nb::class_<SharedScene>(m, "Scene")
        .def_static(
            "load",
            [](const std::string& file, std::shared_ptr<Device> device,
               const std::string& precision, std::int64_t steps, std::uint64_t seed) {
                return make(Scene::load(file), std::move(device), precision, steps, seed);
            },
            "file"_a, "device"_a.none(), "precision"_a, "steps"_a, "seed"_a)
        .def_static(
            "parse",
            [](const std::string& text, const std::string& file, std::shared_ptr<Device> device,
               const std::string& precision, std::int64_t steps, std::uint64_t seed,
               const std::string& loaded) {
                return make(scene_of(text, file, loaded), std::move(device), precision, steps,
                            seed);
            },
            "text"_a, "file"_a, "device"_a.none(), "precision"_a, "steps"_a, "seed"_a,
            "loaded"_a = "")
        .def("value",
             [](const Shared& s, const std::string& path) -> nb::object {
                 const auto value = s->with([&](SceneRuns& r) { return r.value(path); });
                 return value ? to_numpy(value->numbers, value->shape) : nb::none();
             })
        .def("json",
             [](const Shared& s, const std::string& path) {
                 return s->with([&](SceneRuns& r) { return r.json(path); });
             })
        .def("set",
             [](const Shared& s, const std::string& path, const Numbers& numbers) {
                 s->with([&](SceneRuns& r) { r.set(path, span_of(numbers)); });
             })
        .def("make_per_element",
             [](const Shared& s, const std::string& path) {
                 s->with([&](SceneRuns& r) { r.make_per_element(path); });
             })
        .def("set_json",
             [](const Shared& s, const std::string& path, const std::string& json) {
                 s->with([&](SceneRuns& r) { r.set_json(path, json); });
             })
        .def("paths",
             [](const Shared& s) {
                 nb::list list;
                 for (const auto& d : s->with([](SceneRuns& r) { return r.paths(); }))
                     list.append(nb::make_tuple(d.path, nb::tuple(nb::cast(d.shape)), d.unit,
                                                d.differentiable, d.count, d.shared));
                 return list;
             })
        .def("parameters",
             [](const Shared& s) { return s->with([](SceneRuns& r) { return r.parameters(); }); })
        .def("shapes",
             [](const Shared& s, const std::vector<std::string>& paths) {
                 nb::list list;
                 for (const Shape& shape :
                      s->with([&](SceneRuns& r) { return shapes_of(r.set_of(paths)); }))
                     list.append(nb::tuple(nb::cast(shape)));
                 return list;
             })
        .def("run",
             [](const Shared& s, const std::vector<std::string>& keep) {
                 std::shared_ptr<Frames> frames;
                 const double loss = s->with([&](SceneRuns& r) {
                     s->frames.reset();
                     if (!keep.empty())
                         frames = std::make_shared<Frames>(r.model(), keep, r.steps() + 1);
                     const double found = r.run(frames.get());
                     s->frames = frames;
                     return found;
                 });
                 return loss;
             })
        .def("value_and_gradient",
             [](const Shared& s, const std::vector<std::string>& paths) {
                 auto [loss, gradient, shapes] = s->with([&](SceneRuns& r) {
                     SceneRuns::Set& set = r.set_of(paths);
                     const double found = r.forward(set, true);
                     return std::tuple(found, r.gradient(set), shapes_of(set));
                 });
                 return nb::make_tuple(loss, leaves_of(gradient, shapes));
             })
        .def("seconds_of_gradient",  // time in C++ alone: for benchmarks
             [](const Shared& s, const std::vector<std::string>& paths) {
                 return s->with([&](SceneRuns& r) {
                     Simulation& simulation = *r.set_of(paths).made->simulation;
                     const auto start = std::chrono::steady_clock::now();
                     simulation.run(true);
                     simulation.gradient();
                     const auto end = std::chrono::steady_clock::now();
                     return std::chrono::duration<double>(end - start).count();
                 });
             })
        .def("hessian_product",
             [](const Shared& s, const std::vector<std::string>& paths, const Numbers& direction) {
                 const auto [product, shapes] = s->with([&](SceneRuns& r) {
                     SceneRuns::Set& set = r.set_of(paths);
                     return std::pair(r.hessian_product(set, span_of(direction)), shapes_of(set));
                 });
                 return leaves_of(product, shapes);
             })
        .def("directional_derivative",
             [](const Shared& s, const std::vector<std::string>& paths, const Numbers& direction) {
                 const auto d = s->with([&](SceneRuns& r) {
                     return r.directional_derivative(r.set_of(paths), span_of(direction));
                 });
                 return nb::make_tuple(d.loss, d.derivative);
             })
        .def("optimize", &optimize, "iterations"_a, "callback"_a.none())
        .def_prop_ro(
            "iterations",
            [](const Shared& s) { return s->with([](SceneRuns& r) { return r.iterations(); }); })
        .def("check", &check)
        .def("save", [](const Shared& s,
                        const std::string& file) { s->with([&](SceneRuns& r) { r.save(file); }); })
        .def("state", &state_of)
        .def("final", &final_of)
        .def_prop_ro("warnings",
                     [](const Shared& s) {
                         return s->with([](SceneRuns& r) {
                             std::vector<std::string> lines;
                             for (const Warning& w : r.warnings())
                                 lines.push_back(document::to_line(w.to_node()));
                             return lines;
                         });
                     })
        .def_prop_ro(
            "loss",
            [](const Shared& s) { return s->with([](SceneRuns& r) { return last_of(r).loss(); }); })
        .def_prop_ro(
            "terms",
            [](const Shared& s) {
                nb::dict terms;
                for (const auto& term : s->with([](SceneRuns& r) { return last_of(r).terms(); }))
                    terms[term.name.c_str()] = term.value;
                return terms;
            })
        .def_prop_ro("hash",
                     [](const Shared& s) {
                         return s->with([](SceneRuns& r) {
                             return to_string(last_of(r).state_hash().digest());
                         });
                     })
        .def_prop_ro(
            "steps",
            [](const Shared& s) { return s->with([](SceneRuns& r) { return r.steps(); }); })
        .def_prop_ro(
            "step",
            [](const Shared& s) { return s->with([](SceneRuns& r) { return r.scene().step(); }); })
        .def_prop_ro(
            "name",
            [](const Shared& s) { return s->with([](SceneRuns& r) { return r.scene().name(); }); })
        .def_prop_ro("precision",
                     [](const Shared& s) {
                         return s->with([](SceneRuns& r) {
                             return r.options().precision == ir::Precision::f64 ? "f64" : "f32";
                         });
                     })
        .def_prop_ro("device",
                     [](const Shared& s) {
                         return s->with([](SceneRuns& r) { return r.options().device; });
                     })
        .def_prop_ro("arrays",
                     [](const Shared& s) {
                         return s->with([](SceneRuns& r) {
                             std::vector<std::string> names;
                             for (const auto& [name, a] : r.model().arrays()) names.push_back(name);
                             return names;
                         });
                     })
        .def_prop_rw(
            "patience",
            [](const Shared& s) { return s->with([](SceneRuns& r) { return r.patience; }); },
            [](const Shared& s, double seconds) {
                s->with([&](SceneRuns& r) { r.patience = seconds; });
            });
}

}  // namespace hindcast::python
