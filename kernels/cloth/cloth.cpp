// Stretch and shear: with X the corners at rest in the axes warp and weft, F = (x1-x0, x2-x0)
// (X1-X0, X2-X0)^-1, 3 x 2, E = (F^T F - I)/2, a triangle of area A has the energy A W,
//     W = 1/2 (k_u E_uu^2 + k_v E_vv^2 + 2 nu k_v E_uu E_vv) / (1 - nu^2 k_v/k_u) + 2 g E_uv^2
// (orthotropic plane stress times thickness, St. Venant-Kirchhoff; Reddy: Mechanics of Laminated
// Composite Plates and Shells, 1.3). An isotropic sheet of thickness t has k_u = k_v = Y t and
// g = Y t / (2 (1 + nu)).
//
// Bending: kernels/cloth/plate.hpp.
#include "kernels/cloth/cloth.hpp"

#include <algorithm>
#include <array>

#include "kernels/cloth/membrane.hpp"
#include "kernels/cloth/offers.hpp"
#include "kernels/cloth/patches.hpp"
#include "kernels/cloth/plate.hpp"
#include "kernels/cloth/sheet.hpp"
#include "kernels/cloth/shown.hpp"
#include "kernels/particles/element_body.hpp"
#include "kernels/particles/energies.hpp"
#include "kernels/particles/implicit.hpp"
#include "kernels/particles/particles.hpp"
#include "kernels/particles/small_motions.hpp"
#include "kernels/particles/surfaces.hpp"

