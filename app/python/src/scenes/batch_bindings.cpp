// hindcast._core.Batch: the base of hindcast/batches.py.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "app/python/src/scenes/shared_scene.hpp"
#include "engine/sim/runs/scene_batch.hpp"

namespace hindcast::python {

using namespace nb::literals;

namespace {

using SharedBatch = Guarded<SceneBatch>;
using Held = std::shared_ptr<SharedBatch>;
using Flags = nb::ndarray<const bool, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
struct Saved {
    std::vector<SceneBatch::Member> members;
};

SceneBatch::Mask mask_of(const Flags& flags) { return {flags.data(), flags.data() + flags.size()}; }

std::vector<SceneBatch::Given> given_of(const nb::dict& arrays) {
    std::vector<SceneBatch::Given> list;
    for (const auto& [name, array] : arrays) {
        const auto numbers = nb::cast<Numbers>(array);
        list.push_back(
            {nb::cast<std::string>(name), {numbers.data(), numbers.data() + numbers.size()}});
    }
    return list;
}

Shape with_members(std::size_t members, const Shape& shape) {
    Shape all{static_cast<std::int64_t>(members)};
    all.insert(all.end(), shape.begin(), shape.end());
    return all;
}

template <class T>
nb::object array_of(std::vector<T> numbers) {
    const std::size_t size = numbers.size();
    auto* const kept = new std::vector<T>(std::move(numbers));
    const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T>(kept->data(), {size}, owner));
}

nb::object flags_of(const SceneBatch::Mask& mask) {
    return array_of(mask).attr("astype")(nb::module_::import_("numpy").attr("bool_"));
}

nb::object observation(const Held& batch, const std::string& name) {
    auto [found, members] =
        batch->with([&](SceneBatch& b) { return std::pair(b.observe(name), b.size()); });
    const Shape shape = with_members(members, found.shape);
    const std::vector<std::size_t> extents(shape.begin(), shape.end());
    auto* const kept = new std::vector<std::byte>(std::move(found.bytes));
    const nb::capsule owner(
        kept, [](void* p) noexcept { delete static_cast<std::vector<std::byte>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy>(kept->data(), extents.size(), extents.data(), owner,
                                           nullptr, dlpack_type(found.type)));
}

nb::tuple gradients_of(const SceneBatch::Gradients& found) {
    nb::list by_path, by_state;
    const std::size_t members = found.losses.size();
    for (std::size_t k = 0; k < found.by_path.size(); ++k)
        by_path.append(to_numpy(found.by_path[k], with_members(members, found.shapes[k])));
    for (std::size_t k = 0; k < found.by_state.size(); ++k)
        by_state.append(to_numpy(found.by_state[k], with_members(members, found.state_shapes[k])));
    return nb::make_tuple(array_of(found.losses), by_path, by_state);
}

}  // namespace

void bind_batches(nb::module_& m) {
    nb::class_<Saved>(m, "SavedMembers", "Where the members of a batch were.")
        .def(
            "__len__", [](const Saved& saved) { return saved.members.size(); },
            "The number of members.");
    nb::class_<SharedBatch>(m, "Batch")
        .def_static("of",
                    [](const Shared& scene, std::size_t members) {
                        auto [now, options] = scene->with([](SceneRuns& runs) {
                            return std::pair(runs.written(), runs.options());
                        });
                        const nb::gil_scoped_release release;
                        return std::make_shared<SharedBatch>(std::move(now), all_modules(), options,
                                                             members);
                    })
        .def_prop_ro("size",
                     [](const Held& b) { return b->with([](SceneBatch& x) { return x.size(); }); })
        .def_prop_ro(
            "workers",
            [](const Held& b) { return b->with([](SceneBatch& x) { return x.workers(); }); })
        .def_prop_ro("steps",
                     [](const Held& b) { return b->with([](SceneBatch& x) { return x.steps(); }); })
        .def("values",
             [](const Held& b, const std::string& path) {
                 auto [value, members] =
                     b->with([&](SceneBatch& x) { return std::pair(x.values(path), x.size()); });
                 return to_numpy(std::move(value.numbers), with_members(members, value.shape));
             })
        .def("set",
             [](const Held& b, const std::string& path, const Flags& mask, const Numbers& numbers) {
                 const SceneBatch::Mask which = mask_of(mask);
                 b->with([&](SceneBatch& x) { x.set(path, which, span_of(numbers)); });
             })
        .def("reset",
             [](const Held& b, const Flags& mask, const nb::dict& states) {
                 const SceneBatch::Mask which = mask_of(mask);
                 const std::vector<SceneBatch::Given> given = given_of(states);
                 b->with([&](SceneBatch& x) { x.reset(which, given); });
             })
        .def("step",
             [](const Held& b, const Flags& mask, std::int64_t steps) {
                 const SceneBatch::Mask which = mask_of(mask);
                 b->with([&](SceneBatch& x) { x.step(which, steps); });
             })
        .def("save",
             [](const Held& b) { return b->with([](SceneBatch& x) { return Saved{x.save()}; }); })
        .def("restore",
             [](const Held& b, const Flags& mask, const Saved& saved) {
                 const SceneBatch::Mask which = mask_of(mask);
                 b->with([&](SceneBatch& x) { x.restore(which, saved.members); });
             })
        .def_prop_ro("steps_done",
                     [](const Held& b) {
                         return array_of(b->with([](SceneBatch& x) { return x.steps_done(); }));
                     })
        .def_prop_ro(
            "done",
            [](const Held& b) { return flags_of(b->with([](SceneBatch& x) { return x.done(); })); })
        .def_prop_ro("diverged",
                     [](const Held& b) {
                         return flags_of(b->with([](SceneBatch& x) { return x.diverged(); }));
                     })
        .def_prop_ro("losses",
                     [](const Held& b) {
                         return array_of(b->with([](SceneBatch& x) { return x.losses(); }));
                     })
        .def_prop_ro(
            "observed",
            [](const Held& b) { return b->with([](SceneBatch& x) { return x.observed(); }); })
        .def("observe", &observation)
        .def("value_and_gradient",
             [](const Held& b, const std::vector<std::string>& paths) {
                 return gradients_of(b->with([&](SceneBatch& x) { return x.gradients(paths); }));
             })
        .def("pull_back",
             [](const Held& b, const std::vector<std::string>& paths,
                const std::vector<std::string>& states, std::int64_t steps, double loss_weight,
                const nb::dict& cotangents) {
                 const SceneBatch::Pull wanted{.paths = paths,
                                               .states = states,
                                               .steps = steps,
                                               .loss_weight = loss_weight,
                                               .cotangents = given_of(cotangents)};
                 return gradients_of(b->with([&](SceneBatch& x) { return x.pull_back(wanted); }));
             })
        .def_prop_rw(
            "patience",
            [](const Held& b) { return b->with([](SceneBatch& x) { return x.runs().patience; }); },
            [](const Held& b, double seconds) {
                b->with([&](SceneBatch& x) { x.runs().patience = seconds; });
            });
}

}  // namespace hindcast::python
