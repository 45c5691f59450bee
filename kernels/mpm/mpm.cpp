// Bodies of material points and the grid that they meet on. Each body brings its material into the
// arrays of all points; one particle_to_grid, grid_update and grid_to_particle move them all in the
// phase of the velocity update, positions included.
//
// Publishes, besides what particles share (position, velocity, mass, inverse_mass):
//   deformation_gradient   F, row by row, state      volume         m^3 (2-D: m^2)
//   affine_velocity        C, row by row, state      mu, lambda     Lame parameters, Pa
#include "kernels/mpm/mpm.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "engine/base/pages.hpp"
#include "engine/document/read.hpp"
#include "engine/model/step_faults.hpp"
#include "kernels/mpm/offers.hpp"
#include "kernels/mpm/transfer.hpp"
#include "kernels/particles/contact_bodies.hpp"
#include "kernels/particles/particles.hpp"
#include "kernels/particles/point_names.hpp"
#include "kernels/particles/small_motions.hpp"

namespace hindcast {

namespace mpm {

using namespace lang;
using model::Model;
using model::Phase;
using model::Settings;

namespace {

// The parts of this module that a scene has; Model::shared() holds it.
struct Present {
    bool points = false, grid = false;
    std::vector<std::string> bodies;
    double sound_speed = 0;  // m/s, the highest of all bodies, and whose it is
    std::string fastest;
};

struct Arrays {
    particles::Arrays points;
    Array F, C, volume, mu, lambda;
};

Arrays arrays(Model& model) {
    Arrays a;
    a.points = particles::arrays(model);
    const std::int64_t n = model.point_count();
    if (!model.has_array("deformation_gradient")) {
        model.add_array("deformation_gradient", n, 4,
                        {.meaning = "F of each point, row by row", .state = true}, Layout::planar);
        model.add_array("affine_velocity", n, 4,
                        {.unit = "1/s",
                         .meaning = "velocity gradient C of each point, row by row",
                         .state = true},
                        Layout::planar);
        model.add_array("volume", n, 1,
                        {.unit = "m^2", .meaning = "volume (area) of each point at rest"});
        model.add_array("mu", n, 1, {.unit = "Pa", .meaning = "shear modulus of each point"});
        model.add_array("lambda", n, 1,
                        {.unit = "Pa", .meaning = "first Lame parameter of each point"});
    }
    a.F = model.array("deformation_gradient");
    a.C = model.array("affine_velocity");
    a.volume = model.array("volume");
    a.mu = model.array("mu");
    a.lambda = model.array("lambda");
    return a;
}

const KernelDef& initialize_motion() {
    static const KernelDef k =
        kernel("material_points_motion", {"positions", "velocity", "first", "x", "v"},
               [](Int i, Read<Vec2> positions, Property<Vec2> velocity, Param<Int> first,
                  Write<Vec2> x, Write<Vec2> v) {
                   const Int j = injective(i + first.value());
                   x[j] = positions[i];
                   v[j] = velocity[i];
               });
    return k;
}

const KernelDef& initialize_deformation() {
    static const KernelDef k = kernel("material_points_at_rest", {"first", "F", "C"},
                                      [](Int i, Param<Int> first, Write<Mat2> F, Write<Mat2> C) {
                                          const Int j = injective(i + first.value());
                                          Mat2 zero = Mat2::identity();
                                          zero(0, 0) = Float(0);
                                          zero(1, 1) = Float(0);
                                          F[j] = Mat2::identity();
                                          C[j] = zero;
                                      });
    return k;
}

// a, b: mu and lambda, or Young's modulus E and Poisson's ratio nu, with
// mu = E / (2 (1 + nu)), lambda = E nu / ((1 + nu) (1 - 2 nu)).
KernelDef initialize_material(bool engineering) {
    return kernel(
        "material_points_material",
        {"mass", "volume", "a", "b", "first", "m", "w", "V", "mu", "lambda"},
        [engineering](Int i, Property<Float> mass, Property<Float> volume, Property<Float> a,
                      Property<Float> b, Param<Int> first, Write<Float> m, Write<Float> w,
                      Write<Float> V, Write<Float> mu, Write<Float> lambda) {
            const Int j = injective(i + first.value());
            const Float inertia = mass[i], stiff = a[i], other = b[i];
            m[j] = inertia;
            w[j] = 1.0 / inertia;
            V[j] = volume[i];
            if (engineering) {
                const Float shear = stiff / (1.0 + other);
                mu[j] = 0.5 * shear;
                lambda[j] = shear * other / (1.0 - 2.0 * other);
            } else {
                mu[j] = stiff;
                lambda[j] = other;
            }
        });
}

class Body final : public model::Instance {
public:
    explicit Body(std::shared_ptr<Settings> settings) : settings_(std::move(settings)) {}

