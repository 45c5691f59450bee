#include "engine/backend/interpreter/interpreter.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <vector>

#include "engine/backend/plan/fixed_point.hpp"
#include "engine/backend/plan/reduction.hpp"
#include "engine/ir/evaluate.hpp"
#include "engine/lang/lowering.hpp"

namespace hindcast::backend {

namespace {

using ir::Bits;
using ir::Kernel;
using ir::Op;
using ir::OpCode;
using ir::Type;
using ir::Value;

bool has_elementary(const Kernel& kernel) {
    for (const Op& op : kernel.ops)
        if (ir::info(op.code).op_class == ir::OpClass::elementary) return true;
    return false;
}

// A sum in fixed point (fixed_point.hpp): the facts that its scale depends on, its totals so far.
struct FixedSum {
    double largest = 0;
    std::int64_t terms = 0;
    FixedScale scale;
    struct Total {
        std::int64_t high = 0, low = 0;
        unsigned non_finite = 0;
    };
    std::map<std::pair<std::int64_t, int>, Total> totals;  // of (element, component)

    void measure(double term, bool counted) {
        if (non_finite_kind(term) == 0) largest = std::max(largest, std::abs(term));
        terms += counted;
    }
    void add(std::int64_t element, int component, double term, Type type) {
        Total& total = totals[{element, component}];
        const unsigned kind = non_finite_kind(term);
        total.non_finite |= kind;
        if (kind != 0) return;
        const FixedTerm fixed = fixed_term(term, scale, type);
        total.high += fixed.high;
        total.low += fixed.low;
    }
    double value(const Total& total, Type type) const {
        return total.non_finite != 0 ? non_finite_sum(total.non_finite)
                                     : fixed_value(total.high, total.low, scale, type);
    }
};

// A pure op: its function and its operands; missing operands are 0.
struct Pure {
    ir::Evaluator evaluate = nullptr;
    std::uint32_t operand[3] = {};
};

class Interpreter final : public Executable {
public:
    Interpreter(Kernel kernel, const CompileOptions& options)
        : kernel_(std::move(kernel)),
          lowered_(has_elementary(kernel_) ? lang::lower(kernel_, lang::Lowering::elementary)
                                           : kernel_),
          fixed_(fixed_point_parameters(kernel_)),
          checked_(options.checked),
          values_(lowered_.ops.size()),
          locals_(lowered_.ops.size()),
          pure_(lowered_.ops.size()) {
        for (std::size_t v = 0; v < pure_.size(); ++v) {
            const Op& op = lowered_.ops[v];
            if (!ir::can_evaluate(op.code)) continue;
            pure_[v].evaluate = ir::evaluator_of(op.code, op.type, lowered_.op(op.operand[0]).type);
            for (int k = 0; k < ir::info(op.code).operands; ++k)
                pure_[v].operand[k] = static_cast<std::uint32_t>(op.operand[k]);
        }
    }

    const Kernel& kernel() const override { return kernel_; }

    void run(const Binding* bindings, std::int64_t items, const RunOptions&) override {
        measure(bindings, items);
        start(bindings);
        for (std::size_t p = 0; p < lowered_.parameters.size(); ++p) clear_sum(static_cast<int>(p));
        std::vector<double> total(item_totals_.size(), 0.0);
        for (std::int64_t chunk = 0; chunk < items; chunk += reduce_chunk) {
            std::vector<double> lanes(item_totals_.size() * reduce_lanes, 0.0);
            for (std::int64_t i = chunk; i < std::min(items, chunk + reduce_chunk); ++i) {
                run_item(i);
                for (std::size_t r = 0; r < item_totals_.size(); ++r)
                    lanes[r * reduce_lanes + static_cast<std::size_t>(i % reduce_lanes)] +=
                        item_totals_[r];
            }
            for (std::size_t r = 0; r < item_totals_.size(); ++r)
                total[r] += add_pairwise(&lanes[r * reduce_lanes]);
        }
        if (items == 0) return;
        add_fixed_sums();
        for (const auto& [key, r] : reduce_index_)
            static_cast<double*>(bindings[key.first].data)[key.second] +=
                total[static_cast<std::size_t>(r)];
    }

