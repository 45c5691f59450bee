// The force on end a of a spring from a to b, with d = x_b - x_a, L = |d| + length_offset, u = d/L:
//     f = (k (L - r) + c (v_b - v_a).u) u          and -f on end b.
// The elastic part is the derivative of the energy k/2 (L - r)^2 by L, along u. It is written as
// k (1 - r/L) d: a spring without rest length then pulls like k d, and has that derivative, also
// where its ends coincide. With a rest length a spring whose ends coincide exerts no force (u = 0).
// A spring that only pulls exerts none while L <= r, one that only pushes none while L >= r.
//
// With an implicit integrator the energy itself is minimized, and damping is the dissipation
// c/(2 h) (L - L_n)^2 of a step of length h from length L_n, of springs that act at its start.
#include "kernels/springs/springs.hpp"

#include <cmath>
#include <optional>
#include <set>

#include "engine/document/read.hpp"
#include "engine/model/point_owner.hpp"
#include "engine/model/shown.hpp"
#include "engine/runtime/minimization/energy/energy.hpp"
#include "kernels/particles/energies.hpp"
#include "kernels/particles/implicit.hpp"
#include "kernels/particles/particles.hpp"
#include "kernels/particles/point_names.hpp"
#include "kernels/particles/small_motions.hpp"
#include "kernels/springs/offers.hpp"

namespace hindcast {

using namespace lang;
using model::for_dimension;
using model::Model;
using model::Phase;
using model::Settings;

namespace {

enum class Acts { both, pull, push };

struct Form {
    bool damped = false;
    double length_offset = 0;
    Acts acts = Acts::both;