    void declare(Model& model) override {
        if (model.dimension() != 2)
            throw settings_->error("type", "material points are two-dimensional")
                .remedy("set \"dimension\": 2");
        placed_ = particles::place_points(*settings_, model);
    }

    void build(Model& model) override {
        const Arrays a = arrays(model);
        const bool engineering = settings_->written("young_modulus");
        for (const auto& [key, other] : {std::pair{"mu", "lambda"},
                                         {"lambda", "mu"},
                                         {"young_modulus", "poisson_ratio"},
                                         {"poisson_ratio", "young_modulus"}})
            if (settings_->written(key) && !settings_->written(other))
                throw settings_->error(
                    key, std::string("'") + key + "' is given without '" + other + "'");
        if (engineering == settings_->written("mu"))
            throw settings_->error("type",
                                   "a material is given by 'mu' and 'lambda', or by "
                                   "'young_modulus' and 'poisson_ratio'");
        const std::int64_t n = placed_.range.count;
        const auto quantity = [&](const char* key) {
            return settings_->quantity(model, key, n, placed_.positions).argument();
        };
        const std::string& name = settings_->name();
        model.prologue().add(model.launch(initialize_motion(), n,
                                          {{"positions", quantity("positions")},
                                           {"velocity", quantity("velocity")},
                                           {"first", placed_.range.first},
                                           {"x", a.points.position},
                                           {"v", a.points.velocity}},
                                          "initialize " + name));
        model.prologue().add(model.launch(initialize_deformation(), n,
                                          {{"first", placed_.range.first}, {"F", a.F}, {"C", a.C}},
                                          "deformation of " + name));
        model.prologue().add(
            model.launch(initialize_material(engineering), n,
                         {{"mass", quantity("mass")},
                          {"volume", quantity("volume")},
                          {"a", quantity(engineering ? "young_modulus" : "mu")},
                          {"b", quantity(engineering ? "poisson_ratio" : "lambda")},
                          {"first", placed_.range.first},
                          {"m", a.points.mass},
                          {"w", a.points.inverse_mass},
                          {"V", a.volume},
                          {"mu", a.mu},
                          {"lambda", a.lambda}},
                         "material of " + name));
        model.publish_energy({"material_points", name, "elastic energy",
                              [range = placed_.range, name](Model& m, double scale,
                                                            const Array& value, Program& program) {
                                  program.add(m.launch(elastic_energy(), range.count,
                                                       {{"F", m.array("deformation_gradient")},
                                                        {"volume", m.array("volume")},
                                                        {"mu", m.array("mu")},
                                                        {"lambda", m.array("lambda")},
                                                        {"first", range.first},
                                                        {"scale", scale},
                                                        {"value", value}},
                                                       name + ": elastic energy"));
                              }});
        model.shared<Present>().points = true;
        add_to_pairs(model);
        note_sound_speed(model, engineering);
        draw(model);
    }

    void finish(Model& model) override {
        if (model.shared<Present>().grid) return;
        throw settings_->error("type", "material points need a grid")
            .remedy("add {\"type\": \"mpm_grid\", ...} to \"forces\"");
    }

private:
    void add_to_pairs(Model& model) {
        std::vector<std::string>& bodies = model.shared<Present>().bodies;
        bodies.push_back(settings_->name());
        for (const std::string& other : bodies)
            model.contact_pairs().keep_apart(settings_->name(), other, "grid");
        model.contact_pairs().add({.name = settings_->name(),
                                   .pointer = settings_->node().pointer(),
                                   .extent = model::Extent::material_points,
                                   .bounds = particles::bounds_of_points(model, placed_.range, 0)});
    }