    void trace(const Binding* bindings, std::int64_t item, const Trace& visit) {
        visit_ = &visit;
        dry_ = true;
        start(bindings);
        run_item(item);
    }

private:
    // Runs all items without effects, for the scales.
    void measure(const Binding* bindings, std::int64_t items) {
        fixed_sums_.assign(fixed_.size(), {});
        if (std::none_of(fixed_.begin(), fixed_.end(), [](const auto& f) { return f.used; }))
            return;
        start(bindings);
        dry_ = measuring_ = true;
        for (std::int64_t i = 0; i < items; ++i) run_item(i);
        dry_ = measuring_ = false;
        for (std::size_t p = 0; p < fixed_.size(); ++p) {
            FixedSum& sum = fixed_sums_[p];
            if (!fixed_[p].counted) sum.terms = items * fixed_[p].sites;
            sum.scale = fixed_scale(sum.largest, sum.terms);
        }
    }

    void accumulate_fixed(const Op& op) {
        FixedSum& sum = fixed_sums_[static_cast<std::size_t>(op.symbol)];
        element(op);  // raises where the index is out of range
        const double term = ir::real_of(operand(op, 1), op.type);
        if (measuring_)
            sum.measure(term, fixed_[static_cast<std::size_t>(op.symbol)].counted);
        else
            sum.add(integer(op, 0), op.component, term, op.type);
    }

    void add_fixed_sums() const {
        for (std::size_t p = 0; p < fixed_sums_.size(); ++p)
            for (const auto& [key, total] : fixed_sums_[p].totals) {
                const Type type = lowered_.parameters[p].type;
                const double value = fixed_sums_[p].value(total, type);
                if (value == 0) continue;
                char* at = address(static_cast<int>(p), key.second, key.first);
                const Bits sum = ir::evaluate_op(OpCode::add, type, type, read_scalar(at, type),
                                                 ir::bits_of(value, type), 0);
                std::memcpy(at, &sum, ir::size_of(type));
            }
    }

    void start(const Binding* bindings) {
        bindings_ = bindings;
        stored_.clear();
        reduce_index_.clear();
        for (std::size_t v = 0; v < lowered_.ops.size(); ++v) {
            const Op& op = lowered_.ops[v];
            if (op.code == OpCode::constant) values_[v] = op.bits;
            if (op.code == OpCode::parameter && bindings[op.symbol].data != nullptr)
                values_[v] = parameter(op);
            if (op.code == OpCode::item) item_value_ = static_cast<Value>(v);
        }
        for (std::size_t p = 0; p < lowered_.parameters.size(); ++p)
            if (lowered_.parameters[p].access == ir::Access::reduce && bindings[p].data != nullptr)
                for (int c = 0; c < lowered_.parameters[p].components; ++c)
                    reduce_index_.try_emplace({static_cast<int>(p), c},
                                              static_cast<int>(reduce_index_.size()));
        item_totals_.assign(reduce_index_.size(), 0.0);
    }

    Bits parameter(const Op& op) const {
        const void* data = bindings_[op.symbol].data;
        const auto k = static_cast<std::size_t>(op.component);
        if (ir::is_real(op.type)) return ir::bits_of(static_cast<const double*>(data)[k], op.type);
        return read_scalar(static_cast<const char*>(data) + k * ir::size_of(op.type), op.type);
    }

    static Bits read_scalar(const void* at, Type type) {
        Bits bits = 0;
        std::memcpy(&bits, at, ir::size_of(type));
        return bits;
    }

    void clear_sum(int p) {
        const ir::Parameter& parameter = lowered_.parameter(p);
        if (parameter.access != ir::Access::sum || bindings_[p].data == nullptr) return;
        const std::size_t size = ir::size_of(parameter.type);
        for (std::int64_t i = 0; i < bindings_[p].count; ++i)
            for (int c = 0; c < parameter.components; ++c) std::memset(address(p, c, i), 0, size);
    }

    char* address(int symbol, int component, std::int64_t index) const {
        const Binding& b = bindings_[symbol];
        const std::int64_t offset = index * b.element_stride + component * b.component_stride;
        return static_cast<char*>(b.data) +
               offset * static_cast<std::int64_t>(ir::size_of(lowered_.parameter(symbol).type));
    }

    [[noreturn]] void fault(const Op& op, const std::string& what,
                            const std::string& remedy) const {
        throw Error(what)
            .in_kernel(kernel_.name)
            .at_item(item_)
            .at(lowered_.place_of(static_cast<Value>(&op - lowered_.ops.data())))
            .remedy(remedy);
    }

    // The address of the element that operand 0 indexes, in range.
    char* element(const Op& op) const {
        const std::int64_t index = integer(op, 0);
        if (index < 0 || index >= bindings_[op.symbol].count)
            fault(op,
                  "index " + std::to_string(index) + " is out of range: '" +
                      lowered_.parameter(op.symbol).name + "' has " +
                      std::to_string(bindings_[op.symbol].count) + " elements",
                  "check the index, or the size of the array that is bound");
        return address(op.symbol, op.component, index);
    }

