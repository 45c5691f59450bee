#include "kernels/articulated/sensors/triangles.hpp"

#include <array>

#include "engine/robot/model_reader.hpp"

namespace hindcast::articulated {

namespace {

class Reader : robot::ModelReader {
public:
    explicit Reader(const robot::RobotModel& model) : ModelReader(model) {}
    using ModelReader::integer;
    using ModelReader::real;
};

}  // namespace

std::int64_t TriangleList::vertex(double x, double y, double z) {
    all_.vertices.insert(all_.vertices.end(), {x, y, z});
    return static_cast<std::int64_t>(all_.vertices.size()) / 3 - 1;
}

TriangleRange TriangleList::mesh(int number) {
    if (const auto found = known_.find({false, number}); found != known_.end())
        return found->second;
    const Reader r(model_);
    const auto count = [&] { return static_cast<int>(all_.corners.size()) / 3; };
    const auto first_vertex = static_cast<std::int64_t>(all_.vertices.size()) / 3;
    const int begin = r.integer("mesh_vertadr", number), faces = r.integer("mesh_faceadr", number);
    for (int v = begin; v < begin + r.integer("mesh_vertnum", number); ++v)
        vertex(r.real("mesh_vert", 3 * v), r.real("mesh_vert", 3 * v + 1),
               r.real("mesh_vert", 3 * v + 2));
    TriangleRange range{count(), 0};
    for (int f = faces; f < faces + r.integer("mesh_facenum", number); ++f)
        for (int k = 0; k < 3; ++k)
            all_.corners.push_back(first_vertex + r.integer("mesh_face", 3 * f + k));
    range.end = count();
    return known_[{false, number}] = range;
}

TriangleRange TriangleList::field(int number) {
    if (const auto found = known_.find({true, number}); found != known_.end()) return found->second;
    const Reader r(model_);
    const int rows = r.integer("hfield_nrow", number), columns = r.integer("hfield_ncol", number),
              heights = r.integer("hfield_adr", number);
    const auto size = [&](int k) { return r.real("hfield_size", 4 * number + k); };
    const auto x = [&](int column) { return size(0) * (2. * column / (columns - 1) - 1); };
    const auto y = [&](int row) { return size(1) * (2. * row / (rows - 1) - 1); };
    std::vector<std::int64_t> top;
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j)
            top.push_back(
                vertex(x(j), y(i), size(2) * r.real("hfield_data", heights + i * columns + j)));
    const auto at_top = [&](int i, int j) {
        return top[static_cast<std::size_t>(i) * static_cast<std::size_t>(columns) +
                   static_cast<std::size_t>(j)];
    };
    const auto add = [&](std::int64_t a, std::int64_t b, std::int64_t c) {
        all_.corners.insert(all_.corners.end(), {a, b, c});
    };
    TriangleRange range{static_cast<int>(all_.corners.size()) / 3, 0};
    for (int i = 0; i + 1 < rows; ++i)
        for (int j = 0; j + 1 < columns; ++j) {
            add(at_top(i, j), at_top(i + 1, j + 1), at_top(i, j + 1));
            add(at_top(i, j), at_top(i + 1, j + 1), at_top(i + 1, j));
        }
    // From one corner of the border to the next.
    const auto side = [&](std::array<int, 2> from, std::array<int, 2> to) {
        const std::int64_t a = at_top(from[0], from[1]), b = at_top(to[0], to[1]),
                           below_a = vertex(x(from[1]), y(from[0]), 0),
                           below_b = vertex(x(to[1]), y(to[0]), 0);
        add(below_a, below_b, b);
        add(below_a, b, a);
    };
    for (const int i : {0, rows - 1})
        for (int j = 0; j + 1 < columns; ++j) side({i, j}, {i, j + 1});
    for (const int j : {0, columns - 1})
        for (int i = 0; i + 1 < rows; ++i) side({i, j}, {i + 1, j});
    range.end = static_cast<int>(all_.corners.size()) / 3;
    return known_[{true, number}] = range;
}

}  // namespace hindcast::articulated