namespace hindcast {

using namespace lang;
using cloth::Membrane;
using cloth::Patches;
using cloth::Sheet;
using model::Model;
using model::Settings;

namespace {

// Two triangles at an edge from a to b, with c on its left and d on its right.
struct Fold {
    Vec3 edge, left, right;  // left, right: normals, as long as twice the areas
    Fold(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d)
        : edge(b - a), left(cross(edge, c - a)), right(cross(d - a, edge)) {}
    Float angle() const {
        return atan2(dot(edge, cross(right, left)) / norm(edge), dot(left, right));
    }
};

// Kernels for the rest shape of triangles and inner edges, if it depends on numbers of the scene.
KernelDef rest_triangles(std::int64_t first, std::array<double, 3> warp) {
    return kernel("cloth_rest_triangles", {"corners", "rest", "inverse", "area"},
                  [first, warp](Int e, Read<Int3> corners, Read<Vec3> rest, Write<Mat2> shape,
                                Write<Float> area) {
                      const Int3 c = corners[e] - Int3::filled(static_cast<std::int32_t>(first));
                      const Vec3 x0 = rest[c[0]], e1 = rest[c[1]] - x0, e2 = rest[c[2]] - x0,
                                 across = cross(e1, e2), normal = normalize(across),
                                 along(warp[0], warp[1], warp[2]);
                      const Vec3 u = normalize(along - normal * dot(along, normal)),
                                 v = cross(normal, u);
                      Mat2 edges;
                      edges(0, 0) = dot(e1, u), edges(0, 1) = dot(e2, u);
                      edges(1, 0) = dot(e1, v), edges(1, 1) = dot(e2, v);
                      shape[e] = inverse(edges);
                      area[e] = 0.5 * norm(across);
                  });
}
KernelDef rest_angles(std::int64_t first) {
    return kernel("cloth_rest_angles", {"points", "rest", "angle"},
                  [first](Int e, Read<Int4> points, Read<Vec3> rest, Write<Float> angle) {
                      const Int4 p = points[e];
                      const auto at = [&](int k) -> Vec3 {
                          return rest[p[k] - static_cast<std::int32_t>(first)];
                      };
                      angle[e] = Fold(at(0), at(1), at(2), at(3)).angle();
                  });
}
template <int N>
KernelDef rest_patches() {
    using namespace cloth;
    using Numbers = PatchNumbers<Float>;
    return kernel(
        "cloth_rest_patches",
        {"places", "slots", "edges", "numbers", "rest", "angle", "shape", "curvature"},
        [](Int e, Read<Vec<Int, patch_places>> places, Read<Vec<Int, patch_places>> slots,
           Read<Vec<Int, patch_edges>> edges, Read<Vec<Float, Numbers::count>> numbers,
           Read<Vec3> rest, Property<Float> angle, Write<PlateNumbers<N>> shape,
           Write<Vec3> curvature) {
            const Vec<Int, patch_places> place = places[e], slot = slots[e];
            const Vec<Int, patch_edges> edge = edges[e];
            const Vec<Float, Numbers::count> number = numbers[e];
            std::array<std::array<Float, 3>, patch_places> at_rest;
            for (int k = 0; k < patch_places; ++k) {
                const Vec3 x = rest[place[k]];
                at_rest[static_cast<std::size_t>(k)] = {x[0], x[1], x[2]};
            }
            std::array<Float, patch_edges> angles;
            for (int f = 0; f < patch_edges; ++f)
                angles[static_cast<std::size_t>(f)] = angle[edge[f]];
            const PatchShape<Float> patch(at_rest, Numbers::from([&](int k) { return number[k]; }));
            auto part = patch.coefficients();
            const auto K = patch.curvature(angles, part);
            PlateNumbers<N> result;
            for (int s = 1; s < N; ++s)
                for (int i = 0; i < 3; ++i) {
                    const auto j = static_cast<std::size_t>(i);
                    Float sum = s < 3 ? part[static_cast<std::size_t>(s)][j] : Float(0);
                    for (int k = 3; k < patch_places; ++k)
                        sum += select(slot[k] == s, part[static_cast<std::size_t>(k)][j], Float(0));
                    result[3 * (s - 1) + i] = sum;
                }
            shape[e] = result;
            curvature[e] = Vec3(K[0], K[1], K[2]);
        });
}

// f of the number of points that an item of a sheet's bending has.
template <class F>
auto for_size(int size, F f) {
    switch (size) {
        case 4: return f(std::integral_constant<int, 4>{});
        case 5: return f(std::integral_constant<int, 5>{});
        case 6: return f(std::integral_constant<int, 6>{});
        case 7: return f(std::integral_constant<int, 7>{});
        case 8: return f(std::integral_constant<int, 8>{});
        case 9: return f(std::integral_constant<int, 9>{});
        case 10: return f(std::integral_constant<int, 10>{});
        case 11: return f(std::integral_constant<int, 11>{});
        default: return f(std::integral_constant<int, 12>{});
    }
}

// The energy has its minimum at rest only where nu^2 k_v < k_u, whichever of them is set. Throws
// Error.
void require_minimum(model::Quantity& warp, model::Quantity& weft, model::Quantity& ratio) {
    if (&weft == &warp) return;  // nu < 1
    const auto hold = [](std::span<const double> ku, std::span<const double> kv,
                         std::span<const double> nu) {
        for (std::size_t e = 0; e < std::max({ku.size(), kv.size(), nu.size()}); ++e) {
            const auto at = [&](std::span<const double> list) {
                return list.size() == 1 ? list[0] : list[e];
            };
            if (at(nu) * at(nu) * at(kv) < at(ku)) continue;
            throw Error("triangle " + std::to_string(e) +
                        " has a poisson_ratio that such stiffnesses do not allow")
                .remedy("let poisson_ratio be less than sqrt(warp_stiffness / weft_stiffness)");
        }
    };
    warp.check = [&, hold](std::span<const double> v) { hold(v, weft.values, ratio.values); };
    weft.check = [&, hold](std::span<const double> v) { hold(warp.values, v, ratio.values); };
    ratio.check = [&, hold](std::span<const double> v) { hold(warp.values, weft.values, v); };
    ratio.check(ratio.values);
}

class Cloth final : public model::Instance {
public:
    explicit Cloth(std::shared_ptr<Settings> settings) : settings_(std::move(settings)) {}

