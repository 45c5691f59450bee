// The damped wave equation u'' + gamma u' = c^2 lap u by central differences in time (leapfrog) and
// the five-point Laplacian, on nodes (i, j) at distance dx, with time levels a time h apart:
//     (1 + a) u(t+1) = 2 u(t) - (1 - a) u(t-1) + k (u_left + u_right + u_up + u_down - 4 u)(t),
//     k = (c h / dx)^2,  a = gamma h / 2,
// stable for k <= 1/2 (Courant, Friedrichs, Lewy 1928). Two arrays hold the levels in turn: a
// launch replaces level t-1 by level t+1 in place, the next one works the other way round; so a
// step of the scene makes an even number of levels, and nothing is copied. The launch is linear in
// u: its adjoint needs no value of u, and the backward pass keeps nothing of it unless the speed or
// the damping is a parameter.
//
// Without damping u(t+1) = S u(t) - u(t-1), and the adjoint of a launch that stores it negates a
// whole gradient. So four levels at a time are held with signs that spare it: from u(-1), u(0) on
// as -u(1), -u(2), u(3), u(4), where
//     -u(1) = u(-1) - S u(0),    -u(2) = u(0) + S(-u(1)),
//      u(3) = -u(1) - S(-u(2)),   u(4) = -u(2) + S u(3):
// launches that subtract and add in turn, whose adjoints leave the gradient of the level replaced
// as it is. Nothing but the signs differs, every operation rounds alike; and nothing reads the
// levels between the launches of a step.
//
// Fixed border: the inner rows are updated as if they went round, column -1 being the last one of
// the row above, so that every item does the same; then the outer columns are set back to zero.
#include "kernels/waves/waves.hpp"

#include <algorithm>

#include "engine/base/pages.hpp"
#include "engine/document/read.hpp"
#include "engine/model/built_by.hpp"
#include "engine/model/model.hpp"

