// The force on end a of a spring from a to b, with d = x_b - x_a, L = |d| + length_offset, u = d / L:
//     f = (k (L - r) + c (v_b - v_a).u) u          and -f on end b.
// A spring whose ends coincide exerts no force (u = 0).
#include "kernels/springs/springs.hpp"

#include <cmath>

#include "engine/document/read.hpp"

namespace hindcast {

namespace {

using namespace lang;
using model::Model;
using model::Phase;
using model::Settings;

template <int D, template <class> class Into>
KernelDef spring_force(bool damped, double length_offset) {
    using V = Vec<Float, D>;
    const auto pull = [length_offset](const V& d) {
        const Float length = (length_offset == 0 ? norm(d) : norm(d) + length_offset).name("length");
        V u;
        for (int k = 0; k < D; ++k) u[k] = divz(d[k], length);
        return std::pair<Float, V>(length, u);
    };
    if (damped)
        return kernel("spring_force_damped", {"ends", "rest_length", "stiffness", "damping", "x", "v", "force"},
                      [pull](Int s, Read<Int2> ends, Property<Float> rest_length, Property<Float> stiffness, Property<Float> damping,
                             Read<V> x, Read<V> v, Into<V> force) {
                          const Int a = ends[s].x(), b = ends[s].y();
                          const auto [length, u] = pull(x[b] - x[a]);
                          const V f = u * (stiffness[s] * (length - rest_length[s]) + damping[s] * dot(v[b] - v[a], u));
                          force[a] += f;
                          force[b] -= f;
                      });
    return kernel("spring_force", {"ends", "rest_length", "stiffness", "x", "force"},
                  [pull](Int s, Read<Int2> ends, Property<Float> rest_length, Property<Float> stiffness, Read<V> x, Into<V> force) {
                      const Int a = ends[s].x(), b = ends[s].y();
                      const auto [length, u] = pull(x[b] - x[a]);
                      const V f = u * (stiffness[s] * (length - rest_length[s]));
                      force[a] += f;
                      force[b] -= f;
                  });
}

template <int D>
KernelDef spring_force(bool defines, bool damped, double length_offset) {
    return defines ? spring_force<D, Sum>(damped, length_offset) : spring_force<D, Accumulate>(damped, length_offset);
}

class Springs final : public model::Instance {
public:
    explicit Springs(std::shared_ptr<Settings> settings) : settings_(std::move(settings)) {}

    void build(Model& model) override {
        const std::vector<std::int64_t> ends = read_ends(model);
        const std::int64_t n = static_cast<std::int64_t>(ends.size()) / 2;
        const double offset = settings_->number("length_offset");
        const bool damped = settings_->written("damping");
        if (!model.has_array("force")) model.add_array("force", model.point_count(), model.dimension(), false);
        std::vector<Argument> arguments{model.index_array(ends, 2), rest_length(model, ends, offset), settings_->quantity(model, "stiffness", n).argument()};
        if (damped) arguments.push_back(settings_->quantity(model, "damping", n).argument());
        arguments.push_back(model.array("position"));
        if (damped) arguments.push_back(model.array("velocity"));
        arguments.push_back(model.array("force"));
        const bool defines = model.defines("force");
        model.add(Phase::forces, model.launch(model.dimension() == 2 ? spring_force<2>(defines, damped, offset) : spring_force<3>(defines, damped, offset), n,
                                              std::move(arguments), settings_->name() + ": spring forces"));
    }

private:
    // "connect": [[body, index, body, index], ...], or {"grid": body, "counts": [nx, ny], "patterns": [...]}
    std::vector<std::int64_t> read_ends(const Model& model) const {
        const document::Node& connect = *settings_->find("connect");
        if (connect.is_object()) return grid_ends(model, connect);
        document::array_of(connect, 1);
        std::vector<std::int64_t> ends;
        for (std::size_t s = 0; s < connect.size(); ++s) {
            const document::Node& row = document::array_of(connect.item(s), 4, 4);
            for (const std::size_t k : {0u, 2u}) {
                const model::Range body = model.points(document::string_of(row.item(k)), row.item(k));
                ends.push_back(body.first + document::integer_of(row.item(k + 1), 0, body.count - 1));
            }
            if (ends.end()[-1] == ends.end()[-2]) throw document::fault(row, "a spring joins a point to itself").remedy("give two different points");
        }
        return ends;
    }

