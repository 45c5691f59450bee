// area     A = 1/2 sum (x_k - x_0) x (x_{k+1} - x_0) over the polygon's points in order; positive
//          if they go round counter-clockwise
// volume   V = 1/6 sum (a - o).((b - o) x (c - o)) over the triangles (a, b, c) of a closed mesh,
//          o its first point; positive if they are counter-clockwise seen from outside
// value = mean over the times of (measure - target)^2. One work item goes over the terms in order;
// relative to a point of the body, the sums do not lose digits where it is far from the origin.
#include "kernels/area/area.hpp"

#include <map>

#include "engine/document/read.hpp"
#include "engine/model/built_by.hpp"
#include "kernels/particles/particles.hpp"

namespace hindcast {

namespace {

using namespace lang;
using model::Model;
using model::Settings;
using particles::Selection;

KernelDef area(const Selection& selection, std::int64_t corners) {
    return kernel(
        "area", {"x", "target", "first", "index", "scale", "value"},
        [selection, corners](Int, Read<Vec2> x, Property<Float> target, Param<Int> first,
                             Read<Int> index, Param<Float> scale, Reduce<Float> value) {
            const auto corner = [&](const Int& k) { return x[selection.point(k, first, index)]; };
            const Vec2 origin = corner(0);
            Float twice;
            for_(1, corners - 1,
                 [&](const Int& k) { twice += cross(corner(k) - origin, corner(k + 1) - origin); });
            const Float miss = 0.5 * twice - target[0];
            value += miss * miss * scale.value();
        });
}

KernelDef volume(std::int64_t triangles) {
    return kernel("volume", {"x", "target", "corners", "scale", "value"},
                  [triangles](Int, Read<Vec3> x, Property<Float> target, Read<Int3> corners,
                              Param<Float> scale, Reduce<Float> value) {
                      const Vec3 origin = x[corners[0].x()];
                      Float six;
                      for_(0, triangles, [&](const Int& k) {
                          const Int3 t = corners[k];
                          const Vec3 a = x[t.x()] - origin, b = x[t.y()] - origin,
                                     c = x[t.z()] - origin;
                          six += dot(a, cross(b, c));
                      });
                      const Float miss = six / 6.0 - target[0];
                      value += miss * miss * scale.value();
                  });
}

void publish_kernels(Registry& registry) {
    registry.publish(
        {"area",
         "One item: value += scale (A - target)^2, with A = 1/2 sum (x_k - x_0) x (x_{k+1} - x_0) "
         "of a polygon's points.",
         {model::integer("points").at_least(3).at_most(1 << 30).doc("of the polygon"),
          particles::listed_option()},
         {{"x", "positions, m"},
          {"target", "m^2"},
          {"first", "number of the first point"},
          {"index", "numbers of the points"},
          {"scale", "a factor"},
          {"value", "a sum, m^4"}},
         [](const Settings& options) {
             return area(particles::selection_of(options), options.integer("points"));
         }});
    registry.publish(
        {"volume",
         "One item: value += scale (V - target)^2, with V = 1/6 sum (a - o).((b - o) x (c - o)) of "
         "a closed surface's triangles a, b, c; o is its first corner.",
         {model::integer("triangles").at_least(1).at_most(1 << 30).doc("of the surface")},
         {{"x", "positions, m"},
          {"target", "m^3"},
          {"corners", "numbers of the points of each triangle"},
          {"scale", "a factor"},
          {"value", "a sum, m^6"}},
         [](const Settings& options) { return volume(options.integer("triangles")); }});
}

void build_area(const Settings& settings, Model& model) {
    if (model.dimension() != 2)
        throw settings.error("type", "an area is measured in scenes of dimension 2")
            .remedy("write \"dimension\": 2, or measure a volume");
    const Selection selection = particles::select_points(settings, model);
    if (selection.count() < 3) throw settings.error("of", "a polygon has three points or more");
    add_mean(settings, model, [&](double scale, const Array& value) {
        Program program;
        program.add(model.launch(area(selection, selection.count()), 1,
                                 {{"x", model.array("position")},
                                  {"target", settings.quantity(model, "target").argument()},
                                  selection.argument(),
                                  {"scale", scale},
                                  {"value", value}},
                                 settings.name() + ": area"));
        return program;
    });
}

// The formula holds for closed, consistently oriented surfaces only: every edge is there once
// in each direction.
std::vector<std::int64_t> read_triangles(const Settings& settings, const Model& model) {
    const model::Range body = settings.points(model, "of");
    const document::Node& list = document::array_of(*settings.find("triangles"), 1);
    std::vector<std::int64_t> corners;
    std::map<std::pair<std::int64_t, std::int64_t>, const document::Node*> edges;
    for (std::size_t k = 0; k < list.size(); ++k) {
        const document::Node& row = document::array_of(list.item(k), 3, 3);
        std::int64_t t[3];
        for (std::size_t c = 0; c < 3; ++c)
            t[c] = body.first + document::integer_of(row.item(c), 0, body.count - 1);
        for (std::size_t c = 0; c < 3; ++c) {
            corners.push_back(t[c]);
            const bool fresh = edges.try_emplace({t[c], t[(c + 1) % 3]}, &row).second;
            if (!fresh || t[c] == t[(c + 1) % 3])
                throw document::fault(row,
                                      "an edge of this triangle is there already, in the "
                                      "same direction")
                    .remedy(
                        "order the corners of all triangles counter-clockwise, seen from "
                        "outside");
        }
    }
    for (const auto& [edge, row] : edges)
        if (!edges.contains({edge.second, edge.first}))
            throw document::fault(*row, "the surface is not closed: the edge between points " +
                                            std::to_string(edge.first - body.first) + " and " +
                                            std::to_string(edge.second - body.first) +
                                            " belongs to one triangle only")
                .remedy("add the triangles that are missing");
    return corners;
}

void build_volume(const Settings& settings, Model& model) {
    if (model.dimension() != 3)
        throw settings.error("type", "a volume is measured in scenes of dimension 3")
            .remedy("measure an area instead");
    const std::vector<std::int64_t> corners = read_triangles(settings, model);
    const auto triangles = static_cast<std::int64_t>(corners.size()) / 3;
    add_mean(settings, model, [&](double scale, const Array& value) {
        Program program;
        program.add(model.launch(volume(triangles), 1,
                                 {{"x", model.array("position")},
                                  {"target", settings.quantity(model, "target").argument()},
                                  {"corners", model.index_array(corners, 3)},
                                  {"scale", scale},
                                  {"value", value}},
                                 settings.name() + ": volume"));
        return program;
    });
}

}  // namespace

void register_area(Registry& registry) {
    using namespace model;
    publish_kernels(registry);
    registry.add(
        {Section::objective,
         "area",
         "Area of a polygon",
         "The area A of the polygon of a body's points in order (dimension 2), positive if "
         "they go round counter-clockwise: mean over the times of (A - target)^2.",
         {particles::of_field(), particles::points_field(),
          number("target").unit("m^2").differentiable().doc("the area wanted")},
         built_by(build_area)});
    registry.add({Section::objective,
                  "volume",
                  "Volume of a surface",
                  "The volume V inside a closed surface of triangles: mean over the times of "
                  "(V - target)^2.",
                  {particles::of_field(),
                   list("triangles")
                       .doc("[[a, b, c], ...]: numbers of points of the body, "
                            "counter-clockwise seen from outside")
                       .schema(R"({"type":"array","minItems":3,"maxItems":3,)"
                               R"("items":{"type":"integer","minimum":0,"means":"point"}})"),
                   number("target").unit("m^3").differentiable().doc("the volume wanted")},
                  built_by(build_volume)});
}

}  // namespace hindcast