    Bits operand(const Op& op, int k) const {
        return values_[static_cast<std::size_t>(op.operand[k])];
    }
    std::int64_t integer(const Op& op, int k) const {
        return ir::integer_of(operand(op, k), lowered_.op(op.operand[k]).type);
    }

    void run_item(std::int64_t item) {
        item_ = item;
        if (item_value_ >= 0)
            values_[static_cast<std::size_t>(item_value_)] = static_cast<std::uint32_t>(item);
        std::fill(item_totals_.begin(), item_totals_.end(), 0.0);
        region(0);
    }

    // False if a break_unless ended the loop; `condition`: runs up to that op only.
    bool region(int r, bool condition = false) {
        const bool watched = visit_ != nullptr || checked_;
        for (const Value v : lowered_.region(r).ops) {
            if (const Pure& pure = pure_[static_cast<std::size_t>(v)];
                pure.evaluate != nullptr && !watched) {
                values_[static_cast<std::size_t>(v)] = pure.evaluate(
                    values_[pure.operand[0]], values_[pure.operand[1]], values_[pure.operand[2]]);
                continue;
            }
            const Op& op = lowered_.op(v);
            if (op.code == OpCode::break_unless) {
                if (!operand(op, 0) || condition) return operand(op, 0) != 0;
                continue;
            }
            if (op.nest >= 0)
                nested(op);
            else
                execute(v, op);
            if (visit_ != nullptr && op.type != Type::none && !is_effect(op.code))
                (*visit_)(v, values_[static_cast<std::size_t>(v)]);
            if (checked_ && visit_ == nullptr) check_finite(v, op);
        }
        return true;
    }

    void check_finite(Value v, const Op& op) const {
        if (!ir::is_real(op.type) ||
            !(op.code == OpCode::own_store || op.code == OpCode::accumulate ||
              op.code == OpCode::store_once || op.code == OpCode::put || op.code == OpCode::reduce))
            return;
        const Bits bits = operand(op, op.code == OpCode::reduce ? 0 : 1);
        if (std::isfinite(ir::real_of(bits, op.type))) return;
        fault(lowered_.op(v),
              "a value that is not finite is stored into '" + lowered_.parameter(op.symbol).name +
                  "'",
              "look at the operands of this statement for a division by zero or an overflow");
    }

    void execute(Value v, const Op& op) {
        Bits& result = values_[static_cast<std::size_t>(v)];
        switch (op.code) {
            case OpCode::load:
            case OpCode::fetch:
            case OpCode::own_load: result = read_scalar(element(op), op.type); break;
            case OpCode::take: {
                char* at = element(op);
                result = read_scalar(at, op.type);
                if (!dry_) std::memset(at, 0, ir::size_of(op.type));
                break;
            }
            case OpCode::store_once: {
                char* at = element(op);
                if (!dry_ && stored_[at]++)
                    fault(op,
                          "element " + std::to_string(integer(op, 0)) + " of '" +
                              lowered_.parameter(op.symbol).name + "' is stored a second time",
                          "store_once must reach each element at most once per launch");
                store(at, op, operand(op, 1));
                break;
            }
            case OpCode::put:
            case OpCode::own_store: store(element(op), op, operand(op, 1)); break;
            case OpCode::accumulate:
                if (fixed_[static_cast<std::size_t>(op.symbol)].used && !(dry_ && !measuring_))
                    accumulate_fixed(op);
                else
                    accumulate(op, OpCode::add);
                break;
            case OpCode::atomic_add: accumulate(op, OpCode::add); break;
            case OpCode::atomic_min: accumulate(op, OpCode::min); break;
            case OpCode::atomic_max: accumulate(op, OpCode::max); break;
            case OpCode::reduce:
                item_totals_[static_cast<std::size_t>(
                    reduce_index_.at({op.symbol, op.component}))] +=
                    ir::real_of(operand(op, 0), lowered_.op(op.operand[0]).type);
                break;
            case OpCode::local:
                locals_[static_cast<std::size_t>(v)].assign(
                    static_cast<std::size_t>(std::max<std::int64_t>(0, integer(op, 0))),
                    ir::local_start(op.type));
                break;
            case OpCode::local_load:
                result = local(op)[static_cast<std::size_t>(integer(op, 1))];
                break;
            case OpCode::local_put:
                local(op)[static_cast<std::size_t>(integer(op, 1))] = operand(op, 2);
                break;
            case OpCode::raise: {
                const auto [what, remedy] = lowered_.raised(op, integer(op, 0));
                throw Error(what)
                    .in_kernel(kernel_.name)
                    .at_item(integer(op, 0))
                    .at(lowered_.place_of(v))
                    .remedy(remedy);
            }
            case OpCode::local_accumulate: {
                Bits& at = local(op)[static_cast<std::size_t>(integer(op, 1))];
                if (op.type == Type::boolean)
                    at |= operand(op, 2);
                else
                    at = ir::evaluate_op(OpCode::add, op.type, op.type, at, operand(op, 2), 0);
                break;
            }
            default: {
                const Pure& pure = pure_[static_cast<std::size_t>(v)];
                if (pure.evaluate == nullptr)
                    throw Error(std::string("internal: op ") + ir::info(op.code).name +
                                " cannot be interpreted");
                result = pure.evaluate(values_[pure.operand[0]], values_[pure.operand[1]],
                                       values_[pure.operand[2]]);
            }
        }
    }