    void declare(Model& model) override {
        if (model.dimension() != 3)
            throw settings_->error("type", "cloth lives in scenes of dimension 3")
                .remedy("use a solid or springs in the plane");
        sheet_ = cloth::read_sheet(*settings_->find("mesh"), model.options().files);
        placed_ = particles::place_at_rest(model, *settings_, sheet_.points);
    }

    void build(Model& model) override {
        shape_at_rest(model);
        particles::start_elements(
            model, *settings_, placed_,
            {sheet_.points, corners_, 3, area_, sheet_.centroids(), triangles()}, "area_density");
        std::vector<particles::DampedEnergy> energies{
            {stretch(model),
             stiffness_damping<3, 3>("membrane_damping", Membrane::names(), membrane())}};
        if (hinges() > 0 && settings_->written("bending_stiffness"))
            energies.push_back(bending(model));
        else if (settings_->written("rest_angle"))
            throw settings_->error("rest_angle", "this cloth does not resist bending")
                .remedy("write \"bending_stiffness\"");
        for (std::size_t k = 0; k < energies.size(); ++k) {
            particles::add_energy(model, energies[k].elastic);
            particles::publish_energy(model, "cloth", settings_->name(),
                                      k == 0 ? "elastic energy" : "bending energy",
                                      energies[k].elastic);
        }
        if (!model.is_implicit()) note_small_motions(model);
        cloth::show(model, settings_->name(), membrane(), energies.front().elastic);
        particles::add_rayleigh_damping(model, *settings_, placed_.range, energies, 1, {});
    }

    void finish(Model& model) override { particles::integrate(model); }

private:
    std::int64_t triangles() const { return static_cast<std::int64_t>(sheet_.triangles.size()); }
    std::int64_t hinges() const { return static_cast<std::int64_t>(sheet_.hinges.size()); }
    static Array numbers(Model& model, const std::vector<double>& list,
                         std::vector<std::int64_t> shape) {
        Array array(model.real(), std::move(shape), Layout::planar);
        array.assign(list);
        return array;
    }
    Membrane membrane() const {
        return {settings_->written("weft_stiffness"), settings_->written("shear_stiffness")};
    }

    // Small motions of the membrane alone: of an isotropic one that is at most as stiff.
    void note_small_motions(Model& model) const {
        const auto values = [&](const char* key) -> const std::vector<double>& {
            return model.find_quantity(settings_->name() + "." + key)->values;
        };
        const auto at = [](const std::vector<double>& list, std::size_t e) {
            return list[std::min(e, list.size() - 1)];
        };
        const Membrane form = membrane();
        const std::vector<double>&warps = values("warp_stiffness"),
              &ratios = values("poisson_ratio"),
              &wefts = form.weft ? values("weft_stiffness") : warps,
              &shears = form.shear ? values("shear_stiffness") : warps;
        std::vector<double> lambda, mu;
        for (std::size_t e = 0; e < sheet_.triangles.size(); ++e) {
            const double k = at(warps, e), nu = at(ratios, e);
            if (!form.weft && !form.shear) {
                lambda.push_back(k * nu / (1 - nu * nu));
                mu.push_back(k / (2 * (1 + nu)));
                continue;
            }
            const double least = 0.5 * std::min(k, at(wefts, e)) * (1 - nu);
            lambda.push_back(0);
            mu.push_back(form.shear ? std::min(least, at(shears, e)) : least);
        }
        particles::add_small_elements(
            model, settings_->name(), settings_->node().pointer(),
            {.first = placed_.range.first,
             .corners = {sheet_.triangles.front().data(), 3 * sheet_.triangles.size()},
             .inverse = sheet_.inverse,
             .measure = sheet_.areas,
             .density = values("area_density"),
             .lambda = std::move(lambda),
             .mu = std::move(mu),
             .n = 2});
    }