    Float length(const Float& distance) const {
        Float length = length_offset == 0 ? distance : distance + length_offset;
        return length.name("length");
    }
    // Tension for each unit of length, of the spring alone: k (1 - L/l).
    static Float elastic(const Float& stiffness, const Float& rest_length, const Float& length) {
        return stiffness * (1.0 - divz(rest_length, length));
    }
    template <int D>
    Float stretch(const Vec<Float, D>& d, const Float& rest_length) const {
        return length(norm(d)) - rest_length;
    }
    Float energy(const Float& stretch, const Float& stiffness) const {
        return while_acting(stretch, 0.5 * stiffness * stretch * stretch);
    }
    // The value while the spring acts, otherwise 0.
    Float while_acting(const Float& stretch, const Float& value) const {
        if (acts == Acts::both) return value;
        const Bool active = acts == Acts::pull ? stretch > 0.0 : stretch < 0.0;
        return select(active, value, Float(0));
    }
};

// d times the tension for each unit of length. If the ends coincide, d is 0: no force, even if the
// tension has no limit there.
template <int D>
Vec<Float, D> along(const Vec<Float, D>& d, const Float& scale) {
    Vec<Float, D> f;
    for (int k = 0; k < D; ++k) f[k] = mulg(d[k], scale);
    return f;
}

template <int D>
KernelDef spring_force(const Form& form) {
    using V = Vec<Float, D>;
    return kernel(
        form.damped ? "spring_force_damped" : "spring_force",
        {"ends", "rest_length", "stiffness", "damping", "x", "v", "force"},
        [form](Int s, Read<Int2> ends, Property<Float> rest_length, Property<Float> stiffness,
               Property<Float> damping, Read<V> x, Read<V> v, Accumulate<V> force) {
            const Int a = ends[s].x(), b = ends[s].y();
            const V d = x[b] - x[a];
            const Float length = form.length(norm(d));
            const Float stretch = length - rest_length[s];
            const Float rate = form.damped ? divz(dot(v[b] - v[a], d), length) : Float(0);
            Float tension = Form::elastic(stiffness[s], rest_length[s], length);
            if (form.damped) tension += damping[s] * divz(rate, length);
            const V f = along(d, form.while_acting(stretch, tension));
            force[a] += f;
            force[b] -= f;
        });
}

template <int D>
KernelDef elastic_energy(const Form& form) {
    using V = Vec<Float, D>;
    return kernel(
        "spring_energy", {"ends", "rest_length", "stiffness", "x", "scale", "value"},
        [form](Int s, Read<Int2> ends, Property<Float> rest_length, Property<Float> stiffness,
               Read<V> x, Param<Float> scale, Reduce<Float> value) {
            const V d = x[ends[s].y()] - x[ends[s].x()];
            value += form.energy(form.stretch(d, rest_length[s]), stiffness[s]) * scale.value();
        });
}

// Positive where the spring pulls; without damping.
template <int D>
KernelDef tension(const Form& form) {
    using V = Vec<Float, D>;
    return kernel("spring_tension", {"ends", "rest_length", "stiffness", "x", "values"},
                  [form](Int s, Read<Int2> ends, Property<Float> rest_length,
                         Property<Float> stiffness, Read<V> x, Write<Float> values) {
                      const V d = x[ends[s].y()] - x[ends[s].x()];
                      const Float stretch = form.stretch(d, rest_length[s]);
                      values[s] = form.while_acting(stretch, stiffness[s] * stretch);
                  });
}

template <int D>
EnergyKernels minimized_energy(const Form& form) {
    using V = Vec<Float, D>;
    return energy<D, 2>("spring", {"rest_length", "stiffness"},
                        [form](Int s, const Points<D, 2>& x, Property<Float> rest_length,
                               Property<Float> stiffness) -> Float {
                            const V d = x[1] - x[0];
                            return form.energy(form.stretch(d, rest_length[s]), stiffness[s]);
                        });
}

template <int D>
EnergyKernels dissipation(const Form& form) {
    using V = Vec<Float, D>;
    return energy<D, 2>(
        "spring_damping", {"ends", "start", "rest_length", "damping", "h"},
        [form](Int s, const Points<D, 2>& x, Read<Int2> ends, Read<V> start,
               Property<Float> rest_length, Property<Float> damping, Param<Float> h) -> Float {
            const V d = start[ends[s].y()] - start[ends[s].x()];
            const Float before = norm(d), change = norm(x[1] - x[0]) - before;
            return form.while_acting(form.length(before) - rest_length[s],
                                     0.5 * damping[s] * change * change / h.value());
        });
}

Acts acts_of(const std::string& word) {
    return word == "pull" ? Acts::pull : word == "push" ? Acts::push : Acts::both;
}

model::Field acts_field() {
    return model::choice("acts", {"both", "pull", "push"})
        .fallback("\"both\"")
        .doc(
            "pull: no force while L <= r, like a rope; push: no force while L >= r, like a "
            "contact; these are not drawn");
}

model::Field length_offset_field() {
    return model::number("length_offset")
        .unit("m")
        .fallback("0")
        .at_least(0)
        .doc("added to every length, to keep it away from zero");
}

Form form_of(const Settings& options) {
    Form form;
    form.length_offset = options.number("length_offset");
    form.acts = acts_of(options.choice("acts"));
    return form;
}

void publish_kernels(Registry& registry) {
    using model::PublishedKernel;
    const PublishedKernel::Parameter ends{"ends", "numbers a, b of the points at both ends"},
        rest_length{"rest_length", "r, m"}, stiffness{"stiffness", "k, N/m"},
        x{"x", "positions of the points, m"};
    registry.publish(
        {"spring_force",
         "One item per spring: with d = x_b - x_a, L = |d| + length_offset, u = d/L it adds "
         "f = (k (L - r) + c (v_b - v_a).u) u to the force on a, and -f to that on b.",
         {model::dimension_option(), model::boolean("damped").fallback("false").doc("with c"),
          acts_field(), length_offset_field(), model::adds_option()},
         {ends,
          rest_length,
          stiffness,
          {"damping", "c, N s/m"},
          x,
          {"v", "velocities of the points, m/s"},
          {"force", "on the points, N"}},
         [](const Settings& options) {
             Form form = form_of(options);
             form.damped = options.boolean("damped");
             return for_dimension(options, [&](auto D) { return spring_force<D>(form); });
         }});
    registry.publish(
        {"spring_energy",
         "One item per spring: value += scale k/2 (L - r)^2, with L = |x_b - x_a| + "
         "length_offset.",
         {model::dimension_option(), acts_field(), length_offset_field()},
         {ends, rest_length, stiffness, x, {"scale", "a factor"}, {"value", "a sum, J"}},
         [](const Settings& options) {
             return for_dimension(options,
                                  [&](auto D) { return elastic_energy<D>(form_of(options)); });
         }});
}

class Springs final : public model::Instance {
public:
    explicit Springs(std::shared_ptr<Settings> settings) : settings_(std::move(settings)) {}

