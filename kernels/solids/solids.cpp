// The body "solid": points joined by the elements of elements.hpp. An equal part of an element's
// mass, density times volume, belongs to each of its corners.
#include "kernels/solids/solids.hpp"

#include "engine/document/read.hpp"
#include "engine/model/volumes.hpp"
#include "kernels/particles/element_body.hpp"
#include "kernels/particles/energies.hpp"
#include "kernels/particles/implicit.hpp"
#include "kernels/particles/particles.hpp"
#include "kernels/particles/small_motions.hpp"
#include "kernels/particles/surfaces.hpp"
#include "kernels/solids/bodies.hpp"
#include "kernels/solids/elements.hpp"
#include "kernels/solids/mesh.hpp"
#include "kernels/solids/offers.hpp"
#include "kernels/solids/shown.hpp"

namespace hindcast {

using namespace lang;
using model::for_dimension;
using model::Model;
using model::Phase;
using model::Settings;
using solids::Corners;
using solids::Given;
using solids::Gradient;
using solids::Law;
using solids::Mesh;

namespace {

// The energies of tetrahedra, as a published kernel.
KernelDef elastic_energy_of_tetrahedra(const Law& law) {
    return kernel(law.material->name + "_energy",
                  {"corners", "inverse", "volume", "first", "second", "own", "x", "scale", "value"},
                  [law](Int e, Read<Int4> corners, Read<Mat3> inverse, Read<Float> volume,
                        Property<Float> first, Property<Float> second, Property<Float> own,
                        Read<Vec3> x, Param<Float> scale, Reduce<Float> value) {
                      const Int4 c = corners[e];
                      const Mat3 F = solids::deformation_gradient<3>(
                          [&](int k) -> Vec3 { return x[c[k]]; }, Mat3(inverse[e]));
                      value += volume[e] * law.energy_density<3>(F, e, first, second, own) *
                               scale.value();
                  });
}

// The kernel for elements' rest shapes, if they depend on numbers of the scene.
template <int D>
KernelDef rest_shape(std::int64_t first) {
    return kernel(
        "solid_rest_shape", {"corners", "rest", "thickness", "inverse", "volume"},
        [first](Int e, Read<Corners<D>> corners, Read<Vec<Float, D>> rest, Param<Float> thickness,
                Write<Gradient<D>> shape, Write<Float> volume) {
            const Corners<D> c = corners[e];
            const auto at = [&](int k) -> Vec<Float, D> {
                return rest[c[k] - static_cast<std::int32_t>(first)];
            };
            const Gradient<D> edges = solids::deformation_gradient<D>(at, Gradient<D>::identity());
            shape[e] = inverse(edges);
            volume[e] = thickness.value() / (D == 3 ? 6.0 : 2.0) * abs(determinant(edges));
        });
}

void publish_kernels(Registry& registry) {
    using model::PublishedKernel;
    const model::Field material = model::choice("material", {"lame", "engineering"})
                                      .fallback("\"lame\"")
                                      .doc("mu and lambda, or Young's modulus and Poisson's ratio");
    const auto moduli = [](const Settings& options) {
        return options.choice("material") == "lame" ? Given::lame : Given::engineering;
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
         [moduli](const Settings& options) {
             return solids::elastic_force<3>({.given = moduli(options)});
         }});
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
             return elastic_energy_of_tetrahedra({.given = moduli(options)});
         }});
    registry.publish({"solid_lumped_mass",
                      "One item per tetrahedron: adds a quarter of density volume to the mass of "
                      "each corner.",
                      {},
                      {corners, volume, {"density", "kg/m^3"}, {"m", "masses of the points, kg"}},
                      [](const Settings&) { return particles::lumped_mass<4>(); }});
}

class Solid final : public model::Instance {
public:
    explicit Solid(std::shared_ptr<Settings> settings) : settings_(std::move(settings)) {}

    void declare(Model& model) override {
        mesh_ =
            solids::read_mesh(*settings_->find("mesh"), model.dimension(), model.options().files);
        placed_ = particles::place_at_rest(model, *settings_, mesh_.points);
    }

