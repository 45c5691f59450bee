// The search for the first value that is not finite: roll-out, step, launch, item, operation.
#include "engine/sim/non_finite.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "engine/backend/interpreter/interpreter.hpp"
#include "engine/document/text.hpp"
#include "engine/ir/evaluate.hpp"
#include "engine/lang/lowering.hpp"

namespace hindcast {

namespace {

using ir::Kernel;
using ir::Op;
using ir::OpCode;
using ir::Value;

constexpr std::int64_t most_items = 4096;  // looked through one by one for the one that is at fault

std::string value_text(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    return document::shortest(value);
}

struct Element {
    std::int64_t element = 0;
    int component = 0;
    double value = 0;
};

template <class T>
std::optional<Element> first_not_finite(const Array& array) {
    const T* data = static_cast<const T*>(array.data());
    for (std::int64_t e = 0; e < array.elements(); ++e)
        for (int c = 0; c < array.components(); ++c) {
            const T x = data[e * array.element_stride() + c * array.component_stride()];
            if (!std::isfinite(x)) return Element{e, c, static_cast<double>(x)};
        }
    return std::nullopt;
}

std::optional<Element> first_not_finite(const Array& array) {
    if (!array || !ir::is_real(array.type())) return std::nullopt;
    return array.type() == ir::Type::f32 ? first_not_finite<float>(array)
                                         : first_not_finite<double>(array);
}

std::string place_in(const Array& array, const Element& at) {
    std::string text = "element " + std::to_string(at.element);
    if (array.components() > 1 && array.components() <= 3)
        text += std::string(".") + "xyz"[at.component];
    else if (array.components() > 1)
        text += ", component " + std::to_string(at.component);
    return text;
}

// ---------------------------------------------------------------- operations

// One item of a launch, run on the interpreter without effects: the value of every op.
class ItemTrace {
public:
    explicit ItemTrace(const Launch::Replay& replay)
        : kernel_(lang::lower(replay.kernel(), lang::Lowering::elementary)) {
        for (std::size_t k = 0; k < kernel_.parameters.size(); ++k) {
            const Array& array = replay.arrays()[k];
            bindings_.push_back(array ? array.binding() : backend::Binding{});
            const ir::Access access = kernel_.parameters[k].access;
            if (access == ir::Access::value || access == ir::Access::reduce) bindings_[k].count = 1;
        }
    }

    // "; in item 3 'length' = sqrt(-1.0) is nan, at file:line" for the first operation that led
    // this item to store what is not finite at that element of parameter p; "" if it did not.
    std::string explain(std::int64_t item, int p, const Element& at) {
        item_ = item;
        values_.assign(kernel_.ops.size(), std::nullopt);
        std::vector<Value> order;
        backend::trace_item(kernel_, bindings_.data(), item, [&](Value v, ir::Bits bits) {
            const ir::Type type = kernel_.op(v).type;
            if (ir::is_real(type) && !std::isfinite(ir::real_of(bits, type))) order.push_back(v);
            values_[index(v)] = bits;
        });
        const Value stored = stored_at(p, at);
        if (stored == ir::no_value) return "";
        const std::vector<char> sources = sources_of(stored);
        for (const Value v : order)
            if (sources[index(v)]) return "; in item " + std::to_string(item) + " " + describe(v);
        return "";
    }

private:
    static std::size_t index(Value v) { return static_cast<std::size_t>(v); }

    std::optional<ir::Bits> bits_of(Value v) const {
        const Op& op = kernel_.op(v);
        if (op.code == OpCode::constant) return op.bits;
        if (op.code == OpCode::item) return static_cast<ir::Bits>(item_);
        if (op.code == OpCode::parameter && ir::is_real(op.type))
            return ir::bits_of(
                static_cast<const double*>(
                    bindings_[static_cast<std::size_t>(op.symbol)].data)[op.component],
                op.type);
        return values_[index(v)];
    }

    // The operand that the item stores there, if it is not finite.
    Value stored_at(int p, const Element& at) const {
        for (const Op& op : kernel_.ops) {
            const bool reduce = op.code == OpCode::reduce;
            if (!reduce && op.code != OpCode::own_store && op.code != OpCode::accumulate &&
                op.code != OpCode::store_once)
                continue;
            if (op.symbol != p || op.component != at.component) continue;
            const Value stored = op.operand[reduce ? 0 : 1];
            const auto bits = bits_of(stored);
            if (!bits || std::isfinite(ir::real_of(*bits, kernel_.op(stored).type))) continue;
            if (reduce) return stored;
            const auto element = bits_of(op.operand[0]);
            if (element && ir::integer_of(*element, kernel_.op(op.operand[0]).type) == at.element)
                return stored;
        }
        return ir::no_value;
    }