    // The speed of longitudinal waves: sqrt((lambda + 2 mu) / density), m/s.
    void note_sound_speed(Model& model, bool engineering) const {
        const auto values = [&](const char* key) -> const std::vector<double>& {
            return model.find_quantity(settings_->name() + "." + key)->values;
        };
        const auto at = [](const std::vector<double>& list, std::size_t i) {
            return list[std::min(i, list.size() - 1)];
        };
        const std::vector<double>&first = values(engineering ? "young_modulus" : "mu"),
              &second = values(engineering ? "poisson_ratio" : "lambda"), &masses = values("mass"),
              &volumes = values("volume");
        Present& present = model.shared<Present>();
        for (std::size_t i = 0; i < static_cast<std::size_t>(placed_.range.count); ++i) {
            double mu = at(first, i), lambda = at(second, i);
            if (engineering) std::tie(lambda, mu) = particles::lame_of(mu, lambda);
            const double density = at(masses, i) / at(volumes, i);
            const double speed = std::sqrt(std::max(lambda + 2 * mu, 0.0) / density);
            if (speed <= present.sound_speed) continue;
            present.sound_speed = speed;
            present.fastest = settings_->name();
        }
    }

    // Discs around squares as large as the points are on the average at rest: bodies look closed.
    void draw(Model& model) const {
        double radius = 0;  // by how close they are, where no volume is written
        if (settings_->written("volume")) {
            const std::vector<double>& volumes =
                model.find_quantity(settings_->name() + ".volume")->values;
            double sum = 0;
            for (const double volume : volumes) sum += volume;
            radius = std::sqrt(sum / static_cast<double>(volumes.size()) / 2);
        }
        model.draw({settings_->name(),
                    model::DrawnPoints{placed_.range.first, placed_.range.count, radius}});
    }

    std::shared_ptr<Settings> settings_;
    particles::Placed placed_;
};

class BackgroundGrid final : public model::Instance {
public:
    explicit BackgroundGrid(std::shared_ptr<Settings> settings) : settings_(std::move(settings)) {}

    void build(Model& model) override {
        Present& present = model.shared<Present>();
        if (present.grid)
            throw settings_->error("type", "a scene has one grid for material points");
        present.grid = true;
        if (!present.points)
            throw settings_->error("type", "there are no material points for the grid")
                .remedy("add a body of type \"material_points\"");
    }