    void build(Model& model) override {
        const particles::Arrays a = particles::arrays(model);
        const std::string& name = settings_->name();
        const std::int64_t elements = mesh_.element_count();
        const std::int64_t D = model.dimension();
        std::vector<std::int64_t> corner_list = mesh_.corners;
        for (std::int64_t& p : corner_list) p += placed_.range.first;
        body_.corners = model.index_array(corner_list, static_cast<int>(D) + 1);
        body_.elements = elements;
        body_.centroids = mesh_.centroids();
        const Mesh::Surface surface = mesh_.surface();
        std::vector<std::int64_t> outside;
        for (const auto& triangle : surface.triangles)
            for (const std::int64_t p : triangle) outside.push_back(placed_.range.first + p);
        particles::add_surface(model, name, outside, surface.element_of);
        if (D == 3)
            model.shared<model::Volumes>().by_owner[name].assign(corner_list.begin(),
                                                                 corner_list.end());
        body_.inverse = Array(model.real(), {elements, D, D}, Layout::planar);
        body_.inverse.assign(mesh_.inverse);
        if (settings_->written("thickness") && D == 3)
            throw settings_->error("thickness", "a solid in space has no thickness")
                .remedy("leave it out");
        const double thickness = settings_->quantity(model, "thickness").values_at_load().front();
        for (double& volume : mesh_.volumes) volume *= thickness;
        body_.volume = Array(model.real(), {elements}, Layout::planar);
        body_.volume.assign(mesh_.volumes);
        if (settings_->written("rest_positions"))
            model.prologue().add(model.launch(
                for_dimension(model, [&](auto d) { return rest_shape<d>(placed_.range.first); }),
                elements,
                {{"corners", body_.corners},
                 {"rest",
                  settings_->quantity(model, "rest_positions", mesh_.point_count(), mesh_.points)
                      .argument()},
                 {"thickness", thickness},
                 {"inverse", body_.inverse},
                 {"volume", body_.volume}},
                "shape of " + name + " at rest"));
        model.shared<solids::Bodies>().by_name[name] = body_;
        const auto per_element = [&](const std::string& key) {
            return settings_->quantity(model, key, elements, body_.centroids).argument();
        };
        law_.material = &solids::material(settings_->choice("material"));
        law_.given = given_moduli();

        particles::start_elements(model, *settings_, placed_,
                                  {mesh_.points, body_.corners, static_cast<int>(D) + 1,
                                   body_.volume, body_.centroids, elements},
                                  "density");
        EnergyTerm elastic{
            name + ": elastic energy",
            for_dimension(model, [&](auto d) { return solids::elastic_energy<d>(law_); }),
            elements,
            body_.corners,
            {{"inverse", body_.inverse}, {"volume", body_.volume}}};
        for (const std::string& key : law_.parameters())
            elastic.arguments.emplace_back(key, per_element(key));
        if (model.is_implicit()) {
            model.add_energy(elastic);
        } else {
            note_small_motions(model);
            std::vector<NamedArgument> arguments = elastic.arguments;
            arguments.insert(arguments.end(), {{"corners", body_.corners},
                                               {"x", a.position},
                                               {"force", particles::force(model)}});
            model.add(
                Phase::forces,
                model.launch(
                    for_dimension(model, [&](auto d) { return solids::elastic_force<d>(law_); }),
                    elements, arguments, name + ": elastic forces"));
        }
        particles::publish_energy(model, "solid", name, "elastic energy", elastic);
        solids::show(model, name, law_, elastic);
        particles::add_rayleigh_damping(
            model, *settings_, placed_.range,
            {{elastic,
              for_dimension(model, [&](auto d) { return solids::elastic_damping<d>(law_); })}},
            elements, body_.centroids);
    }

    void finish(Model& model) override { particles::integrate(model); }

private:
    void note_small_motions(Model& model) const {
        const auto values = [&](const char* key) -> const std::vector<double>& {
            return model.find_quantity(settings_->name() + "." + key)->values;
        };
        std::vector<double> lambda, mu;
        if (law_.given == Given::lame) {
            lambda = values("lambda"), mu = values("mu");
        } else {
            const std::vector<double>&E = values("young_modulus"), &nu = values("poisson_ratio");
            for (std::size_t e = 0; e < std::max(E.size(), nu.size()); ++e) {
                const auto [first, second] = particles::lame_of(E[std::min(e, E.size() - 1)],
                                                                nu[std::min(e, nu.size() - 1)]);
                lambda.push_back(first);
                mu.push_back(second);
            }
        }
        particles::add_small_elements(model, settings_->name(), settings_->node().pointer(),
                                      {.first = placed_.range.first,
                                       .corners = mesh_.corners,
                                       .inverse = mesh_.inverse,
                                       .measure = mesh_.volumes,
                                       .density = values("density"),
                                       .lambda = std::move(lambda),
                                       .mu = std::move(mu),
                                       .n = mesh_.dimension});
    }

    // Exactly one pair of moduli, and the parameter of another material is a mistake.
    Given given_moduli() const {
        const auto written = [&](const char* key) { return settings_->written(key); };
        const bool lame = written("mu") && written("lambda");
        const bool engineering = written("young_modulus") && written("poisson_ratio");
        const int count =
            written("mu") + written("lambda") + written("young_modulus") + written("poisson_ratio");
        if (count != 2 || lame == engineering)
            throw settings_->error("type", "a solid needs two moduli")
                .remedy("give \"mu\" and \"lambda\", or \"young_modulus\" and \"poisson_ratio\"");
        for (const solids::Material& other : solids::materials())
            if (!other.own.empty() && other.own != law_.material->own && written(other.own.c_str()))
                throw settings_
                    ->error(other.own,
                            "the material " + law_.material->name + " has no " + other.own)
                    .remedy("leave it out, or let material be \"" + other.name + "\"");
        return lame ? Given::lame : Given::engineering;
    }

