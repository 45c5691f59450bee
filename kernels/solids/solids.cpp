// Linear tetrahedra. With X the corners at rest, x where they are, and F = (x1-x0, x2-x0, x3-x0)
// (X1-X0, X2-X0, X3-X0)^-1 the deformation gradient, an element has the energy V W(F), W as its
// material says (materials.hpp). The kernel derives the first Piola stress P = dW/dF from it; the
// forces on corners 1, 2, 3 are the columns of -V P (X1-X0, X2-X0, X3-X0)^-T, corner 0 takes minus
// their sum. Where an element turned inside out (J <= 0) has no energy its forces are not finite,
// and the run says so. A quarter of an element's mass, density times volume, belongs to each corner.
#include "kernels/solids/solids.hpp"

#include "engine/ad/grad.hpp"
#include "engine/document/read.hpp"
#include "engine/runtime/minimization/energy.hpp"
#include "kernels/particles/particles.hpp"
#include "kernels/solids/materials.hpp"
#include "kernels/solids/mesh.hpp"

namespace hindcast {

using namespace lang;
using model::Model;
using model::Phase;
using model::Settings;
using solids::Lame;
using solids::Mesh;
using solids::read_mesh;

namespace {

// How the scene gives the material: Lame's parameters, or Young's modulus and Poisson's ratio.
enum class Moduli { lame, engineering };

Lame lame_parameters(Moduli moduli, const Float& first, const Float& second) {
    if (moduli == Moduli::lame) return {first, second};
    return {first / (2.0 * (1.0 + second)),
            first * second / ((1.0 + second) * (1.0 - 2.0 * second))};
}

struct Law {
    const solids::Material* material = &solids::material("neo_hookean");
    Moduli moduli = Moduli::lame;