    void finish(Model& model) override {
        if (model.shared<particles::Integration>().added)
            throw settings_
                ->error("type",
                        "particles and material points in one scene are not "
                        "supported")
                .remedy("use material points only, or particles only");
        if (model.has_array("force"))
            throw settings_->error("type", "forces do not act on material points")
                .remedy("remove the other forces; gravity and the grid's walls act");
        Grid grid;
        const document::Node& nodes = *settings_->find("nodes");
        document::array_of(nodes, 2, 2);
        for (int axis = 0; axis < 2; ++axis)
            grid.nodes[axis] =
                document::integer_of(nodes.item(static_cast<std::size_t>(axis)), 3, 30000);
        const std::int64_t count = grid.nodes[0] * grid.nodes[1], n = model.point_count();
        const auto bytes = static_cast<double>(5 * ir::size_of(model.real()));
        if (const std::string lack = lack_of_memory(bytes * static_cast<double>(count));
            !lack.empty())
            throw settings_->error("nodes", std::to_string(count) + " nodes need " + lack)
                .remedy("write fewer nodes, or a wider spacing");
        const std::string walls = settings_->choice("walls");
        grid.walls = walls == "slip" ? Walls::slip : walls == "stick" ? Walls::stick : Walls::none;
        grid.wall_nodes = settings_->integer("wall_nodes");
        model::Quantity& origin = settings_->quantity(model, "origin");
        origin.may_optimize = false;
        const std::vector<double> corner = origin.values_at_load();
        grid.shifted = corner[0] != 0 || corner[1] != 0;
        const double spacing = settings_->number("spacing"), h = model.step();
        warn_of_step(model, spacing, h);
        model.draw({settings_->name(), between_walls(grid, corner, spacing)});
        const Arrays a = arrays(model);
        const Array grid_array(model.real(), {count, 3}), u(model.real(), {count, 2});
        const Argument start({corner[0], corner[1]});
        const Launch to_grid = model.launch(particle_to_grid(grid), n,
                                            {{"x", a.points.position},
                                             {"v", a.points.velocity},
                                             {"C", a.C},
                                             {"F", a.F},
                                             {"mass", a.points.mass},
                                             {"volume", a.volume},
                                             {"mu", a.mu},
                                             {"lambda", a.lambda},
                                             {"origin", start},
                                             {"inverse_spacing", 1 / spacing},
                                             {"stress_factor", -4 * h / (spacing * spacing)},
                                             {"grid", grid_array}},
                                            settings_->name() + ": particle to grid");
        const Launch update = model.launch(grid_update(grid), count,
                                           {{"grid", grid_array},
                                            {"gravity", model.find_quantity("gravity")->argument()},
                                            {"h", h},
                                            {"mass_floor", settings_->number("mass_floor")},
                                            {"u", u}},
                                           settings_->name() + ": grid");
        model.shared<model::StepFaults>().reasons.push_back(
            [this, grid, corner, spacing](Model& m) {
                return m.real() == ir::Type::f32 ? point_outside<float>(m, grid, corner, spacing)
                                                 : point_outside<double>(m, grid, corner, spacing);
            });
        for (const Launch& launch : {to_grid, update}) model.add(Phase::velocity_update, launch);
        model.add(Phase::velocity_update, model.launch(grid_to_particle(grid), n,
                                                       {{"u", u},
                                                        {"origin", start},
                                                        {"inverse_spacing", 1 / spacing},
                                                        {"h", h},
                                                        {"x", a.points.position},
                                                        {"v", a.points.velocity},
                                                        {"C", a.C},
                                                        {"F", a.F}},
                                                       settings_->name() + ": grid to particle"));
    }

private:
    // Elastic waves must not pass a cell within a step.
    void warn_of_step(Model& model, double spacing, double h) const {
        const Present& present = model.shared<Present>();
        const double limit = spacing / present.sound_speed;
        if (!(h > limit)) return;
        model.warnings().add(
            {.identifier = "time_step",
             .happened = fmt::format("the step of {:.3g} s is beyond the limit of stability of "
                                     "'{}': its waves pass a cell of {:.3g} m in {:.3g} s",
                                     h, present.fastest, spacing, limit),
             .remedy = "make the time step smaller (\"substeps\"), the material softer or the "
                       "spacing larger",
             .pointer = settings_->node().pointer(),
             .numbers = {{"step", h}, {"limit", limit}}});
    }

    // The error of the first point whose 3 x 3 nodes are not all in the grid, if there is one; as
    // stencil() in transfer.cpp finds them, in the precision of the run.
    template <class Real>
    std::optional<Error> point_outside(Model& model, const Grid& grid,
                                       const std::vector<double>& origin, double spacing) const {
        const Array x = model.array("position");
        const auto outside = [&](std::int64_t point) {
            for (int a = 0; a < 2; ++a) {
                const auto place = static_cast<Real>(x.value(point, a)),
                           start = static_cast<Real>(origin[static_cast<std::size_t>(a)]);
                const Real first =
                    std::floor(std::fma(grid.shifted ? place - start : place,
                                        static_cast<Real>(1 / spacing), static_cast<Real>(-0.5)));
                if (first < 0 || first > static_cast<Real>(grid.nodes[a] - 3)) return true;
            }
            return false;
        };
        std::int64_t first = -1, others = -1;
        for (std::int64_t p = 0; p < model.point_count(); ++p)
            if (outside(p) && ++others == 0) first = p;
        if (first < 0) return std::nullopt;
        const auto corner = [&](const auto& nodes) {
            return std::vector{origin[0] + spacing * nodes(0), origin[1] + spacing * nodes(1)};
        };
        const bool walls = grid.walls != Walls::none && grid.wall_nodes > 0;
        return settings_
            ->error("nodes",
                    fmt::format("{}{} left the grid: it is at ({:.6g}, {:.6g}) m, and the grid "
                                "holds points from ({:.6g}) to ({:.6g}) m",
                                particles::point_name(model, first),
                                others > 0 ? fmt::format(" has, with {} more,", others) : " has",
                                x.value(first, 0), x.value(first, 1),
                                fmt::join(corner([](int) { return 0.5; }), ", "),
                                fmt::join(corner([&](int a) {
                                              return static_cast<double>(grid.nodes[a]) - 1.5;
                                          }),
                                          ", ")))
            .remedy(walls ? "give the grid more nodes or more wall_nodes, or make the step shorter"
                          : "give the grid more nodes, or let \"walls\" be \"slip\" or "
                            "\"stick\"");
    }

