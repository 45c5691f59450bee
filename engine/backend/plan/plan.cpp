#include "engine/backend/plan/plan.hpp"

#include <algorithm>
#include <map>

#include "engine/backend/executable.hpp"
#include "engine/ir/clone.hpp"
#include "engine/ir/effects.hpp"
#include "engine/ir/evaluate.hpp"

namespace hindcast::backend {

using ir::Access;
using ir::Kernel;
using ir::Op;
using ir::OpCode;
using ir::Parameter;
using ir::Value;

bool accumulates(const Parameter& p) {
    return p.access == Access::accumulate || p.access == Access::sum;
}

std::optional<std::int64_t> offset_from_item(const Kernel& kernel, Value index) {
    const Op& op = kernel.op(index);
    const auto is_item = [&](int k) { return kernel.op(op.operand[k]).code == OpCode::item; };
    if (op.code == OpCode::item) return 0;
    if (op.code != OpCode::add && op.code != OpCode::sub) return {};
    const int number = op.code == OpCode::add && is_item(1) ? 0 : 1;
    const Op& offset = kernel.op(op.operand[number]);
    if (!is_item(1 - number) || offset.code != OpCode::constant) return {};
    const std::int64_t n = ir::integer_of(offset.bits, offset.type);
    return op.code == OpCode::add ? n : -n;
}

namespace {

class Planner {
public:
    Planner(const Kernel& lowered, const Form& form, const CompileOptions& options,
            const FixedPlan& fixed) {
        plan_.kernel = lowered;
        plan_.form = form;
        plan_.fixed = fixed.parameters;
        plan_.measure = fixed.measure;
        if (plan_.measure) keep_only_measured();
        plan_.checked = options.checked;
        plan_.passes = options.passes;
        plan_.width = options.width > 0 ? options.width : natural_width(lowered.precision);
        for (Op& op : kernel_.ops)
            if (op.code == OpCode::accumulate && !plan_.fixed[op.symbol].used)
                op.symbol = first_of_buffer(op.symbol);
        for (std::size_t p = 0; p < form.size(); ++p)
            if (form[p].same_as >= 0 && kernel_.parameters[p].access == Access::sum)
                kernel_.parameter(form[p].same_as).access = Access::sum;
    }

    Plan run() {
        const std::size_t n = kernel_.parameters.size();
        plan_.summation.assign(n, Summation::own);
        plan_.rows.resize(n);
        plan_.totals.assign(n, -1);
        plan_.scratch.assign(n, -1);
        next_row_.resize(n);
        classify(0, false, 1);
        collect_rows(0);
        for (std::size_t r = 0; r < kernel_.regions.size(); ++r) collect_fixed(static_cast<int>(r));
        std::size_t bytes = 0;
        for (std::size_t p = 0; p < n; ++p) {
            const Parameter& parameter = kernel_.parameters[p];
            if (plan_.fixed[p].used) plan_.fixed_symbols.push_back(static_cast<int>(p));
            if (parameter.access == Access::reduce && !plan_.measure) {
                plan_.totals[p] = plan_.total_count;
                plan_.total_count += parameter.components;
            }
            plan_.scratch[p] = static_cast<int>(plan_.scratch_offset.size());
            for (int g = 0; g < group_count(parameter.components); ++g)
                for (std::size_t r = 0; r < plan_.rows[p].size(); ++r) {
                    plan_.scratch_offset.push_back(bytes);
                    bytes +=
                        padded(group_size(parameter.components, g)) * ir::size_of(parameter.type);
                }
        }
        plan_.scratch_offset.push_back(bytes);
        find_changed();
        plan_.varies.assign(kernel_.ops.size(), 0);
        for (std::size_t v = 0; v < kernel_.ops.size(); ++v)
            plan_.varies[v] = kernel_.ops[v].code == OpCode::item;
        do changed_ = false, spread(0);
        while (changed_);
        place_locals();
        return std::move(plan_);
    }

private:
    // If lanes store far apart, the processor writes one after the other.
    double work_of(const Op& op) const {
        if (op.code == OpCode::div || op.code == OpCode::sqrt) return 4;
        if (op.code != OpCode::own_store && op.code != OpCode::store_once) return 1;
        const Op& index = kernel_.op(op.operand[0]);
        const auto is_item = [&](Value v) { return kernel_.op(v).code == OpCode::item; };
        const bool together =
            index.code == OpCode::item ||
            (index.code == OpCode::add && (is_item(index.operand[0]) || is_item(index.operand[1])));
        return together ? 1 : 64;
    }