    Float energy_density(const Mat3& F, const Float& first, const Float& second) const {
        return material->energy_density(F, lame_parameters(moduli, first, second));
    }
};

Mat3 deformation_gradient(const Int4& corners, const Read<Vec3>& x, const Mat3& inverse) {
    const Vec3 x0 = x[corners[0]];
    return Mat3::from_columns({x[corners[1]] - x0, x[corners[2]] - x0, x[corners[3]] - x0}) *
           inverse;
}

KernelDef elastic_force(const Law& law) {
    const bool lame = law.moduli == Moduli::lame;
    return kernel(
        law.material->name + "_force",
        {"corners", "inverse", "volume", lame ? "mu" : "young_modulus",
         lame ? "lambda" : "poisson_ratio", "x", "force"},
        [law](Int e, Read<Int4> corners, Read<Mat3> inverse, Read<Float> volume,
              Property<Float> first, Property<Float> second, Read<Vec3> x, Accumulate<Vec3> force) {
            const Int4 c = corners[e];
            const Mat3 D_inverse = inverse[e];
            const Mat3 F = ad::variable(deformation_gradient(c, x, D_inverse));
            const Mat3 P = ad::grad(law.energy_density(F, first[e], second[e]), F);
            const Mat3 H = (P * volume[e]) * transpose(D_inverse);
            const Vec3 h1 = H.column(0), h2 = H.column(1), h3 = H.column(2);
            force[c[1]] -= h1;
            force[c[2]] -= h2;
            force[c[3]] -= h3;
            force[c[0]] += h1 + h2 + h3;
        });
}

// The energy of an element for an implicit integrator.
EnergyKernels minimized_energy(const Law& law) {
    const bool lame = law.moduli == Moduli::lame;
    return energy<3, 4>(
        law.material->name,
        {"inverse", "volume", lame ? "mu" : "young_modulus", lame ? "lambda" : "poisson_ratio"},
        [law](Int e, const Points<3, 4>& x, Read<Mat3> inverse, Read<Float> volume,
              Property<Float> first, Property<Float> second) -> Float {
            const Mat3 F = Mat3::from_columns({x[1] - x[0], x[2] - x[0], x[3] - x[0]}) * inverse[e];
            return volume[e] * law.energy_density(F, first[e], second[e]);
        });
}

KernelDef elastic_energy(const Law& law) {
    return kernel(law.material->name + "_energy",
                  {"corners", "inverse", "volume", "first", "second", "x", "scale", "value"},
                  [law](Int e, Read<Int4> corners, Read<Mat3> inverse, Read<Float> volume,
                        Property<Float> first, Property<Float> second, Read<Vec3> x,
                        Param<Float> scale, Reduce<Float> value) {
                      const Mat3 F = deformation_gradient(corners[e], x, inverse[e]);
                      value +=
                          volume[e] * law.energy_density(F, first[e], second[e]) * scale.value();
                  });
}

KernelDef initialize() {
    return kernel("solid_initialize", {"positions", "velocity", "first", "x", "v", "m"},
                  [](Int i, Read<Vec3> positions, Property<Vec3> velocity, Param<Int> first,
                     Write<Vec3> x, Write<Vec3> v, Write<Float> m) {
                      const Int j = injective(i + first.value());
                      x[j] = positions[i];
                      v[j] = velocity[i];
                      m[j] = Float(0);
                  });
}

KernelDef lump_mass() {
    return kernel("solid_lumped_mass", {"corners", "volume", "density", "m"},
                  [](Int e, Read<Int4> corners, Read<Float> volume, Property<Float> density,
                     Accumulate<Float> m) {
                      const Int4 c = corners[e];
                      const Float quarter = 0.25 * density[e] * volume[e];
                      for (int k = 0; k < 4; ++k) m[c[k]] += quarter;
                  });
}

KernelDef invert_mass() {
    return kernel("solid_inverse_mass", {"m", "fixed", "first", "w"},
                  [](Int i, Read<Float> m, Property<Int> fixed, Param<Int> first, Write<Float> w) {
                      const Int j = injective(i + first.value());
                      w[j] = select(fixed[i] == 0, 1.0 / m[j], Float(0));
                  });
}

void publish_kernels(Registry& registry) {
    using model::PublishedKernel;
    const model::Field material = model::choice("material", {"lame", "engineering"})
                                      .fallback("\"lame\"")
                                      .doc("mu and lambda, or Young's modulus and Poisson's ratio");
    const auto moduli = [](const Settings& options) {
        return options.choice("material") == "lame" ? Moduli::lame : Moduli::engineering;
    };
    const PublishedKernel::Parameter corners{"corners", "numbers of the four points"},
        inverse{"inverse", "(X1 - X0, X2 - X0, X3 - X0)^-1, 1/m"}, volume{"volume", "at rest, m^3"},
        x{"x", "positions of the points, m"};
    registry.publish(
        {"neo_hookean_force",
         "One item per tetrahedron: adds the forces -dE/dx of E = volume W(F), W(F) = "
         "mu/2 (|F|^2 - 3) - mu log J + lambda/2 (log J)^2, J = det F, to those on its corners.",
         {material, model::adds_option()},
         {corners,
          inverse,
          volume,
          {"mu", "Pa"},
          {"lambda", "Pa"},
          {"young_modulus", "Pa"},
          {"poisson_ratio", "a number"},
          x,
          {"force", "on the points, N"}},
         [moduli](const Settings& options) { return elastic_force({.moduli = moduli(options)}); }});
    registry.publish(
        {"neo_hookean_energy",
         "One item per tetrahedron: value += scale volume W(F), as in neo_hookean_force.",
         {material},
         {corners,
          inverse,
          volume,
          {"first", "mu, or Young's modulus, Pa"},
          {"second", "lambda in Pa, or Poisson's ratio"},
          x,
          {"scale", "a factor"},
          {"value", "a sum, J"}},
         [moduli](const Settings& options) {
             return elastic_energy({.moduli = moduli(options)});
         }});
    registry.publish({"solid_lumped_mass",
                      "One item per tetrahedron: adds a quarter of density volume to the mass of "
                      "each corner.",
                      {},
                      {corners, volume, {"density", "kg/m^3"}, {"m", "masses of the points, kg"}},
                      [](const Settings&) { return lump_mass(); }});
}

class Solid final : public model::Instance {
public:
    explicit Solid(std::shared_ptr<Settings> settings) : settings_(std::move(settings)) {}