    void build(Model& model) override {
        const std::vector<std::int64_t> ends = read_ends(model);
        const std::int64_t n = static_cast<std::int64_t>(ends.size()) / 2;
        const Array end_indices = model.index_array(ends, 2);
        Form form;
        form.damped = settings_->written("damping");
        form.length_offset = settings_->quantity(model, "length_offset").values_at_load().front();
        form.acts = acts_of(settings_->choice("acts"));
        // A spring that only pushes stands for a contact, with nothing to draw between the points.
        if (form.acts != Acts::push)
            model.draw({settings_->name(), model::DrawnSegments{{ends.begin(), ends.end()}}});

        model::Quantity& length = rest_length(model, ends, form.length_offset);
        require_direction(model, ends, form, length);
        const Argument rest = length.argument(),
                       stiffness = settings_->quantity(model, "stiffness", n).argument();
        const std::optional<Argument> damping =
            form.damped ? std::optional(settings_->quantity(model, "damping", n).argument())
                        : std::nullopt;
        note_small_motions(model, ends);
        if (form.acts == Acts::push) note_contact(model, ends);
        const EnergyTerm elastic{
            settings_->name() + ": springs",
            for_dimension(model, [&](auto D) { return minimized_energy<D>(form); }),
            n,
            end_indices,
            {{"rest_length", rest}, {"stiffness", stiffness}}};
        particles::publish_energy(model, "springs", settings_->name(), "elastic energy", elastic);
        if (model.is_implicit()) {
            model.add_energy(elastic);
            if (damping)
                model.add_energy(
                    {settings_->name() + ": damping",
                     for_dimension(model, [&](auto D) { return dissipation<D>(form); }),
                     n,
                     end_indices,
                     {{"ends", end_indices},
                      {"start", particles::start_of_step(model)},
                      {"rest_length", rest},
                      {"damping", *damping},
                      {"h", model.step()}}});
        } else {
            std::vector<NamedArgument> arguments{{"ends", end_indices},
                                                 {"rest_length", rest},
                                                 {"stiffness", stiffness},
                                                 {"x", model.array("position")},
                                                 {"force", particles::force(model)}};
            if (damping) {
                arguments.emplace_back("damping", *damping);
                arguments.emplace_back("v", model.array("velocity"));
            }
            const KernelDef kernel =
                for_dimension(model, [&](auto D) { return spring_force<D>(form); });
            model.add(Phase::forces,
                      model.launch(kernel, n, arguments, settings_->name() + ": spring forces"));
        }
        model::publish(
            model,
            {.owner = settings_->name(),
             .name = "tension",
             .unit = "N",
             .meaning = "elastic force of each spring, positive where it pulls",
             .count = n,
             .add = [name = settings_->name(), form, n, end_indices, rest, stiffness](
                        Model& m, const Array& values, Program& program) {
                 program.add(m.launch(for_dimension(m, [&](auto D) { return tension<D>(form); }), n,
                                      {{"ends", end_indices},
                                       {"rest_length", rest},
                                       {"stiffness", stiffness},
                                       {"x", m.array("position")},
                                       {"values", values}},
                                      name + ": tension"));
             }});
    }

private:
    // Springs that only push keep the bodies of their ends apart.
    void note_contact(Model& model, const std::vector<std::int64_t>& ends) const {
        std::set<std::pair<std::string, std::string>> pairs;
        for (std::size_t s = 0; s < ends.size(); s += 2)
            pairs.emplace(model::owner_of(model, ends[s]).body,
                          model::owner_of(model, ends[s + 1]).body);
        for (const auto& [a, b] : pairs)
            model.contact_pairs().keep_apart(a, b, "springs that push");
    }
    void note_small_motions(Model& model, const std::vector<std::int64_t>& ends) const {
        const auto found = [&](const char* key) {
            return model.find_quantity(settings_->name() + "." + key);
        };
        const auto at = [](const model::Quantity* q, std::size_t s) {
            return q == nullptr ? 0.0 : q->values[q->shared ? 0 : s];
        };
        const model::Quantity *const stiffness = found("stiffness"),
                                     *const damping = found("damping"),
                                     *const rest = found("rest_length");
        std::vector<particles::SmallSpring> springs;
        springs.reserve(ends.size() / 2);
        for (std::size_t s = 0; 2 * s < ends.size(); ++s)
            springs.push_back({.a = ends[2 * s],
                               .b = ends[2 * s + 1],
                               .stiffness = at(stiffness, s),
                               .damping = at(damping, s),
                               .rest_length = at(rest, s)});
        particles::add_small_springs(model, settings_->name(), settings_->node().pointer(),
                                     std::move(springs));
    }