    // The arrays of triangles and inner edges.
    void shape_at_rest(Model& model) {
        const std::int64_t first = placed_.range.first;
        std::vector<std::int64_t> corners, edges;
        for (const auto& triangle : sheet_.triangles)
            for (const std::int64_t p : triangle) corners.push_back(first + p);
        for (const auto& hinge : sheet_.hinges)
            for (const std::int64_t p : hinge) edges.push_back(first + p);
        particles::add_surface(model, settings_->name(), corners, {});
        corners_ = model.index_array(corners, 3);
        edges_ = model.index_array(edges, 4);
        inverse_ = numbers(model, sheet_.inverse, {triangles(), 2, 2});
        area_ = numbers(model, sheet_.areas, {triangles()});
        if (hinges() > 0) angle_ = numbers(model, sheet_.angles, {hinges()});
        if (!settings_->written("rest_positions")) return;
        const Argument rest =
            settings_->quantity(model, "rest_positions", placed_.range.count, sheet_.points)
                .argument();
        const std::string what = settings_->name() + " at rest: ";
        model.prologue().add(model.launch(
            rest_triangles(first, sheet_.warp), triangles(),
            {{"corners", corners_}, {"rest", rest}, {"inverse", inverse_}, {"area", area_}},
            what + "triangles"));
        if (hinges() > 0)
            model.prologue().add(model.launch(
                rest_angles(first), hinges(),
                {{"points", edges_}, {"rest", rest}, {"angle", angle_}}, what + "edges"));
    }

    EnergyTerm stretch(Model& model) const {
        const Membrane form = membrane();
        if (form.weft && !form.shear)
            throw settings_
                ->error("weft_stiffness", "the shear stiffness of this cloth is not known")
                .remedy("write \"shear_stiffness\" too");
        const std::vector<double> centroids = sheet_.centroids();
        const auto per_triangle = [&](const char* key) -> model::Quantity& {
            return settings_->quantity(model, key, triangles(), centroids);
        };
        model::Quantity &warp = per_triangle("warp_stiffness"),
                        &ratio = per_triangle("poisson_ratio");
        model::Quantity& weft = form.weft ? per_triangle("weft_stiffness") : warp;
        model::Quantity& shear = form.shear ? per_triangle("shear_stiffness") : warp;
        require_minimum(warp, weft, ratio);
        return {settings_->name() + ": stretch and shear",
                energy<3, 3>("membrane", Membrane::names(), form),
                triangles(),
                corners_,
                {{"inverse", inverse_},
                 {"area", area_},
                 {"warp_stiffness", warp.argument()},
                 {"weft_stiffness", weft.argument()},
                 {"shear_stiffness", shear.argument()},
                 {"poisson_ratio", ratio.argument()}}};
    }

    particles::DampedEnergy bending(Model& model) {
        const std::vector<char>& flags = model.shared<particles::FixedPoints>().flags;
        const model::Range range = placed_.range;
        const bool new_shape = settings_->written("rest_positions"),
                   new_angles = settings_->written("rest_angle");
        const Patches patches =
            cloth::find_patches(sheet_,
                                std::span(flags).subspan(static_cast<std::size_t>(range.first),
                                                         static_cast<std::size_t>(range.count)),
                                new_shape);
        const bool flat =
            !new_shape && !new_angles &&
            std::ranges::all_of(sheet_.angles, [](double a) { return std::abs(a) < 1e-9; });
        return for_size(patches.size, [&](auto size) {
            constexpr int N = size;
            std::vector<std::int64_t> points;
            for (const std::int64_t p : patches.points) points.push_back(range.first + p);
            const Array shape = numbers(model, patches.shape, {triangles(), 3 * (N - 1)});
            std::vector<NamedArgument> arguments{
                {"shape", shape},
                {"area", area_},
                {"bending_stiffness",
                 settings_->quantity(model, "bending_stiffness", triangles(), sheet_.centroids())
                     .argument()},
                {"poisson_ratio",
                 model.find_quantity(settings_->name() + ".poisson_ratio")->argument()}};
            const auto with = [&](const auto& plate) -> particles::DampedEnergy {
                using Plate = std::remove_cvref_t<decltype(plate)>;
                return {
                    {settings_->name() + ": bending", energy<3, N>("plate", Plate::names(), plate),
                     triangles(), model.index_array(points, N), arguments},
                    stiffness_damping<3, N>("plate_damping", Plate::names(), plate)};
            };
            if constexpr (N == 6 || N == 8 || N == 12)
                if (flat) return with(cloth::FlatPlate<N>{});
            const Array curvature =
                numbers(model, std::vector<double>(3 * sheet_.triangles.size()), {triangles(), 3});
            arguments.push_back({"curvature", curvature});
            if (!flat) add_rest_patches<N>(model, patches, shape, curvature);
            return with(cloth::CurvedPlate<N>{});
        });
    }