    void declare(Model& model) override {
        if (model.dimension() != 3)
            throw settings_->error("type", "solids of tetrahedra live in scenes of dimension 3")
                .remedy("leave out \"dimension\"");
        mesh_ = read_mesh(*settings_->find("mesh"));
        start_ = mesh_.points;
        if (const document::Node* node = settings_->find("positions")) {
            document::ValueRequest request;
            request.count = mesh_.point_count();
            request.components = 3;
            request.functions = model.options().functions;
            request.positions = mesh_.points;
            request.seed = model.options().seed;
            request.files = model.options().files;
            start_ = document::evaluate(*node, request).rows();
        }
        range_ = model.add_points(settings_->name(), mesh_.point_count());
        model.set_initial_points(range_.first, start_);
    }

    void build(Model& model) override {
        const particles::Arrays a = particles::arrays(model);
        const std::string& name = settings_->name();
        const std::int64_t points = range_.count, elements = mesh_.element_count();
        std::vector<std::int64_t> corner_list;
        for (const auto& element : mesh_.elements)
            for (const std::int64_t p : element) corner_list.push_back(range_.first + p);
        corners_ = model.index_array(corner_list, 4);
        draw(model);
        inverse_ = Array(model.real(), {elements, 3, 3}, Layout::planar);
        inverse_.assign(mesh_.inverse);
        volume_ = Array(model.real(), {elements}, Layout::planar);
        volume_.assign(mesh_.volumes);
        const std::vector<double> centroids = mesh_.centroids();
        const auto per_element = [&](const char* key) {
            return settings_->quantity(model, key, elements, centroids).argument();
        };
        law_.material = &solids::material(settings_->choice("material"));
        read_moduli();
        const bool lame = law_.moduli == Moduli::lame;
        const Argument first = per_element(lame ? "mu" : "young_modulus"),
                       second = per_element(lame ? "lambda" : "poisson_ratio");

        const Argument positions =
            settings_->quantity_of(model, "positions", points, start_).argument();
        const Argument velocity =
            settings_->quantity(model, "velocity", points, mesh_.points).argument();
        Program& prologue = model.prologue();
        prologue.add(model.launch(initialize(), points,
                                  {{"positions", positions},
                                   {"velocity", velocity},
                                   {"first", range_.first},
                                   {"x", a.position},
                                   {"v", a.velocity},
                                   {"m", a.mass}},
                                  "initialize " + name));
        prologue.add(model.launch(lump_mass(), elements,
                                  {{"corners", corners_},
                                   {"volume", volume_},
                                   {"density", per_element("density")},
                                   {"m", a.mass}},
                                  "lumped mass of " + name));
        const Argument fixed =
            particles::fixed_points(*settings_->find("fixed"), model, range_, mesh_.points);
        prologue.add(model.launch(
            invert_mass(), points,
            {{"m", a.mass}, {"fixed", fixed}, {"first", range_.first}, {"w", a.inverse_mass}},
            "inverse mass of " + name));
        std::vector<NamedArgument> arguments{{"inverse", inverse_},
                                             {"volume", volume_},
                                             {lame ? "mu" : "young_modulus", first},
                                             {lame ? "lambda" : "poisson_ratio", second}};
        if (model.is_implicit()) {
            model.add_energy(
                {name + ": elastic energy", minimized_energy(law_), elements, corners_, arguments});
        } else {
            arguments.insert(
                arguments.end(),
                {{"corners", corners_}, {"x", a.position}, {"force", particles::force(model)}});
            model.add(Phase::forces, model.launch(elastic_force(law_), elements, arguments,
                                                  name + ": elastic forces"));
        }
        model.publish_energy(
            {"solid", name, "elastic energy",
             [corners = corners_, inverse = inverse_, volume = volume_, law = law_, first, second,
              elements, name](Model& m, double scale, const Array& value, Program& program) {
                 program.add(m.launch(elastic_energy(law), elements,
                                      {{"corners", corners},
                                       {"inverse", inverse},
                                       {"volume", volume},
                                       {"first", first},
                                       {"second", second},
                                       {"x", m.array("position")},
                                       {"scale", scale},
                                       {"value", value}},
                                      name + ": elastic energy"));
             }});
    }

