// Stretch and shear: with X the corners at rest in the axes warp and weft, F = (x1-x0, x2-x0)
// (X1-X0, X2-X0)^-1, 3 x 2, E = (F^T F - I)/2, a triangle of area A has the energy A W,
//     W = 1/2 (k_u E_uu^2 + k_v E_vv^2 + 2 nu k_v E_uu E_vv) / (1 - nu^2 k_v/k_u) + 2 g E_uv^2
// (orthotropic plane stress times thickness, St. Venant-Kirchhoff; Reddy: Mechanics of Laminated
// Composite Plates and Shells, 1.3). An isotropic sheet of thickness t has k_u = k_v = Y t and
// g = Y t / (2 (1 + nu)).
//
// Bending: with theta the angle between the normals of the two triangles at an inner edge of length
// l at rest, of areas A and B,
//     E = 1/2 D l^2/(A + B) (theta - theta_0)^2
// (discrete shells, Grinspun et al. 2003). The factor makes D the plate's stiffness Y t^3 / (12 (1
// - nu^2)): a sheet that is rolled up along lines of the mesh has the energy 1/2 D curvature^2 per
// area, whatever its triangles, and one of equilateral triangles along any line (Seung, Nelson
// 1988). Other meshes are stiffer about axes across their diagonals; alternating diagonals halve
// that.
#include "kernels/cloth/cloth.hpp"

#include <algorithm>

#include "kernels/cloth/sheet.hpp"
#include "kernels/particles/element_body.hpp"
#include "kernels/particles/energies.hpp"
#include "kernels/particles/particles.hpp"
#include "kernels/particles/surfaces.hpp"

namespace hindcast {

using namespace lang;
using cloth::Sheet;
using model::Model;
using model::Settings;

namespace {

// Which of the moduli a scene gives; the others follow from isotropy.
struct Membrane {
    bool weft = false, shear = false;

    Float operator()(Int e, const Points<3, 3>& x, Read<Mat2> inverse, Read<Float> area,
                     Property<Float> warp_stiffness, Property<Float> weft_stiffness,
                     Property<Float> shear_stiffness, Property<Float> poisson_ratio) const {
        const Mat2 D = inverse[e];
        const Vec3 e1 = x[1] - x[0], e2 = x[2] - x[0];
        const Vec3 u = e1 * D(0, 0) + e2 * D(1, 0), v = e1 * D(0, 1) + e2 * D(1, 1);
        const Float along = 0.5 * (dot(u, u) - 1.0), across = 0.5 * (dot(v, v) - 1.0),
                    shear_strain = 0.5 * dot(u, v);
        const Float ku = warp_stiffness[e], nu = poisson_ratio[e];
        const Float kv = weft ? Float(weft_stiffness[e]) : ku;
        const Float g = shear ? Float(shear_stiffness[e]) : ku / (2.0 * (1.0 + nu));
        const Float stretched =
            0.5 * (ku * along * along + kv * across * across + 2.0 * nu * kv * along * across) /
            (1.0 - nu * nu * kv / ku);
        return area[e] * (stretched + 2.0 * g * shear_strain * shear_strain);
    }
    static std::vector<std::string> names() {
        return {"inverse",         "area",         "warp_stiffness", "weft_stiffness",
                "shear_stiffness", "poisson_ratio"};
    }
};

struct Hinge {
    Float operator()(Int e, const Points<3, 4>& x, Read<Float> weight, Property<Float> stiffness,
                     Property<Float> rest_angle) const {
        const Vec3 edge = x[1] - x[0], left = cross(edge, x[2] - x[0]),
                   right = cross(x[3] - x[0], edge);
        const Float angle = atan2(dot(edge, cross(right, left)) / norm(edge), dot(left, right));
        const Float bent = angle - rest_angle[e];
        return 0.5 * stiffness[e] * weight[e] * bent * bent;
    }
    static std::vector<std::string> names() {
        return {"weight", "bending_stiffness", "rest_angle"};
    }
};

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
        sheet_ = cloth::read_sheet(*settings_->find("mesh"));
        placed_ = particles::place_at_rest(model, *settings_, sheet_.points);
    }