    void classify(int region, bool in_loop, double times) {
        for (const Value v : kernel_.region(region).ops) {
            const Op& op = kernel_.op(v);
            plan_.work += times * work_of(op);
            if (op.code == OpCode::accumulate) {
                Summation& s = plan_.summation[op.symbol];
                if (!ir::is_real(op.type))
                    s = Summation::atomic;
                else if (plan_.fixed[op.symbol].used)
                    s = Summation::fixed;
                else if (kernel_.op(op.operand[0]).code != OpCode::item)
                    s = Summation::gathered;
            }
            if (op.nest < 0) continue;
            double trips = op.code == OpCode::if_ ? 1 : 8;
            if (op.code == OpCode::for_ && kernel_.op(op.operand[0]).code == OpCode::constant)
                trips = static_cast<double>(kernel_.op(op.operand[0]).bits);
            for (const int inner : kernel_.nest(op).region)
                if (inner >= 0) classify(inner, in_loop || op.code != OpCode::if_, times * trips);
        }
    }

    // Sites with one index form a row, as long as every component meets its rows in the order
    // executed.
    void collect_rows(int region) {
        for (const Value v : kernel_.region(region).ops) {
            const Op& op = kernel_.op(v);
            if (op.nest >= 0)
                for (const int inner : kernel_.nest(op).region)
                    if (inner >= 0) collect_rows(inner);
            if (op.code != OpCode::accumulate || plan_.summation[op.symbol] != Summation::gathered)
                continue;
            std::vector<Row>& rows = plan_.rows[op.symbol];
            std::vector<std::size_t>& next = next_row_[op.symbol];
            next.resize(kernel_.parameter(op.symbol).components, 0);
            std::size_t r = next[op.component];
            while (r < rows.size() && rows[r].index != op.operand[0]) ++r;
            if (r == rows.size())
                rows.push_back({op.operand[0], std::vector<Value>(next.size(), ir::no_value)});
            rows[r].sites[op.component] = v;
            next[op.component] = r + 1;
        }
    }

    // The fixed-point sites of a region: those of one index form a row.
    void collect_fixed(int region) {
        std::map<int, FixedGroup> groups;
        for (const Value v : kernel_.region(region).ops) {
            const Op& op = kernel_.op(v);
            if (op.code != OpCode::accumulate || plan_.summation[op.symbol] != Summation::fixed)
                continue;
            FixedGroup& group = groups[op.symbol];
            group.symbol = op.symbol;
            group.last = v;
            const auto row = std::find_if(group.rows.begin(), group.rows.end(), [&](const Row& r) {
                return r.index == op.operand[0] && r.sites[op.component] == ir::no_value;
            });
            if (row != group.rows.end()) {
                row->sites[op.component] = v;
                continue;
            }
            const int n = kernel_.parameter(op.symbol).components;
            group.rows.push_back({op.operand[0], std::vector<Value>(n, ir::no_value)});
            group.rows.back().sites[op.component] = v;
        }
        for (auto& [symbol, group] : groups) plan_.fixed_groups.push_back(std::move(group));
    }

    // The first parameter of its buffer that is not summed in fixed point.
    int first_of_buffer(int symbol) const {
        const auto buffer = [&](int p) {
            return plan_.form[p].same_as >= 0 ? plan_.form[p].same_as : p;
        };
        for (int p = 0; p < symbol; ++p)
            if (accumulates(plan_.kernel.parameters[p]) && !plan_.fixed[p].used &&
                buffer(p) == buffer(symbol))
                return p;
        return symbol;
    }

