#include <cstddef>

#include "engine/backend/executable.hpp"

#include "engine/backend/cpu/emit/sum_writer.hpp"

namespace hindcast::backend::cpu {

void SumWriter::begin_item() {
    mask_ = "true";
    if (width_ > 1) {
        const std::string left = pure("sub i64 %end, %titem"), w = std::to_string(width_);
        std::string most = combine("umin", "i64", left, w);
        if (splits_) most = pure("select i1 %full, i64 {}, i64 {}", w, most);
        lanes_left_ = cast("trunc", "i64", most, "i32");
        mask_ = flat_mask(1, 0);
    }
    item_mask_ = mask_;
    for (std::size_t v = 0; v < kernel_.ops.size(); ++v)
        if (kernel_.ops[v].code == OpCode::item) {
            item_ = static_cast<Value>(v);
            bases_[item_] = cast("trunc", "i64", "%titem", "i32");
        }
    declare_sums(0);
    std::map<int, std::vector<int>> own;  // components of each symbol that start from memory
    for (const auto& [key, sum] : sums_) {
        const Access access = kernel_.parameter(key.first).access;
        if (access == Access::accumulate)
            own[key.first].push_back(key.second);
        else
            store(sum, zero(sum.type));
    }
    for (const auto& [symbol, components] : own) {
        const Names values = load_element(ir::no_value, symbol, item_, components);
        for (std::size_t k = 0; k < components.size(); ++k)
            store(sums_.at({symbol, components[k]}), values[k]);
    }
}

void SumWriter::declare_sums(int r) {
    for (const Value v : kernel_.region(r).ops) {
        const Op& op = kernel_.op(v);
        if (op.nest >= 0)
            for (const int inner : kernel_.nest(op).region)
                if (inner >= 0) declare_sums(inner);
        if (op.code != OpCode::accumulate && op.code != OpCode::reduce) continue;
        const Summation how = plan_.summation[op.symbol];
        const std::string t = op.code == OpCode::reduce ? "double" : scalar_type(op.type);
        if (op.code == OpCode::accumulate && how == Summation::gathered)
            terms_[v] = variable(lanes_of(t), splat(t, "-0.0"));
        else if (op.code == OpCode::reduce || how == Summation::own)
            if (const auto [sum, fresh] = sums_.try_emplace({op.symbol, op.component}); fresh)
                sum->second = variable(lanes_of(t), "");
    }
}

void SumWriter::end_item() {
    std::map<int, std::pair<std::vector<int>, Names>> own;
    for (const auto& [key, sum] : sums_) {
        const auto& [symbol, component] = key;
        if (kernel_.parameter(symbol).access == Access::reduce) {
            add_total(symbol, component, sum);
            continue;
        }
        own[symbol].first.push_back(component);
        own[symbol].second.push_back(load(sum));
    }
    for (const auto& [symbol, parts] : own)
        store_element(ir::no_value, symbol, item_, parts.first, parts.second);
    for (std::size_t p = 0; p < plan_.rows.size(); ++p) store_terms(static_cast<int>(p));
}

// The totals of an item's lanes modulo reduce_lanes, and behind them those of the next ones.
std::string SumWriter::total_at(int symbol, int component, const std::string& item) {
    const int first = (plan_.totals[symbol] + component) * reduce_lanes;
    const std::string lane = pure("and i64 {}, {}", item, reduce_lanes - 1);
    return pointer("double", context_field(offsetof(Context, totals)),
                   pure("add i64 {}, {}", lane, first));
}

// Adds the item's total to those of its lanes. They stay in registers, in the order in which they
// are next: in memory each addition would wait for the store of the one before.
void SumWriter::add_total(int symbol, int component, const Variable& sum) {
    const auto [entry, fresh] = totals_.try_emplace({symbol, component});
    std::vector<Variable>& lanes = entry->second;
    const int count = width_ > 1 ? reduce_lanes / width_ : 0;
    const std::string mine = choose(item_mask_, sum.type, load(sum), zero("double"));
    if (count == 0) {
        const std::string at = total_at(symbol, component, "%titem");
        const std::string old = let("load {}, ptr {}, align 8", sum.type, at);
        put("store {} {}, ptr {}, align 8", sum.type, let("fadd {} {}, {}", sum.type, old, mine),
            at);
        return;
    }
    for (int k = 0; k < count && fresh; ++k) {
        lanes.push_back(variable(sum.type, ""));
        const std::string at = total_at(symbol, component, pure("add i64 %begin, {}", k * width_));
        start_with(lanes.back(), pure("load {}, ptr {}, align 8", sum.type, at));
    }
    Names next;
    for (const Variable& lane : lanes) next.push_back(load(lane));
    next.push_back(let("fadd {} {}, {}", sum.type, next.front(), mine));
    for (int k = 0; k < count; ++k) store(lanes[k], next[k + 1]);
}

// At the end of the function, where %tnext is the item behind the last ones.
void SumWriter::finish_totals() {
    for (const auto& [key, lanes] : totals_)
        for (std::size_t k = 0; k < lanes.size(); ++k) {
            const std::string at = total_at(
                key.first, key.second, pure("add i64 %tnext, {}", static_cast<int>(k) * width_));
            put("store {} {}, ptr {}, align 8", lanes[k].type, load(lanes[k]), at);
        }
}

// Writes the contributions to a gathered parameter. Scratch memory has room for whole vectors.
void SumWriter::store_terms(int symbol) {
    const Parameter& p = kernel_.parameter(symbol);
    const std::vector<Row>& rows = plan_.rows[symbol];
    const std::string t = scalar_type(p.type);
    for (int group = 0; group < group_count(p.components); ++group)
        for (std::size_t r = 0; r < rows.size(); ++r) {
            const int size = group_size(p.components, group), n = padded(size);
            const std::size_t which = plan_.scratch[symbol] + group * rows.size() + r;
            const std::string scratch = context_field(offsetof(Context, scratch));
            const std::string base =
                invariant_load("ptr", pointer("ptr", scratch, std::to_string(which)));
            Names lanes;
            for (int c = 0; c < n; ++c) {
                const Value site = c < size ? rows[r].sites[4 * group + c] : ir::no_value;
                if (site >= 0)
                    lanes.push_back(load(terms_.at(site)));
                else
                    lanes.push_back(c >= size && width_ > 1 ? "poison" : splat(t, "-0.0"));
            }
            const Names parts = interleave(t, lanes);
            const std::string first = pointer(t, base, pure("mul i64 %titem, {}", n));
            for (std::size_t k = 0; k < parts.size(); ++k)
                put("store {} {}, ptr {}, align {}", lanes_of(t), parts[k],
                    pointer(t, first, std::to_string(k * width_)), align_of(t));
        }
}

void SumWriter::accumulate(Value v, const Op& op) {
    const Summation how = plan_.summation[op.symbol];
    if (how == Summation::atomic) {
        atomic(v, op);
    } else if (how == Summation::fixed) {
        accumulate_fixed(v, op);
    } else {
        in_range(v, op.symbol, op.operand[0]);  // reports; the own element or the inverse is safe
        if (how == Summation::gathered) {
            blend(terms_.at(v), vector(op.operand[1]));
        } else {
            const Variable& sum = sums_.at({op.symbol, op.component});
            blend(sum, let("fadd {} {}, {}", sum.type, load(sum), vector(op.operand[1])));
        }
    }
}

void SumWriter::reduce(const Op& op) {
    const Variable& sum = sums_.at({op.symbol, op.component});
    const Value term = op.operand[0];
    const std::string x = cast("fpext", vector_type(kernel_.op(term).type), vector(term), sum.type);
    blend(sum, let("fadd {} {}, {}", sum.type, load(sum), x));
}

// Integers: exact in any order.
void SumWriter::atomic(Value v, const Op& op) {
    const bool adds = op.code == OpCode::atomic_add || op.code == OpCode::accumulate;
    const std::string how = std::string(adds || ir::is_signed(op.type) ? "" : "u") +
                            (adds                            ? "add"
                             : op.code == OpCode::atomic_min ? "min"
                                                             : "max");
    const std::string t = scalar_type(op.type), mask = in_range(v, op.symbol, op.operand[0]);
    const auto update = [&](const std::string& at, const std::string& x) {
        let("atomicrmw {} ptr {}, {} {} monotonic", how, at, t, x);
    };
    if (width_ == 1) {
        when(mask, [&] {
            update(element_pointer(op.symbol, op.component, op.operand[0]), scalar(op.operand[1]));
        });
        return;
    }
    // One lane after the other: the lowest set bit of the remaining mask.
    const std::string bits = flags_type(), values = vector(op.operand[1]);
    const std::string pointers = element_pointers(op.symbol, op.component, op.operand[0], mask);
    const Variable left = variable(bits, flags(mask));
    std::string now;
    loop([&] { return let("icmp ne {} {}, 0", bits, now = load(left)); },
         [&] {
             const std::string lane =
                 let("{}", call(bits, "cttz." + bits, {{bits, now}, {"i1", "true"}}));
             const auto pick = [&](const std::string& of, const std::string& from) {
                 return let("extractelement {} {}, {} {}", lanes_of(of), from, bits, lane);
             };
             update(pick("ptr", pointers), pick(t, values));
             store(left, let("and {} {}, {}", bits, now, let("sub {} {}, 1", bits, now)));
         });
}

// ---------------------------------------------------------------- local arrays: [index][lane]

// Cleared up to the largest size that an active lane asks for.
void SumWriter::local_array(Value v, const Op& op) {
    define(v, pointer("i8", context_field(offsetof(Context, arena)),
                      std::to_string(plan_.local_offset[v])));
    const std::string t = scalar_type(kernel_.op(op.operand[0]).type);
    std::string size = value(op.operand[0]);
    if (!is_scalar(op.operand[0])) {
        const std::string w = lanes_of(t);
        size = pure("{}", call(t, "vector.reduce.smax." + suffix(w),
                               {{w, choose(mask_, w, size, zero(t))}}));
    }
    size = cast("sext", t, size, "i64");
    size = combine("smin", "i64", combine("smax", "i64", size, "0"), std::to_string(op.bits));
    const std::string element = op.type == Type::boolean ? "i8" : scalar_type(op.type);
    const std::string first =
        ir::is_real(op.type) ? splat(element, "-0.0") : std::string("zeroinitializer");
    count_to(size, [&](const std::string& row) {
        put("store {} {}, ptr {}, align {}", lanes_of(element), first,
            pointer(lanes_of(element), names_[v], row), align_of(element));
    });
}

// An index that is out of range (after a fault) is led back into the array.
void SumWriter::local_access(Value v, const Op& op) {
    const Value index = op.operand[1];
    const bool boolean = op.type == Type::boolean, uniform = is_scalar(index);
    const std::string element = boolean ? "i8" : scalar_type(op.type), t = lanes_of(element);
    const std::string& base = names_[op.operand[0]];
    const std::string last = std::to_string(kernel_.op(op.operand[0]).bits - 1);
    std::string at;
    if (uniform) {
        at = pointer(t, base, combine("umin", "i64", index64(index), last));
    } else {
        const std::string w = lanes_of("i64");
        at = combine("umin", w, wide_index(index), splat("i64", last));
        at = pure("mul {} {}, {}", w, at, splat("i64", std::to_string(width_)));
        at = pure("add {} {}, {}", w, at, list_of("i64", up_to(width_)));
        at = pure("getelementptr {}, ptr {}, {} {}", element, base, w, at);
    }
    const std::string old = uniform ? let("load {}, ptr {}, align {}", t, at, align_of(element))
                                    : gather(element, at, mask_);
    if (op.code == OpCode::local_load) {
        define(v, boolean ? pure("icmp ne {} {}, zeroinitializer", t, old) : old);
        return;
    }
    const std::string term = vector(op.operand[2]);
    const std::string wide = boolean ? cast("zext", mask_type(), term, t) : term;
    const char* add = boolean ? "or" : ir::is_real(op.type) ? "fadd" : "add";
    const std::string sum =
        op.code == OpCode::local_put ? wide : let("{} {} {}, {}", add, t, old, wide);
    if (!uniform) {
        scatter(element, sum, at, mask_);
    } else {
        const std::string kept = mask_ == item_mask_ ? sum : choose(mask_, t, sum, old);
        put("store {} {}, ptr {}, align {}", t, kept, at, align_of(element));
    }
}

}  // namespace hindcast::backend::cpu
