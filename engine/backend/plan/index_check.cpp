#include "engine/backend/plan/index_check.hpp"

#include <algorithm>
#include <cstdlib>

#include "engine/backend/binding.hpp"

namespace hindcast::backend {

using ir::Kernel;
using ir::Op;
using ir::OpCode;
using ir::Value;

bool reaches_an_element(OpCode code) {
    switch (code) {
        case OpCode::load:
        case OpCode::own_load:
        case OpCode::take:
        case OpCode::fetch:
        case OpCode::accumulate:
        case OpCode::own_store:
        case OpCode::store_once:
        case OpCode::put:
        case OpCode::atomic_add:
        case OpCode::atomic_min:
        case OpCode::atomic_max: return true;
        default: return false;
    }
}

namespace {

// constant + slope * item
struct Affine {
    std::int64_t constant = 0, slope = 0;

    std::int64_t at(std::int64_t item) const { return constant + slope * item; }
};

constexpr std::int64_t most = INT32_MAX;  // of what is followed: no product of two overflows

std::optional<Affine> affine(const Kernel& kernel, Value v) {
    const Op& op = kernel.op(v);
    if (ir::is_real(op.type) || op.type == ir::Type::boolean) return {};
    const auto bounded = [](Affine a) -> std::optional<Affine> {
        if (std::abs(a.constant) > most || std::abs(a.slope) > most) return {};
        return a;
    };
    if (op.code == OpCode::item) return Affine{0, 1};
    if (op.code == OpCode::constant) {
        const std::int64_t number = ir::integer_of(op.bits, op.type);
        if (number > most || number < -most) return {};
        return Affine{number, 0};
    }
    if (op.code == OpCode::convert && !ir::is_real(kernel.op(op.operand[0]).type))
        return affine(kernel, op.operand[0]);
    if (op.code != OpCode::add && op.code != OpCode::sub && op.code != OpCode::mul) return {};
    const auto a = affine(kernel, op.operand[0]), b = affine(kernel, op.operand[1]);
    if (!a || !b) return {};
    if (op.code == OpCode::add) return bounded({a->constant + b->constant, a->slope + b->slope});
    if (op.code == OpCode::sub) return bounded({a->constant - b->constant, a->slope - b->slope});
    if (a->slope != 0 && b->slope != 0) return {};
    return bounded({a->constant * b->constant, a->constant * b->slope + a->slope * b->constant});
}

bool adds_to_own(const Kernel& kernel, const Op& op) {
    return op.code == OpCode::accumulate && ir::is_real(op.type) &&
           kernel.op(op.operand[0]).code == OpCode::item;
}

// Per parameter: whether it is added to, and at the item's own index alone.
std::vector<char> own_sums(const Kernel& kernel) {
    std::vector<char> own(kernel.parameters.size(), 0), other = own;
    for (const Op& op : kernel.ops)
        if (op.code == OpCode::accumulate) (adds_to_own(kernel, op) ? own : other)[op.symbol] = 1;
    for (std::size_t p = 0; p < own.size(); ++p) own[p] &= !other[p];
    return own;
}

// The index of an access that outside() looks at. One that wraps around is out of range for an item
// before.
std::optional<Affine> recorded_index(const Kernel& kernel, const Op& op,
                                     const std::vector<char>& own) {
    if (!reaches_an_element(op.code)) return {};
    const bool own_sum = op.code == OpCode::accumulate && own[op.symbol];
    return op.region == 0 || own_sum ? affine(kernel, op.operand[0]) : std::nullopt;
}

}  // namespace

std::optional<KernelFault> outside(const Kernel& kernel, std::int64_t items,
                                   const std::vector<std::int64_t>& elements) {
    std::optional<KernelFault> first;
    if (items <= 0) return first;
    const std::vector<char> own = own_sums(kernel);
    for (const ir::Region& region : kernel.regions)
        for (const Value v : region.ops) {
            const Op& op = kernel.op(v);
            if (!reaches_an_element(op.code) || elements[op.symbol] < 0) continue;
            const std::int64_t count = elements[op.symbol];
            const auto is_inside = [&](std::int64_t k) { return k >= 0 && k < count; };
            const auto index = recorded_index(kernel, op, own);
            if (!index || (is_inside(index->at(0)) && is_inside(index->at(items - 1)))) continue;
            std::int64_t item = 0;
            if (is_inside(index->at(0)))  // it leaves at one end only
                item = index->slope > 0
                           ? (count - index->constant + index->slope - 1) / index->slope
                           : index->constant / -index->slope + 1;
            if (!first || item < first->item) first = {item, index->at(item), v};
        }
    return first;
}

IndexCheck::IndexCheck(const Kernel& kernel)
    : kernel_(kernel), values_(kernel), own_sums_(own_sums(kernel)) {
    if (!kernel.is_host_function) visit(0, {});
    // Nothing is gained by looking at some of them before.
    if (has_unknown_) sites_.clear();
}

void IndexCheck::visit(int region, const Site& around) {
    for (const Value v : kernel_.region(region).ops) {
        const Op& op = kernel_.op(v);
        if (op.nest >= 0) {
            const bool known = op.code == OpCode::if_ && is_static_value(kernel_, op.operand[0]);
            bool holds = true;
            for (const int inner : kernel_.nest(op).region) {
                if (inner < 0) continue;
                Site within = around;
                if (known)
                    within.conditions.emplace_back(op.operand[0], holds);
                else
                    within.is_sure = false;
                visit(inner, within);
                holds = false;
            }
        }
        if (!reaches_an_element(op.code) || recorded_index(kernel_, op, own_sums_)) continue;
        if (!is_static_value(kernel_, op.operand[0])) {
            has_unknown_ = true;
            continue;
        }
        const bool known = std::ranges::any_of(sites_, [&](const Site& site) {
            const Op& other = kernel_.op(site.op);
            return other.symbol == op.symbol && other.operand[0] == op.operand[0] &&
                   other.region == op.region;
        });
        if (known) continue;
        sites_.push_back(around);
        sites_.back().op = v;
        values_.add(op.operand[0]);
        for (const auto& [condition, is] : around.conditions) values_.add(condition);
    }
}

bool IndexCheck::holds(const Binding* bindings, std::int64_t items) {
    if (sites_.empty()) return true;
    key_.assign(1, static_cast<std::uint64_t>(items));
    passing_.clear();
    for (const Site& site : sites_)
        key_.push_back(static_cast<std::uint64_t>(bindings[kernel_.op(site.op).symbol].count));
    values_.append_key(bindings, key_, passing_);
    constexpr int often = 6, longest = 12;
    if (key_ == last_key_) {
        changes_ = std::max(changes_ - 1, 0);
    } else {
        changes_ = std::min(changes_ + 2, longest);
        last_key_ = key_;
        is_known_ = false;
    }
    if (!is_known_ && changes_ < often) {
        holds_ = evaluate(bindings, items);
        is_known_ = true;
    }
    return is_known_ && holds_;
}

bool IndexCheck::evaluate(const Binding* bindings, std::int64_t items) const {
    constexpr std::int64_t block = StaticValues::Evaluator::block;
    StaticValues::Evaluator evaluator(values_, bindings);
    bool holds = true;
    for (std::int64_t begin = 0; begin < items; begin += block) {
        const std::int64_t n = std::min(items - begin, block);
        evaluator.run(begin, n);
        KernelFault first;
        for (const Site& site : sites_) {
            const Op& op = kernel_.op(site.op);
            const std::int64_t count = bindings[op.symbol].count;
            for (std::int64_t i = 0; i < n; ++i) {
                const std::int64_t index = evaluator.integer(op.operand[0], i);
                if (index >= 0 && index < count) continue;
                const bool is_there = std::ranges::all_of(site.conditions, [&](const auto& c) {
                    return (evaluator.integer(c.first, i) != 0) == c.second;
                });
                if (!is_there) continue;
                holds &= site.is_sure;
                if (!site.is_sure || begin + i >= first.item) continue;
                first = {begin + i, index, site.op};
            }
        }
        if (first.is_there()) raise_fault(kernel_, first, bindings);
    }
    return holds;
}

}  // namespace hindcast::backend
