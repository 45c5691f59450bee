#include "engine/robot/mass_sources.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "engine/robot/layout/model_layout.hpp"

namespace hindcast::robot {

namespace {

template <class T>
T member(const void* of, std::string_view name) {
    T value;
    const WrittenField& field = *std::ranges::find(written_fields(), name, &WrittenField::name);
    std::memcpy(static_cast<void*>(&value), static_cast<const std::byte*>(of) + field.offset,
                sizeof value);
    return value;
}

// The elements of a type that are in the compiled model, in MuJoCo's order.
template <class T, class Read>
std::vector<T> all_of(const WrittenModel& model, ObjectType type, T otherwise, Read read) {
    std::vector<T> list;
    for (void* element = model.first(static_cast<int>(type)); element != nullptr;
         element = model.next(element)) {
        const int number = model.number(element);
        if (number < 0) continue;
        const auto place = static_cast<std::size_t>(number);
        if (place >= list.size()) list.resize(place + 1, otherwise);
        list[place] = read(element);
    }
    return list;
}

}  // namespace

MassSources mass_sources_of(const WrittenModel& model) {
    MassSources all;
    const auto rule =
        static_cast<InertiaFromGeom>(member<int>(model.spec, "mjSpec.compiler.inertiafromgeom"));
    struct Range {
        int least, most;
    };
    const auto groups = member<Range>(model.spec, "mjSpec.compiler.inertiagrouprange");
    all.least_group = groups.least;
    all.most_group = groups.most;
    all.body_is_from_geoms = all_of(model, ObjectType::body, false, [&](void* element) {
        const bool is_explicit =
            member<std::uint8_t>(model.body(element), "mjsBody.explicitinertial") != 0;
        return rule == InertiaFromGeom::true_ || (rule == InertiaFromGeom::auto_ && !is_explicit);
    });
    all.geoms = all_of(model, ObjectType::geom, MassSources::Geom{}, [&](void* element) {
        const void* const geom = model.geom(element);
        return MassSources::Geom{member<double>(geom, "mjsGeom.mass"),
                                 member<double>(geom, "mjsGeom.density"),
                                 member<int>(geom, "mjsGeom.typeinertia") != 0};
    });
    all.meshes = all_of(model, ObjectType::mesh, MeshInertia::legacy, [&](void* element) {
        return static_cast<MeshInertia>(member<int>(model.mesh(element), "mjsMesh.inertia"));
    });
    return all;
}

}  // namespace hindcast::robot
