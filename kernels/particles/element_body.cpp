#include "kernels/particles/element_body.hpp"

#include "engine/document/read.hpp"
#include "engine/document/values.hpp"
#include "engine/model/dimension.hpp"
#include "engine/model/value_request.hpp"
#include "kernels/particles/implicit.hpp"
#include "kernels/particles/particles.hpp"

namespace hindcast::particles {

using namespace lang;
using model::Model;
using model::Settings;

namespace {

template <int D>
KernelDef initialize_nodes() {
    using V = Vec<Float, D>;
    return kernel("element_body_initialize", {"positions", "velocity", "first", "x", "v", "m"},
                  [](Int i, Read<V> positions, Property<V> velocity, Param<Int> first, Write<V> x,
                     Write<V> v, Write<Float> m) {
                      const Int j = injective(i + first.value());
                      x[j] = positions[i];
                      v[j] = velocity[i];
                      m[j] = Float(0);
                  });
}

KernelDef invert_mass() {
    return kernel("element_body_inverse_mass", {"m", "fixed", "first", "w"},
                  [](Int i, Read<Float> m, Property<Int> fixed, Param<Int> first, Write<Float> w) {
                      const Int j = injective(i + first.value());
                      w[j] = select(fixed[i] == 0, 1.0 / m[j], Float(0));
                  });
}

// A point that no element has a mass for could not be moved, unless it is fixed. Throws Error.
void require_elements(Model& model, const Settings& settings, model::Range range,
                      const ElementMesh& mesh) {
    std::vector<char> held = model.shared<FixedPoints>().flags;
    const auto* const corners = static_cast<const std::int32_t*>(mesh.corners.data());
    for (std::int64_t c = 0; c < mesh.elements * mesh.corner_count; ++c)
        held[static_cast<std::size_t>(corners[c])] = 1;
    for (std::int64_t p = 0; p < range.count; ++p) {
        if (held[static_cast<std::size_t>(range.first + p)] != 0) continue;
        const document::Node& written = *settings.find("mesh");
        const document::Node* const points = written.find("points");
        const std::string element = mesh.corner_count == 4 ? "tetrahedron" : "triangle";
        throw document::fault(
            points != nullptr ? points->item(static_cast<std::size_t>(p)) : written,
            "point " + std::to_string(p) + " belongs to no " + element + ", so it has no mass")
            .remedy("remove it, make it a corner of a " + element + ", or let it be fixed");
    }
}

}  // namespace

template <int K>
KernelDef lumped_mass() {
    return kernel("solid_lumped_mass", {"corners", "volume", "density", "m"},
                  [](Int e, Read<Vec<Int, K>> corners, Read<Float> volume, Property<Float> density,
                     Accumulate<Float> m) {
                      const Vec<Int, K> c = corners[e];
                      const Float part = 1.0 / K * density[e] * volume[e];
                      for (int k = 0; k < K; ++k) m[c[k]] += part;
                  });
}
template KernelDef lumped_mass<3>();
template KernelDef lumped_mass<4>();

PlacedPoints place_at_rest(Model& model, const Settings& settings,
                           const std::vector<double>& points) {
    const auto count = static_cast<std::int64_t>(points.size()) / model.dimension();
    PlacedPoints placed{{}, points};
    if (const document::Node* node = settings.find("positions")) {
        document::ValueRequest request = model::value_request(model);
        request.count = count;
        request.components = request.dimension = model.dimension();
        request.positions = points;
        placed.start = document::evaluate(*node, request).rows();
    }
    placed.range = model.add_points(settings.name(), count);
    model.set_initial_points(placed.range.first, placed.start);
    return placed;
}

void start_elements(Model& model, const Settings& settings, const PlacedPoints& placed,
                    const ElementMesh& mesh, const char* density) {
    const Arrays a = arrays(model);
    const std::string& name = settings.name();
    const model::Range range = placed.range;
    Program& prologue = model.prologue();
    prologue.add(model.launch(
        model::for_dimension(model, [](auto D) { return initialize_nodes<D>(); }), range.count,
        {{"positions",
          settings.quantity_of(model, "positions", range.count, placed.start).argument()},
         {"velocity", settings.quantity(model, "velocity", range.count, mesh.points).argument()},
         {"first", range.first},
         {"x", a.position},
         {"v", a.velocity},
         {"m", a.mass}},
        "initialize " + name));
    prologue.add(model.launch(
        mesh.corner_count == 4 ? lumped_mass<4>() : lumped_mass<3>(), mesh.elements,
        {{"corners", mesh.corners},
         {"volume", mesh.measure},
         {"density", settings.quantity(model, density, mesh.elements, mesh.centroids).argument()},
         {"m", a.mass}},
        "lumped mass of " + name));
    const Argument fixed = fixed_points(*settings.find("fixed"), model, range, mesh.points);
    require_elements(model, settings, range, mesh);
    prologue.add(model.launch(
        invert_mass(), range.count,
        {{"m", a.mass}, {"fixed", fixed}, {"first", range.first}, {"w", a.inverse_mass}},
        "inverse mass of " + name));
}

std::vector<model::Field> element_body_fields() {
    using namespace model;
    return {vectors("positions")
                .unit("m")
                .optional()
                .differentiable()
                .doc("where each point starts, if not at rest; in formulas x, y, z is its place at "
                     "rest"),
            vectors("velocity")
                .unit("m/s")
                .zero()
                .differentiable()
                .doc("initial velocity, one for the body or one per point"),
            vectors("rest_positions")
                .schema(R"({"$ref":"#/$defs/generator"})")
                .unit("m")
                .optional()
                .differentiable()
                .doc("where each point is at rest, in place of the mesh's places: a list, or a "
                     "formula of those"),
            fixed_field()};
}

}  // namespace hindcast::particles
