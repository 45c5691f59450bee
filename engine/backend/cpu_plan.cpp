#include "engine/backend/cpu_plan.hpp"

#include <algorithm>

#include "engine/backend/gather.hpp"

namespace hindcast::backend::cpu {

using ir::Access;
using ir::Kernel;
using ir::Op;
using ir::OpCode;
using ir::Parameter;
using ir::Type;
using ir::Value;

namespace {

bool accumulates(const Parameter& p) { return p.access == Access::accumulate || p.access == Access::sum; }
bool by_value(const Parameter& p) { return p.access == Access::value || p.access == Access::reduce; }

class Planner {
public:
    Planner(const Kernel& lowered, const Form& form, const CompileOptions& options) {
        plan_.kernel = lowered;
        plan_.form = form;
        plan_.checked = options.checked;
        plan_.width = options.width > 0 ? options.width : natural_width(lowered.precision);
        for (Op& op : kernel_.ops)
            if (op.code == OpCode::accumulate && form[static_cast<std::size_t>(op.symbol)].same_as >= 0)
                op.symbol = form[static_cast<std::size_t>(op.symbol)].same_as;
        for (std::size_t p = 0; p < kernel_.parameters.size(); ++p)
            if (form[p].same_as >= 0 && kernel_.parameters[p].access == Access::sum)
                kernel_.parameter(form[p].same_as).access = Access::sum;
    }

    Plan run() {
        const std::size_t n = kernel_.parameters.size();
        plan_.summation.assign(n, Summation::own);
        plan_.rows.resize(n);
        plan_.totals.assign(n, -1);
        plan_.scratch.assign(n, -1);
        last_row_.resize(n);
        classify(0, false, 1);
        collect_rows(0);
        for (std::size_t p = 0; p < n; ++p) {
            if (plan_.summation[p] == Summation::direct) plan_.serial = true;
            if (kernel_.parameters[p].access == Access::reduce) {
                plan_.totals[p] = plan_.total_count;
                plan_.total_count += kernel_.parameters[p].components;
            }
            if (plan_.rows[p].empty()) continue;
            plan_.scratch[p] = plan_.scratch_count;
            plan_.scratch_count += static_cast<int>(plan_.rows[p].size()) * group_count(kernel_.parameters[p].components);
        }
        if (plan_.serial) plan_.width = 1;
        plan_.varies.assign(kernel_.ops.size(), 0);
        do changed_ = false, spread(0);
        while (changed_);
        place_locals();
        return std::move(plan_);
    }

private:
    void classify(int region, bool in_loop, double times) {
        for (const Value v : kernel_.region(region).ops) {
            const Op& op = kernel_.op(v);
            plan_.work += times * (op.code == OpCode::div || op.code == OpCode::sqrt ? 4 : 1);
            if (op.code == OpCode::accumulate) {
                Summation& s = plan_.summation[static_cast<std::size_t>(op.symbol)];
                const bool own = kernel_.op(op.operand[0]).code == OpCode::item;
                if (!ir::is_real(op.type)) s = Summation::atomic;
                else if (in_loop && !own) s = Summation::direct;
                else if (!own && s != Summation::direct)
                    s = is_static_index(kernel_, op.operand[0]) ? Summation::gathered : Summation::direct;
                if (own && in_loop) looped_own_.push_back(op.symbol);
            }
            if (op.nest < 0) continue;
            double trips = 1;
            if (op.code != OpCode::if_) trips = 8;
            if (op.code == OpCode::for_ && kernel_.op(op.operand[0]).code == OpCode::constant)
                trips = static_cast<double>(kernel_.op(op.operand[0]).bits);
            for (const int inner : kernel_.nest(op).region)
                if (inner >= 0) classify(inner, in_loop || op.code != OpCode::if_, times * trips);
        }
        if (region != 0) return;
        for (const int symbol : looped_own_)  // an own site in a loop beside a foreign one
            if (plan_.summation[static_cast<std::size_t>(symbol)] == Summation::gathered)
                plan_.summation[static_cast<std::size_t>(symbol)] = Summation::direct;
    }

    // Sites with one index form a row, as long as every component meets its rows in the order executed.
    void collect_rows(int region) {
        for (const Value v : kernel_.region(region).ops) {
            const Op& op = kernel_.op(v);
            if (op.nest >= 0)
                for (const int inner : kernel_.nest(op).region)
                    if (inner >= 0) collect_rows(inner);
            if (op.code != OpCode::accumulate) continue;
            const auto p = static_cast<std::size_t>(op.symbol), c = static_cast<std::size_t>(op.component);
            if (plan_.summation[p] != Summation::gathered) continue;
            std::vector<Row>& rows = plan_.rows[p];
            std::vector<std::size_t>& next = last_row_[p];  // per component: the first row it may still join
            next.resize(static_cast<std::size_t>(kernel_.parameters[p].components), 0);
            std::size_t r = next[c];
            while (r < rows.size() && rows[r].index != op.operand[0]) ++r;
            if (r == rows.size()) rows.push_back({op.operand[0], std::vector<Value>(next.size(), ir::no_value)});
            rows[r].sites[c] = v;
            next[c] = r + 1;
        }
    }