    void build(Model& model) override {
        const std::string& name = settings_->name();
        const auto triangles = static_cast<std::int64_t>(sheet_.triangles.size()),
                   hinges = static_cast<std::int64_t>(sheet_.hinges.size());
        std::vector<std::int64_t> corners, edges;
        for (const auto& triangle : sheet_.triangles)
            for (const std::int64_t p : triangle) corners.push_back(placed_.range.first + p);
        for (const auto& hinge : sheet_.hinges)
            for (const std::int64_t p : hinge) edges.push_back(placed_.range.first + p);
        particles::add_surface(model, name, corners, {});
        const Array corner_numbers = model.index_array(corners, 3);
        const auto numbers = [&](const std::vector<double>& list, std::vector<std::int64_t> shape) {
            Array array(model.real(), std::move(shape), Layout::planar);
            array.assign(list);
            return array;
        };
        const std::vector<double> centroids = sheet_.centroids();
        const Array area = numbers(sheet_.areas, {triangles});
        particles::start_elements(model, *settings_, placed_,
                                  {sheet_.points, corner_numbers, 3, area, centroids, triangles},
                                  "area_density");
        const auto per_triangle = [&](const char* key) -> model::Quantity& {
            return settings_->quantity(model, key, triangles, centroids);
        };
        const Membrane membrane{settings_->written("weft_stiffness"),
                                settings_->written("shear_stiffness")};
        if (membrane.weft && !membrane.shear)
            throw settings_
                ->error("weft_stiffness", "the shear stiffness of this cloth is not known")
                .remedy("write \"shear_stiffness\" too");
        model::Quantity &warp = per_triangle("warp_stiffness"),
                        &ratio = per_triangle("poisson_ratio");
        model::Quantity& weft = membrane.weft ? per_triangle("weft_stiffness") : warp;
        require_minimum(warp, weft, ratio);
        const EnergyTerm stretch{
            name + ": stretch and shear",
            energy<3, 3>("membrane", Membrane::names(), membrane),
            triangles,
            corner_numbers,
            {{"inverse", numbers(sheet_.inverse, {triangles, 2, 2})},
             {"area", area},
             {"warp_stiffness", warp.argument()},
             {"weft_stiffness", weft.argument()},
             {"shear_stiffness",
              (membrane.shear ? per_triangle("shear_stiffness") : warp).argument()},
             {"poisson_ratio", ratio.argument()}}};
        particles::add_energy(model, stretch);
        particles::publish_energy(model, "cloth", name, "elastic energy", stretch);
        std::vector<particles::DampedEnergy> damped{
            {stretch, stiffness_damping<3, 3>("membrane_damping", Membrane::names(), membrane)}};
        if (hinges > 0 && settings_->written("bending_stiffness")) {
            const std::vector<double> midpoints = sheet_.midpoints();
            const Argument rest =
                settings_->written("rest_angle")
                    ? settings_->quantity(model, "rest_angle", hinges, midpoints).argument()
                    : settings_->quantity_of(model, "rest_angle", hinges, sheet_.angles).argument();
            const EnergyTerm bending{
                name + ": bending",
                energy<3, 4>("hinge", Hinge::names(), Hinge{}),
                hinges,
                model.index_array(edges, 4),
                {{"weight", numbers(sheet_.weights, {hinges})},
                 {"bending_stiffness",
                  settings_->quantity(model, "bending_stiffness", hinges, midpoints).argument()},
                 {"rest_angle", rest}}};
            particles::add_energy(model, bending);
            particles::publish_energy(model, "cloth", name, "bending energy", bending);
            damped.push_back(
                {bending, stiffness_damping<3, 4>("hinge_damping", Hinge::names(), Hinge{})});
        } else if (settings_->written("rest_angle")) {
            throw settings_->error("rest_angle", "this cloth does not resist bending")
                .remedy("write \"bending_stiffness\"");
        }
        particles::add_rayleigh_damping(model, *settings_, placed_.range, damped, 1, {});
    }

    void finish(Model& model) override { particles::integrate(model); }

private:
    std::shared_ptr<Settings> settings_;
    Sheet sheet_;
    particles::PlacedPoints placed_;
};

}  // namespace

void register_cloth(Registry& registry) {
    using namespace model;
    std::vector<Field> fields{
        any("mesh")
            .doc(
                "the shape at rest: {\"grid\": {\"origin\": [x, y, z], \"warp\": [x, y, z], "
                "\"weft\": [x, y, z], \"cells\": [n, m]}}, point (i, j) is number i (m + 1) + j, "
                "two triangles a cell; \"pattern\": \"alternating\" or \"diagonal\" says how cells "
                "are halved; or {\"points\": [[x, y, z], ...], \"triangles\": [[a, b, c], ...]}, "
                "\"warp\": the direction of the warp, by default along x")
            .schema(R"({"oneOf":[{"type":"object","required":["grid"]},)"
                    R"({"type":"object","required":["points","triangles"]}]})"),
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
            .doc("nu: how much narrower along the weft where it is stretched along the warp"),
        values("bending_stiffness")
            .unit("N m")
            .optional()
            .at_least(0)
            .differentiable()
            .doc("D, against bending: Y t^3 / (12 (1 - nu^2)) of a plate; one for the cloth or one "
                 "per inner edge; without it there is none"),
        values("rest_angle")
            .unit("rad")
            .optional()
            .differentiable()
            .doc("theta_0, one for the cloth or one per inner edge; default: as the mesh is at "
                 "rest")};
    for (auto& more : {particles::element_body_fields(), particles::rayleigh_fields()})
        fields.insert(fields.end(), more.begin(), more.end());
    registry.add(
        {Section::bodies, "cloth",
         "A sheet of triangles in space. With E the Green strain in the axes warp and weft, "
         "W = 1/2 (k_u E_uu^2 + k_v E_vv^2 + 2 nu k_v E_uu E_vv) / (1 - nu^2 k_v/k_u) + 2 g "
         "E_uv^2 per area at rest; each inner edge of length l between triangles of areas A "
         "and B has 1/2 D l^2/(A + B) (theta - theta_0)^2, theta the angle between their "
         "normals. A third of a triangle's mass belongs to each of its corners.",
         std::move(fields),
         [](std::shared_ptr<Settings> s) { return std::make_unique<Cloth>(std::move(s)); }, true});
}

}  // namespace hindcast