    // Leaves no effect but fixed-point accumulation and what it depends on.
    void keep_only_measured() {
        for (ir::Region& region : kernel_.regions)
            std::erase_if(region.ops, [&](Value v) {
                Op& op = kernel_.op(v);
                if (op.code == OpCode::take) op.code = OpCode::load;
                return op.code == OpCode::own_store || op.code == OpCode::reduce ||
                       op.code == OpCode::store_once || op.code == OpCode::atomic_add ||
                       op.code == OpCode::atomic_min || op.code == OpCode::atomic_max ||
                       (op.code == OpCode::accumulate && !plan_.fixed[op.symbol].used);
            });
        ir::remove_dead_ops(kernel_, true);
    }

    // Parameters that a run reads and changes; only sums in fixed point run twice.
    void find_changed() {
        if (plan_.fixed_symbols.empty()) return;
        const std::vector<ir::Effects> effects = ir::effects_of(kernel_);
        for (std::size_t p = 0; p < effects.size(); ++p) {
            const ir::Effects& e = effects[p];
            const Summation how = plan_.summation[p];
            const bool adds =
                e.adds() && (how == Summation::atomic || (how == Summation::own && !e.clears));
            if (adds || e.counts ||
                ((e.reads_own || e.reads_other) && (e.writes_own || e.writes_other)))
                plan_.changed.push_back(static_cast<int>(p));
        }
    }

    bool varying(Value v) const { return v >= 0 && plan_.varies[v] != 0; }
    void vary(Value v, bool if_true) {
        if (!if_true || varying(v)) return;
        plan_.varies[v] = 1;
        changed_ = true;
    }

    // One round of "depends on the item"; repeated until nothing changes.
    void spread(int region) {
        for (const Value v : kernel_.region(region).ops) {
            const Op& op = kernel_.op(v);
            if (op.nest >= 0) {
                nest(op);
            } else if (op.code == OpCode::load) {
                // An array that a launch may write is loaded lane by lane.
                vary(v, kernel_.parameter(op.symbol).access != Access::read ||
                            (varying(op.operand[0]) &&
                             plan_.form[op.symbol].layout != Layout::shared));
            } else if (!is_same_in_a_block(op)) {
                vary(v, op.code == OpCode::own_load || op.code == OpCode::local_load ||
                            op.code == OpCode::take || op.code == OpCode::fetch ||
                            varying(op.operand[0]) || varying(op.operand[1]) ||
                            varying(op.operand[2]));
            }
        }
    }

    // item & -16 and the like: vectors start at multiples of their width.
    bool is_same_in_a_block(const Op& op) const {
        return op.code == OpCode::bit_and && op.type == ir::Type::i32 &&
               kernel_.op(op.operand[0]).code == OpCode::item &&
               kernel_.op(op.operand[1]).code == OpCode::constant &&
               (kernel_.op(op.operand[1]).bits & (most_lanes - 1)) == 0;
    }

    void nest(const Op& op) {
        const ir::Nest& nest = kernel_.nest(op);
        bool control = varying(op.operand[0]);
        if (op.code == OpCode::while_)
            for (const Value x : kernel_.region(nest.region[0]).ops)
                if (kernel_.op(x).code == OpCode::break_unless)
                    control |= varying(kernel_.op(x).operand[0]);
        for (std::size_t k = 0; k < nest.results.size(); ++k) {
            bool any = control;
            for (const int r : nest.region)
                if (r >= 0) any |= varying(kernel_.region(r).yields[k]);
            if (op.code != OpCode::if_) {
                any |= varying(nest.inits[k]);
                const std::vector<Value>& arguments = kernel_.region(nest.region[0]).arguments;
                vary(arguments[k + (op.code == OpCode::for_)], any);
            }
            vary(nest.results[k], any);
        }
        for (const int r : nest.region)
            if (r >= 0) spread(r);
    }