    // "connect": [[body, point, body, point], ...], or
    // {"grid": body, "counts": [nx, ny], "patterns": [...]}, or {"chain": body}
    std::vector<std::int64_t> read_ends(Model& model) const {
        const document::Node& connect = *settings_->find("connect");
        if (connect.is_object())
            return connect.find("chain") != nullptr ? chain_ends(model, connect)
                                                    : grid_ends(model, connect);
        document::array_of(connect, 1);
        std::vector<std::int64_t> ends;
        for (std::size_t s = 0; s < connect.size(); ++s) {
            const document::Node& row = document::array_of(connect.item(s), 4, 4);
            for (const std::size_t k : {0U, 2U}) {
                const std::string& name = document::string_of(row.item(k));
                const model::Range body = model.points(name, row.item(k));
                ends.push_back(body.first +
                               particles::point_of(row.item(k + 1), name, body, model));
            }
            if (ends.end()[-1] == ends.end()[-2])
                throw document::fault(row, "a spring joins a point to itself")
                    .remedy("give two different points");
        }
        return ends;
    }

    static std::vector<std::int64_t> chain_ends(const Model& model, const document::Node& node) {
        document::Reader reader(node, "a chain of springs");
        const document::Node& body_node = reader.require("chain");
        reader.finish();
        const model::Range body = model.points(document::string_of(body_node), body_node);
        if (body.count < 2)
            throw document::fault(body_node, "a chain needs a body of two points or more");
        std::vector<std::int64_t> ends;
        for (std::int64_t i = body.first; i + 1 < body.first + body.count; ++i)
            ends.insert(ends.end(), {i, i + 1});
        return ends;
    }