    // The shape and the curvature at rest, from what the scene says of them.
    template <int N>
    void add_rest_patches(Model& model, const Patches& patches, const Array& shape,
                          const Array& curvature) {
        const std::string rest_key = settings_->name() + ".rest_positions";
        const Argument rest =
            settings_->written("rest_positions")
                ? model.find_quantity(rest_key)->argument()
                : Argument(numbers(model, sheet_.points, {placed_.range.count, 3}));
        Argument angle = angle_;
        if (settings_->written("rest_angle"))
            angle =
                settings_->quantity(model, "rest_angle", hinges(), sheet_.midpoints()).argument();
        else if (!settings_->written("rest_positions"))
            angle = settings_->quantity_of(model, "rest_angle", hinges(), sheet_.angles).argument();
        model.prologue().add(model.launch(
            rest_patches<N>(), triangles(),
            {{"places", model.index_array(patches.places, cloth::patch_places)},
             {"slots", model.index_array(patches.slots, cloth::patch_places)},
             {"edges", model.index_array(patches.edges, cloth::patch_edges)},
             {"numbers",
              numbers(model, patches.numbers, {triangles(), cloth::PatchNumbers<double>::count})},
             {"rest", rest},
             {"angle", angle},
             {"shape", shape},
             {"curvature", curvature}},
            settings_->name() + " at rest: bending"));
    }

