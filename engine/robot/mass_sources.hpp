// MassSources: the origin of a model's masses. MuJoCo's compiler finds the inertia of a body
// without an <inertial> element from its geoms, and does not keep their densities; they are read
// from the model as it is written.
#pragma once

#include <functional>
#include <vector>

#include "engine/robot/layout/model_enums.hpp"

namespace hindcast::robot {

struct MassSources {
    struct Geom {
        double mass = 0;     // kg; not a number where the density says it
        double density = 0;  // kg/m^3, of a shell kg/m^2
        bool shell = false;  // all of the mass on the surface
    };
    // By MuJoCo's numbers.
    std::vector<Geom> geoms;
    std::vector<bool> body_is_from_geoms;
    std::vector<MeshInertia> meshes;
    int least_group = 0, most_group = 5;  // of the geoms that count
};

// MuJoCo's functions that go through a model as it is written (mjSpec).
struct WrittenModel {
    const void* spec = nullptr;
    std::function<void*(int type)> first;                 // mjs_firstElement
    std::function<void*(void* element)> next;             // mjs_nextElement
    std::function<int(void* element)> number;             // mjs_getId
    std::function<void*(void*element)> body, geom, mesh;  // mjs_asBody and so on
};

// The sources of a model that has been compiled.
MassSources mass_sources_of(const WrittenModel& model);

}  // namespace hindcast::robot
