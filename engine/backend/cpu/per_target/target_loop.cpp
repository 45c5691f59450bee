#include "engine/backend/cpu/per_target/target_loop.hpp"

#include <algorithm>

#include "engine/ir/clone.hpp"

namespace hindcast::backend::cpu {

using ir::Access;
using ir::Kernel;
using ir::Op;
using ir::OpCode;
using ir::Type;
using ir::Value;

const std::vector<Binding>& TargetLoop::bind(const Binding* bindings, std::int64_t items,
                                             bool make) {
    static const std::vector<Binding> none;
    targets_ = bindings[kernel_.symbols.front()].count;
    for (const int symbol : kernel_.symbols) {
        if (bindings[symbol].count != targets_) return none;
        for (const int other : kernel_.symbols)
            if (make && other != symbol && bindings[other].data == bindings[symbol].data)
                return none;
    }
    for (const int symbol : kernel_.at_target)
        if (bindings[symbol].count < targets_ && bindings[symbol].element_stride != 0) return none;
    if (items >= 0x7fffffff || targets_ >= 0x7fffffff) return none;
    static const EntryTable no_table;
    const EntryTable* table = &no_table;
    if (make && !shifted() && (table = tables_.find(bindings, items)) == nullptr) return none;
    const std::int64_t stride = scratch_items(targets_);
    const std::int64_t count = table == &no_table ? stride : table->cells(stride);
    distance_ = table->distance;
    items_ = items;
    item_count_ = static_cast<std::int32_t>(items);
    more_slots_ = table == &no_table ? 0 : static_cast<std::int32_t>(table->slots) - 1;
    const auto source_count = static_cast<std::ptrdiff_t>(kernel_.plan.kernel.parameters.size());
    bindings_.assign(bindings, bindings + source_count);
    bindings_.resize(kernel().parameters.size());
    const auto set = [&](int p, const void* data, std::int64_t n) {
        bindings_[p] = {const_cast<void*>(data), n, 1, 1, 0};
    };
    const TargetKernel::Parameters& p = kernel_.parameters;
    set(p.more_slots, &more_slots_, 1);
    set(p.items, &item_count_, 1);
    set(p.most, table->most.data(), stride);
    set(p.degree, table->degree.data(), stride);
    set(p.item, table->item.data(), count);
    set(p.row, table->row.data(), count);
    set(p.other, table->other.data(), count);
    set(p.run, table->run.data(), count / block_targets);
    set(p.term_run, table->term_run.data(), count / block_targets);
    for (std::size_t k = 0; k < terms_.size(); ++k) {
        const Type type = kernel().parameter(p.first_terms + static_cast<int>(k)).type;
        const std::size_t bytes = static_cast<std::size_t>(items) * ir::size_of(type);
        if (make && terms_[k].size() < bytes) terms_[k] = AlignedBuffer<char>(bytes);
    }
    for (std::size_t k = 0; k < terms_.size(); ++k) bindings_[p.first_terms + k] = terms(k);
    for (std::size_t k = 0; k < kernel_.columns.size(); ++k)
        set(kernel_.columns[k].parameter,
            table == &no_table ? nullptr : table->copies[k].memory.data(), count);
    return bindings_;
}

bool TargetLoop::reads_near(int symbol) const {
    const auto has = [symbol](const std::vector<int>& list) {
        return std::find(list.begin(), list.end(), symbol) != list.end();
    };
    return kernel_.pairs && has(kernel_.at_target) && !has(kernel_.elsewhere);
}

std::pair<std::int64_t, std::int64_t> TargetLoop::inside() const {
    if (!shifted()) return {0, 0};
    // Whole blocks, as the items of vectors are.
    const std::int64_t first = std::max<std::int64_t>(kernel_.shifts.front().offset, 0);
    const std::int64_t end = std::min(items_ + kernel_.shifts.back().offset, targets_);
    return {scratch_items(first), end & -block_targets};
}

Binding TargetLoop::terms(std::size_t reduced) const {
    return {const_cast<char*>(terms_[reduced].data()), items_, 1, 1, 0};
}

Form TargetLoop::form(const std::vector<Binding>& bindings) const {
    Form form = form_of(kernel(), bindings.data());
    for (std::size_t p = kernel_.parameters.most; p < form.size(); ++p)
        if (kernel().parameters[p].access == Access::read)
            form[p] = {.layout = Layout::table, .wide = form[p].wide, .far = true};
    return form;
}

namespace {

// If only reductions of one term per item remain, the first loop over targets stores the terms:
// it has computed their operands.
void take_terms(PerTarget& per_target) {
    Kernel& rest = per_target.rest;
    std::vector<Value> reduced;
    std::vector<std::pair<int, int>> seen;
    for (const Value v : rest.region(0).ops) {
        const Op& op = rest.op(v);
        if (op.nest >= 0) return;
        if (!ir::is_effect(op.code)) continue;
        const std::pair<int, int> to{op.symbol, op.component};
        if (op.code != OpCode::reduce || std::find(seen.begin(), seen.end(), to) != seen.end())
            return;
        seen.push_back(to);
        reduced.push_back(v);
    }
    if (reduced.empty()) return;
    const auto add_op = [&](const Op& op) {
        rest.ops.push_back(op);
        return static_cast<Value>(rest.ops.size() - 1);
    };
    Op item;
    item.code = OpCode::item;
    item.type = Type::i32;
    Value own = ir::no_value;
    for (std::size_t v = 0; v < rest.ops.size() && own < 0; ++v)
        if (rest.ops[v].code == OpCode::item) own = static_cast<Value>(v);
    if (own < 0) own = add_op(item);
    for (std::size_t k = 0; k < reduced.size(); ++k) {
        Op load;
        load.code = OpCode::load;
        load.type = rest.op(rest.op(reduced[k]).operand[0]).type;
        load.operand[0] = own;
        load.symbol = static_cast<std::int32_t>(rest.parameters.size());
        load.place = rest.op(reduced[k]).place;
        rest.parameters.push_back({"terms." + std::to_string(k), Access::read, load.type});
        const Value term = add_op(load);
        rest.op(reduced[k]).operand[0] = term;
        std::vector<Value>& ops = rest.region(0).ops;
        ops.insert(std::find(ops.begin(), ops.end(), reduced[k]), term);
    }
    per_target.reduced = std::move(reduced);
}

}  // namespace

PerTarget split_per_target(const Plan& plan) {
    PerTarget per_target;
    if (plan.checked) return per_target;
    const Kernel& kernel = plan.kernel;
    std::vector<std::vector<int>> candidates;
    for (std::size_t p = 0; p < kernel.parameters.size(); ++p) {
        if (plan.rows[p].empty()) continue;
        const auto same_rows = [&](const std::vector<int>& group) {
            return std::equal(plan.rows[p].begin(), plan.rows[p].end(), plan.rows[group[0]].begin(),
                              plan.rows[group[0]].end(),
                              [](const Row& a, const Row& b) { return a.index == b.index; });
        };
        const auto found = std::find_if(candidates.begin(), candidates.end(), same_rows);
        if (found == candidates.end())
            candidates.push_back({static_cast<int>(p)});
        else
            found->push_back(static_cast<int>(p));
    }
    std::vector<char> gone(kernel.parameters.size(), 0);
    bool first_has_tables = false;
    for (const std::vector<int>& group : candidates) {
        const TargetKernel loop(plan, group, true, {});
        if (!loop.pays()) continue;
        if (per_target.groups.empty()) first_has_tables = !loop.shifted();
        per_target.groups.push_back(group);
        for (const int symbol : group) gone[symbol] = 1;
    }
    if (per_target.groups.empty()) return per_target;
    per_target.rest = kernel;
    for (ir::Region& region : per_target.rest.regions)
        std::erase_if(region.ops, [&](Value v) {
            const Op& op = kernel.op(v);
            return op.code == OpCode::accumulate && gone[op.symbol] != 0;
        });
    for (std::size_t p = 0; p < gone.size(); ++p)
        if (gone[p] != 0) per_target.rest.parameters[p].access = Access::read;
    ir::remove_dead_ops(per_target.rest, true);
    if (first_has_tables) take_terms(per_target);
    ir::remove_dead_ops(per_target.rest, true);
    per_target.has_rest = !per_target.rest.region(0).ops.empty();
    return per_target;
}

}  // namespace hindcast::backend::cpu