namespace hindcast {

namespace {

using namespace lang;
using model::GridField;
using model::Model;
using model::Phase;
using model::Quantity;
using model::Settings;

// The new level that a launch computes from the level v it replaces: S u - v, v - S u, or v + S u.
enum class Change : std::uint8_t { usual, subtracted, added };

// The parameters that the kernel is specialized on.
struct Form {
    std::int64_t rows = 0, columns = 0;
    bool fixed_border = false;  // else nodes outside the grid are zero and every node is unknown
    bool damped = false;        // then the change is the usual one
    Change change = Change::usual;
};

// j of node (i, j), element i * columns + j.
Int column_of(const Int& element, std::int64_t columns) { return element % columns; }

Bool is_inside(const Int& element, const Int& column, const Form& form) {
    return column > 0 && column < form.columns - 1 && element >= form.columns &&
           element < (form.rows - 1) * form.columns;
}

KernelDef initialize_levels(const Form& form) {
    const auto held = [form](const Int& i, const Float& value) {
        if (!form.fixed_border) return value;
        return select(is_inside(i, column_of(i, form.columns), form), value, Float(0));
    };
    return kernel("wave_initialize", {"level_0", "level_1", "older", "newer"},
                  [held](Int i, Property<Float> level_0, Property<Float> level_1,
                         Write<Float> older, Write<Float> newer) {
                      older[i] = held(i, level_0[i]);
                      newer[i] = held(i, level_1[i]);
                  });
}

// The nodes that a launch of next_level() updates: all of them, or the inner rows, whose loads are
// then in range whatever the column.
struct Items {
    std::int64_t first = 0, count = 0;
};
Items items_of(const Form& form) {
    if (!form.fixed_border) return {0, form.rows * form.columns};
    return {form.columns, (form.rows - 2) * form.columns};
}

// The sum of the neighbors of a node anywhere in the grid; nodes outside are zero.
Float sum_of_neighbors(const Form& form, const Int& node, const Read<Float>& u) {
    const std::int64_t columns = form.columns;
    const Int j = column_of(node, columns);
    const auto neighbor = [&](const Bool& there, std::int64_t offset) {
        Float value;
        if_(there, [&] { value = u[node + offset]; });
        return value;
    };
    const Float left = neighbor(j > 0, -1), right = neighbor(j < columns - 1, 1);
    const Float up = neighbor(node >= columns, -columns);
    const Float down = neighbor(node < (form.rows - 1) * columns, columns);
    return (left + right) + (up + down);
}

std::string name_of_level(const Form& form) {
    if (form.damped) return "wave_level_damped";
    switch (form.change) {
        case Change::subtracted: return "wave_level_subtracted";
        case Change::added: return "wave_level_added";
        default: return "wave_level";
    }
}

// `ratio` is h / dx, in s/m.
KernelDef next_level(const Form& form) {
    const std::string name = name_of_level(form);
    // Every index is the item plus one constant: the adjoint is then a stencil as well.
    const auto node = [first = items_of(form).first](const Int& item) {
        return first == 0 ? item : injective(item + first);
    };
    const auto advanced = [form](const Int& item, const Read<Float>& u, const Float& old,
                                 const Float& k) {
        const std::int64_t columns = form.columns, first = items_of(form).first;
        const auto at = [&](std::int64_t offset) { return u[item + (first + offset)]; };
        const auto sum = [&] {
            if (!form.fixed_border) return sum_of_neighbors(form, item, u);
            const Float left = at(-1), right = at(1), up = at(-columns), down = at(columns);
            return (left + right) + (up + down);
        };
        const Float around = sum();
        switch (form.change) {
            case Change::subtracted: return (old - k * around) - (2.0 - 4.0 * k) * at(0);
            case Change::added: return (2.0 - 4.0 * k) * at(0) + (k * around + old);
            default: return (2.0 - 4.0 * k) * at(0) + (k * around - old);
        }
    };
    return kernel(name, {"speed", "damping", "half_step", "ratio", "u", "older"},
                  [form, advanced, node](Int item, Property<Float> speed, Property<Float> damping,
                                         Param<Float> half_step, Param<Float> ratio, Read<Float> u,
                                         ReadWrite<Float> older) {
                      const Int i = node(item);
                      const Float courant = speed[i] * ratio.value();
                      if (!form.damped) {
                          older[i] = advanced(item, u, older[i], courant * courant);
                          return;
                      }
                      const Float a = damping[i] * half_step.value();
                      const Float old = (1.0 - a) * older[i];
                      older[i] = advanced(item, u, old, courant * courant) / (1.0 + a);
                  });
}

// The outer columns of the inner rows, two items a row, back to zero.
KernelDef hold_columns(const Form& form) {
    const std::int64_t columns = form.columns;
    return kernel("wave_hold_columns", {"newest"}, [columns](Int item, Write<Float> newest) {
        const Int row = 1 + item / 2, side = item % 2;
        newest[injective(row * columns + side * (columns - 1))] = Float(0);
    });
}

// The energy that leapfrog conserves exactly where nothing is damped: of a membrane with density
// rho = T / c^2 under the tension T = 1 N/m, between the two levels u and w,
//     E = 1/2 sum over nodes  (u - w)^2 / k + u (4 w - w_left - w_right - w_up - w_down),
// the kinetic energy rho/2 ((u - w) / h)^2 dx^2 and T/2 of the product of both levels' gradients,
// summed by parts (Cohen, Higher-Order Numerical Methods for Transient Wave Equations, 2002).
KernelDef wave_energy(const Form& form) {
    return kernel("wave_energy", {"speed", "ratio", "u", "w", "scale", "value"},
                  [form](Int i, Property<Float> speed, Param<Float> ratio, Read<Float> u,
                         Read<Float> w, Param<Float> scale, Reduce<Float> value) {
                      const Float courant = speed[i] * ratio.value(), change = u[i] - w[i];
                      const Float bent = 4.0 * w[i] - sum_of_neighbors(form, i, w);
                      value += 0.5 * scale.value() *
                               (change * change / (courant * courant) + u[i] * bent);
                  });
}

KernelDef squared_miss() {
    return kernel(
        "field_squared_miss", {"u", "target", "scale", "value"},
        [](Int i, Read<Float> u, Property<Float> target, Param<Float> scale, Reduce<Float> value) {
            const Float miss = target[i] - u[i];
            value += miss * miss * scale.value();
        });
}

Form form_of(const Settings& options) {
    Form form;
    form.rows = options.integer("rows");
    form.columns = options.integer("columns");
    return form;
}

void publish_kernels(Registry& registry) {
    using model::integer;
    using model::PublishedKernel;
    const model::Field rows = integer("rows").at_least(3).at_most(1 << 15).doc("of the grid"),
                       columns = integer("columns").at_least(3).at_most(1 << 15).doc(
                           "of the grid: node (i, j) is element i columns + j");
    const PublishedKernel::Parameter speed{"speed", "c of each node, m/s"},
        ratio{"ratio", "h / dx, s/m"};
    registry.publish(
        {"wave_level",
         "One item per node: older <- (2 u - (1 - a) older + k (sum of the 4 neighbors of u - 4 "
         "u)) / (1 + a), with k = (speed ratio)^2, a = damping half_step; nodes outside are zero.",
         {rows, columns, model::boolean("damped").fallback("false").doc("with a")},
         {speed,
          {"damping", "gamma of each node, 1/s"},
          {"half_step", "h / 2, s"},
          ratio,
          {"u", "the newest level"},
          {"older", "the level before it, replaced by the next one"}},
         [](const Settings& options) {
             Form form = form_of(options);
             form.damped = options.boolean("damped");
             return next_level(form);
         }});
    registry.publish(
        {"wave_energy",
         "One item per node: value += scale/2 ((u - w)^2 / k + u (4 w - sum of the 4 neighbors of "
         "w)), with k = (speed ratio)^2; nodes outside are zero.",
         {rows, columns},
         {speed,
          ratio,
          {"u", "a level"},
          {"w", "the level before it"},
          {"scale", "a factor"},
          {"value", "a sum, J for a tension of 1 N/m"}},
         [](const Settings& options) { return wave_energy(form_of(options)); }});
    registry.publish({"field_squared_miss",
                      "One item per node: value += scale (target - u)^2.",
                      {},
                      {{"u", "the field"},
                       {"target", "the field wanted"},
                       {"scale", "a factor"},
                       {"value", "a sum"}},
                      [](const Settings&) { return squared_miss(); }});
}

class Waves final : public model::Instance {
public:
    explicit Waves(std::shared_ptr<Settings> settings) : settings_(std::move(settings)) {}

