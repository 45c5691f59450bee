#include "engine/ad/differentiate.hpp"

#include <algorithm>
#include <map>

#include "engine/ad/reverse.hpp"
#include "engine/ad/rules.hpp"

namespace hindcast::ad {

using ir::Access;
using ir::Builder;
using ir::Kernel;
using ir::no_value;
using ir::Op;
using ir::OpCode;
using ir::Parameter;
using ir::Value;

Access dual(Access access) {
    switch (access) {
        case Access::read: return Access::accumulate;
        case Access::accumulate:
        case Access::sum: return Access::read;
        case Access::write:
        case Access::read_write: return Access::read_write;
        case Access::slice: return Access::slice;
        case Access::reduce: return Access::value;
        case Access::value: return Access::reduce;
        case Access::exclusive:
        case Access::atomic: break;
    }
    throw Error("internal: an integer or exclusive parameter has no adjoint");
}

std::string adjoint_name(const Kernel& kernel, const std::string& parameter) {
    return parameter + ".a" + std::to_string(kernel.adjoint_order + 1);
}

std::string tangent_name(const Kernel& kernel, const std::string& parameter) {
    return parameter + ".t" + std::to_string(kernel.tangent_order + 1);
}

std::vector<char> used_parameters(const Kernel& kernel) {
    std::vector<char> used(kernel.parameters.size(), kernel.is_host_function ? 1 : 0);
    std::vector<char> read(kernel.ops.size(), 0);
    const auto read_value = [&](Value v) {
        if (v >= 0) read[static_cast<std::size_t>(v)] = 1;
    };
    for (const ir::Region& region : kernel.regions) {
        for (const Value y : region.yields) read_value(y);
        for (const Value v : region.ops) {
            const Op& op = kernel.op(v);
            for (const Value operand : op.operand) read_value(operand);
            if (op.nest >= 0)
                for (const Value init : kernel.nest(op).inits) read_value(init);
            if (op.symbol >= 0) used[static_cast<std::size_t>(op.symbol)] = 1;
        }
    }
    for (std::size_t v = 0; v < kernel.ops.size(); ++v)
        if (kernel.ops[v].code == OpCode::parameter && read[v])
            used[static_cast<std::size_t>(kernel.ops[v].symbol)] = 1;
    return used;
}

namespace {

std::vector<char> active_parameters(const Kernel& kernel, const std::vector<std::string>& active) {
    std::vector<char> on(kernel.parameters.size(), 0);
    for (std::size_t p = 0; p < on.size(); ++p) {
        if (kernel.parameters[p].access == Access::exclusive)
            throw Error("'" + kernel.parameters[p].name + "' is exclusive, which has no derivative")
                .in_kernel(kernel.name)
                .remedy("give the derivatives of the launch as kernels");
        on[p] = active.empty() && ir::is_real(kernel.parameters[p].type);
    }
    for (const std::string& name : active) {
        const int p = kernel.find_parameter(name);
        if (p < 0)
            throw Error("there is no parameter '" + name + "' to differentiate")
                .in_kernel(kernel.name);
        if (!ir::is_real(kernel.parameter(p).type))
            throw Error("'" + name + "' is not real, so it has no derivative")
                .in_kernel(kernel.name);
        on[static_cast<std::size_t>(p)] = 1;
    }
    return on;
}

// Every tape that survived simplification must have a known, bearable size.
void check_tapes(const Kernel& kernel) {
    std::map<Value, Value> writer;  // the tape's array -> the op in the loop that fills it
    for (const ir::Region& region : kernel.regions)
        for (const Value v : region.ops)
            if (kernel.op(v).code == OpCode::local_accumulate)
                writer.try_emplace(kernel.op(v).operand[0], v);
    std::uint64_t bytes = 0;
    for (const ir::Region& region : kernel.regions) {
        for (const Value v : region.ops) {
            const Op& op = kernel.op(v);
            if (op.code != OpCode::local) continue;
            const auto fail = [&](const std::string& what, const std::string& remedy) {
                const auto loop = writer.find(v);
                const std::string variable =
                    op.name >= 0 ? "'" + kernel.names[static_cast<std::size_t>(op.name)] + "'"
                                 : "a variable";
                throw Error(what)
                    .in_kernel(kernel.name)
                    .at(kernel.place_of(loop != writer.end() ? loop->second : v))
                    .note("stored per trip: " + variable + " (" + ir::name_of(op.type) +
                          "), declared at " + to_string(kernel.place_of(v)))
                    .remedy(remedy);
            };
            if (op.bits == 0)
                fail(
                    "the adjoint of this loop must store values per trip, but its trip count has "
                    "no limit",
                    "give the for_ a max_trips; exceeding it raises");
            bytes += op.bits * std::max<std::size_t>(ir::size_of(op.type), 1);
            if (bytes > static_cast<std::uint64_t>(tape_limit_bytes))
                fail("the adjoint of this loop would store " + std::to_string(op.bits) + " " +
                         ir::name_of(op.type) +
                         " values per work item; all tapes of the kernel take " +
                         std::to_string(bytes) + " bytes per item, over the limit of " +
                         std::to_string(tape_limit_bytes),
                     "lower max_trips, or split the loop over several launches");
        }
    }
}

Kernel finished(Builder& builder, bool keep_while, const char* stage) {
    Kernel kernel = ir::simplify(builder.finish(), keep_while);
    // Regions that simplification emptied hold no ops, so only live tapes are looked at.
    check_tapes(kernel);
    ir::verify(kernel, stage);
    return kernel;
}

// Forward mode: the Cloner, which records beside every varied value its tangent.
class Tangent final : public ir::Cloner {
public:
    Tangent(const Kernel& source, Builder& target, const std::vector<char>& active)
        : Cloner(source, target),
          activity_(source, active),
          tangents_(source.ops.size(), no_value) {
        for (std::size_t p = 0; p < source.parameters.size(); ++p) {
            Parameter parameter = source.parameters[p];
            parameter.name = tangent_name(source, parameter.name);
            symbol_.push_back(active[p] ? target.add_parameter(parameter) : -1);
        }
    }

protected:
    void after(Value v, const Op& op) override {
        const int symbol = op.symbol < 0 ? -1 : symbol_[static_cast<std::size_t>(op.symbol)];
        const auto index = [&] { return at(op.operand[0]); };
        switch (op.code) {
            case OpCode::accumulate:
                if (symbol >= 0 && tangent(op.operand[1]) != no_value)
                    target_.effect(op.code, symbol, op.component, index(), tangent(op.operand[1]));
                return;
            case OpCode::reduce:
                if (symbol >= 0 && tangent(op.operand[0]) != no_value)
                    target_.effect(op.code, symbol, op.component, tangent(op.operand[0]));
                return;
            case OpCode::own_store:  // also when the stored value does not vary: the old tangent is
                                     // dead
                if (symbol >= 0)
                    target_.write(target_.own(symbol, index(), op.component),
                                  tangent_or_zero(op.operand[1]));
                return;
            case OpCode::store_once:
                if (symbol >= 0)
                    target_.effect(op.code, symbol, op.component, index(),
                                   tangent_or_zero(op.operand[1]));
                return;
            case OpCode::take:
                if (symbol >= 0) set_tangent(v, target_.take(symbol, op.component, index()));
                return;
            case OpCode::local_put:
                if (activity_.varied(op.operand[0])) refuse_put(source_, v);
                return;
            case OpCode::local_accumulate:
                if (tangent(op.operand[0]) != no_value && tangent(op.operand[2]) != no_value)
                    target_.local_accumulate(tangent(op.operand[0]), at(op.operand[1]),
                                             tangent(op.operand[2]));
                return;
            default: break;
        }
        if (!ir::is_real(op.type)) return;
        set_tangent(v, activity_.varied(v) ? tangent_of(op, v, symbol) : no_value);
    }
    void before_nest(Value v, const Op& op) override {
        std::vector<ir::Slot>& slots = slots_[v];
        slots.clear();
        const ir::Nest& nest = source_.nest(op);
        for (std::size_t k = 0; k < nest.results.size(); ++k) {
            slots.push_back(activity_.varied(nest.results[k])
                                ? target_.declare(source_.op(nest.results[k]).type)
                                : -1);
            if (slots[k] >= 0 && op.code != OpCode::if_)
                target_.write(slots[k], tangent_or_zero(nest.inits[k]));
        }
    }
    void at_body_start(Value v, const Op& op) override {
        const std::vector<ir::Slot>& slots = slots_[v];
        const std::vector<Value>& arguments = source_.region(source_.nest(op).region[0]).arguments;
        const std::size_t first = op.code == OpCode::for_ ? 1 : 0;
        for (std::size_t k = 0; k < slots.size(); ++k)
            if (slots[k] >= 0) set_tangent(arguments[k + first], target_.read(slots[k]));
    }
    void at_yield(Value v, const Op&, int region) override {
        const std::vector<ir::Slot>& slots = slots_[v];
        std::vector<Value> yields(slots.size(), no_value);  // all read before any is written
        for (std::size_t k = 0; k < slots.size(); ++k)
            if (slots[k] >= 0) yields[k] = tangent_or_zero(source_.region(region).yields[k]);
        for (std::size_t k = 0; k < slots.size(); ++k)
            if (slots[k] >= 0) target_.write(slots[k], yields[k]);
    }
    void after_nest(Value v, const Op& op) override {
        const std::vector<ir::Slot>& slots = slots_[v];
        for (std::size_t k = 0; k < slots.size(); ++k)
            if (slots[k] >= 0)
                set_tangent(source_.nest(op).results[k], target_.read_or_zero(slots[k]));
    }

private:
    void set_tangent(Value v, Value t) { tangents_[static_cast<std::size_t>(v)] = t; }
    Value tangent(Value v) {
        const Op& op = source_.op(v);
        if (!ir::is_real(op.type)) return no_value;
        if (op.code == OpCode::parameter) {
            const int symbol = symbol_[static_cast<std::size_t>(op.symbol)];
            return symbol < 0 ? no_value : target_.parameter(symbol, op.component);
        }
        return activity_.varied(v) ? tangents_[static_cast<std::size_t>(v)] : no_value;
    }
    Value tangent_or_zero(Value v) {
        const Value t = tangent(v);
        return t == no_value ? target_.zero(source_.op(v).type) : t;
    }
    Value tangent_of(const Op& op, Value v, int symbol) {
        switch (op.code) {
            case OpCode::local: return target_.local(at(op.operand[0]), op.type, op.bits);
            case OpCode::local_load:
                return target_.local_load(tangent(op.operand[0]), at(op.operand[1]));
            case OpCode::load: return target_.load(symbol, op.component, at(op.operand[0]));
            case OpCode::own_load: return target_.own_load(symbol, at(op.operand[0]), op.component);
            default: break;
        }
        std::vector<Value> operands;
        for (const Value operand : op.operand)
            if (operand >= 0) operands.push_back(at(operand));
        Value sum = no_value;
        for (int i = 0; i < 3; ++i) {
            if (!differentiable(source_, op, i)) continue;
            const Value seed = tangent(op.operand[i]);
            if (seed == no_value) continue;
            const Value term =
                contribution(target_, op, i, seed, operands, at(v), activity_.steep(op.operand[i]));
            sum = sum == no_value ? term : target_.binary(OpCode::add, sum, term);
        }
        return sum;
    }