    // Everything that a value was computed from. The results of regions are taken to depend on
    // every value inside any region.
    std::vector<char> sources_of(Value stored) const {
        std::vector<char> found(kernel_.ops.size(), 0);
        std::vector<Value> open{stored};
        while (!open.empty()) {
            const Value v = open.back();
            open.pop_back();
            if (v < 0 || found[index(v)]) continue;
            found[index(v)] = 1;
            const Op& op = kernel_.op(v);
            open.insert(open.end(), std::begin(op.operand), std::end(op.operand));
            if (op.code != OpCode::result && op.code != OpCode::argument && op.nest < 0) continue;
            for (const ir::Region& region : kernel_.regions) {
                open.insert(open.end(), region.yields.begin(), region.yields.end());
                open.insert(open.end(), region.arguments.begin(), region.arguments.end());
            }
            for (const ir::Nest& nest : kernel_.nests)
                open.insert(open.end(), nest.inits.begin(), nest.inits.end());
        }
        return found;
    }

    std::string shown(Value v) const {
        const auto bits = bits_of(v);
        const ir::Type type = kernel_.op(v).type;
        if (!bits || type == ir::Type::none) return "?";
        if (ir::is_real(type)) return value_text(ir::real_of(*bits, type));
        return std::to_string(ir::integer_of(*bits, type));
    }

    std::string describe(Value v) const {
        const Op& op = kernel_.op(v);
        std::string text;
        if (op.name >= 0) text = "'" + kernel_.names[static_cast<std::size_t>(op.name)] + "' = ";
        if (op.code == OpCode::load || op.code == OpCode::own_load) {
            text += kernel_.parameter(op.symbol).name + "[" + shown(op.operand[0]) + "]";
        } else {
            text += std::string(ir::info(op.code).name) + "(";
            for (int k = 0; k < ir::info(op.code).operands; ++k)
                text += (k > 0 ? ", " : "") + shown(op.operand[k]);
            text += ")";
        }
        text += " is " + shown(v);
        if (const SourcePlace place = kernel_.place_of(v); place.known())
            text += ", at " + to_string(place);
        return text;
    }

    Kernel kernel_;
    std::vector<backend::Binding> bindings_;
    std::int64_t item_ = 0;
    std::vector<std::optional<ir::Bits>> values_;
};

// The operation, if an item of the launch can be found that stores the value. The launch's arrays
// hold what they held before it ran.
std::string find_operation(const Launch::Replay& replay, int p, const Element& at) {
    ItemTrace trace(replay);
    const std::int64_t items = replay.launch().items();
    std::string text;
    if (at.element < items) text = trace.explain(at.element, p, at);  // most often its own item
    for (std::int64_t item = 0; text.empty() && item < std::min(items, most_items); ++item)
        text = trace.explain(item, p, at);
    return text;
}

// ---------------------------------------------------------------- launches and steps

// The launches of a program from the state as it stands, until one stores what is not finite.
std::string find_launch(const Program& program, RolloutMode mode) {
    for (const Launch& launch : program.launches()) {
        const bool derived = mode == RolloutMode::tangent && launch.has_derivative();
        const Launch::Replay replay =
            launch.replay(derived ? Direction::tangent : Direction::forward);
        const std::vector<Array> written = primal_writes(replay);
        std::vector<Array> before;
        for (const Array& array : written) before.push_back(array.clone());
        replay.run();
        for (std::size_t p = 0; p < replay.kernel().parameters.size(); ++p) {
            const ir::Parameter& parameter = replay.kernel().parameters[p];
            const Array& array = replay.arrays()[p];
            if (parameter.access == ir::Access::read || parameter.access == ir::Access::value)
                continue;
            const std::optional<Element> at = first_not_finite(array);
            if (!at) continue;
            for (std::size_t k = 0; k < written.size(); ++k) written[k].copy_from(before[k]);
            return "launch '" + launch.description() + "' stores " + value_text(at->value) +
                   " into '" + parameter.name + "', " + place_in(array, *at) +
                   find_operation(replay, static_cast<int>(p), *at);
        }
    }
    return "";
}

class Finder {
public:
    Finder(Simulation& simulation, RolloutMode mode) : simulation_(simulation), mode_(mode) {}

