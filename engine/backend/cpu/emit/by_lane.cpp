// Elements of buffers that each lane reaches by an index of its own, several components at a time:
// whole vectors per lane, which are shuffled into one vector per component.
#include <algorithm>
#include <cstddef>

#include "engine/backend/cpu/emit/element_writer.hpp"

namespace hindcast::backend::cpu {

// C-contiguous elements at any index: every lane loads its element with one instruction per four
// components, then the lanes are transposed. Hardware gathers take twice as long.
Names ElementWriter::load_by_lane(int symbol, Value index, const std::vector<int>& components) {
    const Parameter& p = kernel_.parameter(symbol);
    const Type type = kernel_.op(index).type;
    const std::string t = scalar_type(p.type), it = scalar_type(type);
    // An index that was divided by the components counts them where it comes from.
    const Op& op = kernel_.op(index);
    const bool counted = op.code == OpCode::div && lane_sources_.contains(op.operand[0]) &&
                         kernel_.op(op.operand[1]).code == OpCode::constant &&
                         kernel_.op(op.operand[1]).bits == static_cast<unsigned>(p.components);
    const auto source = lane_sources_.find(counted ? op.operand[0] : index);
    const bool from_memory =
        source != lane_sources_.end() && (source->second.padded || mask_ == item_mask_);
    const std::string indices =
        from_memory ? "" : choose(mask_, lanes_of(it), vector(index), "zeroinitializer");
    Names elements;
    for (int l = 0; l < width_; ++l) {
        std::string at;
        if (from_memory) {
            const auto& [base, stride, offset, padded] = source->second;
            at = pure("load {}, ptr {}, align {}", it,
                      pointer(it, base, std::to_string(l * stride + offset)), align_of(it));
        } else {
            at = pure("extractelement {} {}, i64 {}", lanes_of(it), indices, l);
        }
        at = cast(ir::is_signed(type) ? "sext" : "zext", it, at, "i64");
        if (!counted || !from_memory) at = pure("mul i64 {}, {}", at, p.components);
        elements.push_back(pointer(t, component_pointer(symbol, 0), at));
    }
    std::map<int, Names> groups;  // the components of a group
    Names values;
    for (const int c : components) {
        Names& group = groups[c / 4];
        if (group.empty()) {
            const int size = group_size(p.components, c / 4), n = padded(size);
            const std::string v = n == 1 ? t : fmt::format("<{} x {}>", n, t);
            Names lanes;
            for (const std::string& e : elements) {
                const std::string at = c < 4 ? e : pointer(t, e, std::to_string(c / 4 * 4));
                // Arrays of an embedded kernel change without its being planned again.
                if (size != 3 || (plan_.form[symbol].padded && embedding_ == nullptr))
                    lanes.push_back(pure("load {}, ptr {}, align {}", v, at, align_of(t)));
                else  // not a byte beyond the element: it may be the last of a page
                    lanes.push_back(pure(
                        "{}",
                        vector_load(v, t, at, {"<4 x i1>", "<i1 1, i1 1, i1 1, i1 0>"}, "poison")));
            }
            group = transpose(t, lanes, n);
        }
        values.push_back(group[c % 4]);
    }
    return values;
}

// Elements side by side at any index, as a stencil has them: every lane loads them with one
// instruction, of just these bytes. False: not worth while here.
bool ElementWriter::load_rows(const Op& op) {
    constexpr int most = 8;  // scalars
    const Parameter& p = kernel_.parameter(op.symbol);
    const int n = p.components;
    if (width_ != 16 || p.type != Type::f32 || 2 * n > most || plan_.checked || op.region != 0 ||
        p.access != Access::read || layout(op.symbol) != Layout::elements || mask_ != item_mask_ ||
        !plan_.varies[op.operand[0]])
        return false;
    const SplitIndex mine = split_index(op.operand[0]);
    if (!mine.known || !bases_[mine.base].empty()) return false;
    std::map<std::int64_t, Value> indices;  // by distance from the base
    for (const auto& [key, group] : load_groups_) {
        if (key[0] != 0 || key[1] != op.symbol || !plan_.varies[key[2]]) continue;
        const SplitIndex other = split_index(key[2]);
        if (other.known && other.base == mine.base) indices[other.number] = key[2];
    }
    std::int64_t first = mine.number;
    while (indices.contains(first - 1)) --first;
    first += (mine.number - first) / (most / n) * (most / n);
    std::int64_t last = first;
    while (indices.contains(last + 1) && (last + 2 - first) * n <= most) ++last;
    const int scalars = static_cast<int>(last + 1 - first) * n;
    if (scalars <= most / 2) return false;

    const std::string t = scalar_type(p.type), v = fmt::format("<{} x {}>", most, t);
    const Type type = kernel_.op(mine.base).type;
    const std::string it = scalar_type(type);
    std::string& base = row_bases_[mine.base];
    if (base.empty()) {  // lanes without an item read what the first lane reads
        const std::string all = vector(mine.base);
        const std::string lane = pure("extractelement {} {}, i64 0", lanes_of(it), all);
        const Variable memory =
            variable(lanes_of(it), choose(mask_, lanes_of(it), all, splat(it, lane)));
        base = let("getelementptr {}, ptr {}, i64 0", it, memory.name);  // loads stay behind this
    }
    std::string mask;
    for (int k = 0; k < most; ++k)
        mask += fmt::format("{}i1 {}", k == 0 ? "<" : ", ", k < scalars ? "true" : "false");
    Names lanes;
    for (int l = 0; l < width_; ++l) {
        std::string at = pure("load {}, ptr {}, align {}", it, pointer(it, base, std::to_string(l)),
                              align_of(it));
        at = cast(ir::is_signed(type) ? "sext" : "zext", it, at, "i64");
        at = pointer(fmt::format("[{} x {}]", n, t), component_pointer(op.symbol, 0), at);
        at = pointer(t, at, std::to_string(first * n));
        lanes.push_back(pure(
            "{}", vector_load(v, t, at, {fmt::format("<{} x i1>", most), mask + ">"}, "poison")));
    }
    const Names values = transpose_rows(t, lanes, scalars);
    for (std::int64_t k = first; k <= last; ++k)
        for (int c = 0; c < n; ++c)
            row_values_[{0, op.symbol, indices.at(k)}][c] =
                values[static_cast<std::size_t>((k - first) * n + c)];
    return true;
}

// Integers that were just loaded from consecutive memory and serve load_by_lane as indices: it
// takes them from there again, which is cheaper than taking a vector apart. The last items have a
// copy, with 0 for the lanes beyond.
void ElementWriter::keep_in_memory(const std::vector<Value>& group) {
    const auto is_index = [&](Value v) {
        for (const Value user : kernel_.region(0).ops) {
            const Op& op = kernel_.op(user);
            if (op.code == OpCode::load && op.operand[0] == v &&
                kernel_.parameter(op.symbol).components > 1)
                return true;
        }
        return false;
    };
    const std::string t = scalar_type(kernel_.op(group[0]).type), v = lanes_of(t);
    for (const Flat& flat : flats_) {
        const int stride = static_cast<int>(flat.parts.size());
        std::string from;
        for (const Value index : group) {
            const int c = kernel_.op(index).component;
            if (std::count(flat.components.begin(), flat.components.end(), c) == 0 ||
                !is_index(index))
                continue;
            if (from.empty()) {
                const Variable copy = variable(fmt::format("[{} x {}]", stride * width_, t), "");
                // Not a select: LLVM makes branches of loads from one.
                const Variable where = variable("ptr", flat.pointer);
                when(
                    pure("icmp ne i32 {}, {}", lanes_left_, width_),
                    [&] {
                        store(where, copy.name);
                        for (int part = 0; part < stride; ++part)
                            put("store {} {}, ptr {}, align {}", v, flat.parts[part],
                                let("getelementptr {}, ptr {}, i64 {}", v, copy.name, part),
                                align_of(t));
                    },
                    true);
                from = load(where);
            }
            lane_sources_[index] = {from, stride, stride == 1 ? 0 : c, false};
        }
    }
}

}  // namespace hindcast::backend::cpu