    void store(char* at, const Op& op, Bits bits) const {
        if (!dry_) std::memcpy(at, &bits, ir::size_of(op.type));
    }

    void accumulate(const Op& op, OpCode how) const {
        char* at = element(op);
        store(at, op,
              ir::evaluate_op(how, op.type, op.type, read_scalar(at, op.type), operand(op, 1), 0));
    }

    std::vector<Bits>& local(const Op& op) {
        std::vector<Bits>& array = locals_[static_cast<std::size_t>(op.operand[0])];
        const std::int64_t index = integer(op, 1);
        if (index < 0 || index >= static_cast<std::int64_t>(array.size()))
            fault(op,
                  "internal: tape index " + std::to_string(index) + " of " +
                      std::to_string(array.size()),
                  "this is a defect: please report it");
        return array;
    }

    void nested(const Op& op) {
        const ir::Nest& nest = lowered_.nest(op);
        const auto value = [&](Value v) -> Bits& { return values_[static_cast<std::size_t>(v)]; };
        if (op.code == OpCode::if_) {
            const int side = nest.region[operand(op, 0) ? 0 : 1];
            region(side);
            std::vector<Bits> yields;
            for (const Value y : lowered_.region(side).yields) yields.push_back(value(y));
            for (std::size_t k = 0; k < yields.size(); ++k) value(nest.results[k]) = yields[k];
            return;
        }
        const ir::Region& body = lowered_.region(nest.region[0]);
        const bool counted = op.code == OpCode::for_;
        const std::size_t first = counted ? 1 : 0, n = nest.results.size();
        std::vector<Bits> carried;
        for (const Value init : nest.inits) carried.push_back(value(init));
        const std::int64_t trips = counted ? integer(op, 0) : nest.max_trips + 1;
        const auto over = [&] {
            const auto [what, remedy] = nest.over_limit();
            fault(op, what, remedy);
        };
        if (counted && nest.max_trips > 0 && trips > nest.max_trips) over();
        for (std::int64_t t = 0; t < trips; ++t) {
            if (counted) value(body.arguments[0]) = static_cast<std::uint32_t>(t);
            for (std::size_t k = 0; k < n; ++k) value(body.arguments[k + first]) = carried[k];
            const bool last_try = !counted && t == nest.max_trips;
            if (last_try && region(nest.region[0], true)) over();
            if (last_try || !region(nest.region[0])) break;
            for (std::size_t k = 0; k < n; ++k) carried[k] = value(body.yields[k]);
        }
        for (std::size_t k = 0; k < n; ++k) value(nest.results[k]) = carried[k];
    }

    Kernel kernel_, lowered_;
    std::vector<FixedPoint> fixed_;
    std::vector<FixedSum> fixed_sums_;
    bool checked_ = false, dry_ = false, measuring_ = false;
    const Binding* bindings_ = nullptr;
    std::vector<Bits> values_;
    std::vector<std::vector<Bits>> locals_;
    std::vector<Pure> pure_;  // by value; `evaluate` null: the op is not pure
    std::vector<double> item_totals_;
    std::map<std::pair<int, int>, int>
        reduce_index_;                   // (parameter, component) -> position in item_totals_
    std::map<const void*, int> stored_;  // slice elements stored in this launch
    Value item_value_ = ir::no_value;
    std::int64_t item_ = 0;
    const Trace* visit_ = nullptr;
};

}  // namespace

std::shared_ptr<Executable> interpret(const Kernel& kernel, const CompileOptions& options) {
    return std::make_shared<Interpreter>(kernel, options);
}

void trace_item(const Kernel& kernel, const Binding* bindings, std::int64_t item,
                const Trace& visit) {
    Interpreter(kernel, {}).trace(bindings, item, visit);
}

}  // namespace hindcast::backend
