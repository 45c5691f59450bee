// Distances of geoms that sensors tell of: of every geom of one body to every geom of another, whether they
// may touch or not, by the narrow phase (collision/narrow_phase.hpp) and with slots of its own, beside those
// of contacts. Boxes meet boxes as general convex shapes; of these and other pairs that are searched for there
// is the single contact, whose ends are the points that are nearest to each other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/robot/robot_model.hpp"
#include "kernels/articulated/collision/collision_pairs.hpp"

namespace hindcast::articulated {

// The slots of a sensor, first to end, and the distance (m) up to which geoms are near.
struct DistanceSlots {
    int first = 0, end = 0;
    double reach = 0;
};

struct Distances {
    std::vector<CollisionPair> pairs;  // their margin is the reach
    std::vector<CollisionGroup> groups;
    int slots = 0;
    std::vector<double> signs;  // of each slot: -1 where its first geom is the sensor's second
    std::vector<std::int64_t> geom_bodies;  // of all geoms
    std::vector<robot::ModelArray> hulls;

    bool searches() const;
};

// Collects what sensors are about. Sensors about the same geoms have the same slots.
class DistanceList {
public:
    explicit DistanceList(const robot::RobotModel& model) : model_(model) {}

    // `sensor`: what it is called in errors. Throws Error, by name, for a geom and itself, and for geoms whose
    // distance is not simulated.
    DistanceSlots add(const std::string& sensor, const std::vector<int>& first,
                      const std::vector<int>& second, double reach);
    Distances finish();

private:
    struct Known {
        std::vector<int> first, second;
        DistanceSlots slots;
    };
    void add_pair(const std::string& sensor, int first, int second, double reach);

    const robot::RobotModel& model_;
    Distances all_;
    std::vector<Known> known_;
};

}  // namespace hindcast::articulated