    void build(Model& model) override {
        if (model.dimension() != 2)
            throw settings_->error("type", "waves live in scenes of dimension 2")
                .remedy("write \"dimension\": 2");
        Form form;
        const document::Node& counts = document::array_of(*settings_->find("nodes"), 2, 2);
        form.rows = document::integer_of(counts.item(0), 3, most_per_axis);
        form.columns = document::integer_of(counts.item(1), 3, most_per_axis);
        // Two levels, and the places of the nodes while the scene is built.
        const std::int64_t n = form.rows * form.columns;
        const auto bytes = static_cast<double>(2 * ir::size_of(model.real()) + 2 * sizeof(double));
        if (const std::string lack = lack_of_memory(bytes * static_cast<double>(n)); !lack.empty())
            throw settings_->error("nodes", std::to_string(n) + " nodes need " + lack)
                .remedy("write fewer nodes");
        form.fixed_border = settings_->choice("boundary") == "fixed_border";
        form.damped = settings_->written("damping");
        const std::int64_t levels = settings_->integer("levels_per_step");
        if (levels % 2 != 0)
            throw settings_->error("levels_per_step", "the number of levels per step is odd")
                .remedy("two arrays hold the levels in turn: write an even number");

        GridField field;
        field.rows = form.rows;
        field.columns = form.columns;
        field.spacing = settings_->number("spacing");
        const std::string& name = settings_->name();
        const Array older = model.add_array(
            name + ".previous", n, 1,
            {.unit = "m", .meaning = "u of each node, a time level earlier", .state = true});
        const Array newer = field.values = model.add_array(
            name + ".field", n, 1, {.unit = "m", .meaning = "u of each node", .state = true});
        const std::vector<double> positions = field.positions();
        const double h = model.step() / static_cast<double>(levels);
        const std::vector<std::int64_t> shape = field.shape();
        const auto per_node = [&](const char* key) -> Quantity& {
            return settings_->quantity(model, key, n, positions, shape);
        };
        Quantity& speed = per_node("speed");
        speed.check = [settings = settings_, h,
                       spacing = field.spacing](std::span<const double> values) {
            check_stability(*settings, values, h, spacing);
        };
        speed.check(speed.values);

        model.prologue().add(model.launch(initialize_levels(form), n,
                                          {{"level_0", per_node("level_0").argument()},
                                           {"level_1", per_node("level_1").argument()},
                                           {"older", older},
                                           {"newer", newer}},
                                          "initialize " + name));
        std::vector<NamedArgument> arguments{{"speed", speed.argument()},
                                             {"ratio", h / field.spacing}};
        if (form.damped) {
            arguments.emplace_back("damping", per_node("damping").argument());
            arguments.emplace_back("half_step", h / 2);
        }
        const auto level = [&](const Array& from, const Array& into, Change change) {
            std::vector<NamedArgument> all = arguments;
            all.emplace_back("u", from);
            all.emplace_back("older", into);
            Form changed = form;
            changed.change = change;
            return model.launch(next_level(changed), items_of(form).count, all,
                                name + ": next level");
        };
        const auto hold = [&](const Array& newest) {
            return model.launch(hold_columns(form), 2 * (form.rows - 2), {{"newest", newest}},
                                name + ": border");
        };
        const auto two_levels = [&](Change first, Change second) {
            Program program;
            program.add(level(newer, older, first));
            if (form.fixed_border) program.add(hold(older));
            program.add(level(older, newer, second));
            if (form.fixed_border) program.add(hold(newer));
            return program;
        };
        const auto repeat = [&](std::int64_t times, const Program& program) {
            for (std::int64_t k = 0; k < times; ++k)
                for (const Launch& launch : program.launches())
                    model.add(Phase::position_update, launch);
        };
        const std::int64_t pairs = levels / 2, signed_pairs = form.damped ? 0 : pairs & -2;
        if (signed_pairs > 0) repeat(signed_pairs, two_levels(Change::subtracted, Change::added));
        if (signed_pairs < pairs)
            repeat(pairs - signed_pairs, two_levels(Change::usual, Change::usual));
        model.publish_energy(
            {"waves", name, "wave energy",
             [name, form, n, ratio = h / field.spacing, speed_of_nodes = speed.argument(), newer,
              older](Model& m, double scale, const Array& value, Program& program) {
                 program.add(m.launch(wave_energy(form), n,
                                      {{"speed", speed_of_nodes},
                                       {"ratio", ratio},
                                       {"u", newer},
                                       {"w", older},
                                       {"scale", scale},
                                       {"value", value}},
                                      name + ": energy"));
             }});
        model.draw(
            {name, model::DrawnField{field.rows, field.columns, field.spacing, field.values}});
        model.add_grid_field(name, std::move(field));
    }

private:
    static constexpr std::int64_t most_per_axis = 1 << 15;