    // The rectangle of the nodes at which no wall acts.
    static model::DrawnFrame between_walls(const Grid& grid, const std::vector<double>& origin,
                                           double spacing) {
        model::DrawnFrame frame;
        for (std::size_t a = 0; a < 2; ++a) {
            const auto border = static_cast<double>(grid.wall_nodes),
                       nodes = static_cast<double>(grid.nodes[a]);
            frame.low.push_back(origin[a] + spacing * border);
            frame.high.push_back(origin[a] + spacing * std::max(nodes - 1 - border, border));
        }
        return frame;
    }

    std::shared_ptr<Settings> settings_;
};

}  // namespace

}  // namespace mpm

void register_mpm(Registry& registry) {
    using namespace model;
    offer_mpm(registry);
    mpm::publish_kernels(registry);
    registry.add(
        {Section::bodies,
         "material_points",
         "Material points",
         "An elastic body of material points (two-dimensional). They meet on the grid of the force "
         "\"mpm_grid\". Kirchhoff stress of the corotated solid: "
         "2 mu (F - R) F^T + lambda J (J - 1) I. Points stay in the order of their positions (of a "
         "grid or box: the last index runs fastest), one body after the other; results have that "
         "order too.",
         {vectors("positions")
              .schema(R"({"$ref":"#/$defs/counted"})")
              .unit("m")
              .differentiable()
              .doc("where each point starts: a list of vectors, a grid, a box or a file"),
          particles::reference_field(),
          vectors("velocity")
              .unit("m/s")
              .zero()
              .differentiable()
              .doc("initial velocity, one for the body or one per point"),
          values("mass").unit("kg").fallback("1").positive().differentiable().doc(
              "mass of each point"),
          values("volume").unit("m^2").fallback("1").positive().differentiable().doc(
              "volume (area) of each point at rest"),
          values("mu").unit("Pa").optional().at_least(0).differentiable().doc(
              "second Lame parameter, the shear modulus"),
          values("lambda").unit("Pa").optional().at_least(0).differentiable().doc(
              "first Lame parameter"),
          values("young_modulus")
              .unit("Pa")
              .optional()
              .positive()
              .differentiable()
              .doc("instead of mu and lambda, with poisson_ratio: mu = E / (2 (1 + nu)), "
                   "lambda = E nu / ((1 + nu) (1 - 2 nu))"),
          values("poisson_ratio")
              .optional()
              .at_least(0)
              .at_most(0.499)
              .differentiable()
              .doc("see young_modulus")},
         [](std::shared_ptr<Settings> s) { return std::make_unique<mpm::Body>(std::move(s)); }});
    registry.add(
        {Section::forces,
         "mpm_grid",
         "Background of material points",
         "The background grid of all material points (MLS-MPM with affine transfers and quadratic "
         "B-splines): momentum and stress go to the grid, velocities come back. A point within a "
         "node and a half of the grid's border is an error.",
         {list("nodes").doc("nodes along x and y").schema(R"({"type":"integer","minimum":3})"),
          number("spacing").unit("m").positive().doc("distance of neighboring nodes"),
          vector("origin").unit("m").zero().doc("place of node (0, 0)"),
          choice("walls", {"none", "slip", "stick"})
              .fallback("\"slip\"")
              .doc("what nodes near the border do with a velocity outwards: nothing, zero its "
                   "normal component, or zero all of it (along x first, then along y)"),
          integer("wall_nodes")
              .fallback("3")
              .at_least(0)
              .at_most(1000)
              .doc("with n nodes along an axis, walls act at those with an index below this, and "
                   "above "
                   "n - this: at one node less on the upper side. 0: nowhere"),
          number("mass_floor")
              .unit("kg")
              .fallback("1e-10")
              .positive()
              .doc("added to the mass of each node: velocity = momentum / (mass + mass_floor)")},
         [](std::shared_ptr<Settings> s) {
             return std::make_unique<mpm::BackgroundGrid>(std::move(s));
         }});
}

}  // namespace hindcast