    void finish(Model& model) override { particles::integrate(model); }

private:
    // Exactly one pair of moduli.
    void read_moduli() {
        const auto written = [&](const char* key) { return settings_->written(key); };
        const bool lame = written("mu") && written("lambda");
        const bool engineering = written("young_modulus") && written("poisson_ratio");
        const int count =
            written("mu") + written("lambda") + written("young_modulus") + written("poisson_ratio");
        if (count != 2 || lame == engineering)
            throw settings_->error("type", "a solid needs two moduli")
                .remedy("give \"mu\" and \"lambda\", or \"young_modulus\" and \"poisson_ratio\"");
        law_.moduli = lame ? Moduli::lame : Moduli::engineering;
    }

    void draw(Model& model) const {
        const Mesh::Surface surface = mesh_.surface();
        model::DrawnSurface drawn;
        for (const auto& triangle : surface.triangles)
            for (const std::int64_t p : triangle)
                drawn.corners.push_back(static_cast<std::uint32_t>(range_.first + p));
        drawn.element_of.assign(surface.element_of.begin(), surface.element_of.end());
        model.draw({settings_->name(), std::move(drawn)});
    }

    std::shared_ptr<Settings> settings_;
    Mesh mesh_;
    std::vector<double> start_;
    model::Range range_;
    Array corners_, inverse_, volume_;
    Law law_;
};

}  // namespace

void register_solids(Registry& registry) {
    using namespace model;
    publish_kernels(registry);
    registry.add(
        {Section::bodies,
         "solid",
         "An elastic body of linear tetrahedra, with an energy per volume W(F) that the material "
         "says. A quarter of the mass of an element, density times volume, belongs to each of its "
         "corners, which move like particles. Give mu and lambda, or young_modulus and "
         "poisson_ratio.",
         {any("mesh")
              .doc("the shape at rest: {\"box\": {\"min\": [x, y, z], \"max\": [x, y, z], "
                   "\"cells\": [nx, ny, nz]}}, six tetrahedra a cell, point (i, j, k) is number (i "
                   "(ny + 1) + j) (nz + 1) + k; or {\"points\": [[x, y, z], ...], "
                   "\"tetrahedra\": [[a, b, c, d], ...]}")
              .schema(R"({"oneOf":[{"type":"object","required":["box"]},)"
                      R"({"type":"object","required":["points","tetrahedra"]}]})"),
          choice("material", {"neo_hookean", "st_venant_kirchhoff", "stable_neo_hookean"})
              .fallback("\"neo_hookean\"")
              .doc("neo_hookean: W = mu/2 (|F|^2 - 3) - mu log J + lambda/2 (log J)^2, J = det F; "
                   "st_venant_kirchhoff: mu |E|^2 + lambda/2 (tr E)^2, E = (F^T F - I)/2; "
                   "stable_neo_hookean: that of Smith, de Goes and Kim (2018), finite also for "
                   "elements that are turned inside out"),
          vectors("positions")
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
          values("density").unit("kg/m^3").fallback("1000").positive().differentiable().doc(
              "one for the body or one per element"),
          values("mu").unit("Pa").optional().at_least(0).differentiable().doc(
              "shear modulus, one for the body or one per element"),
          values("lambda").unit("Pa").optional().at_least(0).differentiable().doc(
              "Lame's first parameter, one for the body or one per element"),
          values("young_modulus")
              .unit("Pa")
              .optional()
              .at_least(0)
              .differentiable()
              .doc("Young's modulus: mu = E / (2 (1 + nu)), lambda = E nu / ((1 + nu) (1 - 2 nu))"),
          values("poisson_ratio")
              .optional()
              .at_least(0)
              .at_most(0.499)
              .differentiable()
              .doc("Poisson's ratio"),
          particles::fixed_field()},
         [](std::shared_ptr<Settings> s) { return std::make_unique<Solid>(std::move(s)); },
         true});
}

}  // namespace hindcast
