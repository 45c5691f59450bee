// Emission of stencils: elements at the item's index plus several numbers that lie close together.
//
// A vector that begins beside a cache line takes two accesses, so each of these elements is cut out
// of whole blocks in registers: the block at the anchor, a distance that is a multiple of W and
// that items read themselves, the one before it and the one after it, which is loaded one trip
// ahead. Only in the loop over full blocks, and only where a full block follows: every lane that is
// loaded is one that an item reads.
#include <set>

#include "engine/backend/optional_passes.hpp"

#include "engine/backend/cpu/emit/element_writer.hpp"

namespace hindcast::backend::cpu {

// The multiple of W nearest to a distance.
std::int64_t ElementWriter::anchor_of(std::int64_t distance) const {
    return (distance + width_ / 2) & -std::int64_t{width_};
}

// One component, contiguous, of the elements at `index`; "" if it has no neighbors among the loads
// of the outermost region, or blocks are shorter than cache lines.
std::string ElementWriter::load_from_blocks(int symbol, int component, Value index) {
    constexpr std::size_t cache_line = 64;
    const Parameter& p = kernel_.parameter(symbol);
    const std::optional<std::int64_t> mine = offset_from_item(kernel_, index);
    if (!plan_.passes.has(Pass::stencil_blocks) || !splits_ || !mine || p.access != Access::read ||
        mask_ != item_mask_ || static_cast<std::size_t>(width_) * ir::size_of(p.type) != cache_line)
        return "";
    const std::int64_t anchor = anchor_of(*mine);
    std::set<std::int64_t> near;
    for (const auto& [key, group] : load_groups_) {
        const std::optional<std::int64_t> other = offset_from_item(kernel_, key[2]);
        if (key[0] != 0 || key[1] != symbol || !other || anchor_of(*other) != anchor) continue;
        for (const Value load : group)
            if (kernel_.op(load).component == component) near.insert(*other);
    }
    if (near.size() < 2 || !near.contains(anchor)) return "";

    const std::string t = scalar_type(p.type), v = lanes_of(t);
    const auto [entry, fresh] = blocks_.try_emplace({symbol, component, anchor});
    Blocks& blocks = entry->second;
    if (fresh) {
        const std::string base = component_pointer(symbol, component);
        const auto load_at = [&](const std::string& item, std::int64_t offset,
                                 const std::string& mask) {
            const std::string at = pointer(t, base, pure("add i64 {}, {}", item, anchor + offset));
            return pure("{}", vector_load(v, t, at, {mask_type(), mask}, "zeroinitializer"));
        };
        const std::string full = splat("i1", "%full");
        // The lanes that neighbors see of the block before the first one.
        std::vector<int> reached(width_);
        for (int l = 0; l < width_; ++l) reached[l] = anchor - width_ + l >= *near.begin() ? 1 : 0;
        const std::string mask = pure("and {} {}, {}", mask_type(), full, list_of("i1", reached));
        const Variable before = variable(v, ""), here = variable(v, "");
        start_with(here, load_at("%begin", 0, full));
        start_with(before, load_at("%begin", -width_, mask));
        blocks.before = load(before);
        blocks.here = load(here);
        blocks.after = load_at("%titem", width_, full);
        store(before, blocks.here);
        store(here, blocks.after);
    }
    const int shift = static_cast<int>(*mine - anchor);
    std::vector<int> from = up_to(width_);
    for (int& lane : from) lane += shift < 0 ? width_ + shift : shift;
    const std::string cut = shift == 0 ? blocks.here
                                       : shuffle(t, width_, shift < 0 ? blocks.before : blocks.here,
                                                 shift < 0 ? blocks.here : blocks.after, from);
    return pure("select i1 %full, {} {}, {} {}", v, cut, v,
                masked_load(t, element_pointer(symbol, component, index), mask_));
}

}  // namespace hindcast::backend::cpu