    static std::vector<std::int64_t> grid_ends(const Model& model, const document::Node& node) {
        document::Reader reader(node, "a grid of springs");
        const document::Node& body_node = reader.require("grid");
        const model::Range body = model.points(document::string_of(body_node), body_node);
        const document::Node& counts = reader.array("counts", 2, 2);
        const std::int64_t nx = document::integer_of(counts.item(0), 1, body.count);
        const std::int64_t ny = document::integer_of(counts.item(1), 1, body.count);
        if (nx * ny != body.count)
            throw document::fault(counts, "a grid of " + std::to_string(nx) + " x " +
                                              std::to_string(ny) + " does not fit the " +
                                              std::to_string(body.count) + " points of the body")
                .remedy("give the counts that the body's grid has");
        const document::Node& patterns = reader.array("patterns", 1);
        reader.finish();
        std::vector<std::pair<std::int64_t, std::int64_t>> offsets;
        for (std::size_t k = 0; k < patterns.size(); ++k) {
            static constexpr std::string_view names[] = {"structural", "shear", "bend"};
            switch (document::choice_of(patterns.item(k), names, "pattern")) {
                case 0: offsets.insert(offsets.end(), {{1, 0}, {0, 1}}); break;
                case 1: offsets.insert(offsets.end(), {{1, 1}, {1, -1}}); break;
                default: offsets.insert(offsets.end(), {{2, 0}, {0, 2}});
            }
        }
        std::vector<std::int64_t> ends;
        for (const auto& [di, dj] : offsets)
            for (std::int64_t i = 0; i + di < nx; ++i)
                for (std::int64_t j = 0; j < ny; ++j) {
                    if (j + dj < 0 || j + dj >= ny) continue;
                    ends.push_back(body.first + i * ny + j);
                    ends.push_back(body.first + (i + di) * ny + j + dj);
                }
        if (ends.empty())
            throw document::fault(node, "this grid has no springs")
                .remedy("make the grid larger, or choose other patterns");
        return ends;
    }

    // "initial": the distance at the start, evaluated once in f64; {"initial": factor}: a multiple.
    model::Quantity& rest_length(Model& model, const std::vector<std::int64_t>& ends,
                                 double offset) const {
        const std::int64_t n = static_cast<std::int64_t>(ends.size()) / 2;
        const document::Node& node = *settings_->find("rest_length");
        const document::Node* factor_node = node.is_object() ? node.find("initial") : nullptr;
        const bool initial =
            factor_node != nullptr || (node.is_string() && node.string() == "initial");
        if (!initial) return settings_->quantity(model, "rest_length", n);
        double factor = 1;
        if (factor_node != nullptr) {
            document::Reader reader(node, "a rest length");
            factor = reader.number("initial", document::Range::positive());
            reader.finish();
        }
        const std::vector<double>& x = model.initial_points();
        const std::int64_t dimension = model.dimension();
        std::vector<double> lengths;
        for (std::size_t s = 0; s < ends.size(); s += 2) {
            double sum = 0;
            for (std::int64_t k = 0; k < dimension; ++k) {
                const double d = x[static_cast<std::size_t>(ends[s + 1] * dimension + k)] -
                                 x[static_cast<std::size_t>(ends[s] * dimension + k)];
                sum += d * d;
            }
            lengths.push_back(factor * (std::sqrt(sum) + offset));
        }
        return settings_->quantity_of(model, "rest_length", n, std::move(lengths));
    }

    // A spring whose ends coincide has no direction to push in. Its force is still defined if it has
    // no rest length (k d), if it only pulls (it is slack) or if a length_offset holds it at 0.
    // Throws Error.
    void require_direction(Model& model, const std::vector<std::int64_t>& ends, const Form& form,
                           model::Quantity& rest) const {
        if (form.length_offset != 0 || form.acts == Acts::pull) return;
        const std::vector<double> x = particles::start_points(model);
        const auto dimension = static_cast<std::size_t>(model.dimension());
        const auto rounded = [&](std::int64_t point, std::size_t k) {
            const double place = x[static_cast<std::size_t>(point) * dimension + k];
            return model.real() == ir::Type::f32 ? static_cast<float>(place) : place;
        };
        std::vector<std::size_t> coincide;  // springs
        for (std::size_t s = 0; 2 * s < ends.size(); ++s) {
            bool apart = false;
            for (std::size_t k = 0; k < dimension; ++k)
                apart = apart || rounded(ends[2 * s], k) != rounded(ends[2 * s + 1], k);
            if (!apart) coincide.push_back(s);
        }
        if (coincide.empty()) return;
        std::vector<std::string> texts;
        for (const std::size_t s : coincide)
            texts.push_back("spring " + std::to_string(s) +
                            " has no direction: " + particles::point_name(model, ends[2 * s]) +
                            " and " + particles::point_name(model, ends[2 * s + 1]) +
                            " start at the same place");
        rest.check = [coincide, texts](std::span<const double> lengths) {
            for (std::size_t k = 0; k < coincide.size(); ++k)
                if (lengths[lengths.size() == 1 ? 0 : coincide[k]] != 0)
                    throw Error(texts[k]).remedy(
                        "move one of them, or let the spring have the rest length 0");
        };
        const document::Node& connect = *settings_->find("connect");
        try {
            rest.check(rest.values);
        } catch (const Error& error) {
            throw document::fault(connect, error.happened()).remedy(error.what_to_do());
        }
    }

