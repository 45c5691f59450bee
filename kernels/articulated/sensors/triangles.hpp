// The triangles of meshes and height fields that rays may meet.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "engine/robot/robot_model.hpp"

namespace hindcast::articulated {

struct TriangleRange {
    int first = 0, end = 0;
};

struct Triangles {
    std::vector<std::int64_t> corners;  // triangles x 3, vertices
    std::vector<double> vertices;       // vertices x 3, m, in the axes of the geom
};

// Collects them, those of the same mesh or field once.
class TriangleList {
public:
    explicit TriangleList(const robot::RobotModel& model) : model_(model) {}

    // The faces of a mesh, convex or not.
    TriangleRange mesh(int number);
    // The top of a height field, two triangles in each cell, and its sides down to z = 0.
    TriangleRange field(int number);
    Triangles finish() { return std::move(all_); }

private:
    std::int64_t vertex(double x, double y, double z);

    const robot::RobotModel& model_;
    Triangles all_;
    std::map<std::pair<bool, int>, TriangleRange> known_;  // is a field, number
};

}  // namespace hindcast::articulated