    Activity activity_;
    std::vector<Value> tangents_;
    std::vector<int> symbol_;  // tangent parameter of each source parameter, -1 = none
    std::map<Value, std::vector<ir::Slot>> slots_;
};

}  // namespace

Kernel adjoint(const Kernel& kernel, const std::vector<std::string>& active) {
    const std::vector<char> on = active_parameters(kernel, active);
    Builder builder(kernel.name + ".a" + std::to_string(kernel.adjoint_order + 1),
                    kernel.precision);
    builder.set_orders(kernel.adjoint_order + 1, kernel.tangent_order);
    std::vector<int> symbols;
    for (Parameter p : kernel.parameters) {
        if (p.access != Access::value && p.access != Access::reduce) p.access = Access::read;
        builder.add_parameter(p);
    }
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
        Parameter p = kernel.parameters[i];
        if (!on[i]) {
            symbols.push_back(-1);
            continue;
        }
        p.name = adjoint_name(kernel, p.name);
        p.access = dual(p.access);
        symbols.push_back(builder.add_parameter(p));
    }
    Reverse reverse(kernel, builder, Activity(kernel, on));
    reverse.cloner.own_as_load = true;
    reverse.adjoint_symbol = symbols;
    reverse.enter(0);
    reverse.cloner.region(0);
    reverse.walk(0);
    reverse.finish();
    return finished(builder, false, "adjoint()");
}

Kernel tangent(const Kernel& kernel, const std::vector<std::string>& active) {
    const std::vector<char> on = active_parameters(kernel, active);
    Builder builder(kernel.name + ".t" + std::to_string(kernel.tangent_order + 1),
                    kernel.precision);
    builder.copy_signature(kernel);
    builder.set_orders(kernel.adjoint_order, kernel.tangent_order + 1);
    Tangent tangent(kernel, builder, on);
    tangent.region(0);
    return finished(builder, true, "tangent()");
}

}  // namespace hindcast::ad