    bool varying(Value v) const { return v >= 0 && plan_.varies[static_cast<std::size_t>(v)] != 0; }
    void vary(Value v) {
        if (varying(v)) return;
        plan_.varies[static_cast<std::size_t>(v)] = 1;
        changed_ = true;
    }

    // One round of "depends on the item"; the caller repeats it until nothing changes.
    void spread(int region) {
        for (std::size_t v = 0; v < kernel_.ops.size() && region == 0; ++v)
            if (kernel_.ops[v].code == OpCode::item) vary(static_cast<Value>(v));
        for (const Value v : kernel_.region(region).ops) {
            const Op& op = kernel_.op(v);
            if (op.nest >= 0) {
                nest(op);
            } else if (op.code == OpCode::load) {
                if (varying(op.operand[0]) && plan_.form[static_cast<std::size_t>(op.symbol)].layout != Layout::shared) vary(v);
            } else if (op.code == OpCode::own_load || op.code == OpCode::local_load || op.code == OpCode::take ||
                       varying(op.operand[0]) || varying(op.operand[1]) || varying(op.operand[2])) {
                vary(v);
            }
        }
    }

    void nest(const Op& op) {
        const ir::Nest& nest = kernel_.nest(op);
        bool control = varying(op.operand[0]);
        if (op.code == OpCode::while_)
            for (const Value x : kernel_.region(nest.region[0]).ops)
                if (kernel_.op(x).code == OpCode::break_unless) control |= varying(kernel_.op(x).operand[0]);
        const std::size_t first = op.code == OpCode::for_ ? 1 : 0;
        for (std::size_t k = 0; k < nest.results.size(); ++k) {
            bool any = control;
            for (const int r : nest.region)
                if (r >= 0) any |= varying(kernel_.region(r).yields[k]);
            if (op.code != OpCode::if_) {
                any |= varying(nest.inits[k]);
                if (any) vary(kernel_.region(nest.region[0]).arguments[k + first]);
            }
            if (any) vary(nest.results[k]);
        }
        for (const int r : nest.region)
            if (r >= 0) spread(r);
    }

    void place_locals() {
        plan_.local_offset.assign(kernel_.ops.size(), 0);
        for (std::size_t v = 0; v < kernel_.ops.size(); ++v) {
            Op& op = kernel_.ops[v];
            if (op.code != OpCode::local) continue;
            if (op.bits == 0 && kernel_.op(op.operand[0]).code == OpCode::constant) op.bits = kernel_.op(op.operand[0]).bits;
            if (op.bits == 0)
                throw Error("internal: a local array has no capacity").in_kernel(kernel_.name).at(kernel_.place_of(static_cast<Value>(v)));
            plan_.local_offset[v] = plan_.arena_bytes;
            const std::uint64_t bytes = op.bits * static_cast<std::uint64_t>(plan_.width) * ir::size_of(op.type);
            plan_.arena_bytes += (bytes + 63) & ~std::uint64_t{63};
        }
    }

    Plan plan_;
    Kernel& kernel_ = plan_.kernel;
    std::vector<int> looped_own_;
    std::vector<std::vector<std::size_t>> last_row_;
    bool changed_ = false;
};

}  // namespace

Form form_of(const Kernel& kernel, const Binding* bindings) {
    Form form(kernel.parameters.size());
    for (std::size_t p = 0; p < form.size(); ++p) {
        const Parameter& parameter = kernel.parameters[p];
        const Binding& b = bindings[p];
        if (by_value(parameter)) continue;
        ParameterForm& f = form[p];
        if (b.element_stride == 1) f.layout = Layout::planes;
        else if (b.element_stride == 0 && parameter.access == Access::read) f.layout = Layout::shared;
        else if (b.element_stride == parameter.components && b.component_stride == 1) f.layout = Layout::elements;
        else f.layout = Layout::strided;
        const auto reach = [](std::int64_t n, std::int64_t stride) { return static_cast<double>(n) * std::abs(static_cast<double>(stride)); };
        f.wide = reach(b.count, b.element_stride) + reach(parameter.components, b.component_stride) >= 2147483648.0;
        if (!accumulates(parameter) || b.data == nullptr) continue;
        for (std::size_t q = 0; q < p && f.same_as < 0; ++q)
            if (accumulates(kernel.parameters[q]) && bindings[q].data == b.data) f.same_as = static_cast<std::int32_t>(q);
    }
    return form;
}

Form usual_form(const Kernel& kernel) {
    std::vector<Binding> bindings(kernel.parameters.size());
    for (std::size_t p = 0; p < bindings.size(); ++p) bindings[p].element_stride = kernel.parameters[p].components;
    return form_of(kernel, bindings.data());
}

Plan make_plan(const Kernel& lowered, const Form& form, const CompileOptions& options) { return Planner(lowered, form, options).run(); }

int natural_width(ir::Precision precision) {
    static const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
    return (wide ? 16 : 8) / (precision == ir::Precision::f64 ? 2 : 1);
}

}  // namespace hindcast::backend::cpu
