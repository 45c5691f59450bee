#include "kernels/articulated/sensors/distances.hpp"

#include <algorithm>
#include <utility>

#include "engine/base/error.hpp"
#include "engine/robot/model_reader.hpp"
#include "kernels/articulated/collision/height_field.hpp"
#include "kernels/articulated/collision/hull_arrays.hpp"
#include "kernels/articulated/collision/narrow_phase.hpp"

namespace hindcast::articulated {

using namespace robot;

bool Distances::searches() const {
    return std::ranges::any_of(groups, [](const CollisionGroup& g) { return g.searched; });
}

DistanceSlots DistanceList::add(const std::string& sensor, const std::vector<int>& first,
                                const std::vector<int>& second, double reach) {
    for (const Known& k : known_)
        if (k.first == first && k.second == second && k.slots.reach == reach) return k.slots;
    DistanceSlots slots{all_.slots, 0, reach};
    for (const int a : first)
        for (const int b : second) add_pair(sensor, a, b, reach);
    slots.end = all_.slots;
    known_.push_back({first, second, slots});
    return slots;
}

void DistanceList::add_pair(const std::string& sensor, int first, int second, double reach) {
    const auto type = [&](int g) { return enum_at<GeomType>(model_.integers("geom_type"), g); };
    const auto name = [&](int g) { return model_.describe(ObjectKind::geom, g); };
    if (first == second)
        throw Error(sensor + " measures the distance of " + name(first) + " from itself")
            .remedy("write two geoms, or bodies that do not have it both");
    // As in MuJoCo, planes have no distance from each other.
    if (type(first) == GeomType::plane && type(second) == GeomType::plane) return;
    const bool turned = type(first) > type(second);
    const auto [a, b] = turned ? std::pair(second, first) : std::pair(first, second);
    CollisionPair pair;
    pair.geom1 = a, pair.geom2 = b;
    pair.margin = reach;
    pair.slots = slots_of(type(a), type(b));
    if (pair.slots == 0 || type(a) == GeomType::hfield)
        throw Error(sensor + " measures the distance of " + name(a) + ", a " +
                    std::string(name_of(type(a))) + ", and " + name(b) + ", a " +
                    std::string(name_of(type(b))) + ", which is not simulated")
            .remedy("leave it out of \"sensors\"");
    const bool boxes = type(a) == GeomType::box && type(b) == GeomType::box;
    if (boxes || is_searched(type(a), type(b))) {
        if (model_.options().disabled(DisableFlag::nativeccd))
            throw Error(sensor + " measures the distance of " + name(a) + " and " + name(b) +
                        ", convex shapes, with the flag nativeccd = disable, which is not "
                        "simulated")
                .remedy("remove the flag: MuJoCo's distances are not true with it");
        pair.slots = 1;
    }
    all_.slots += pair.slots;
    all_.signs.insert(all_.signs.end(), static_cast<std::size_t>(pair.slots), turned ? -1 : 1);
    all_.pairs.push_back(pair);
}

Distances DistanceList::finish() {
    if (all_.pairs.empty()) return {};
    all_.groups = grouped(model_, all_.pairs, true);
    const auto bodies = model_.integers("geom_bodyid");
    all_.geom_bodies.assign(bodies.begin(), bodies.end());
    all_.hulls = hull_arrays(model_);
    for (ModelArray& array : field_arrays(model_)) all_.hulls.push_back(std::move(array));
    return std::move(all_);
}

}  // namespace hindcast::articulated