    std::vector<std::int64_t> grid_ends(const Model& model, const document::Node& node) const {
        document::Reader reader(node, "a grid of springs");
        const document::Node& body_node = reader.require("grid");
        const model::Range body = model.points(document::string_of(body_node), body_node);
        const document::Node& counts = reader.array("counts", 2, 2);
        const std::int64_t nx = document::integer_of(counts.item(0), 1), ny = document::integer_of(counts.item(1), 1);
        if (nx * ny != body.count)
            throw document::fault(counts, "a grid of " + std::to_string(nx) + " x " + std::to_string(ny) + " does not fit the " + std::to_string(body.count) + " points of the body");
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
        if (ends.empty()) throw document::fault(node, "this grid has no springs").remedy("make the grid larger, or choose other patterns");
        return ends;
    }

    // "initial": the distance at the start, evaluated once in f64; {"initial": factor}: a multiple of it.
    Argument rest_length(Model& model, const std::vector<std::int64_t>& ends, double offset) const {
        const std::int64_t n = static_cast<std::int64_t>(ends.size()) / 2;
        const document::Node& node = *settings_->find("rest_length");
        const document::Node* factor_node = node.is_object() ? node.find("initial") : nullptr;
        const bool initial = factor_node != nullptr || (node.is_string() && node.string() == "initial");
        if (!initial) return settings_->quantity(model, "rest_length", n).argument();
        const double factor = factor_node != nullptr ? document::number_of(*factor_node, document::Range::positive()) : 1;
        const std::vector<double> x = model.initial_points();
        const std::size_t dimension = static_cast<std::size_t>(model.dimension());
        std::vector<double> lengths;
        for (std::size_t s = 0; s < ends.size(); s += 2) {
            double sum = 0;
            for (std::size_t k = 0; k < dimension; ++k) {
                const double d = x[static_cast<std::size_t>(ends[s + 1]) * dimension + k] - x[static_cast<std::size_t>(ends[s]) * dimension + k];
                sum += d * d;
            }
            lengths.push_back(factor * std::sqrt(sum) + offset);
        }
        return settings_->quantity_of(model, "rest_length", n, std::move(lengths)).argument();
    }

    std::shared_ptr<Settings> settings_;
};

}  // namespace

void register_springs(Registry& registry) {
    using namespace model;
    registry.add({Section::forces,
                  "springs",
                  "Springs between points. With d = x_b - x_a, L = |d| + length_offset, u = d/L: f_a = (k (L - r) + c (v_b - v_a).u) u = -f_b.",
                  {any("connect").doc("[[body, index, body, index], ...], or {\"grid\": body, \"counts\": [nx, ny], \"patterns\": [\"structural\", \"shear\", \"bend\"]}")
                       .schema(R"({"oneOf":[{"type":"array","minItems":1,"items":{"type":"array","minItems":4,"maxItems":4}},{"type":"object","required":["grid","counts","patterns"]}]})"),
                   values("stiffness").unit("N/m").at_least(0).differentiable().doc("k, one for all springs or one per spring"),
                   values("damping").unit("N s/m").fallback("0").at_least(0).differentiable().doc("c, along the spring"),
                   values("rest_length").unit("m").fallback("\"initial\"").at_least(0).differentiable().doc("r, \"initial\" (the distance at the start), {\"initial\": factor}, a number, or one per spring"),
                   number("length_offset").unit("m").fallback("0").at_least(0).doc("added to every length, to keep it away from zero")},
                  [](std::shared_ptr<Settings> s) { return std::make_unique<Springs>(std::move(s)); }});
}

}  // namespace hindcast
