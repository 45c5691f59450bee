#include "kernels/articulated/looks/appearance.hpp"

#include <algorithm>

#include "engine/robot/model_reader.hpp"
#include "kernels/articulated/tree/shape_of_geom.hpp"

namespace hindcast::articulated {

using geometry::ShapeKind;
using model::DrawnBody;
using robot::GeomType;
using robot::RobotModel;
using Shape = DrawnBody::Shape;

namespace {

constexpr int most_shown_group = 2;
constexpr double endless = 20;  // m: half extent of a plane without one

class Looks : robot::ModelReader {
public:
    explicit Looks(const RobotModel& model) : ModelReader(model) {}

    bool is_shown(int geom) const { return integer("geom_group", geom) <= most_shown_group; }

    // Empty `shapes` where the type has no picture: height fields.
    std::vector<Shape> shapes_of(int geom) const {
        Shape s;
        copy("geom_size", geom, s.size);
        copy("geom_pos", geom, s.place);
        copy("geom_quat", geom, s.orientation);
        s.kind = kind_of(robot::enum_at<GeomType>(m_.integers("geom_type"), geom));
        if (s.kind == ShapeKind::height_field || s.kind == ShapeKind::distance_field) return {};
        if (s.kind == ShapeKind::mesh) s.corners = corners_of(integer("geom_dataid", geom));
        if (s.kind == ShapeKind::plane)
            for (double& half : s.size) half = half > 0 ? half : endless;
        return {std::move(s)};
    }

private:
    template <std::size_t N>
    void copy(const char* array, int row, std::array<double, N>& to) const {
        const auto from = m_.reals(array).subspan(static_cast<std::size_t>(row) * N, N);
        std::ranges::copy(from, to.begin());
    }
    std::vector<double> corners_of(int mesh) const {
        const auto vertices = m_.reals("mesh_vert");
        const auto faces = m_.integers("mesh_face");
        const auto first_vertex = static_cast<std::size_t>(integer("mesh_vertadr", mesh)),
                   first = static_cast<std::size_t>(integer("mesh_faceadr", mesh)),
                   count = static_cast<std::size_t>(integer("mesh_facenum", mesh));
        std::vector<double> corners;
        for (std::size_t k = 3 * first; k < 3 * (first + count); ++k)
            for (std::size_t c = 0; c < 3; ++c)
                corners.push_back(
                    vertices[3 * (first_vertex + static_cast<std::size_t>(faces[k])) + c]);
        return corners;
    }
};

}  // namespace

std::vector<DrawnBody> drawn_bodies(const RobotModel& model, const Array& xpos,
                                    const Array& xquat) {
    const Looks looks(model);
    const auto bodies = model.integers("geom_bodyid");
    std::vector<DrawnBody> all(static_cast<std::size_t>(model.size("nbody")));
    for (std::size_t b = 1; b < all.size(); ++b) {
        all[b].row = static_cast<std::int64_t>(b);
        all[b].places = xpos;
        all[b].orientations = xquat;
        all[b].name = model.names(robot::ObjectKind::body)[b];
    }
    for (std::size_t g = 0; g < bodies.size(); ++g)
        if (looks.is_shown(static_cast<int>(g)))
            for (Shape& shape : looks.shapes_of(static_cast<int>(g)))
                all[static_cast<std::size_t>(bodies[g])].shapes.push_back(std::move(shape));
    std::erase_if(all, [](const DrawnBody& body) { return body.shapes.empty(); });
    return all;
}

}  // namespace hindcast::articulated