    std::shared_ptr<Settings> settings_;
    Mesh mesh_;
    particles::PlacedPoints placed_;
    solids::Body body_;
    Law law_;
};

std::vector<std::string> material_names() {
    std::vector<std::string> names;
    for (const solids::Material& m : solids::materials()) names.push_back(m.name);
    return names;
}

}  // namespace

void register_solids(Registry& registry) {
    using namespace model;
    offer_solids(registry);
    publish_kernels(registry);
    std::vector<Field> fields{
        any("mesh")
            .doc(
                "the shape at rest: {\"box\": {\"min\": [x, y, z], \"max\": [x, y, z], "
                "\"cells\": [nx, ny, nz]}}, six tetrahedra a cell, point (i, j, k) is number (i "
                "(ny + 1) + j) (nz + 1) + k; or {\"points\": [[x, y, z], ...], "
                "\"tetrahedra\": [[a, b, c, d], ...]}. In the plane without the third "
                "numbers, two triangles a cell, and \"triangles\": [[a, b, c], ...]. Or {\"file\": "
                "\"bracket.msh\", \"scale\": 1e-3}: .msh, .vtk or .vtu")
            .schema(R"({"oneOf":[{"title":"box","type":"object","required":["box"],)"
                    R"("additionalProperties":false,"properties":{"box":{"type":"object",)"
                    R"("required":["min","max","cells"],"additionalProperties":false,)"
                    R"("properties":{"min":{"description":"its lowest corner","unit":"m",)"
                    R"("$ref":"#/$defs/vector"},)"
                    R"("max":{"description":"its highest corner","unit":"m",)"
                    R"("$ref":"#/$defs/vector"},"cells":{"$ref":"#/$defs/cells"}}}}},)"
                    R"({"title":"written tetrahedra","type":"object",)"
                    R"("required":["points","tetrahedra"],"additionalProperties":false,)"
                    R"("properties":{"points":{"minItems":4,"unit":"m","$ref":"#/$defs/places"},)"
                    R"("tetrahedra":{"type":"array","minItems":1,"items":{"type":"array",)"
                    R"("items":{"type":"integer","minimum":0},"minItems":4,"maxItems":4}}}},)"
                    R"({"title":"written triangles","type":"object",)"
                    R"("required":["points","triangles"],"additionalProperties":false,)"
                    R"("properties":{"points":{"minItems":3,"unit":"m","$ref":"#/$defs/vectors"},)"
                    R"("triangles":{"minItems":1,"$ref":"#/$defs/triangles"}}},)"
                    R"({"title":"file","type":"object","required":["file"],)"
                    R"("additionalProperties":false,"properties":{)"
                    R"("file":{"type":"string","means":"file","files":[".msh",".vtk",".vtu"]},)"
                    R"("scale":{"description":"factor on the file's lengths","default":1,)"
                    R"("$ref":"#/$defs/positive"}}}]})"),
        choice("material", material_names())
            .fallback("\"neo_hookean\"")
            .doc("neo_hookean: W = mu/2 (|F|^2 - 3) - mu log J + lambda/2 (log J)^2, J = det F; "
                 "st_venant_kirchhoff: mu |E|^2 + lambda/2 (tr E)^2, E = (F^T F - I)/2; "
                 "stable_neo_hookean: that of Smith, de Goes and Kim (2018), finite also for "
                 "elements that are turned inside out; corotated: mu |F - R|^2 + lambda/2 "
                 "(tr(R^T F) - 3)^2, R the rotation nearest to F; mooney_rivlin: c10 (J^(-2/3) "
                 "|F|^2 - 3) + c01 (J^(-4/3) |cof F|^2 - 3) + k/2 (J - 1)^2, with c10 = (1 - "
                 "mooney_ratio) mu/2, c01 = mooney_ratio mu/2, k = lambda + 2/3 mu"),
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
        values("mooney_ratio")
            .fallback("0")
            .at_least(0)
            .at_most(1)
            .differentiable()
            .doc("mooney_rivlin: the part of mu that comes from c01"),
        number("thickness")
            .unit("m")
            .fallback("1")
            .positive()
            .only_in_plane()
            .doc("in the plane: across it"),
    };
    for (auto& more : {particles::element_body_fields(), particles::rayleigh_fields()})
        fields.insert(fields.end(), more.begin(), more.end());
    registry.add(
        {Section::bodies, "solid", "Elastic body",
         "An elastic body of linear tetrahedra or, in the plane, of triangles under plane strain, "
         "with "
         "an energy per volume W(F) that the material says. An equal part of the mass of an "
         "element, density times volume, belongs to each of its corners, which move like "
         "particles. Give mu and lambda, or young_modulus and poisson_ratio.",
         std::move(fields),
         [](std::shared_ptr<Settings> s) { return std::make_unique<Solid>(std::move(s)); }, true});
}

}  // namespace hindcast