    std::shared_ptr<Settings> settings_;
};

}  // namespace

void register_springs(Registry& registry) {
    using namespace model;
    offer_springs(registry);
    publish_kernels(registry);
    registry.add(
        {Section::forces,
         "springs",
         "Springs between points",
         "Springs between points. With d = x_b - x_a, L = |d| + length_offset, u = d/L: f_a = "
         "(k (L - r) + c (v_b - v_a).u) u = -f_b.",
         {any("connect")
              .doc("[[body, point, body, point], ...], points by number or, of a robot, by the "
                   "names of bodies and sites; or {\"chain\": body} (each point to the next), or "
                   "{\"grid\": body, \"counts\": [nx, ny], \"patterns\": "
                   "[\"structural\", \"shear\", \"bend\"]} (point i*ny + j lies at (i, j))")
              .schema(R"({"oneOf":[{"title":"pairs of points","type":"array","minItems":1,)"
                      R"("items":{"type":"array","minItems":4,"maxItems":4,"prefixItems":[)"
                      R"({"title":"body","type":"string","means":"body"},)"
                      R"({"title":"point","type":["integer","string"],"minimum":0},)"
                      R"({"title":"body","type":"string","means":"body"},)"
                      R"({"title":"point","type":["integer","string"],"minimum":0}]}},)"
                      R"({"title":"chain","type":"object","required":["chain"],)"
                      R"("additionalProperties":false,)"
                      R"("properties":{"chain":{"type":"string","means":"body"}}},)"
                      R"({"title":"grid","type":"object","required":["grid","counts","patterns"],)"
                      R"("additionalProperties":false,)"
                      R"("properties":{"grid":{"type":"string","means":"body"},)"
                      R"("counts":{"type":"array","items":{"type":"integer","minimum":1},)"
                      R"("minItems":2,"maxItems":2,"means":"counts"},)"
                      R"("patterns":{"type":"array","minItems":1,)"
                      R"("items":{"enum":["structural","shear","bend"]}}}}]})"),
          values("stiffness")
              .unit("N/m")
              .at_least(0)
              .differentiable()
              .doc("k, one for all springs or one per spring"),
          values("damping").unit("N s/m").fallback("0").at_least(0).differentiable().doc(
              "c, along the spring"),
          values("rest_length")
              .unit("m")
              .fallback("\"initial\"")
              .at_least(0)
              .differentiable()
              .schema(R"({"type":"object","title":"a multiple of the distance at the start",)"
                      R"("required":["initial"],"additionalProperties":false,)"
                      R"("properties":{"initial":{"title":"factor","$ref":"#/$defs/positive"}}})")
              .doc("r, \"initial\" (the distance at the start), {\"initial\": factor}, a number, "
                   "or one "
                   "per spring"),
          length_offset_field(), acts_field()},
         [](std::shared_ptr<Settings> s) { return std::make_unique<Springs>(std::move(s)); },
         true});
}

}  // namespace hindcast