    void place_locals() {
        plan_.local_offset.assign(kernel_.ops.size(), 0);
        for (std::size_t v = 0; v < kernel_.ops.size(); ++v) {
            Op& op = kernel_.ops[v];
            if (op.code != OpCode::local) continue;
            const Op& size = kernel_.op(op.operand[0]);
            if (op.bits == 0 && size.code == OpCode::constant) op.bits = size.bits;
            if (op.bits == 0)
                throw Error("internal: a local array has no capacity")
                    .in_kernel(kernel_.name)
                    .at(kernel_.place_of(static_cast<Value>(v)));
            plan_.local_offset[v] = plan_.arena_bytes;
            plan_.arena_bytes += (op.bits * plan_.width * ir::size_of(op.type) + 63) & ~63ull;
        }
    }

    Plan plan_;
    Kernel& kernel_ = plan_.kernel;
    std::vector<std::vector<std::size_t>> next_row_;  // per component: the first it may still join
    bool changed_ = false;
};

}  // namespace

// Largest array, in bytes, that stays in a processor's own cache between launches.
constexpr double near_bytes = 0x1p20;

Form form_of(const Kernel& kernel, const Binding* bindings) {
    Form form(kernel.parameters.size());
    for (std::size_t p = 0; p < form.size(); ++p) {
        const Parameter& parameter = kernel.parameters[p];
        const Binding& b = bindings[p];
        if (parameter.access == Access::value || parameter.access == Access::reduce) continue;
        ParameterForm& f = form[p];
        if (b.element_stride == 1)
            f.layout = Layout::planes;
        else if (b.element_stride == 0 && parameter.access == Access::read)
            f.layout = Layout::shared;
        else if (b.element_stride != parameter.components || b.component_stride != 1)
            f.layout = Layout::strided;
        const auto reach = [](std::int64_t n, std::int64_t stride) {
            return static_cast<double>(n) * std::abs(static_cast<double>(stride));
        };
        f.padded = b.padded && f.layout == Layout::elements && parameter.components % 4 == 3;
        f.wide =
            reach(b.count, b.element_stride) + reach(parameter.components, b.component_stride) >=
            0x1p31;
        f.far = b.kept || static_cast<double>(b.count) * parameter.components *
                                  static_cast<double>(ir::size_of(parameter.type)) >
                              near_bytes;
        if (!accumulates(parameter) || b.data == nullptr) continue;
        for (std::size_t q = 0; q < p && f.same_as < 0; ++q)
            if (accumulates(kernel.parameters[q]) && bindings[q].data == b.data)
                f.same_as = static_cast<std::int32_t>(q);
    }
    return form;
}

Form usual_form(const Kernel& kernel) {
    std::vector<Binding> bindings(kernel.parameters.size());
    for (std::size_t p = 0; p < bindings.size(); ++p)
        bindings[p].element_stride = kernel.parameters[p].components;
    return form_of(kernel, bindings.data());
}

Plan make_plan(const Kernel& lowered, const Form& form, const CompileOptions& options,
               const FixedPlan& fixed) {
    return Planner(lowered, form, options, fixed).run();
}

bool Plan::shares_buffer(int symbol) const {
    for (const ParameterForm& f : form)
        if (f.same_as == symbol) return true;
    return form[symbol].same_as >= 0;
}

std::int64_t Plan::first_to_clear(int symbol, std::int64_t items, std::int64_t elements) const {
    switch (summation[symbol]) {
        case Summation::own: return std::min(items, elements);
        case Summation::gathered: return items > 0 ? elements : 0;  // each target starts from 0
        case Summation::fixed: return items > 0 && !shares_buffer(symbol) ? elements : 0;
        default: return 0;
    }
}

int natural_width(ir::Precision precision) {
    static const bool wide =
        __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
    return (wide ? 16 : 8) / (precision == ir::Precision::f64 ? 2 : 1);
}

int lanes_for(ir::Precision precision, int width, std::int64_t items) {
    if (width > 0) return width;
    int lanes = natural_width(precision);
    while (lanes > 4 && items <= lanes / 2) lanes /= 2;
    return lanes;
}

}  // namespace hindcast::backend