    static void check_stability(const Settings& settings, std::span<const double> speed, double h,
                                double spacing) {
        const double fastest = *std::max_element(speed.begin(), speed.end());
        const double courant = fastest * h / spacing;
        if (courant * courant > 0.5 + 1e-12)
            throw settings
                .error("speed", "the waves are too fast for this step: (c h / dx)^2 = " +
                                    std::to_string(courant * courant) + " is more than 1/2")
                .remedy("make the step smaller, the spacing larger, or levels_per_step larger");
    }

    std::shared_ptr<Settings> settings_;
};

// ---------------------------------------------------------------- objective

void build_field_target(const Settings& settings, Model& model) {
    const GridField& field = model.grid_field(settings.text("of"), *settings.find("of"));
    const std::int64_t n = field.rows * field.columns;
    model::Term term = settings.term(model);
    const double each = settings.boolean("sum") ? 1.0 : 1.0 / static_cast<double>(n);
    Quantity& target = settings.quantity(model, "target", n, field.positions(), field.shape());
    if (settings.boolean("zero_mean")) {
        double sum = 0;
        for (const double value : target.values_at_load()) sum += value;
        for (double& value : target.values)
            value -= sum / static_cast<double>(target.values.size());
        target.upload();
    }
    Program program;
    program.add(model.launch(squared_miss(), n,
                             {{"u", field.values},
                              {"target", target.argument()},
                              {"scale", each / static_cast<double>(term.times.size())},
                              {"value", term.value}},
                             settings.name() + ": squared miss"));
    model.add_term(std::move(term), program);
}

}  // namespace

void register_waves(Registry& registry) {
    using namespace model;
    publish_kernels(registry);
    // Written or as .npy, one number per node may also stand row by row.
    const auto per_node = [](const char* key) {
        return values(key).schema(
            R"({"type":"array","items":{"type":"array","items":{"type":"number"}}})");
    };
    registry.add(
        {Section::bodies,
         "waves",
         "Waves in the plane",
         "The wave equation u'' + gamma u' = c^2 lap u on a grid of nodes in the plane: central "
         "differences, (1 + a) u(t+1) = 2 u(t) - (1 - a) u(t-1) + k (sum of the 4 neighbors - "
         "4 u)(t), k = (c h / dx)^2, a = gamma h / 2, where h is the step divided by "
         "levels_per_step. After s steps the field is time level s * levels_per_step + 1. Its "
         "energy is that of a membrane under a tension of 1 N/m.",
         {list("nodes")
              .doc("[rows, columns]: node (i, j) is element i * columns + j and lies at "
                   "(i, j) * spacing")
              .schema(R"({"type":"integer","minimum":3})"),
          number("spacing").unit("m").positive().doc("dx, the distance of neighboring nodes"),
          per_node("speed").unit("m/s").positive().differentiable().doc(
              "c, one for all nodes or one per node; (c h / dx)^2 is at most 1/2"),
          per_node("damping").unit("1/s").fallback("0").at_least(0).differentiable().doc(
              "gamma, one for all nodes or one per node"),
          choice("boundary", {"zero_outside", "fixed_border"})
              .fallback("\"zero_outside\"")
              .doc("zero_outside: all nodes are unknowns, the field is zero beyond them; "
                   "fixed_border: the outermost nodes are held at zero"),
          per_node("level_0").unit("m").fallback("0").differentiable().doc(
              "the field at time level 0, one for all nodes or one per node"),
          per_node("level_1").unit("m").fallback("0").differentiable().doc(
              "the field at time level 1"),
          integer("levels_per_step")
              .fallback("2")
              .at_least(2)
              .at_most(1000)
              .doc("time levels per step of the scene, an even number; gradients take the least "
                   "time where it is a multiple of 4")},
         [](std::shared_ptr<Settings> s) { return std::make_unique<Waves>(std::move(s)); }});
    registry.add(
        {Section::objective,
         "field_target",
         "Field as wanted",
         "Squared difference of a field from a target: mean over nodes and times of "
         "(target - u)^2; a sum over the nodes if \"sum\".",
         {body("of").doc("the body that has the field, such as waves"),
          per_node("target").doc("the field wanted, one value for all nodes or one per node"),
          boolean("zero_mean")
              .fallback("false")
              .doc("take the mean over the nodes off the target, once at load"),
          boolean("sum").fallback("false").doc("sum over the nodes instead of their mean")},
         built_by(build_field_target)});
}

}  // namespace hindcast
