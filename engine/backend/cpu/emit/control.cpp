// Emission of regions: branches and loops, uniform and varying.
#include <algorithm>

#include "engine/backend/cpu/emit/kernel_writer.hpp"

namespace hindcast::backend::cpu {

void KernelWriter::region(int r, std::size_t from, std::size_t to) {
    const std::vector<Value>& ops = kernel_.region(r).ops;
    if (from == 0) group_ops(r);
    for (std::size_t k = from; k < std::min(to, ops.size()); ++k) op(ops[k], kernel_.op(ops[k]));
}

void KernelWriter::if_uniform(const Op& op) {
    const ir::Nest& nest = kernel_.nest(op);
    std::vector<Variable> results;
    for (const Value r : nest.results) results.push_back(variable(type(r), ""));
    const std::string yes = label(), no = label(), after = label();
    branch(scalar(op.operand[0]), yes, no);
    for (int side = 0; side < 2; ++side) {
        start(side == 0 ? yes : no);
        const Scope scope(*this);
        region(nest.region[side]);
        const std::vector<Value>& yields = kernel_.region(nest.region[side]).yields;
        for (std::size_t k = 0; k < results.size(); ++k)
            store(results[k], as(yields[k], is_scalar(nest.results[k])));
        jump(after);
    }
    start(after);
    define_results(op, results);
}

// Few pure ops, which cost less than a branch around them.
bool KernelWriter::is_cheap(int r) const {
    int cost = 0;
    for (const Value v : kernel_.region(r).ops) {
        const OpCode code = kernel_.op(v).code;
        if (!ir::is_pure(code)) return false;
        cost += code == OpCode::div || code == OpCode::rem || code == OpCode::sqrt ? 8 : 1;
    }
    return cost <= 16;
}

// Both sides under masks, each jumped over if no lane takes it.
void KernelWriter::if_varying(const Op& op) {
    const ir::Nest& nest = kernel_.nest(op);
    const std::string condition = vector(op.operand[0]), outer = mask_;
    Names yields[2];
    for (int side = 0; side < 2; ++side) {
        const ir::Region& body = kernel_.region(nest.region[side]);
        mask_ = both(outer, side == 0 ? condition : none_of(condition));
        if (is_cheap(nest.region[side])) {
            region(nest.region[side]);
            for (const Value y : body.yields) yields[side].push_back(vector(y));
            continue;
        }
        std::vector<Variable> made;
        for (const Value r : nest.results) made.push_back(variable(type(r), "zeroinitializer"));
        when(any(mask_), [&] {
            region(nest.region[side]);
            for (std::size_t k = 0; k < made.size(); ++k) store(made[k], vector(body.yields[k]));
        });
        for (const Variable& m : made) yields[side].push_back(load(m));
    }
    mask_ = outer;
    for (std::size_t k = 0; k < nest.results.size(); ++k) {
        const Value r = nest.results[k];
        define(r, choose(condition, type(r), yields[0][k], yields[1][k]));
    }
}

// Variables of what a loop carries, holding the first values.
std::vector<Variable> KernelWriter::carried(const Op& op) {
    const ir::Nest& nest = kernel_.nest(op);
    std::vector<Variable> variables;
    for (std::size_t k = 0; k < nest.results.size(); ++k) {
        const Value r = nest.results[k];
        variables.push_back(variable(type(r), as(nest.inits[k], is_scalar(r))));
    }
    return variables;
}

void KernelWriter::read_arguments(const Op& op, const std::vector<Variable>& variables) {
    const std::vector<Value>& arguments = kernel_.region(kernel_.nest(op).region[0]).arguments;
    const std::size_t first = op.code == OpCode::for_ ? 1 : 0;
    for (std::size_t k = 0; k < variables.size(); ++k)
        define(arguments[k + first], load(variables[k]));
}

// A lane that is done keeps its values.
void KernelWriter::write_yields(const Op& op, const std::vector<Variable>& variables, bool masked) {
    const ir::Nest& nest = kernel_.nest(op);
    const ir::Region& body = kernel_.region(nest.region[0]);
    const std::size_t first = op.code == OpCode::for_ ? 1 : 0;
    for (std::size_t k = 0; k < variables.size(); ++k) {
        const std::string next = as(body.yields[k], is_scalar(nest.results[k]));
        const Variable& v = variables[k];
        store(v, masked ? choose(mask_, v.type, next, vector(body.arguments[k + first])) : next);
    }
}

void KernelWriter::define_results(const Op& op, const std::vector<Variable>& variables) {
    const std::vector<Value>& results = kernel_.nest(op).results;
    for (std::size_t k = 0; k < variables.size(); ++k) define(results[k], load(variables[k]));
}

// The trip number is uniform even where the number of trips is not.
void KernelWriter::for_loop(Value v, const Op& op) {
    const ir::Nest& nest = kernel_.nest(op);
    const bool uniform = is_scalar(op.operand[0]);
    const std::string outer = mask_, t = uniform ? "i32" : lanes_of("i32");
    std::string trips = value(op.operand[0]);
    if (nest.max_trips > 0 && kernel_.op(op.operand[0]).code != OpCode::constant) {
        const std::string most = std::to_string(nest.max_trips);
        const std::string limit = uniform ? most : splat("i32", most);
        const std::string over = pure("icmp sgt {} {}, {}", t, trips, limit);
        fault(both(outer, uniform ? splat("i1", over) : over), v, "");
        trips = combine("smin", t, trips, limit);
    }
    const std::vector<Variable> variables = carried(op);
    const Variable trip = variable("i32", "0");
    std::string now;
    const auto condition = [&] {
        now = load(trip);
        define(kernel_.region(nest.region[0]).arguments[0], now);
        if (uniform) return pure("icmp slt i32 {}, {}", now, trips);
        mask_ = both(outer, pure("icmp slt {} {}, {}", t, splat("i32", now), trips));
        return any(mask_);
    };
    loop(condition, [&] {
        read_arguments(op, variables);
        region(nest.region[0]);
        write_yields(op, variables, !uniform);
        store(trip, let("add i32 {}, 1", now));
    });
    mask_ = outer;
    define_results(op, variables);
}

void KernelWriter::while_loop(Value v, const Op& op) {
    const ir::Nest& nest = kernel_.nest(op);
    const std::vector<Value>& ops = kernel_.region(nest.region[0]).ops;
    std::size_t at = 0;
    while (kernel_.op(ops[at]).code != OpCode::break_unless) ++at;
    const Value holds = kernel_.op(ops[at]).operand[0];
    const bool uniform = is_scalar(holds);
    const std::string outer = mask_;
    const std::vector<Variable> variables = carried(op);
    const Variable trip = variable("i32", "0"), active = variable(mask_type(), outer);
    std::string now;
    const auto condition = [&] {
        now = load(trip);
        if (!uniform) mask_ = load(active);
        read_arguments(op, variables);
        region(nest.region[0], 0, at);
        if (!uniform) mask_ = both(mask_, vector(holds));
        const std::string go_on = uniform ? scalar(holds) : any(mask_);
        const std::string within = pure("icmp slt i32 {}, {}", now, nest.max_trips);
        when(
            pure("and i1 {}, {}", go_on, pure("xor i1 {}, true", within)),
            [&] { fault(mask_, v, ""); }, true);
        return pure("and i1 {}, {}", go_on, within);
    };
    loop(condition, [&] {
        region(nest.region[0], at + 1);
        write_yields(op, variables, !uniform);
        if (!uniform) store(active, mask_);
        store(trip, let("add i32 {}, 1", now));
    });
    mask_ = outer;
    define_results(op, variables);
}

}  // namespace hindcast::backend::cpu