    std::shared_ptr<Settings> settings_;
    Sheet sheet_;
    particles::PlacedPoints placed_;
    Array corners_, edges_, inverse_, area_, angle_;
};

}  // namespace

void register_cloth(Registry& registry) {
    using namespace model;
    offer_cloth(registry);
    std::vector<Field> fields{
        any("mesh")
            .doc(
                "the shape at rest: {\"grid\": {\"origin\": [x, y, z], \"warp\": [x, y, z], "
                "\"weft\": [x, y, z], \"cells\": [n, m]}}, point (i, j) is number i (m + 1) + j, "
                "two triangles a cell; \"pattern\": \"alternating\" or \"diagonal\" says how cells "
                "are halved; or {\"points\": [[x, y, z], ...], \"triangles\": [[a, b, c], ...]}, "
                "or {\"file\": \"shirt.obj\", \"scale\": 1e-3}: .obj, .ply, .stl, .gltf, .msh and "
                "others; with \"warp\": the direction of the warp, by default along x")
            .schema(R"({"oneOf":[{"title":"grid","type":"object","required":["grid"],)"
                    R"("additionalProperties":false,"properties":{"grid":{"type":"object",)"
                    R"("required":["origin","warp","weft","cells"],"additionalProperties":false,)"
                    R"("properties":{"origin":{"description":"its first corner","unit":"m",)"
                    R"("$ref":"#/$defs/place"},)"
                    R"("warp":{"description":"its side along the warp","unit":"m",)"
                    R"("$ref":"#/$defs/place"},)"
                    R"("weft":{"description":"its side along the weft","unit":"m",)"
                    R"("$ref":"#/$defs/place"},)"
                    R"("cells":{"type":"array","items":{"type":"integer","minimum":1,)"
                    R"("maximum":10000},"minItems":2,"maxItems":2,"means":"cells"},)"
                    R"("pattern":{"description":"how cells are halved",)"
                    R"("enum":["alternating","diagonal"],"default":"alternating"}}}}},)"
                    R"({"title":"written","type":"object","required":["points","triangles"],)"
                    R"("additionalProperties":false,"properties":{)"
                    R"("points":{"minItems":3,"unit":"m","$ref":"#/$defs/places"},)"
                    R"("triangles":{"minItems":1,"$ref":"#/$defs/triangles"},)"
                    R"("warp":{"description":"direction of the warp","$ref":"#/$defs/place"}}},)"
                    R"({"title":"file","type":"object","required":["file"],)"
                    R"("additionalProperties":false,"properties":{)"
                    R"("file":{"type":"string","means":"file",)"
                    R"("files":[".obj",".ply",".stl",".gltf",".glb",".msh",".vtk",".vtu"]},)"
                    R"("scale":{"description":"factor on the file's lengths","default":1,)"
                    R"("$ref":"#/$defs/positive"},)"
                    R"("warp":{"description":"direction of the warp",)"
                    R"("$ref":"#/$defs/place"}}}]})"),
        values("area_density")
            .unit("kg/m^2")
            .positive()
            .differentiable()
            .doc("one for the cloth or one per triangle"),
        values("warp_stiffness")
            .unit("N/m")
            .positive()
            .differentiable()
            .doc(
                "k_u, against stretch along the warp: Young's modulus times thickness; one for the "
                "cloth or one per triangle"),
        values("weft_stiffness")
            .unit("N/m")
            .optional()
            .positive()
            .differentiable()
            .doc("k_v, against stretch along the weft; default: warp_stiffness"),
        values("shear_stiffness")
            .unit("N/m")
            .optional()
            .at_least(0)
            .differentiable()
            .doc(
                "g; default: that of an isotropic sheet, warp_stiffness / (2 (1 + poisson_ratio))"),
        values("poisson_ratio")
            .fallback("0.3")
            .at_least(0)
            .at_most(0.99)
            .differentiable()
            .doc("nu: how much narrower along the weft where it is stretched along the warp; in "
                 "bending, that of a plate"),
        values("bending_stiffness")
            .unit("N m")
            .optional()
            .at_least(0)
            .differentiable()
            .doc("D, against bending: Y t^3 / (12 (1 - nu^2)) of a plate of thickness t, with nu "
                 "the "
                 "poisson_ratio (Timoshenko, Woinowsky-Krieger: Theory of Plates and Shells, eq. "
                 "3); one for the cloth or one per triangle; without it there is none"),
        values("rest_angle")
            .unit("rad")
            .optional()
            .differentiable()
            .doc("between the normals of neighbors at rest, positive where they bend toward "
                 "them; one for the cloth or one per inner edge; default: as the mesh is at rest. "
                 "Write 0 for a flat mesh whose angles are parameters")};
    for (auto& more : {particles::element_body_fields(), particles::rayleigh_fields()})
        fields.insert(fields.end(), more.begin(), more.end());
    registry.add(
        {Section::bodies, "cloth", "Cloth",
         "A sheet of triangles in space. With E the Green strain in the axes warp and weft, "
         "W = 1/2 (k_u E_uu^2 + k_v E_vv^2 + 2 nu k_v E_uu E_vv) / (1 - nu^2 k_v/k_u) + 2 g "
         "E_uv^2 per area at rest. It bends as a thin plate: with H the second derivatives of the "
         "place by warp and weft less those at rest, D/2 ((H_uu + H_vv)^2 - 2 (1 - nu) (H_uu "
         "H_vv - H_uv^2)) per area at rest. Borders are free; triangles between fixed points clamp "
         "those beside them. A third of a triangle's mass belongs to each of its corners.",
         std::move(fields),
         [](std::shared_ptr<Settings> s) { return std::make_unique<Cloth>(std::move(s)); }, true});
}

}  // namespace hindcast
