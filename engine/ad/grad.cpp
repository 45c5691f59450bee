#include "engine/ad/grad.hpp"

#include <algorithm>

#include "engine/ad/reverse.hpp"

namespace hindcast::ad {

using ir::no_value;
using ir::Op;
using ir::OpCode;
using ir::Value;
using lang::Float;

Float variable(const Float& x) { return Float::from(lang::builder().variable(x.value())); }

Float stop_gradient(const Float& x) {
    ir::Builder& b = lang::builder();
    return Float::from(b.emit(OpCode::stop_gradient, b.type_of(x.value()), x.value()));
}

namespace {
// True if an op with regions has a result, or writes to a tape, that the expression depends on.
bool takes_part(const ir::Kernel& kernel, const Activity& activity, const Op& op) {
    const ir::Nest& nest = kernel.nest(op);
    if (std::any_of(nest.results.begin(), nest.results.end(),
                    [&](Value r) { return activity.on(r); }))
        return true;
    for (const int r : nest.region) {
        if (r < 0) continue;
        for (const Value v : kernel.region(r).ops) {
            const Op& inner = kernel.op(v);
            if (inner.code == OpCode::local_accumulate && activity.on(inner.operand[0]))
                return true;
            if (inner.nest >= 0 && takes_part(kernel, activity, inner)) return true;
        }
    }
    return false;
}
}  // namespace

std::vector<Float> gradient(const Float& expression, const std::vector<Float>& variables,
                            const lang::Location& location) {
    const lang::PlaceScope scope(location);
    ir::Builder& b = lang::builder();
    const ir::Kernel so_far =
        b.kernel();  // the sweep records into the same builder, so it walks a copy
    const int region = b.current_region();
    std::set<Value> inputs;
    for (const Float& v : variables) {
        const Value value = v.value();
        const Op& op = so_far.op(value);
        if (op.code != OpCode::variable)
            throw b.error("grad() differentiates by a value that was not made by variable()")
                .remedy(
                    "write x = variable(x) before computing the expression, and do not assign x in "
                    "between");
        if (op.region != region)
            throw b.error("variable() and grad() stand in different branches or loops")
                .note("variable() at " + to_string(so_far.place_of(value)))
                .remedy("put both into the same if_, for_ or while_ body, or both outside");
        inputs.insert(value);
    }
    const Value output = expression.value();
    Reverse reverse(so_far, b, Activity(so_far, inputs, output));
    for (std::size_t v = 0; v < so_far.ops.size(); ++v)
        reverse.cloner.set(static_cast<Value>(v), static_cast<Value>(v));
    reverse.enter(region);
    reverse.open_locals(region);  // tapes of an earlier grad(), if this is a second derivative
    reverse.add(output, b.real_constant(1, b.type_of(output)));
    const std::vector<Value>& ops = so_far.region(region).ops;
    for (std::size_t n = ops.size(); n-- > 0;) {
        const Op& op = so_far.op(ops[n]);
        if (inputs.contains(ops[n])) continue;
        if (!ir::has_regions(op.code) || takes_part(so_far, reverse.activity(), op))
            reverse.walk_op(ops[n], op);
    }
    std::vector<Float> result;
    for (const Float& v : variables) {
        const Value g = reverse.get(v.value());
        result.push_back(Float::from(g == no_value ? b.zero(b.type_of(v.value())) : g));
    }
    return result;
}

std::vector<std::vector<Float>> hessian(const Float& expression,
                                        const std::vector<Float>& variables,
                                        const lang::Location& location) {
    const std::vector<Float> g = gradient(expression, variables, location);
    const std::size_t n = variables.size();
    std::vector<std::vector<Float>> h(n, std::vector<Float>(n));
    for (std::size_t i = 0; i < n; ++i) {
        const std::vector<Float> row = gradient(
            g[i], {variables.begin() + static_cast<std::ptrdiff_t>(i), variables.end()}, location);
        for (std::size_t j = i; j < n; ++j) h[i][j] = h[j][i] = row[j - i];
    }
    return h;
}

Floats custom_gradient(
    const Floats& inputs, const std::function<Floats(const Floats&)>& f,
    const std::function<Floats(const Floats&, const Floats&, const Floats&)>& adjoint) {
    Floats outputs = f(inputs);
    for (Float& y : outputs) y = stop_gradient(y);
    // The second pass sees the outputs move with the inputs: a Jacobian that uses them has the
    // right derivative too.
    Floats results = outputs;
    for (int pass = 0; pass < 2; ++pass) {
        Floats next = outputs;
        for (std::size_t k = 0; k < outputs.size(); ++k) {
            Floats seeds(outputs.size());
            seeds[k] = 1.0;
            const Floats row = adjoint(seeds, inputs, results);
            if (row.size() != inputs.size())
                throw lang::builder()
                    .error("the adjoint of a custom_gradient returned " +
                           std::to_string(row.size()) + " values for " +
                           std::to_string(inputs.size()) + " inputs")
                    .remedy("return one adjoint per input, in order");
            ir::Builder& b = lang::builder();
            for (std::size_t i = 0; i < inputs.size(); ++i)
                next[k] = Float::from(b.emit(OpCode::attach_slope, b.type_of(next[k].value()),
                                             next[k].value(), inputs[i].value(), row[i].value()));
        }
        results = next;
    }
    return results;
}

Float implicit_root(const Floats& inputs, const std::function<Float(const Floats&)>& solve,
                    const std::function<Float(const Float&, const Floats&)>& residual, int order) {
    // y* = stop(root) - (r(y, x) - stop(r(y, x))) / stop(dr/dy): the value is the root, the
    // derivative Newton's.
    const Float root = stop_gradient(solve(inputs));
    const auto newton = [&](const Float& y) {
        const Float at = variable(y);
        const Float slope = stop_gradient(grad(residual(at, inputs), at));
        const Float r = residual(y, inputs);
        return y - divz(r - stop_gradient(r), slope);
    };
    // Each further step sees y move with the inputs, and makes one more order of derivatives right.
    Float y = root;
    for (int k = 0; k < order; ++k) y = newton(y);
    return y;
}

}  // namespace hindcast::ad