    // "at step 3 of 30, ...", or "" if every array stays finite.
    std::string find() {
        std::optional<std::int64_t> bad;
        std::string what;
        run([&](std::int64_t done) {
            what = look(done);
            if (!what.empty()) bad = done;
            return !bad;
        });
        if (!bad) return "";
        const model::Model& model = simulation_.model();
        std::string launch;
        if (*bad == 0) {
            launch = find_launch(simulation_.model().prologue(), mode_);
        } else {
            run([&](std::int64_t done) { return done < *bad - 1; });
            model.step_counter().set_value(0, 0, static_cast<double>(*bad - 1));
            model.step_counter().touch();
            launch = find_launch(model.step_program(), mode_);
            if (const auto event = model.events().find(*bad);
                launch.empty() && event != model.events().end())
                launch = find_launch(event->second, mode_);
        }
        const std::string when = *bad == 0 ? "before the first step, "
                                           : "in step " + std::to_string(*bad) + " of " +
                                                 std::to_string(simulation_.steps()) + ", ";
        return when + (launch.empty() ? what : launch);
    }

private:
    Array looked_at(const Array& array) const {
        return mode_ == RolloutMode::tangent ? array.tangent() : array;
    }

    void run(const Rollout::Watch& watch) { simulation_.rollout().forward(false, watch, mode_); }

    // The first array that is not finite, the state before the rest; then the objective's terms.
    // Before the first step only the state is looked at: the rest is still that of an earlier run.
    std::string look(std::int64_t done) const {
        const char* of = mode_ == RolloutMode::tangent ? "the derivative of " : "";
        for (const bool state : {true, false}) {
            if (!state && done == 0) break;
            for (const auto& [name, published] : simulation_.model().arrays()) {
                if (published.state != state || !ir::is_real(published.array.type())) continue;
                const Array array = looked_at(published.array);
                if (const auto at = first_not_finite(array))
                    return of + ("'" + name + "'") + " is " + value_text(at->value) + ", " +
                           place_in(array, *at);
            }
        }
        for (const model::Term& term : simulation_.model().terms())
            if (const auto at = first_not_finite(looked_at(term.value)))
                return of + ("the objective '" + term.name + "'") + " is " + value_text(at->value);
        return "";
    }

    Simulation& simulation_;
    RolloutMode mode_;
};

}  // namespace

std::string name_of(const model::Model& model, const Array& array) {
    if (array)
        for (const auto& [name, published] : model.arrays())
            if (published.array.same_memory(array)) return name;
    return "";
}

std::string explain_loss(Simulation& simulation) {
    const std::string head = simulation.model().terms().empty()
                                 ? "the run diverges: "
                                 : "the loss is " + value_text(simulation.loss()) + ": ";
    const std::vector<double> values = simulation.parameters().values();
    for (std::size_t k = 0; k < values.size(); ++k)
        if (!std::isfinite(values[k]))
            return head + "the parameter " + simulation.parameters().names()[k] + " is " +
                   value_text(values[k]);
    const std::string found = Finder(simulation, RolloutMode::first).find();
    return head + (found.empty() ? "the sum of its terms overflows" : found);
}

namespace {
// No derivative forwards overflows, so one does on the way back: of which array, and where.
std::string overflow_of(Simulation& simulation) {
    Rollout& rollout = simulation.rollout();
    rollout.record_adjoint_norms(true);
    simulation.run(true);
    simulation.gradient();
    rollout.record_adjoint_norms(false);
    const Rollout::AdjointNorms& norms = rollout.adjoint_norms();
    const std::string name = name_of(simulation.model(), norms.culprit);
    if (norms.not_finite < 0) return "the adjoint overflows on its way back";
    return "the adjoint of " + (name.empty() ? std::string("an array") : "'" + name + "'") +
           " overflows on its way back, as it stands after step " +
           std::to_string(norms.not_finite) + " of " + std::to_string(simulation.steps());
}
}  // namespace

std::string explain_gradient(Simulation& simulation, std::span<const double> gradient) {
    std::size_t first = gradient.size(), count = 0;
    for (std::size_t k = 0; k < gradient.size(); ++k)
        if (!std::isfinite(gradient[k])) {
            first = std::min(first, k);
            ++count;
        }
    if (count == 0) return "the gradient is finite";
    std::string text = "the gradient is " + value_text(gradient[first]) + " for " +
                       simulation.parameters().names()[first];
    if (count > 1) text += " and " + std::to_string(count - 1) + " more";
    text += ", the loss is finite (" + value_text(simulation.loss()) + ")";
    std::vector<double> direction(gradient.size(), 0.0);
    direction[first] = 1;
    simulation.parameters().set_tangents(direction);
    const std::string found = Finder(simulation, RolloutMode::tangent).find();
    return text + ": " + (found.empty() ? overflow_of(simulation) : found);
}

}  // namespace hindcast
